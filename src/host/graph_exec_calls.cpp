// The host runtime's executables: a plan of commands that is made once and enqueued at every launch.
#include <algorithm>
#include <utility>

#include "host/call.hpp"
#include "host/copy_effects.hpp"
#include "host/graph.hpp"

namespace cuscope::host {

HostRuntime::GraphExec* HostRuntime::find_exec(GraphExecHandle handle) {
    const auto found = graphs_->execs.find(handle);
    return found == graphs_->execs.end() ? nullptr : found->second.get();
}

// ---- plans

// Child graphs are laid out in place: their first nodes wait for what the child waits for, and whoever waits
// for the child waits for their last ones.
void HostRuntime::plan_graph(Graph& graph, GraphSteps& steps, const std::vector<int>& begins,
                             std::vector<int>* ends) {
    struct Place {
        std::vector<int> last;  // steps after which the node is over
        std::size_t waits;      // for so many nodes that are not planned yet
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
        if (node->parameters.type == GraphNodeType::graph && node->enabled) {
            plan_graph(*node->bodies.front(), steps, after, &place.last);
            if (place.last.empty()) place.last = after;
        } else {
            GraphStep step;
            step.node = node;
            step.after = std::move(after);
            step.overlapped = overlapped;
            if (node->parameters.type == GraphNodeType::conditional) {
                for (const auto& body : node->bodies) {
                    GraphSteps& inner = step.bodies.emplace_back();
                    plan_graph(*body, inner, {}, &inner.ends);
                }
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

namespace {

template <class Graph, class Visit>
void visit_nodes(Graph& graph, const Visit& visit) {
    for (const auto& node : graph.nodes) {
        visit(*node);
        for (const auto& body : node->bodies) visit_nodes(*body, visit);
    }
}

}  // namespace

void HostRuntime::make_plan(GraphPlan& plan) {
    plan.whole = {};
    plan.nodes = 0;
    visit_nodes(*plan.graph, [&](const GraphNode&) { ++plan.nodes; });
    plan_graph(*plan.graph, plan.whole, {}, &plan.whole.ends);
}

std::shared_ptr<HostRuntime::GraphPlan> HostRuntime::plan_of(const Graph& graph) {
    auto plan = std::make_shared<GraphPlan>();
    plan->graph = copy_graph(graph, true);
    visit_nodes(*plan->graph, [&](GraphNode& node) { plan->by_origin[node.origin] = &node; });
    make_plan(*plan);
    return plan;
}

// The plan, to be changed: another one if a launch still decides by this one.
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

Status HostRuntime::graph_instantiate(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags) {
    Call call(*this, &CallCosts::graph_instantiate);
    if (call.refused()) return call.status();
    constexpr unsigned long long known = flags::graph_auto_free_on_launch | flags::graph_upload |
                                         flags::graph_device_launch | flags::graph_use_node_priority;
    const Graph* from = find_graph(graph);
    if (exec == nullptr || from == nullptr)
        return fail(Status::invalid_value, "the graph does not exist, or was destroyed");
    *exec = nullptr;
    if ((flags & ~known) != 0) {
        return fail(Status::invalid_value, "flags of " + std::to_string(flags) + "; allowed are 0 to 15");
    }
    if (from->unique()) {
        for (const auto& [address, other] : graphs_->execs) {
            if (other->source == from->number) {
                return fail(
                    Status::not_supported,
                    "a graph with conditional nodes, or that allocates memory, has one executable at a "
                    "time: destroy the other first");
            }
        }
    }
    auto made = std::make_unique<GraphExec>();
    made->plan = plan_of(*from);
    made->flags = flags;
    made->source = from->number;
    timeline_.spend(device().model->costs.graph_instantiate_node *
                    static_cast<std::int64_t>(made->plan->nodes));
    *exec = reinterpret_cast<GraphExecHandle>(made.get());
    graphs_->execs.emplace(made.get(), std::move(made));
    return Status::success;
}

// What runs of it goes on.
Status HostRuntime::graph_exec_destroy(GraphExecHandle exec) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    if (graphs_->execs.erase(exec) == 0)
        return fail(Status::invalid_value, "the executable does not exist, or was destroyed");
    sweep_graph_memory();
    return Status::success;
}

Status HostRuntime::graph_exec_get_flags(GraphExecHandle exec, unsigned long long* flags) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const GraphExec* found = find_exec(exec);
    if (found == nullptr || flags == nullptr) return fail(Status::invalid_value);
    *flags = found->flags;
    return Status::success;
}

Status HostRuntime::graph_upload(GraphExecHandle exec, StreamHandle stream) {
    Call call(*this, &CallCosts::graph_launch);
    if (call.refused()) return call.status();
    if (find_exec(exec) == nullptr)
        return fail(Status::invalid_value, "the executable does not exist, or was destroyed");
    Stream* found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    return admit(*found);
}

// ---- changes

namespace {

// Which of another graph's nodes stands for each of this one's: by the order in which they were made.
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
        if (old.parameters.type != node.parameters.type)
            return {Result::node_type_changed, handle(node), nullptr};
        if (old.device != node.device) return {Result::unsupported_function_change, handle(node), nullptr};
        switch (node.parameters.type) {
            case GraphNodeType::memcpy:
                // Copies stay on their engines.
                if (old.command && node.command && old.command->engine != node.command->engine)
                    return {Result::parameters_changed, handle(node), nullptr};
                break;
            case GraphNodeType::mem_alloc:
            case GraphNodeType::mem_free:
                if (old.memory != node.memory) return {Result::not_supported, handle(node), nullptr};
                break;
            case GraphNodeType::conditional:
                if (old.parameters.conditional.handle != node.parameters.conditional.handle)
                    return {Result::not_supported, handle(node), nullptr};
                [[fallthrough]];
            case GraphNodeType::graph:
                if (old.bodies.size() != node.bodies.size())
                    return {Result::topology_changed, handle(node), nullptr};
                for (std::size_t body = 0; body < node.bodies.size(); ++body) {
                    const GraphExecUpdateInfo inner = difference(*old.bodies[body], *node.bodies[body]);
                    if (inner.result != Result::success) return inner;
                }
                break;
            default:
                break;
        }
    }
    return {};
}

void HostRuntime::take_parameters(Graph& have, const Graph& want) {
    for (std::size_t i = 0; i < have.nodes.size(); ++i) {
        GraphNode& node = *have.nodes[i];
        const GraphNode& from = *want.nodes[i];
        const GraphHandle child = node.parameters.graph;
        GraphHandle* const bodies = node.parameters.conditional.bodies;
        node.parameters = from.parameters;
        node.parameters.graph = child;
        node.parameters.conditional.bodies = bodies;
        node.attributes = from.attributes;
        node.name = from.name;
        node.command = from.command;
        keep_arguments(node);
        for (std::size_t body = 0; body < node.bodies.size(); ++body)
            take_parameters(*node.bodies[body], *from.bodies[body]);
    }
}

Status HostRuntime::graph_exec_update(GraphExecHandle exec, GraphHandle graph, GraphExecUpdateInfo* info) {
    Call call(*this, &CallCosts::graph_instantiate);
    if (call.refused()) return call.status();
    GraphExec* found = find_exec(exec);
    const Graph* from = find_graph(graph);
    if (info == nullptr) return fail(Status::invalid_value);
    *info = {GraphExecUpdateResult::error, nullptr, nullptr};
    if (found == nullptr || from == nullptr) return fail(Status::invalid_value);
    *info = difference(*found->plan->graph, *from);
    if (info->result != GraphExecUpdateResult::success) {
        return fail(Status::graph_exec_update_failure, "the graphs differ in what an update cannot change");
    }
    take_parameters(*changeable(*found).graph, *from);
    return Status::success;
}

Status HostRuntime::graph_exec_node_set_params(GraphExecHandle exec, GraphNodeHandle node,
                                               GraphNodeParameters* parameters) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    GraphExec* found = find_exec(exec);
    const GraphNode* original = find_node(node);
    if (found == nullptr || original == nullptr || parameters == nullptr) return fail(Status::invalid_value);
    if (!found->plan->by_origin.contains(original->serial))
        return fail(Status::invalid_value, "the executable was not made of the node's graph");
    if (parameters->type == GraphNodeType::graph) {
        const Graph* child = find_graph(parameters->graph);
        const GraphNode& own = *found->plan->by_origin.at(original->serial);
        if (child == nullptr || own.parameters.type != GraphNodeType::graph ||
            difference(*own.bodies.front(), *child).result != GraphExecUpdateResult::success) {
            return fail(Status::invalid_value, "the child graph is built in another way than the node's");
        }
        GraphPlan& plan = changeable(*found);
        take_parameters(*plan.by_origin.at(original->serial)->bodies.front(), *child);
        return Status::success;
    }
    // The plan's own node has no graph that others know, and takes what the original may take.
    GraphNode& own = *changeable(*found).by_origin.at(original->serial);
    const CommandRef before = own.command;
    const GraphNodeParameters old = own.parameters;
    if (Status status = set_node(own, *parameters); status != Status::success) return status;
    if (own.parameters.type == GraphNodeType::memcpy && before && own.command &&
        before->engine != own.command->engine) {
        own.command = before;
        own.parameters = old;
        return fail(Status::invalid_value,
                    "the copy's direction stays as it was when the graph was instantiated");
    }
    return Status::success;
}

Status HostRuntime::graph_node_set_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned enabled) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    GraphExec* found = find_exec(exec);
    const GraphNode* original = find_node(node);
    if (found == nullptr || original == nullptr) return fail(Status::invalid_value);
    if (!found->plan->by_origin.contains(original->serial))
        return fail(Status::invalid_value, "the executable was not made of the node's graph");
    const GraphNodeType type = original->parameters.type;
    if (type != GraphNodeType::kernel && type != GraphNodeType::memcpy && type != GraphNodeType::memset) {
        return fail(Status::invalid_value, "only kernel, copy and memset nodes are disabled");
    }
    changeable(*found).by_origin.at(original->serial)->enabled = enabled != 0;
    return Status::success;
}

Status HostRuntime::graph_node_get_enabled(GraphExecHandle exec, GraphNodeHandle node, unsigned* enabled) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const GraphExec* found = find_exec(exec);
    const GraphNode* original = find_node(node);
    if (found == nullptr || original == nullptr || enabled == nullptr) return fail(Status::invalid_value);
    const auto own = found->plan->by_origin.find(original->serial);
    if (own == found->plan->by_origin.end())
        return fail(Status::invalid_value, "the executable was not made of the node's graph");
    *enabled = own->second->enabled ? 1 : 0;
    return Status::success;
}

// ---- launches

// Memory of a graph is there, or not, when the graph begins; other memory has to be there still.
Status HostRuntime::check_plan(const GraphExec& exec) {
    Status status = Status::success;
    const bool frees = (exec.flags & flags::graph_auto_free_on_launch) != 0;
    const auto check = [&](const Box& box, const Extent& extent, const GraphNode& node) {
        const Allocation* found = nullptr;
        // Host memory that nobody registered is not known.
        if (status != Status::success || node.device < 0) return;
        if (check_box(box, extent, "memory of a node", &found) == Status::success) return;
        status = Status::illegal_address;
    };
    visit_nodes(*exec.plan->graph, [&](const GraphNode& node) {
        if (!node.enabled) return;
        switch (node.parameters.type) {
            case GraphNodeType::mem_alloc:
                if (node.memory->allocated && !frees && status == Status::success) {
                    status =
                        fail(Status::invalid_value,
                             "memory that the last launch allocated was not freed: free it, or instantiate "
                             "with auto_free_on_launch");
                }
                break;
            case GraphNodeType::memcpy:
                if (const auto* effect =
                        static_cast<const CopyEffect*>(node.command ? node.command->effect.get() : nullptr)) {
                    check(effect->destination(), effect->extent(), node);
                    check(effect->source(), effect->extent(), node);
                }
                break;
            case GraphNodeType::memset:
                if (const auto* effect =
                        static_cast<const SetEffect*>(node.command ? node.command->effect.get() : nullptr)) {
                    check(effect->destination(), effect->extent(), node);
                    if (memory_.find(effect->destination().base) == nullptr) status = Status::illegal_address;
                }
                break;
            default:
                break;
        }
    });
    if (status == Status::illegal_address) {
        lose(thread().device, status, "a node of a graph uses memory that was freed");
        return fail(status, "a node of a graph uses memory that was freed");
    }
    return status;
}

struct HostRuntime::GraphRun {
    std::shared_ptr<GraphPlan> plan;
    Stream* stream;
    bool node_priority;
};

namespace {

// The defaults of conditions, at the begin of a launch.
template <class Condition>
class AssignDefaults final : public Effect {
  public:
    explicit AssignDefaults(std::vector<std::shared_ptr<Condition>> conditions)
        : conditions_(std::move(conditions)) {}
    void run() override {
        for (const auto& condition : conditions_) {
            if (condition->assign) condition->value = condition->default_value;
        }
    }
    bool quick() const override { return true; }

  private:
    std::vector<std::shared_ptr<Condition>> conditions_;
};

class ReadCondition final : public Effect {
  public:
    ReadCondition(const unsigned* value, std::shared_ptr<void> owner)
        : value_(value), owner_(std::move(owner)) {}
    void run() override { found = *value_; }
    unsigned found = 0;

  private:
    const unsigned* value_;
    std::shared_ptr<void> owner_;
};

}  // namespace

// A conditional: a command that finds out the value, and what it chooses once that has ended. `join` waits.
void HostRuntime::decide(const GraphRun& run, const GraphStep& step, Command* join,
                         std::vector<Command*> after, bool now) {
    Command* look = timeline_.make(*run.stream);
    look->duration_from_effect = true;
    const auto* const condition =
        reinterpret_cast<const GraphCondition*>(step.node->parameters.conditional.handle);
    look->effect = std::make_unique<ReadCondition>(&condition->value, run.plan);
    look->next = [this, run, &step, join = CommandRef(timeline_.pool(), join)](Command* looked) {
        const unsigned value = static_cast<const ReadCondition&>(*looked->effect).found;
        const ConditionalType type = step.node->parameters.conditional.type;
        const std::size_t body = type == ConditionalType::switch_ ? value : value != 0 ? 0 : 1;
        if (body >= step.bodies.size()) {
            timeline_.release_hold(join.get(), {});
            return;
        }
        std::vector<Command*> ends;
        enqueue_steps(run, step.bodies[body], nullptr, true, &ends);
        if (type == ConditionalType::while_) {
            decide(run, step, join.get(), std::move(ends), true);
        } else {
            timeline_.release_hold(join.get(), ends);
        }
    };
    if (now) {
        timeline_.enqueue_now(look, after);
    } else {
        timeline_.enqueue_node(look, after, nullptr);
    }
}

void HostRuntime::enqueue_steps(const GraphRun& run, const GraphSteps& steps, Command* begin, bool now,
                                std::vector<Command*>* ends) {
    std::vector<Command*> made(steps.steps.size());
    std::vector<Command*> after;
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        const GraphStep& step = steps.steps[i];
        const GraphNode& node = *step.node;
        after.clear();
        for (const int before : step.after) after.push_back(made[static_cast<std::size_t>(before)]);
        Command* const overlapped =
            step.overlapped < 0 ? nullptr : made[static_cast<std::size_t>(step.overlapped)];
        if (step.after.empty() && overlapped == nullptr && begin != nullptr) after.push_back(begin);
        Command* const command = made[i] = timeline_.make(*run.stream);
        switch (node.parameters.type) {
            case GraphNodeType::event_record:
                if (Event* event = find_event(node.parameters.event)) {
                    event->record = CommandRef(timeline_.pool(), command);
                    event->capture = 0;
                }
                break;
            case GraphNodeType::wait_event:
                if (const Event* event = find_event(node.parameters.event); event != nullptr && event->record)
                    after.push_back(event->record.get());
                break;
            case GraphNodeType::mem_alloc:
                node.memory->allocated = true;
                break;
            case GraphNodeType::mem_free:
                node.memory->allocated = false;
                break;
            case GraphNodeType::conditional:
                timeline_.hold(command);
                decide(run, step, command, after, now);
                after.clear();
                break;
            default:
                if (!node.command || !node.enabled) break;
                command->imitate(*node.command.get());
                if (run.node_priority) command->priority = node.command->priority;
                watch(command);
        }
        if (now) {
            if (overlapped != nullptr) after.push_back(overlapped);
            timeline_.enqueue_now(command, after);
        } else {
            timeline_.enqueue_node(command, after, overlapped);
        }
    }
    for (const int end : steps.ends) ends->push_back(made[static_cast<std::size_t>(end)]);
}

Status HostRuntime::graph_launch(GraphExecHandle exec, StreamHandle handle) {
    Call call(*this, &CallCosts::graph_launch);
    if (call.refused()) return call.status();
    GraphExec* found = find_exec(exec);
    if (found == nullptr)
        return fail(Status::invalid_value, "the executable does not exist, or was destroyed");
    Stream* stream = find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    if (Status status = admit(*stream); status != Status::success) return status;
    const GraphPlan& plan = *found->plan;
    if (stream->capture != nullptr) {
        // In a capture a launch becomes a child of what is captured.
        auto body = copy_graph(*plan.graph, false);
        GraphNodeParameters parameters;
        parameters.type = GraphNodeType::graph;
        GraphNode& node = add_captured(*stream, parameters, nullptr);
        body->parent = &node;
        graphs_->alive.insert(body.get());
        node.body_handles = {reinterpret_cast<GraphHandle>(body.get())};
        node.parameters.graph = node.body_handles.front();
        node.bodies.push_back(std::move(body));
        return Status::success;
    }
    if (Status status = check_plan(*found); status != Status::success) return status;
    const DeviceModel& model = *devices_[stream->device]->model;
    timeline_.spend(model.costs.graph_launch_node * static_cast<std::int64_t>(plan.nodes));

    Command* const begin = timeline_.make(*stream);
    begin->duration = model.graph_start_ns;
    if (!plan.graph->conditions.empty())
        begin->effect = std::make_unique<AssignDefaults<GraphCondition>>(plan.graph->conditions);
    // Two launches of one executable never overlap.
    Command* const previous = found->last.get();
    const CommandRef keep_begin(timeline_.pool(), begin);
    timeline_.enqueue(begin, {&previous, std::size_t{previous != nullptr}});
    std::vector<Command*> ends;
    enqueue_steps({found->plan, stream, (found->flags & flags::graph_use_node_priority) != 0}, plan.whole,
                  begin, false, &ends);
    Command* const end = timeline_.make(*stream);
    found->last = CommandRef(timeline_.pool(), end);
    timeline_.enqueue(end, ends);
    start_background();
    if (launch_blocking_) return wait_for(call.lock(), CommandRef(found->last).get());
    unobserved_ += plan.nodes;
    relieve(call.lock());
    return Status::success;
}

// ---- memory of graphs

Status HostRuntime::make_graph_memory(AllocNodeParameters& parameters, std::shared_ptr<GraphMemory>* made) {
    if (parameters.pool.location.type != MemLocationType::device || parameters.pool.location.id < 0 ||
        parameters.pool.location.id >= device_count_ || parameters.bytes == 0) {
        return fail(Status::invalid_value, "a node allocates one byte or more of a device's memory");
    }
    sweep_graph_memory();
    const int index = parameters.pool.location.id;
    std::byte* const base = allocate(*devices_[index], parameters.bytes);
    if (base == nullptr) return out_of_memory(parameters.bytes);
    auto memory = std::make_shared<GraphMemory>();
    memory->runtime = this;
    memory->base = base;
    memory->bytes = parameters.bytes;
    memory->device = index;
    Allocation allocation{base, parameters.bytes, MemoryType::device, index};
    allocation.fixed = true;
    memory_.add(allocation);
    graphs_->memory.emplace(base, memory.get());
    parameters.pointer = base;
    *made = std::move(memory);
    return Status::success;
}

// What may still use it has to end first.
void HostRuntime::retire_graph_memory(const GraphMemory& memory) {
    graphs_->memory.erase(memory.base);
    graphs_->retired.push_back({memory.base, memory.bytes, memory.device, last_of_device(memory.device)});
}

void HostRuntime::sweep_graph_memory() {
    std::erase_if(graphs_->retired, [&](const Graphs::Retired& retired) {
        for (const CommandRef& last : retired.last) {
            if (!effects_.functional(last.get())) return false;
        }
        memory_.remove(retired.base);
        devices_[retired.device]->arena->release(retired.base, retired.bytes);
        return true;
    });
}

}  // namespace cuscope::host
