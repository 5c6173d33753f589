// The host runtime's conditional nodes: what they look at, and the graphs that they choose from.
#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

Status HostRuntime::graph_conditional_handle_create(ConditionalHandle* handle, GraphHandle graph,
                                                    unsigned default_value, unsigned flags) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Graph* of = find_graph(graph).get();
    if (handle == nullptr || of == nullptr || (flags & ~flags::condition_assign_default) != 0)
        return fail(Status::invalid_value);
    auto made = std::make_shared<GraphCondition>();
    made->assign = flags != 0;
    made->default_value = made->value = made->assign ? default_value : 0;
    *handle = reinterpret_cast<ConditionalHandle>(made.get());
    // All are of the outermost graph, which is what is launched.
    while (of->parent != nullptr) of = of->parent->graph;
    of->conditions.push_back(std::move(made));
    return Status::success;
}

Status HostRuntime::fill_conditional(GraphNode& node, ConditionalNodeParameters& parameters) {
    const auto type = static_cast<int>(parameters.type);
    const unsigned most = parameters.type == ConditionalType::while_ ? 1
                          : parameters.type == ConditionalType::if_  ? 2
                                                                     : ~0U;
    if (type < 0 || type > 2 || parameters.size == 0 || parameters.size > most) {
        return fail(Status::invalid_value, "a conditional node of " + std::to_string(parameters.size) +
                                               " graphs; a while has 1, an if 1 or 2, a switch 1 or more");
    }
    const Graph* outermost = node.graph;
    while (outermost->parent != nullptr) outermost = outermost->parent->graph;
    GraphCondition* condition = nullptr;
    for (const auto& known : outermost->conditions) {
        if (reinterpret_cast<ConditionalHandle>(known.get()) == parameters.handle) condition = known.get();
    }
    if (condition == nullptr || condition->used) {
        return fail(Status::invalid_value, "the handle is none of the graph, or another node has it");
    }
    condition->used = true;
    for (unsigned i = 0; i < parameters.size; ++i) {
        auto body = new_graph();
        body->parent = &node;
        graphs_->alive.insert(body.get());
        node.body_handles.push_back(reinterpret_cast<GraphHandle>(body.get()));
        node.bodies.push_back(std::move(body));
    }
    parameters.bodies = node.body_handles.data();
    node.parameters = parameters;
    return Status::success;
}

}  // namespace cuscope::host
