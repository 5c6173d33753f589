// Copies of arrays, broken down into copies of one, two and three dimensions, which the device's copy engines
// can do.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/memory/axes.hpp"
#include "runtime/runtime.hpp"

namespace cuscope::core {

// Can rows of `width` bytes lie this far apart, for the runtime's copies?
bool can_be_rows(const Axis& axis, std::ptrdiff_t width);

// A copy as boxes of rows, repeated along the outer axes.
struct CopyPlan {
    std::size_t width = 0, height = 1, depth = 1;  // of one box; the width is in bytes
    std::size_t to_pitch = 0, from_pitch = 0, to_slice = 0, from_slice = 0;
    std::ptrdiff_t to_first = 0, from_first = 0;  // offset of the first box from the first element
    struct Repeat {
        std::size_t count;
        std::ptrdiff_t to, from;
    };
    std::vector<Repeat> repeats;  // outermost first

    std::size_t boxes() const;
    const char* function() const;  // the CUDA function that copies a box
    // Calls `visit` with the offsets of each box from the first elements.
    void for_each_box(const std::function<void(std::ptrdiff_t, std::ptrdiff_t)>& visit) const;
    Status enqueue_box(Runtime& runtime, std::byte* to, std::byte* from, MemcpyKind kind,
                       StreamHandle stream) const;
};

CopyPlan plan_copy(const std::vector<std::size_t>& shape, std::size_t element,
                   const std::vector<std::ptrdiff_t>& to, const std::vector<std::ptrdiff_t>& from);
// Axes that are normalised with Reversed::negative_on_both, or that no side walks backwards.
CopyPlan plan_copy(const Axes& normalised, std::size_t element);

}  // namespace cuscope::core
