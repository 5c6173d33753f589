// The host runtime's graphs: making, cloning and destroying them and their nodes.
#include <algorithm>
#include <unordered_set>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

Status give_nodes(const std::vector<GraphNode*>& found, GraphNodeHandle* nodes, std::size_t* count) {
    if (count == nullptr) return fail(Status::invalid_value);
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

}  // namespace

Status HostRuntime::graph_create(GraphHandle* graph, unsigned flags) {
    ENTER(other);
    if (graph == nullptr || flags != 0) return fail(Status::invalid_value, "flags of a graph are 0");
    *graph = machine_.graphs.add(machine_.graphs.make());
    return Status::success;
}

Status HostRuntime::graph_destroy(GraphHandle graph) {
    ENTER(other);
    return machine_.graphs.destroy(graph);
}

Status HostRuntime::graph_clone(GraphHandle* clone, GraphHandle original) {
    ENTER(other);
    const Found<const Graph> graph = machine_.graphs.find(original);
    if (graph == nullptr || clone == nullptr)
        return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    if (graph->unique()) {
        return fail(Status::not_supported,
                    "a graph with conditional nodes, or that allocates memory, is not cloned");
    }
    *clone = machine_.graphs.add(machine_.graphs.copy(*graph, false));
    return Status::success;
}

Status HostRuntime::graph_get_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) {
    ENTER(other);
    const Found<const Graph> of = machine_.graphs.find(graph);
    if (of == nullptr) return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    std::vector<GraphNode*> found;
    for (const auto& node : of->nodes) found.push_back(node.get());
    return give_nodes(found, nodes, count);
}

Status HostRuntime::graph_get_root_nodes(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* count) {
    ENTER(other);
    const Found<const Graph> of = machine_.graphs.find(graph);
    if (of == nullptr) return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    std::vector<GraphNode*> found;
    for (const auto& node : of->nodes) {
        if (node->dependencies.empty()) found.push_back(node.get());
    }
    return give_nodes(found, nodes, count);
}

Status HostRuntime::graph_conditional_handle_create(ConditionalHandle* handle, GraphHandle graph,
                                                    unsigned default_value, unsigned flags) {
    ENTER(other);
    Graph* of = machine_.graphs.find(graph).get();
    if (handle == nullptr || of == nullptr || (flags & ~flags::condition_assign_default) != 0)
        return fail(Status::invalid_value);
    auto made = std::make_shared<GraphCondition>();
    made->assign = flags != 0;
    made->default_value = made->value = made->assign ? default_value : 0;
    *handle = reinterpret_cast<ConditionalHandle>(made.get());
    // All conditions belong to the outermost graph, because that graph is launched.
    while (of->parent != nullptr) of = of->parent->graph;
    of->conditions.push_back(std::move(made));
    return Status::success;
}

// ---- nodes

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
    TRY(made->check(machine_, *parameters));
    const Found<Graph> into = machine_.graphs.find(graph);
    if (into == nullptr || (dependencies == nullptr && count > 0)) return fail(Status::invalid_value);
    made->graph = into.get();
    machine_.graphs.number(*made);
    made->device = thread().device;
    std::unordered_set<const GraphNode*> seen;
    for (std::size_t i = 0; i < count; ++i) {
        const Found<const GraphNode> from = machine_.graphs.find_node(dependencies[i]);
        if (from == nullptr || from->graph != into)
            return fail(Status::invalid_value, "a dependency that is no node of the graph");
        if (!seen.insert(from.get()).second)
            return fail(Status::invalid_value, "a dependency that is given twice");
        if (edge_data == nullptr) continue;
        TRY(from->check_edge_to(*made, edge_data[i]));
    }
    if (made->manages_memory()) into->asked_for_memory = true;
    TRY(made->set(machine_, *parameters));
    GraphNode& added = machine_.graphs.add_node(*into, std::move(made));
    for (std::size_t i = 0; i < count; ++i) {
        machine_.graphs.find_node(dependencies[i])
            ->connect_to(added, edge_data == nullptr ? GraphEdgeData{} : edge_data[i]);
    }
    *node = added.handle();
    return Status::success;
}

Status HostRuntime::graph_destroy_node(GraphNodeHandle handle) {
    ENTER(other);
    const Found<GraphNode> node = machine_.graphs.find_node(handle);
    if (node == nullptr) return fail(Status::invalid_value, "the node does not exist, or was destroyed");
    if (node->graph->allocates())
        return fail(Status::not_supported, "of a graph that allocates memory nothing is taken away");
    for (const auto& body : node->bodies) {
        if (machine_.captures.fills(*body))
            return fail(Status::invalid_value, "a stream is being captured to a graph of the node");
    }
    machine_.graphs.destroy_node(*node);
    return Status::success;
}

Status HostRuntime::graph_node_find_in_clone(GraphNodeHandle* node, GraphNodeHandle original,
                                             GraphHandle clone) {
    ENTER(other);
    const Found<const GraphNode> wanted = machine_.graphs.find_node(original);
    const Found<const Graph> graph = machine_.graphs.find(clone);
    if (node == nullptr || wanted == nullptr || graph == nullptr) return fail(Status::invalid_value);
    *node = nullptr;
    for (const auto& other : graph->nodes) {
        if (other->origin == wanted->serial) *node = other->handle();
    }
    return *node != nullptr ? Status::success
                            : fail(Status::invalid_value, "the graph has no clone of the node");
}

Status HostRuntime::graph_node_get_type(GraphNodeHandle node, GraphNodeType* type) {
    ENTER(other);
    const LastErrorKept kept;  // the driver is asked: the library does not know all types
    const Found<const GraphNode> found = machine_.graphs.find_node(node);
    if (found == nullptr || type == nullptr) return fail(Status::invalid_value);
    *type = found->type();
    return Status::success;
}

Status HostRuntime::graph_node_get_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    ENTER(other);
    const Found<const GraphNode> found = machine_.graphs.find_node(node);
    if (found == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    *parameters = found->parameters();
    return Status::success;
}

Status HostRuntime::graph_node_set_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    ENTER(other);
    const Found<GraphNode> found = machine_.graphs.find_node(node);
    if (found == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    TRY(found->check_settable(*parameters));
    return found->set(machine_, *parameters);
}

}  // namespace cuscope::host
