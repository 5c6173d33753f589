// Queries of the host runtime's graphs: nodes, roots, edges.
#include <algorithm>

#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

Status HostRuntime::give_nodes(HostRuntime& runtime, const std::vector<GraphNode*>& found,
                               GraphNodeHandle* nodes, std::size_t* count) {
    if (count == nullptr) return runtime.fail(Status::invalid_value);
    if (nodes == nullptr) {
        *count = found.size();
        return Status::success;
    }
    const std::size_t room = *count;
    for (std::size_t i = 0; i < room; ++i)
        nodes[i] = i < found.size() ? reinterpret_cast<GraphNodeHandle>(found[i]) : nullptr;
    *count = std::min(room, found.size());
    return Status::success;
}

Status HostRuntime::give_edges(const std::vector<NewEdge>& edges, bool from_side, bool to_side,
                               GraphNodeHandle* from, GraphNodeHandle* to, GraphEdgeData* edge_data,
                               std::size_t* count) {
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
                                       [](const NewEdge& edge) { return edge.data == GraphEdgeData{}; });
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

Status HostRuntime::graph_get_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) {
    ENTER(other);
    const Found<const Graph> of = find_graph(graph);
    if (of == nullptr) return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    std::vector<GraphNode*> found;
    for (const auto& node : of->nodes) found.push_back(node.get());
    return give_nodes(*this, found, nodes, count);
}

Status HostRuntime::graph_get_root_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) {
    ENTER(other);
    const Found<const Graph> of = find_graph(graph);
    if (of == nullptr) return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    std::vector<GraphNode*> found;
    for (const auto& node : of->nodes) {
        if (node->dependencies.empty()) found.push_back(node.get());
    }
    return give_nodes(*this, found, nodes, count);
}

Status HostRuntime::graph_get_edges(GraphHandle graph, GraphNodeHandle* from, GraphNodeHandle* to,
                                    GraphEdgeData* edge_data, std::size_t* count) {
    ENTER(other);
    const Found<const Graph> of = find_graph(graph);
    if (of == nullptr) return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    std::vector<NewEdge> found;
    for (const auto& node : of->nodes) {
        for (const GraphNode::Edge& edge : node->dependents)
            found.push_back({node.get(), edge.node, edge.data});
    }
    return give_edges(found, true, true, from, to, edge_data, count);
}

Status HostRuntime::graph_node_get_dependencies(GraphNodeHandle node, GraphNodeHandle* dependencies,
                                                GraphEdgeData* edge_data, std::size_t* count) {
    ENTER(other);
    const Found<GraphNode> of = find_node(node);
    if (of == nullptr) return fail(Status::invalid_value, "the node does not exist, or was destroyed");
    std::vector<NewEdge> found;
    for (const GraphNode::Edge& edge : of->dependencies) found.push_back({edge.node, of.get(), edge.data});
    return give_edges(found, true, false, dependencies, nullptr, edge_data, count);
}

Status HostRuntime::graph_node_get_dependent_nodes(GraphNodeHandle node, GraphNodeHandle* dependents,
                                                   GraphEdgeData* edge_data, std::size_t* count) {
    ENTER(other);
    const Found<GraphNode> of = find_node(node);
    if (of == nullptr) return fail(Status::invalid_value, "the node does not exist, or was destroyed");
    std::vector<NewEdge> found;
    for (const GraphNode::Edge& edge : of->dependents) found.push_back({of.get(), edge.node, edge.data});
    return give_edges(found, false, true, nullptr, dependents, edge_data, count);
}

}  // namespace cuscope::host
