// The host runtime's executables: a plan of commands that is made once and enqueued at every launch.
#include <algorithm>
#include <utility>

#include "host/graph/device_launch.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

Found<HostRuntime::GraphExec> HostRuntime::find_exec(GraphExecHandle handle) {
    const auto found = graphs_->execs.find(handle);
    return found == graphs_->execs.end() ? nullptr : found->second.get();
}

// ---- plans

// Child graphs are laid out in place: their first nodes wait for the nodes that the child waits for, and the
// nodes that wait for the child wait for its last ones.
void HostRuntime::plan_graph(Graph& graph, GraphSteps& steps, const std::vector<int>& begins,
                             std::vector<int>* ends) {
    struct Place {
        std::vector<int> last;  // steps after which the node is over
        std::size_t waits;      // how many nodes before it are not planned yet
    };
    std::unordered_map<const GraphNode*, Place> places;
    std::vector<GraphNode*> ready;
    for (const auto& node : graph.nodes) {
        places[node.get()].waits = node->dependencies.size();
        if (node->dependencies.empty()) ready.push_back(node.get());
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
        GraphNode* node = ready[next];
        std::vector<int> after;
        int overlapped = -1;
        const auto wait_for = [&](int step) {
            if (std::find(after.begin(), after.end(), step) == after.end()) after.push_back(step);
        };
        for (const GraphNode::Edge& edge : node->dependencies) {
            const std::vector<int>& last = places[edge.node].last;
            if (edge.data.type == DependencyType::programmatic && overlapped < 0) {
                overlapped = last.front();
                continue;
            }
            for (const int step : last) wait_for(step);
        }
        std::erase(after, overlapped);
        if (node->dependencies.empty()) after = begins;
        Place& place = places[node];
        if (node->is_laid_out() && node->enabled) {
            plan_graph(*node->bodies.front(), steps, after, &place.last);
            if (place.last.empty()) place.last = after;
        } else {
            GraphStep step;
            step.node = node;
            step.after = std::move(after);
            step.overlapped = overlapped;
            for (const auto& body : node->bodies) {
                GraphSteps& inner = step.bodies.emplace_back();
                plan_graph(*body, inner, {}, &inner.ends);
            }
            place.last = {static_cast<int>(steps.steps.size())};
            steps.steps.push_back(std::move(step));
        }
        for (const GraphNode::Edge& edge : node->dependents) {
            if (--places[edge.node].waits == 0) ready.push_back(edge.node);
        }
    }
    for (const auto& node : graph.nodes) {
        if (!node->dependents.empty()) continue;
        for (const int step : places[node.get()].last) {
            if (std::find(ends->begin(), ends->end(), step) == ends->end()) ends->push_back(step);
        }
    }
}

void HostRuntime::make_plan(GraphPlan& plan) {
    plan.whole = {};
    plan.nodes = 0;
    visit_nodes(*plan.graph, [&](const GraphNode&) { ++plan.nodes; });
    plan_graph(*plan.graph, plan.whole, {}, &plan.whole.ends);
    note_launching(plan);
}

void HostRuntime::note_launching(GraphPlan& plan) {
    plan.may_launch_graphs = false;
    visit_nodes(*plan.graph,
                [&](const GraphNode& node) { plan.may_launch_graphs |= node.may_launch_graphs(); });
}

std::shared_ptr<HostRuntime::GraphPlan> HostRuntime::plan_of(const Graph& graph) {
    auto plan = std::make_shared<GraphPlan>();
    plan->graph = copy_graph(graph, true);
    visit_nodes(*plan->graph, [&](GraphNode& node) { plan->by_origin[node.origin] = &node; });
    make_plan(*plan);
    return plan;
}

// The plan, to be changed: another plan if a launch still decides by this one.
HostRuntime::GraphPlan& HostRuntime::changeable(GraphExec& exec) {
    if (exec.plan.use_count() == 1) return *exec.plan;
    auto plan = plan_of(*exec.plan->graph);
    std::unordered_map<unsigned long long, GraphNode*> by_origin;
    for (const auto& [origin, node] : exec.plan->by_origin) {
        GraphNode* const copy = plan->by_origin.at(node->serial);
        copy->enabled = node->enabled;
        by_origin[origin] = copy;
    }
    plan->by_origin = std::move(by_origin);
    exec.plan = std::move(plan);
    return *exec.plan;
}

// A graph with conditional nodes, or that allocates memory, has no other executable than `exec`.
Status HostRuntime::check_unique(const Graph& graph, const GraphExec* exec) {
    if (!graph.unique()) return Status::success;
    for (const auto& [address, other] : graphs_->execs) {
        if (other.get() == exec || !other->unique || other->source != graph.number) continue;
        return fail(Status::not_supported,
                    "a graph with conditional nodes, or that allocates memory, has one executable at a time: "
                    "destroy the other first");
    }
    return Status::success;
}

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
        upload_stream = find_stream(parameters->upload_stream).get();
        if (upload_stream == nullptr) return invalid_handle("stream");
        TRY(admit_uncaptured(*upload_stream, launched_detail));
    } else if (Status status = forbidden(); status != Status::success) {
        return status;
    }
    const Found<Graph> from = find_graph(graph);
    if (from == nullptr) return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    const bool device_launch = (flags & flags::graph_device_launch) != 0;
    if (device_launch && (flags & flags::graph_auto_free_on_launch) != 0)
        return fail(Status::invalid_value, "what kernels launch frees nothing at a launch: take one flag");
    if (device_launch && from->nodes.empty())
        return fail(Status::invalid_value, "what kernels launch has one node or more");
    TRY(check_executable(*from, device_launch, device_launch, parameters));
    for (const auto& condition : from->conditions) {
        if (condition->used) continue;
        parameters->result = GraphInstantiateResult::conditional_handle_unused;
        return fail(Status::invalid_value, "a condition of the graph that no conditional node has");
    }
    TRY(check_unique(*from, nullptr));
    auto made = std::make_unique<GraphExec>();
    made->plan = plan_of(*from);
    made->flags = flags;
    made->source = from->number;
    made->unique = from->unique();
    made->device = from->device;
    made->on_device = std::make_shared<DeviceGraph>();
    made->on_device->handle = reinterpret_cast<GraphExecHandle>(made.get());
    made->on_device->flags = flags;
    if (upload_stream != nullptr) upload(*made, *upload_stream);
    timeline_.spend(device().model->costs.graph_instantiate_node *
                    static_cast<std::int64_t>(made->plan->nodes));
    visit_nodes(*from, [&](const GraphNode& node) { node.note_instantiation(*this); });
    *exec = reinterpret_cast<GraphExecHandle>(made.get());
    graphs_->execs.emplace(made.get(), std::move(made));
    parameters->result = GraphInstantiateResult::success;
    return Status::success;
}

// The launches under way go on.
Status HostRuntime::graph_exec_destroy(GraphExecHandle exec) {
    ENTER(other);
    if (find_exec(exec) == nullptr)
        return fail(Status::invalid_value, "the executable does not exist, or was destroyed");
    TRY(forbidden());
    graphs_->execs.erase(exec);
    sweep_graph_memory();
    return Status::success;
}

Status HostRuntime::graph_exec_get_flags(GraphExecHandle exec, unsigned long long* flags) {
    ENTER(other);
    const Found<const GraphExec> found = find_exec(exec);
    if (found == nullptr || flags == nullptr) return fail(Status::invalid_value);
    // As on a GPU, flags of uploads and priorities are not in the answer.
    *flags = found->flags & (flags::graph_auto_free_on_launch | flags::graph_device_launch);
    return Status::success;
}

Status HostRuntime::graph_upload(GraphExecHandle exec, StreamHandle stream) {
    ENTER(graph_launch);
    const Found<Stream> in = find_stream(stream);
    if (in == nullptr) return invalid_handle("stream");
    TRY(admit_uncaptured(*in, launched_detail));
    const Found<GraphExec> found = find_exec(exec);
    if (found == nullptr)
        return fail(Status::invalid_value, "the executable does not exist, or was destroyed");
    upload(*found, *in);
    relieve(call.lock());
    return Status::success;
}

// Kernels launch the plan that was uploaded last, whatever is changed afterwards.
void HostRuntime::upload(const GraphExec& exec, Stream& stream) {
    if (!exec.on_device->by_device()) return;
    Command* command = begin(stream, Engine::none, Role::graph_upload);
    command->next = [on_device = exec.on_device, plan = exec.plan](Command*) { on_device->plan = plan; };
    commit(command);
}

// ---- changes

namespace {

// The place of each node in the order in which the nodes were made. Nodes of two graphs with the same place
// correspond.
template <class Graph>
auto numbered(const Graph& graph) {
    std::unordered_map<const void*, std::size_t> numbers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) numbers[graph.nodes[i].get()] = i;
    return numbers;
}

}  // namespace

GraphExecUpdateInfo HostRuntime::difference(const Graph& have, const Graph& want) {
    const auto handle = [](const GraphNode& node) {
        return reinterpret_cast<GraphNodeHandle>(const_cast<GraphNode*>(&node));
    };
    using Result = GraphExecUpdateResult;
    if (have.nodes.size() != want.nodes.size()) {
        const bool more = want.nodes.size() > have.nodes.size();
        return {Result::topology_changed, more ? handle(*want.nodes[have.nodes.size()]) : nullptr, nullptr};
    }
    const auto have_numbers = numbered(have), want_numbers = numbered(want);
    for (std::size_t i = 0; i < have.nodes.size(); ++i) {
        const GraphNode &old = *have.nodes[i], &node = *want.nodes[i];
        std::map<std::size_t, GraphEdgeData> edges;
        for (const GraphNode::Edge& edge : old.dependencies) edges[have_numbers.at(edge.node)] = edge.data;
        for (const GraphNode::Edge& edge : node.dependencies) {
            const auto same = edges.find(want_numbers.at(edge.node));
            if (same == edges.end() || !(same->second == edge.data))
                return {Result::topology_changed, handle(node), handle(*edge.node)};
            edges.erase(same);
        }
        if (!edges.empty()) return {Result::topology_changed, handle(node), nullptr};
    }
    for (std::size_t i = 0; i < have.nodes.size(); ++i) {
        const GraphNode &old = *have.nodes[i], &node = *want.nodes[i];
        if (old.type() != node.type()) return {Result::node_type_changed, handle(node), nullptr};
        if (old.device != node.device) return {Result::unsupported_function_change, handle(node), nullptr};
        if (const Result result = old.difference(node); result != Result::success)
            return {result, handle(node), nullptr};
        if (old.bodies.size() != node.bodies.size()) return {Result::topology_changed, handle(node), nullptr};
        for (std::size_t body = 0; body < node.bodies.size(); ++body) {
            const GraphExecUpdateInfo inner = difference(*old.bodies[body], *node.bodies[body]);
            if (inner.result != Result::success) return inner;
        }
    }
    return {};
}

void HostRuntime::take_parameters(Graph& have, const Graph& want) {
    for (std::size_t i = 0; i < have.nodes.size(); ++i) {
        GraphNode& node = *have.nodes[i];
        const GraphNode& from = *want.nodes[i];
        node.imitate(*this, from);
        for (std::size_t body = 0; body < node.bodies.size(); ++body)
            take_parameters(*node.bodies[body], *from.bodies[body]);
    }
}

Status HostRuntime::graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphExecUpdateInfo* info) {
    ENTER(graph_instantiate);
    const Found<GraphExec> found = find_exec(exec);
    const Found<const Graph> from = find_graph(graph);
    if (info == nullptr) return fail(Status::invalid_value);
    *info = {GraphExecUpdateResult::error, nullptr, nullptr};
    if (found == nullptr || from == nullptr) return fail(Status::invalid_value);
    TRY(check_unique(*from, found.get()));
    *info = difference(*found->plan->graph, *from);
    if (info->result != GraphExecUpdateResult::success) {
        return fail(Status::graph_exec_update_failure, "the graphs differ in what an update cannot change");
    }
    GraphPlan& plan = changeable(*found);
    take_parameters(*plan.graph, *from);
    note_launching(plan);
    if (from->unique()) {  // it is that graph's one executable now
        found->source = from->number;
        found->unique = true;
    }
    return Status::success;
}

Status HostRuntime::graph_exec_node_set_params(GraphExecHandle exec, GraphNodeHandle node,
                                               GraphNodeParameters* parameters) {
    ENTER(other);
    const Found<GraphExec> found = find_exec(exec);
    const Found<const GraphNode> original = find_node(node);
    if (found == nullptr || original == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    if (!found->plan->by_origin.contains(original->serial))
        return fail(Status::invalid_value, "the executable was not made of the node's graph");
    // The plan's own node has no graph that others know, and takes the changes that the original may take.
    GraphPlan& plan = changeable(*found);
    GraphNode& own = *plan.by_origin.at(original->serial);
    if (own.type() != GraphNodeType::graph && std::holds_alternative<ChildGraphNodeParameters>(*parameters))
        return fail(Status::invalid_value, "the child graph is built in another way than the node's");
    TRY(check_settable(own, *parameters));
    TRY(own.change(*this, *parameters));
    if (own.bodies.empty()) {
        plan.may_launch_graphs |= own.may_launch_graphs();
    } else {
        note_launching(plan);
    }
    return Status::success;
}

Status HostRuntime::graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned enabled) {
    ENTER(other);
    const Found<GraphExec> found = find_exec(exec);
    const Found<const GraphNode> original = find_node(node);
    if (found == nullptr || original == nullptr) return fail(Status::invalid_value);
    if (!found->plan->by_origin.contains(original->serial))
        return fail(Status::invalid_value, "the executable was not made of the node's graph");
    if (!original->can_be_disabled())
        return fail(Status::invalid_value, "only kernel, copy and memset nodes are disabled");
    changeable(*found).by_origin.at(original->serial)->enabled = enabled != 0;
    return Status::success;
}

Status HostRuntime::graph_node_get_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned* enabled) {
    ENTER(other);
    const Found<const GraphExec> found = find_exec(exec);
    const Found<const GraphNode> original = find_node(node);
    if (found == nullptr || original == nullptr || enabled == nullptr) return fail(Status::invalid_value);
    const auto own = found->plan->by_origin.find(original->serial);
    if (own == found->plan->by_origin.end())
        return fail(Status::invalid_value, "the executable was not made of the node's graph");
    if (!original->can_be_disabled())
        return fail(Status::invalid_value, "only kernel, copy and memset nodes are disabled");
    *enabled = own->second->enabled ? 1 : 0;
    return Status::success;
}

}  // namespace cuscope::host
