#include "host/graph/node.hpp"

#include "host/graph/plan.hpp"
#include "host/runtime/machine.hpp"
#include "runtime/overloads.hpp"

namespace cuscope::host {

GraphNode::Made GraphNode::make_for(const GraphNodeParameters& parameters) {
    return std::visit(overloads{[](const auto& given) { return make(given); },
                                [](const UnknownNodeParameters&) { return Made(); }},
                      parameters);
}

void GraphNode::enqueue(Machine&, const Launch& launch, Command* made) const {
    if (!command || !enabled) return;
    made->imitate(*command.get());
    made->role = Role::effect;
    if (launch.run.node_priority) made->priority = command->priority;
}

Status GraphNode::check_settable(const GraphNodeParameters& given) const {
    if (type_of(given) != type())
        return fail(Status::invalid_value, "the parameters are of another type than the node");
    if (is_fixed())
        return fail(Status::not_supported, "the parameters of a node of this type are set for good");
    return Status::success;
}

Status GraphNode::check_edge_to(const GraphNode& to, const GraphEdgeData& data) const {
    if (data == GraphEdgeData{}) return Status::success;
    const bool kernel = is_kernel();
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

void GraphNode::connect_to(GraphNode& to, const GraphEdgeData& data) {
    dependents.push_back({&to, data});
    to.dependencies.push_back({this, data});
}

void GraphNode::take_command(Machine& machine, const CommandRef& from) {
    command = from;
    if (!from || !graph->hidden) return;
    command = machine.adopt(machine.timeline.pool().make());
    command->imitate(*from.get());
    command->priority = from->priority;
    if (from->effect) command->effect = from->effect->copy();
}

}  // namespace cuscope::host
