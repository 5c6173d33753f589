// Calls about single nodes of the host runtime's graphs. The classes of nodes stand in nodes/.
#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"
#include "runtime/overloads.hpp"

namespace cuscope::host {

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make_for(const GraphNodeParameters& parameters) {
    return std::visit(overloads{[](const auto& given) { return make(given); },
                                [](const UnknownNodeParameters&) { return Made(); }},
                      parameters);
}

void HostRuntime::GraphNode::enqueue(HostRuntime&, const Launch& launch, Command* made) const {
    if (!command || !enabled) return;
    made->imitate(*command.get());
    made->role = Role::effect;
    if (launch.run.node_priority) made->priority = command->priority;
}

// Refuses parameters that the node does not take from any call.
Status HostRuntime::check_settable(const GraphNode& node, const GraphNodeParameters& parameters) {
    if (type_of(parameters) != node.type())
        return fail(Status::invalid_value, "the parameters are of another type than the node");
    if (node.is_fixed())
        return fail(Status::not_supported, "the parameters of a node of this type are set for good");
    return Status::success;
}

Status HostRuntime::graph_node_get_type(GraphNodeHandle node, GraphNodeType* type) {
    ENTER(other);
    const LastErrorKept kept;  // the driver is asked: the library does not know all types
    const Found<const GraphNode> found = find_node(node);
    if (found == nullptr || type == nullptr) return fail(Status::invalid_value);
    *type = found->type();
    return Status::success;
}

Status HostRuntime::graph_node_get_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    ENTER(other);
    const Found<const GraphNode> found = find_node(node);
    if (found == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    *parameters = found->parameters();
    return Status::success;
}

Status HostRuntime::graph_node_set_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    ENTER(other);
    const Found<GraphNode> found = find_node(node);
    if (found == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    TRY(check_settable(*found, *parameters));
    return found->set(*this, *parameters);
}

}  // namespace cuscope::host
