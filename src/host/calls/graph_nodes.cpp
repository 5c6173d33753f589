// The nodes of the host runtime's graphs.
#include <unordered_set>

#include "host/graph/nodes/kernel.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

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
    if (node == nullptr) return invalid_handle("node", Status::invalid_value);
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

// ---- attributes of kernel nodes

Status HostRuntime::graph_kernel_node_set_attribute(GraphNodeHandle node, LaunchAttributeId id,
                                                    const LaunchAttribute* value) {
    ENTER(other);
    const Found<KernelNode> found = KernelNode::find(machine_, node);
    if (found == nullptr || value == nullptr) return fail(Status::invalid_value);
    std::vector<LaunchAttribute> attributes = found->attributes();
    std::erase_if(attributes, [&](const LaunchAttribute& other) { return other.id == id; });
    attributes.push_back(*value);
    attributes.back().id = id;
    return found->set_attributes(machine_, std::move(attributes));
}

Status HostRuntime::graph_kernel_node_get_attribute(GraphNodeHandle node, LaunchAttributeId id,
                                                    LaunchAttribute* value) {
    ENTER(other);
    const Found<const KernelNode> found = KernelNode::find(machine_, node);
    if (found == nullptr || value == nullptr) return fail(Status::invalid_value);
    *value = {};
    value->id = id;
    for (const LaunchAttribute& attribute : found->attributes()) {
        if (attribute.id == id) *value = attribute;
    }
    return Status::success;
}

Status HostRuntime::graph_kernel_node_copy_attributes(GraphNodeHandle destination, GraphNodeHandle source) {
    ENTER(other);
    const Found<KernelNode> to = KernelNode::find(machine_, destination);
    const Found<const KernelNode> from = KernelNode::find(machine_, source);
    if (to == nullptr || from == nullptr) return fail(Status::invalid_value);
    return to->set_attributes(machine_, from->attributes());
}

}  // namespace cuscope::host
