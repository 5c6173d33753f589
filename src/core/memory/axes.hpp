// The axes of a copy between two layouts of the same elements.
#pragma once

#include <cstddef>
#include <vector>

namespace cuscope::core {

// One axis: the bytes from one element to the next on both sides.
struct Axis {
    std::size_t count;
    std::ptrdiff_t to, from;
};

struct Axes {
    std::vector<Axis> list;                       // from the largest step of `to` to the smallest
    std::ptrdiff_t to_first = 0, from_first = 0;  // offset of the first element, since axes may be reversed
};

// Without axes of one element. Axes that can be walked as one are joined.
std::vector<Axis> joined(const std::vector<Axis>& axes);

// Could two elements of one side share a byte? True also for some layouts where none do.
bool may_overlap(std::vector<Axis> axes, std::size_t element, std::ptrdiff_t Axis::*side);

// Which axes are walked in reverse order: those with a negative step on both sides, or on the side of `to`.
enum class Reversed { negative_on_both, negative_to };

// The axes in order, joined.
Axes normalised(const std::vector<std::size_t>& shape, const std::vector<std::ptrdiff_t>& to,
                const std::vector<std::ptrdiff_t>& from, Reversed reversed);

}  // namespace cuscope::core
