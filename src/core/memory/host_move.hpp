// Copies between two layouts of host memory, for example from a transposed array to a dense one. One thread
// moves one box of elements, in blocks that fit into the processor's caches. The boxes are cut so that
// several threads can move them at once.
#pragma once

#include <cstddef>
#include <vector>

#include "core/memory/axes.hpp"

namespace cuscope::core {

// Moves all elements of the axes. `element` is the size of an element in bytes. The axes are ordered from the
// largest step of one side to the smallest; an order by `to` is faster. The two memories may not overlap.
void move_elements(std::byte* to, const std::byte* from, const std::vector<Axis>& axes, std::size_t element);

// Cuts an array into boxes of at most `most_bytes`, if an element has not more. A box is as large as it can
// be along the axes with the smallest steps on both sides, so that both sides use whole cache lines.
class Boxes {
  public:
    Boxes(std::vector<Axis> axes, std::size_t element, std::size_t most_bytes);
    // Bytes that are contiguous on both sides.
    static Boxes contiguous(std::size_t bytes, std::size_t most_bytes) {
        return {{{bytes, 1, 1}}, 1, most_bytes};
    }

    struct Box {
        std::vector<Axis> axes;           // all that the array has, with the extents of this box
        std::ptrdiff_t to = 0, from = 0;  // offsets from the first element of the array
        std::size_t bytes = 0;
    };
    std::size_t count() const { return count_; }
    std::size_t element() const { return element_; }
    Box operator[](std::size_t index) const;

  private:
    std::vector<Axis> axes_;
    std::vector<std::size_t> extents_;  // of a box that does not lie at an end
    std::size_t element_, count_ = 1;
};

// Moves the boxes on several threads. Returns when all are moved.
void move_boxes(std::byte* to, const std::byte* from, const Boxes& boxes);

}  // namespace cuscope::core
