// The host runtime's executables: a plan of commands that is made once and enqueued at every launch.
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

constexpr char launched_detail[] =
    "executables are neither launched nor uploaded in a stream that is being captured";

// Refuses a node of a graph of which the executable was not made.
Status check_own(const GraphExec& exec, const GraphNode& node) {
    if (exec.own(node) != nullptr) return Status::success;
    return fail(Status::invalid_value, "the executable was not made of the node's graph");
}

// Refuses also a node that no executable can leave out.
Status check_disabling(const GraphExec& exec, const GraphNode& node) {
    TRY(check_own(exec, node));
    if (node.can_be_disabled()) return Status::success;
    return fail(Status::invalid_value, "only kernel, copy and memset nodes are disabled");
}

}  // namespace

Status HostRuntime::graph_instantiate(GraphExecHandle* exec, GraphHandle graph,
                                      GraphInstantiateParameters* parameters) {
    ENTER(graph_instantiate);
    constexpr unsigned long long known = flags::graph_auto_free_on_launch | flags::graph_upload |
                                         flags::graph_device_launch | flags::graph_use_node_priority;
    if (exec == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    *exec = nullptr;
    const unsigned long long flags = parameters->flags;
    parameters->error_node = nullptr;
    parameters->result = GraphInstantiateResult::error;
    if ((flags & ~known) != 0) {
        return fail(Status::invalid_value, "flags of " + std::to_string(flags) + "; allowed are 0 to 15");
    }
    // An upload is work of its stream, which may go on beside a capture; all else of an instantiation may
    // not.
    Stream* upload_stream = nullptr;
    if ((flags & flags::graph_upload) != 0) {
        upload_stream = machine_.find_stream(parameters->upload_stream).get();
        if (upload_stream == nullptr) return invalid_handle("stream");
        TRY(machine_.captures.admit_uncaptured(*upload_stream, launched_detail));
    } else {
        TRY(machine_.captures.forbidden());
    }
    const Found<Graph> from = machine_.graphs.find(graph);
    if (from == nullptr) return invalid_handle("graph", Status::invalid_value);
    const bool device_launch = (flags & flags::graph_device_launch) != 0;
    if (device_launch && (flags & flags::graph_auto_free_on_launch) != 0)
        return fail(
            Status::invalid_value,
            "a graph that kernels launch cannot free memory at each launch: pass one of the two flags");
    if (device_launch && from->nodes.empty())
        return fail(Status::invalid_value, "what kernels launch has one node or more");
    TRY(check_executable(machine_, *from, device_launch, device_launch, parameters));
    for (const auto& condition : from->conditions) {
        if (condition->used) continue;
        parameters->result = GraphInstantiateResult::conditional_handle_unused;
        return fail(Status::invalid_value, "a condition of the graph that no conditional node has");
    }
    TRY(machine_.graphs.check_unique(*from, nullptr));
    auto made = std::make_unique<GraphExec>(machine_, *from, flags);
    if (upload_stream != nullptr) made->upload(machine_, *upload_stream);
    machine_.timeline.spend(machine_.devices.current().model->costs.graph_instantiate_node *
                            static_cast<std::int64_t>(made->plan->nodes));
    visit_nodes(*from, [&](const GraphNode& node) { node.note_instantiation(machine_); });
    *exec = machine_.graphs.add_exec(std::move(made));
    parameters->result = GraphInstantiateResult::success;
    return Status::success;
}

// The launches under way go on.
Status HostRuntime::graph_exec_destroy(GraphExecHandle exec) {
    ENTER(other);
    if (machine_.graphs.find_exec(exec) == nullptr)
        return invalid_handle("executable", Status::invalid_value);
    TRY(machine_.captures.forbidden());
    machine_.graphs.destroy_exec(exec);
    return Status::success;
}

Status HostRuntime::graph_exec_get_flags(GraphExecHandle exec, unsigned long long* flags) {
    ENTER(other);
    const Found<const GraphExec> found = machine_.graphs.find_exec(exec);
    if (found == nullptr || flags == nullptr) return fail(Status::invalid_value);
    // As on a GPU, flags of uploads and priorities are not in the answer.
    *flags = found->flags & (flags::graph_auto_free_on_launch | flags::graph_device_launch);
    return Status::success;
}

Status HostRuntime::graph_upload(GraphExecHandle exec, StreamHandle stream) {
    ENTER(graph_launch);
    const Found<Stream> in = machine_.find_stream(stream);
    if (in == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_uncaptured(*in, launched_detail));
    const Found<GraphExec> found = machine_.graphs.find_exec(exec);
    if (found == nullptr) return invalid_handle("executable", Status::invalid_value);
    found->upload(machine_, *in);
    machine_.waits.relieve(call.lock());
    return Status::success;
}

Status HostRuntime::graph_launch(GraphExecHandle exec, StreamHandle handle) {
    ENTER(graph_launch);
    const Found<Stream> stream = machine_.find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    TRY(machine_.captures.admit_uncaptured(*stream, launched_detail));
    const Found<GraphExec> found = machine_.graphs.find_exec(exec);
    if (found == nullptr) return invalid_handle("executable", Status::invalid_value);
    return found->launch(machine_, call.lock(), *stream);
}

// ---- changes

Status HostRuntime::graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphExecUpdateInfo* info) {
    ENTER(graph_instantiate);
    const Found<GraphExec> found = machine_.graphs.find_exec(exec);
    const Found<const Graph> from = machine_.graphs.find(graph);
    if (info == nullptr) return fail(Status::invalid_value);
    *info = {GraphExecUpdateResult::error, nullptr, nullptr};
    if (found == nullptr || from == nullptr) return fail(Status::invalid_value);
    TRY(machine_.graphs.check_unique(*from, found.get()));
    *info = found->plan->graph->difference(*from);
    if (info->result != GraphExecUpdateResult::success) {
        return fail(Status::graph_exec_update_failure, "the graphs differ in what an update cannot change");
    }
    GraphPlan& plan = found->changeable(machine_);
    plan.graph->take_parameters(machine_, *from);
    plan.note_launching();
    if (from->unique()) {  // it is that graph's one executable now
        found->source = from->number;
        found->unique = true;
    }
    return Status::success;
}

Status HostRuntime::graph_exec_node_set_params(GraphExecHandle exec, GraphNodeHandle node,
                                               GraphNodeParameters* parameters) {
    ENTER(other);
    const Found<GraphExec> found = machine_.graphs.find_exec(exec);
    const Found<const GraphNode> original = machine_.graphs.find_node(node);
    if (found == nullptr || original == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    TRY(check_own(*found, *original));
    // The plan's own node has no graph that others know, and takes the changes that the original may take.
    GraphPlan& plan = found->changeable(machine_);
    GraphNode& own = *found->own(*original);
    if (own.type() != GraphNodeType::graph && std::holds_alternative<ChildGraphNodeParameters>(*parameters))
        return fail(Status::invalid_value, "the child graph is built in another way than the node's");
    TRY(own.check_settable(*parameters));
    TRY(own.change(machine_, *parameters));
    if (own.bodies.empty()) {
        plan.may_launch_graphs |= own.may_launch_graphs();
    } else {
        plan.note_launching();
    }
    return Status::success;
}

Status HostRuntime::graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned enabled) {
    ENTER(other);
    const Found<GraphExec> found = machine_.graphs.find_exec(exec);
    const Found<const GraphNode> original = machine_.graphs.find_node(node);
    if (found == nullptr || original == nullptr) return fail(Status::invalid_value);
    TRY(check_disabling(*found, *original));
    found->changeable(machine_);
    found->own(*original)->enabled = enabled != 0;
    return Status::success;
}

Status HostRuntime::graph_node_get_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned* enabled) {
    ENTER(other);
    const Found<const GraphExec> found = machine_.graphs.find_exec(exec);
    const Found<const GraphNode> original = machine_.graphs.find_node(node);
    if (found == nullptr || original == nullptr || enabled == nullptr) return fail(Status::invalid_value);
    TRY(check_disabling(*found, *original));
    *enabled = found->own(*original)->enabled ? 1 : 0;
    return Status::success;
}

}  // namespace cuscope::host
