#include "host/graph/tips.hpp"

#include <algorithm>
#include <cstddef>

namespace cuscope::host {

void Tips::join(const Tips& others) {
    for (std::size_t i = 0; i < others.nodes.size(); ++i) {
        if (std::find(nodes.begin(), nodes.end(), others.nodes[i]) != nodes.end()) continue;
        add(others.nodes[i], others.edges[i]);
    }
}

void Tips::forget(const GraphNode* node) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
        if (nodes[i] != node) continue;
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
        edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

}  // namespace cuscope::host
