#include "core/memory/axes.hpp"

#include <algorithm>
#include <cstdlib>

namespace cuscope::core {

std::vector<Axis> joined(const std::vector<Axis>& axes) {
    std::vector<Axis> result;
    for (const Axis& axis : axes) {
        if (axis.count == 1) continue;
        const auto count = static_cast<std::ptrdiff_t>(axis.count);
        if (!result.empty() && result.back().to == axis.to * count &&
            result.back().from == axis.from * count) {
            result.back() = {result.back().count * axis.count, axis.to, axis.from};
        } else {
            result.push_back(axis);
        }
    }
    return result;
}

bool may_overlap(std::vector<Axis> axes, std::size_t element, std::ptrdiff_t Axis::*side) {
    std::sort(axes.begin(), axes.end(),
              [&](const Axis& a, const Axis& b) { return std::abs(a.*side) < std::abs(b.*side); });
    std::size_t reach = element;  // bytes from the first to the end of the last element of the axes so far
    for (const Axis& axis : axes) {
        if (axis.count == 1) continue;
        const auto step = static_cast<std::size_t>(std::abs(axis.*side));
        if (step < reach) return true;
        reach += step * (axis.count - 1);
    }
    return false;
}

Axes normalised(const std::vector<std::size_t>& shape, const std::vector<std::ptrdiff_t>& to,
                const std::vector<std::ptrdiff_t>& from, Reversed reversed) {
    Axes result;
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1) continue;  // its step has no meaning
        Axis axis{shape[i], to[i], from[i]};
        if (axis.to < 0 && (axis.from <= 0 || reversed == Reversed::negative_to)) {
            const auto last = static_cast<std::ptrdiff_t>(axis.count - 1);
            result.to_first += last * axis.to;
            result.from_first += last * axis.from;
            axis.to = -axis.to;
            axis.from = -axis.from;
        }
        axes.push_back(axis);
    }
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
    result.list = joined(axes);
    return result;
}

}  // namespace cuscope::core
