// The nodes that the next captured node of a stream depends on, with the edges to it. Private to src/host.
#pragma once

#include <vector>

#include "runtime/graph_types.hpp"

namespace cuscope::host {

struct GraphNode;

struct Tips {
    std::vector<GraphNode*> nodes;
    std::vector<GraphEdgeData> edges;

    void clear() {
        nodes.clear();
        edges.clear();
    }
    void add(GraphNode* node, const GraphEdgeData& edge) {
        nodes.push_back(node);
        edges.push_back(edge);
    }
    // Adds the tips that are not among these.
    void join(const Tips& others);
    void forget(const GraphNode* node);
};

}  // namespace cuscope::host
