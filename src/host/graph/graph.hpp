// Graphs of the host runtime, the memory of their allocation nodes, and their conditions. Private to
// src/host; everything happens under the runtime's lock.
#pragma once

#include <memory>
#include <vector>

#include "host/graph/node.hpp"

namespace cuscope::host {

class Graphs;
struct GraphCondition;

// The memory of an allocation node. The node takes the addresses when it is made. They go back with the last
// graph and executable that has the node.
struct GraphMemory : std::enable_shared_from_this<GraphMemory> {
    Graphs* graphs = nullptr;
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    int device = 0;
    bool allocated = false;     // by a launch, and not freed since
    bool instantiated = false;  // an executable was made of the graph that allocates it
    GraphMemory() = default;
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;
    ~GraphMemory();
};

struct Graph {
    // Does the graph have one executable at a time, and no clones?
    bool unique() const {
        for (const auto& node : nodes) {
            if (node->chooses_bodies()) return true;
        }
        return allocates();
    }
    // Does it allocate memory? Then its nodes and edges stay for good.
    bool allocates() const {
        if (asked_for_memory) return true;
        for (const auto& node : nodes) {
            if (node->memory() != nullptr) return true;
        }
        return false;
    }

    // Is it `other`, or a part of it?
    bool is_within(const Graph& other) const;
    // The graph that no node has as a body: the one that is launched.
    const Graph& outermost() const;
    GraphHandle handle() const { return reinterpret_cast<GraphHandle>(const_cast<Graph*>(this)); }
    GraphNode& append(std::unique_ptr<GraphNode> node);

    // Tells whether an update can make this graph like `want`, and if not, why.
    GraphExecUpdateInfo difference(const Graph& want) const;
    // Makes the nodes like the nodes of `want`, which does not differ in anything else.
    void take_parameters(Machine& machine, const Graph& want);

    std::vector<std::unique_ptr<GraphNode>> nodes;  // in the order in which they were made
    unsigned number = 0;                            // for drawings
    int device = 0;                                 // current when it was made
    unsigned next_node = 0;
    GraphNode* parent = nullptr;    // the node whose body this graph is
    bool asked_for_memory = false;  // a node that allocates or frees was to be added, even if it was refused
    bool hidden = false;            // of an executable: there are no handles of its nodes
    std::vector<std::shared_ptr<GraphCondition>> conditions;
};

// The number that a conditional node reads and kernels set. Its handle is its address.
struct GraphCondition {
    unsigned value = 0;  // the first member, as cudaGraphSetConditional of the kernels' headers knows it
    unsigned default_value = 0;
    bool assign = false;  // the default, at every launch
    bool used = false;    // by a node
};

// Visits the nodes of a graph and of the bodies in it.
template <class Graph, class Visit>
void visit_nodes(Graph& graph, const Visit& visit) {
    for (const auto& node : graph.nodes) {
        visit(*node);
        for (const auto& body : node->bodies) visit_nodes(*body, visit);
    }
}

}  // namespace cuscope::host
