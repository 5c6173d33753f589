#include "runtime/order/graph_shape.hpp"

#include <algorithm>

#include "runtime/order/checker.hpp"

namespace cuscope::order {

void GraphShape::close() {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        Node& node = nodes[i];
        node.before.assign(nodes.size(), false);
        for (const std::size_t earlier : node.after) {
            node.before[earlier] = true;
            const auto& known = nodes[earlier].before;
            for (std::size_t j = 0; j < known.size(); ++j)
                if (known[j]) node.before[j] = true;
        }
    }
}

void compare_nodes(const GraphShape& shape, const std::vector<std::pair<std::size_t, AccessPtr>>& accesses) {
    auto sorted = accesses;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second->begin < b.second->begin; });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        for (std::size_t j = i + 1; j < sorted.size(); ++j) {
            const auto *first = &sorted[i], *second = &sorted[j];
            if (second->second->begin >= first->second->end) break;
            if (first->first == second->first) continue;
            if (first->first > second->first) std::swap(first, second);
            const Access &earlier = *first->second, &later = *second->second;
            if (shape.nodes[second->first].before[first->first]) continue;
            if (!earlier.writes() && !later.writes()) continue;
            if (earlier.role == Role::atomic && later.role == Role::atomic) continue;
            add_finding(order_finding(earlier, later, std::max(earlier.begin, later.begin),
                                      std::min(earlier.end, later.end)));
        }
    }
}

}  // namespace cuscope::order
