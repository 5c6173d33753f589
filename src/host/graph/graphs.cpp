// The host runtime's graphs: making, cloning and destroying them, their nodes and edges.
#include <algorithm>

#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

Found<HostRuntime::Graph> HostRuntime::find_graph(GraphHandle handle) {
    return graphs_->alive.contains(handle) ? reinterpret_cast<Graph*>(handle) : nullptr;
}

Found<HostRuntime::GraphNode> HostRuntime::find_node(GraphNodeHandle handle) {
    const auto found = graphs_->nodes.find(handle);
    return found == graphs_->nodes.end() ? nullptr : found->second;
}

CommandRef HostRuntime::adopt(Command* command) {
    CommandRef kept(timeline_.pool(), command);
    timeline_.pool().release(command);
    return kept;
}

// Nodes of graphs share commands, because these are never run. An executable has commands and effects of its
// own.
void HostRuntime::take_command(GraphNode& node, const CommandRef& from) {
    node.command = from;
    if (!from || !node.graph->hidden) return;
    node.command = adopt(timeline_.pool().make());
    node.command->imitate(*from.get());
    node.command->priority = from->priority;
    if (from->effect) node.command->effect = from->effect->copy();
}

std::unique_ptr<HostRuntime::Graph> HostRuntime::new_graph() {
    auto made = std::make_unique<Graph>();
    made->number = ++graphs_->last_graph;
    made->device = thread().device;
    return made;
}

void HostRuntime::forget_node(const GraphNode& node) {
    graphs_->nodes.erase(&node);
    for (const auto& body : node.bodies) {
        graphs_->alive.erase(body.get());
        forget_nodes(*body);
    }
}

void HostRuntime::forget_nodes(Graph& graph) {
    for (const auto& node : graph.nodes) forget_node(*node);
}

void HostRuntime::Graphs::forget_device(HostRuntime& runtime, int device) {
    std::erase_if(memory, [&](const auto& entry) {
        if (entry.second->device != device) return false;
        entry.second->base = nullptr;
        return true;
    });
    std::erase_if(retired, [&](const Retired& one) { return one.device == device; });
    std::erase_if(execs, [&](const auto& entry) { return entry.second->device == device; });
    std::erase_if(graphs, [&](const auto& entry) {
        if (entry.second->device != device) return false;
        alive.erase(entry.first);
        runtime.forget_nodes(*entry.second);
        return true;
    });
}

// ---- graphs

Status HostRuntime::graph_create(GraphHandle* graph, unsigned flags) {
    ENTER(other);
    if (graph == nullptr || flags != 0) return fail(Status::invalid_value, "flags of a graph are 0");
    auto made = new_graph();
    *graph = reinterpret_cast<GraphHandle>(made.get());
    graphs_->alive.insert(made.get());
    graphs_->graphs.emplace(made.get(), std::move(made));
    return Status::success;
}

Status HostRuntime::graph_destroy(GraphHandle graph) {
    ENTER(other);
    const auto owned = graphs_->graphs.find(graph);
    if (owned == graphs_->graphs.end()) {
        return fail(Status::invalid_value, find_graph(graph) == nullptr
                                               ? "the graph does not exist, or was destroyed"
                                               : "the graph belongs to a node or to a capture");
    }
    if (destroy_unless_captured(graph)) return Status::success;
    return fail(Status::illegal_state, "a stream is being captured to the graph");
}

// False if a stream is being captured to the graph. A graph that belongs to a node stays.
bool HostRuntime::destroy_unless_captured(const void* graph) {
    const auto owned = graphs_->graphs.find(graph);
    if (owned == graphs_->graphs.end()) return true;
    for (const auto& [id, capture] : graphs_->captures) {
        if (capture->is_within(*owned->second)) return false;
    }
    forget_nodes(*owned->second);
    graphs_->alive.erase(graph);
    graphs_->graphs.erase(owned);
    sweep_graph_memory();
    return true;
}

std::unique_ptr<HostRuntime::Graph> HostRuntime::copy_graph(const Graph& graph, bool hidden) {
    auto made = hidden ? std::make_unique<Graph>() : new_graph();
    made->hidden = hidden;
    made->next_node = graph.next_node;
    made->conditions = graph.conditions;
    made->asked_for_memory = graph.asked_for_memory;
    std::unordered_map<const GraphNode*, GraphNode*> copies;
    for (const auto& node : graph.nodes) {
        auto copy = GraphNode::make_for(node->parameters());
        copy->graph = made.get();
        copy->number = node->number;
        copy->serial = ++graphs_->last_serial;
        copy->origin = node->serial;
        copy->device = node->device;
        copy->imitate(*this, *node);
        for (const auto& body : node->bodies) {
            auto inner = copy_graph(*body, hidden);
            inner->parent = copy.get();
            if (!hidden) graphs_->alive.insert(inner.get());
            copy->body_handles.push_back(reinterpret_cast<GraphHandle>(inner.get()));
            copy->bodies.push_back(std::move(inner));
        }
        copies.emplace(node.get(), copy.get());
        if (!hidden) graphs_->nodes.emplace(copy.get(), copy.get());
        made->nodes.push_back(std::move(copy));
    }
    for (const auto& node : graph.nodes) {
        GraphNode& copy = *copies[node.get()];
        for (const GraphNode::Edge& edge : node->dependencies)
            copy.dependencies.push_back({copies[edge.node], edge.data});
        for (const GraphNode::Edge& edge : node->dependents)
            copy.dependents.push_back({copies[edge.node], edge.data});
    }
    return made;
}

Status HostRuntime::graph_clone(GraphHandle* clone, GraphHandle original) {
    ENTER(other);
    const Found<const Graph> graph = find_graph(original);
    if (graph == nullptr || clone == nullptr)
        return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    if (graph->unique()) {
        return fail(Status::not_supported,
                    "a graph with conditional nodes, or that allocates memory, is not cloned");
    }
    auto made = copy_graph(*graph, false);
    *clone = reinterpret_cast<GraphHandle>(made.get());
    graphs_->alive.insert(made.get());
    graphs_->graphs.emplace(made.get(), std::move(made));
    return Status::success;
}

Status HostRuntime::graph_node_find_in_clone(GraphNodeHandle* node, GraphNodeHandle original,
                                             GraphHandle clone) {
    ENTER(other);
    const Found<const GraphNode> wanted = find_node(original);
    const Found<const Graph> graph = find_graph(clone);
    if (node == nullptr || wanted == nullptr || graph == nullptr) return fail(Status::invalid_value);
    *node = nullptr;
    for (const auto& other : graph->nodes) {
        if (other->origin == wanted->serial) *node = reinterpret_cast<GraphNodeHandle>(other.get());
    }
    return *node != nullptr ? Status::success
                            : fail(Status::invalid_value, "the graph has no clone of the node");
}

// ---- nodes and edges

HostRuntime::GraphNode& HostRuntime::append(Graph& graph, std::unique_ptr<GraphNode> node) {
    node->graph = &graph;
    node->number = graph.next_node++;
    graph.nodes.push_back(std::move(node));
    return *graph.nodes.back();
}

void HostRuntime::connect(GraphNode& from, GraphNode& to, const GraphEdgeData& data) {
    from.dependents.push_back({&to, data});
    to.dependencies.push_back({&from, data});
}

Status HostRuntime::check_edge(const GraphNode& from, const GraphNode& to, const GraphEdgeData& data) {
    if (data == GraphEdgeData{}) return Status::success;
    const bool kernel = from.is_kernel();
    if (data.type == DependencyType::full) {
        if (data.to_port == 0 && kernel && data.from_port <= ports::kernel_launch_order)
            return Status::success;
        return fail(Status::invalid_value, "only kernel nodes have other ports than 0");
    }
    if (data.type != DependencyType::programmatic || data.to_port != 0 || !kernel || !to.is_kernel() ||
        (data.from_port != ports::kernel_programmatic && data.from_port != ports::kernel_launch_order)) {
        return fail(Status::invalid_value,
                    "a programmatic edge leads from port 1 or 2 of a kernel node to a kernel node");
    }
    return Status::success;
}

Status HostRuntime::graph_add_node(GraphNodeHandle* node, GraphHandle graph,
                                   const GraphNodeHandle* dependencies, const GraphEdgeData* edge_data,
                                   std::size_t count, GraphNodeParameters* parameters) {
    ENTER(other);
    if (node == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    *node = nullptr;
    // A GPU makes these checks before it looks at the graph and the dependencies.
    auto made = GraphNode::make_for(*parameters);
    if (made == nullptr) {
        // Refused before the library is asked: its last error stays.
        thread().detail = "a node of type " + std::to_string(static_cast<int>(type_of(*parameters)));
        return Status::not_supported;
    }
    TRY(made->check(*this, *parameters));
    const Found<Graph> into = find_graph(graph);
    if (into == nullptr || (dependencies == nullptr && count > 0)) return fail(Status::invalid_value);
    made->graph = into.get();
    made->serial = ++graphs_->last_serial;
    made->device = thread().device;
    std::unordered_set<const GraphNode*> seen;
    for (std::size_t i = 0; i < count; ++i) {
        const Found<const GraphNode> from = find_node(dependencies[i]);
        if (from == nullptr || from->graph != into)
            return fail(Status::invalid_value, "a dependency that is no node of the graph");
        if (!seen.insert(from.get()).second)
            return fail(Status::invalid_value, "a dependency that is given twice");
        if (edge_data == nullptr) continue;
        TRY(check_edge(*from, *made, edge_data[i]));
    }
    if (made->manages_memory()) into->asked_for_memory = true;
    TRY(made->set(*this, *parameters));
    GraphNode& added = append(*into, std::move(made));
    for (std::size_t i = 0; i < count; ++i) {
        connect(*find_node(dependencies[i]), added, edge_data == nullptr ? GraphEdgeData{} : edge_data[i]);
    }
    graphs_->nodes.emplace(&added, &added);
    *node = reinterpret_cast<GraphNodeHandle>(&added);
    return Status::success;
}

Status HostRuntime::graph_destroy_node(GraphNodeHandle handle) {
    ENTER(other);
    const Found<GraphNode> node = find_node(handle);
    if (node == nullptr) return fail(Status::invalid_value, "the node does not exist, or was destroyed");
    if (node->graph->allocates())
        return fail(Status::not_supported, "of a graph that allocates memory nothing is taken away");
    for (const auto& [id, capture] : graphs_->captures) {
        for (const auto& body : node->bodies) {
            if (capture->is_within(*body))
                return fail(Status::invalid_value, "a stream is being captured to a graph of the node");
        }
    }
    const auto leads_here = [&](const GraphNode::Edge& edge) { return edge.node == node; };
    for (const GraphNode::Edge& edge : node->dependencies) std::erase_if(edge.node->dependents, leads_here);
    for (const GraphNode::Edge& edge : node->dependents) std::erase_if(edge.node->dependencies, leads_here);
    const auto forget = [&](std::vector<GraphNode*>& tips, std::vector<GraphEdgeData>& edges) {
        for (std::size_t i = tips.size(); i-- > 0;) {
            if (tips[i] != node) continue;
            tips.erase(tips.begin() + static_cast<std::ptrdiff_t>(i));
            edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(i));
        }
    };
    for (const auto& [id, capture] : graphs_->captures) {
        if (capture->graph != node->graph) continue;
        std::erase(capture->left, node.get());
        for (Stream* stream : capture->streams) forget(stream->tips, stream->tip_edges);
        for (const auto& [address, event] : events_) {
            if (event->capture == id) forget(event->tips, event->tip_edges);
        }
    }
    forget_node(*node);
    std::erase_if(node->graph->nodes, [&](const auto& other) { return other.get() == node; });
    return Status::success;
}

Status HostRuntime::read_edges(GraphHandle graph, const GraphNodeHandle* from, const GraphNodeHandle* to,
                               const GraphEdgeData* edge_data, std::size_t count,
                               std::vector<NewEdge>* edges) {
    const Found<const Graph> of = find_graph(graph);
    if (of == nullptr || ((from == nullptr || to == nullptr) && count > 0))
        return fail(Status::invalid_value);
    for (std::size_t i = 0; i < count; ++i) {
        const Found<GraphNode> first = find_node(from[i]), second = find_node(to[i]);
        if (first == nullptr || second == nullptr || first->graph != of || second->graph != of)
            return fail(Status::invalid_value, "an edge whose ends are not nodes of the graph");
        edges->push_back({first.get(), second.get(), edge_data == nullptr ? GraphEdgeData{} : edge_data[i]});
    }
    return Status::success;
}

Status HostRuntime::graph_add_dependencies(GraphHandle graph, const GraphNodeHandle* from,
                                           const GraphNodeHandle* to, const GraphEdgeData* edge_data,
                                           std::size_t count) {
    ENTER(other);
    std::vector<NewEdge> edges;
    TRY(read_edges(graph, from, to, edge_data, count, &edges));
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
    for (const NewEdge& edge : edges) {
        if (edge.from == edge.to) return undo(fail(Status::invalid_value, "a node cannot depend on itself"));
        const bool there = std::any_of(edge.from->dependents.begin(), edge.from->dependents.end(),
                                       [&](const GraphNode::Edge& other) { return other.node == edge.to; });
        if (there) return undo(fail(Status::invalid_value, "the edge is there already"));
        if (Status status = check_edge(*edge.from, *edge.to, edge.data); status != Status::success)
            return undo(status);
        connect(*edge.from, *edge.to, edge.data);
        ++added;
    }
    return Status::success;
}

Status HostRuntime::graph_remove_dependencies(GraphHandle graph, const GraphNodeHandle* from,
                                              const GraphNodeHandle* to, const GraphEdgeData* edge_data,
                                              std::size_t count) {
    ENTER(other);
    std::vector<NewEdge> edges;
    const Found<const Graph> of = find_graph(graph);
    if (of != nullptr && of->allocates())
        return fail(Status::not_supported, "of a graph that allocates memory nothing is taken away");
    TRY(read_edges(graph, from, to, edge_data, count, &edges));
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const NewEdge& edge = edges[i];
        const bool there = std::any_of(
            edge.from->dependents.begin(), edge.from->dependents.end(),
            [&](const GraphNode::Edge& other) { return other.node == edge.to && other.data == edge.data; });
        const bool twice =
            std::any_of(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const NewEdge& other) { return other.from == edge.from && other.to == edge.to; });
        if (!there || twice) return fail(Status::invalid_value, "there is no such edge");
    }
    for (const NewEdge& edge : edges) {
        std::erase_if(edge.from->dependents, [&](const auto& other) { return other.node == edge.to; });
        std::erase_if(edge.to->dependencies, [&](const auto& other) { return other.node == edge.from; });
    }
    return Status::success;
}
}  // namespace cuscope::host
