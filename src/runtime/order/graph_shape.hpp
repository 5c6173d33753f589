// Graphs, as the check of the order of commands knows them: the memory that each node uses, and which nodes
// lie before which.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/order/command.hpp"
#include "runtime/types.hpp"

namespace cuscope::order {

// A kernel, in a stream or in a graph.
struct KernelPart {
    std::uint64_t token = 0;  // of its run on a simulated device; 0: what it does is not watched
    std::uint64_t key = 0;    // see MadeLaunch
    std::vector<Access> by_signature;
    std::string node;  // of a graph: its name and its line
    std::uint32_t node_line = 0;
    std::size_t place = 0;  // in the graph
};

// A node, as it was added.
struct GraphPart {
    std::string what;
    std::uint32_t line = 0;
    GraphNodeType type = GraphNodeType::empty;
    std::vector<Access> accesses;
    std::vector<KernelPart> kernels;  // at most one
    const void* host_data = nullptr;
    std::vector<GraphHandle> bodies;                 // of a conditional node
    std::shared_ptr<const struct GraphShape> child;  // of a child graph
    // The allocations that its addresses lie in, with their numbers.
    std::vector<std::pair<std::uintptr_t, std::uint64_t>> uses;
    EventHandle records = nullptr, waits_for = nullptr;
    bool enabled = true;
    GraphNodeHandle handle = nullptr;
};

// The nodes of an executable, in an order in which each lies behind those that it waits for.
struct GraphShape {
    struct Node {
        GraphPart part;
        std::vector<std::size_t> after;  // the places of nodes directly before it
        std::vector<bool> before;        // by place: does that node lie before this one?
    };
    std::vector<Node> nodes;
    unsigned compared = 0;  // how often the nodes were compared with each other

    void close();  // fills in `before`
};

// Compares the accesses of the nodes of one launch with each other. `place` tells an access's node.
void compare_nodes(const GraphShape& shape, const std::vector<std::pair<std::size_t, AccessPtr>>& accesses);

}  // namespace cuscope::order
