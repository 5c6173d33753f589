#include "host/graph/graph.hpp"

#include <map>
#include <unordered_map>

#include "host/graph/graphs.hpp"

namespace cuscope::host {

GraphMemory::~GraphMemory() {
    if (base != nullptr) graphs->retire(*this);
}

bool Graph::is_within(const Graph& other) const {
    for (const Graph* part = this; part != nullptr;
         part = part->parent == nullptr ? nullptr : part->parent->graph) {
        if (part == &other) return true;
    }
    return false;
}

const Graph& Graph::outermost() const {
    const Graph* whole = this;
    while (whole->parent != nullptr) whole = whole->parent->graph;
    return *whole;
}

GraphNode& Graph::append(std::unique_ptr<GraphNode> node) {
    node->graph = this;
    node->number = next_node++;
    nodes.push_back(std::move(node));
    return *nodes.back();
}

namespace {

// The place of each node in the order in which the nodes were made. Nodes of two graphs with the same place
// correspond.
template <class Graph>
auto numbered(const Graph& graph) {
    std::unordered_map<const void*, std::size_t> numbers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) numbers[graph.nodes[i].get()] = i;
    return numbers;
}

}  // namespace

GraphExecUpdateInfo Graph::difference(const Graph& want) const {
    using Result = GraphExecUpdateResult;
    if (nodes.size() != want.nodes.size()) {
        const bool more = want.nodes.size() > nodes.size();
        return {Result::topology_changed, more ? want.nodes[nodes.size()]->handle() : nullptr, nullptr};
    }
    const auto have_numbers = numbered(*this), want_numbers = numbered(want);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const GraphNode &old = *nodes[i], &node = *want.nodes[i];
        std::map<std::size_t, GraphEdgeData> edges;
        for (const GraphNode::Edge& edge : old.dependencies) edges[have_numbers.at(edge.node)] = edge.data;
        for (const GraphNode::Edge& edge : node.dependencies) {
            const auto same = edges.find(want_numbers.at(edge.node));
            if (same == edges.end() || !(same->second == edge.data))
                return {Result::topology_changed, node.handle(), edge.node->handle()};
            edges.erase(same);
        }
        if (!edges.empty()) return {Result::topology_changed, node.handle(), nullptr};
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const GraphNode &old = *nodes[i], &node = *want.nodes[i];
        if (old.type() != node.type()) return {Result::node_type_changed, node.handle(), nullptr};
        if (old.device != node.device) return {Result::unsupported_function_change, node.handle(), nullptr};
        if (const Result result = old.difference(node); result != Result::success)
            return {result, node.handle(), nullptr};
        if (old.bodies.size() != node.bodies.size())
            return {Result::topology_changed, node.handle(), nullptr};
        for (std::size_t body = 0; body < node.bodies.size(); ++body) {
            const GraphExecUpdateInfo inner = old.bodies[body]->difference(*node.bodies[body]);
            if (inner.result != Result::success) return inner;
        }
    }
    return {};
}

void Graph::take_parameters(Machine& machine, const Graph& want) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        GraphNode& node = *nodes[i];
        const GraphNode& from = *want.nodes[i];
        node.imitate(machine, from);
        for (std::size_t body = 0; body < node.bodies.size(); ++body)
            node.bodies[body]->take_parameters(machine, *from.bodies[body]);
    }
}

}  // namespace cuscope::host
