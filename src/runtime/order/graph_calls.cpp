// Graphs and captures.
#include <algorithm>

#include "runtime/order/operations.hpp"
#include "runtime/order/order_runtime.hpp"

namespace cuscope::order {

// The call has become a node: the one that the stream's next work will depend on.
void OrderRuntime::note_node(StreamHandle stream, Work work) {
    GraphNodeHandle node = nullptr;
    {
        const Quiet quiet;
        node = under().last_captured(stream);
    }
    if (node == nullptr) return;
    GraphPart part;
    part.what = std::move(work.what);
    part.line = program_line_number();
    part.type = work.kernels.empty() ? GraphNodeType::memcpy : GraphNodeType::kernel;
    part.accesses = std::move(work.accesses);
    part.kernels = std::move(work.kernels);
    for (KernelPart& kernel : part.kernels) kernel.token = 0;
    part.records = work.records;
    part.waits_for = work.waits_for;
    if (!work.host_functions.empty()) part.host_data = work.host_functions.front();
    const auto note = [&](const Access& access) {
        std::uintptr_t begin = 0;
        const std::uint64_t serial = Checker::get().serial_holding(access.begin, &begin);
        if (serial != 0) part.uses.emplace_back(begin, serial);
    };
    for (const Access& access : part.accesses) note(access);
    for (const KernelPart& kernel : part.kernels)
        for (const Access& access : kernel.by_signature) note(access);
    graphs_.add(node, std::move(part));
}

Status OrderRuntime::graph_clone(GraphHandle* clone, GraphHandle original) {
    const Status status = ForwardingRuntime::graph_clone(clone, original);
    if (status == Status::success && watched()) graphs_.clone(*clone, original);
    return status;
}

Status OrderRuntime::graph_add_node(GraphNodeHandle* node, GraphHandle graph,
                                    const GraphNodeHandle* dependencies, const GraphEdgeData* edge_data,
                                    std::size_t count, GraphNodeParameters* parameters) {
    if (!watched())
        return ForwardingRuntime::graph_add_node(node, graph, dependencies, edge_data, count, parameters);
    made_launches().clear();
    const Status status =
        ForwardingRuntime::graph_add_node(node, graph, dependencies, edge_data, count, parameters);
    if (status == Status::success) graphs_.add(*node, graphs_.part_of(*parameters));
    return status;
}

Status OrderRuntime::graph_destroy_node(GraphNodeHandle node) {
    const Status status = ForwardingRuntime::graph_destroy_node(node);
    if (status == Status::success && watched()) graphs_.forget(node);
    return status;
}

Status OrderRuntime::graph_node_set_params(GraphNodeHandle node, GraphNodeParameters* parameters) {
    if (!watched()) return ForwardingRuntime::graph_node_set_params(node, parameters);
    made_launches().clear();
    const Status status = ForwardingRuntime::graph_node_set_params(node, parameters);
    if (status == Status::success) graphs_.change(node, graphs_.part_of(*parameters));
    return status;
}

Status OrderRuntime::graph_instantiate(GraphExecHandle* exec, GraphHandle graph,
                                       GraphInstantiateParameters* parameters) {
    const Status status = ForwardingRuntime::graph_instantiate(exec, graph, parameters);
    if (status == Status::success && watched()) graphs_.instantiated(*exec, graph);
    return status;
}

Status OrderRuntime::graph_exec_destroy(GraphExecHandle exec) {
    const Status status = ForwardingRuntime::graph_exec_destroy(exec);
    if (status == Status::success && watched()) {
        graphs_.destroyed(exec);
        Checker::get().exec_destroyed(exec);
    }
    return status;
}

Status OrderRuntime::graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphExecUpdateInfo* info) {
    const Status status = ForwardingRuntime::graph_exec_update(exec, graph, info);
    if (status == Status::success && watched()) graphs_.instantiated(exec, graph);
    return status;
}

Status OrderRuntime::graph_exec_node_set_params(GraphExecHandle exec, GraphNodeHandle node,
                                                GraphNodeParameters* parameters) {
    if (!watched()) return ForwardingRuntime::graph_exec_node_set_params(exec, node, parameters);
    made_launches().clear();
    const Status status = ForwardingRuntime::graph_exec_node_set_params(exec, node, parameters);
    if (status == Status::success) graphs_.change(exec, node, graphs_.part_of(*parameters));
    return status;
}

Status OrderRuntime::graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned enabled) {
    const Status status = ForwardingRuntime::graph_node_set_enabled(exec, node, enabled);
    if (status == Status::success && watched()) graphs_.enable(exec, node, enabled != 0);
    return status;
}

Status OrderRuntime::graph_launch(GraphExecHandle exec, StreamHandle stream) {
    if (!watched()) return ForwardingRuntime::graph_launch(exec, stream);
    const std::shared_ptr<GraphShape> shape = graphs_.shape_of(exec);
    const bool captured = is_captured(stream);
    if (shape && !captured) Checker::get().find_stale(key_of(stream), *shape);
    made_launches().clear();
    const Status status = ForwardingRuntime::graph_launch(exec, stream);
    if (status != Status::success || captured) return status;
    Work work;
    work.what = "the launch of a graph";
    work.graph = shape;
    std::vector<MadeLaunch> made = made_launches();
    for (std::size_t place = 0; shape && place < shape->nodes.size(); ++place) {
        const GraphPart& part = shape->nodes[place].part;
        if (!part.enabled) continue;
        if (part.host_data != nullptr) work.host_functions.push_back(part.host_data);
        for (KernelPart kernel : part.kernels) {
            const auto found = std::find_if(made.begin(), made.end(),
                                            [&](const MadeLaunch& one) { return one.key == kernel.key; });
            // A checked kernel that is not enqueued yet, as in the body of a condition, is left out.
            if (kernel.key != 0 && found == made.end()) continue;
            if (kernel.key != 0) {
                kernel.token = found->token;
                made.erase(found);
            }
            kernel.node = part.what;
            kernel.node_line = part.line;
            kernel.place = place;
            work.kernels.push_back(std::move(kernel));
        }
    }
    Checker::get().enqueue_graph(key_of(stream), exec, std::move(work));
    return status;
}

}  // namespace cuscope::order
