// The edges of the host runtime's graphs.
#include <algorithm>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

struct Edge {
    GraphNode *from, *to;
    GraphEdgeData data;
};

// Reads the edges that a call names, and refuses edges that are not valid.
Status read_edges(const Machine& machine, GraphHandle graph, const GraphNodeHandle* from,
                  const GraphNodeHandle* to, const GraphEdgeData* edge_data, std::size_t count,
                  std::vector<Edge>* edges) {
    const Found<const Graph> of = machine.graphs.find(graph);
    if (of == nullptr || ((from == nullptr || to == nullptr) && count > 0))
        return fail(Status::invalid_value);
    for (std::size_t i = 0; i < count; ++i) {
        const Found<GraphNode> first = machine.graphs.find_node(from[i]),
                               second = machine.graphs.find_node(to[i]);
        if (first == nullptr || second == nullptr || first->graph != of || second->graph != of)
            return fail(Status::invalid_value, "an edge whose ends are not nodes of the graph");
        edges->push_back({first.get(), second.get(), edge_data == nullptr ? GraphEdgeData{} : edge_data[i]});
    }
    return Status::success;
}

Status give_edges(const std::vector<Edge>& edges, bool from_side, bool to_side, GraphNodeHandle* from,
                  GraphNodeHandle* to, GraphEdgeData* edge_data, std::size_t* count) {
    if (count == nullptr || (from_side && to_side && (from == nullptr) != (to == nullptr)))
        return fail(Status::invalid_value);
    if ((!from_side || from == nullptr) && (!to_side || to == nullptr)) {
        if (edge_data != nullptr) return fail(Status::invalid_value);
        *count = edges.size();
        return Status::success;
    }
    const std::size_t room = *count;
    if (edge_data == nullptr) {
        const bool plain = std::all_of(edges.begin(), edges.end(),
                                       [](const Edge& edge) { return edge.data == GraphEdgeData{}; });
        if (!plain)
            return fail(Status::lossy_query,
                        "an edge has data that the answer would not hold: ask for it too");
    }
    for (std::size_t i = 0; i < room; ++i) {
        const bool there = i < edges.size();
        if (from_side) from[i] = there ? reinterpret_cast<GraphNodeHandle>(edges[i].from) : nullptr;
        if (to_side) to[i] = there ? reinterpret_cast<GraphNodeHandle>(edges[i].to) : nullptr;
        if (edge_data != nullptr) edge_data[i] = there ? edges[i].data : GraphEdgeData{};
    }
    *count = std::min(room, edges.size());
    return Status::success;
}

}  // namespace

Status HostRuntime::graph_add_dependencies(GraphHandle graph, const GraphNodeHandle* from,
                                           const GraphNodeHandle* to, const GraphEdgeData* edge_data,
                                           std::size_t count) {
    ENTER(other);
    std::vector<Edge> edges;
    TRY(read_edges(machine_, graph, from, to, edge_data, count, &edges));
    std::size_t added = 0;
    const auto refuse = [&](Status status) {
        for (std::size_t i = 0; i < added; ++i) {
            edges[i].from->dependents.pop_back();
            edges[i].to->dependencies.pop_back();
        }
        return status;
    };
    // Backwards, so that each step removes the edge that it added.
    const auto undo = [&](Status status) {
        std::reverse(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(added));
        return refuse(status);
    };
    for (const Edge& edge : edges) {
        if (edge.from == edge.to) return undo(fail(Status::invalid_value, "a node cannot depend on itself"));
        const bool there = std::any_of(edge.from->dependents.begin(), edge.from->dependents.end(),
                                       [&](const GraphNode::Edge& other) { return other.node == edge.to; });
        if (there) return undo(fail(Status::invalid_value, "the edge is there already"));
        if (Status status = edge.from->check_edge_to(*edge.to, edge.data); status != Status::success)
            return undo(status);
        edge.from->connect_to(*edge.to, edge.data);
        ++added;
    }
    return Status::success;
}

Status HostRuntime::graph_remove_dependencies(GraphHandle graph, const GraphNodeHandle* from,
                                              const GraphNodeHandle* to, const GraphEdgeData* edge_data,
                                              std::size_t count) {
    ENTER(other);
    std::vector<Edge> edges;
    const Found<const Graph> of = machine_.graphs.find(graph);
    if (of != nullptr && of->allocates())
        return fail(Status::not_supported, "of a graph that allocates memory nothing is taken away");
    TRY(read_edges(machine_, graph, from, to, edge_data, count, &edges));
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const Edge& edge = edges[i];
        const bool there = std::any_of(
            edge.from->dependents.begin(), edge.from->dependents.end(),
            [&](const GraphNode::Edge& other) { return other.node == edge.to && other.data == edge.data; });
        const bool twice =
            std::any_of(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Edge& other) { return other.from == edge.from && other.to == edge.to; });
        if (!there || twice) return fail(Status::invalid_value, "there is no such edge");
    }
    for (const Edge& edge : edges) {
        std::erase_if(edge.from->dependents, [&](const auto& other) { return other.node == edge.to; });
        std::erase_if(edge.to->dependencies, [&](const auto& other) { return other.node == edge.from; });
    }
    return Status::success;
}

Status HostRuntime::graph_get_edges(GraphHandle graph, GraphNodeHandle* from, GraphNodeHandle* to,
                                    GraphEdgeData* edge_data, std::size_t* count) {
    ENTER(other);
    const Found<const Graph> of = machine_.graphs.find(graph);
    if (of == nullptr) return invalid_handle("graph", Status::invalid_value);
    std::vector<Edge> found;
    for (const auto& node : of->nodes) {
        for (const GraphNode::Edge& edge : node->dependents)
            found.push_back({node.get(), edge.node, edge.data});
    }
    return give_edges(found, true, true, from, to, edge_data, count);
}

Status HostRuntime::graph_node_get_dependencies(GraphNodeHandle node, GraphNodeHandle* dependencies,
                                                GraphEdgeData* edge_data, std::size_t* count) {
    ENTER(other);
    const Found<GraphNode> of = machine_.graphs.find_node(node);
    if (of == nullptr) return invalid_handle("node", Status::invalid_value);
    std::vector<Edge> found;
    for (const GraphNode::Edge& edge : of->dependencies) found.push_back({edge.node, of.get(), edge.data});
    return give_edges(found, true, false, dependencies, nullptr, edge_data, count);
}

Status HostRuntime::graph_node_get_dependent_nodes(GraphNodeHandle node, GraphNodeHandle* dependents,
                                                   GraphEdgeData* edge_data, std::size_t* count) {
    ENTER(other);
    const Found<GraphNode> of = machine_.graphs.find_node(node);
    if (of == nullptr) return invalid_handle("node", Status::invalid_value);
    std::vector<Edge> found;
    for (const GraphNode::Edge& edge : of->dependents) found.push_back({of.get(), edge.node, edge.data});
    return give_edges(found, false, true, nullptr, dependents, edge_data, count);
}

}  // namespace cuscope::host
