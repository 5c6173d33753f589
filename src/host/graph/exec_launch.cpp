// Launches of the host runtime's graphs, and the memory that their nodes allocate.
#include <algorithm>
#include <utility>

#include "host/effects/copies.hpp"
#include "host/graph/device_launch.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

// Memory of a graph is there, or not, when the graph begins; other memory has to be there still.
Status HostRuntime::check_plan(const GraphPlan& plan, int device, bool frees) {
    const Status last = thread().last;
    Status status = Status::success;
    const auto check = [&](const Box& box, const Extent& extent, bool known) {
        if (status != Status::success || !known) return;
        const Allocation* found = nullptr;
        if (check_box(box, extent, "memory of a node", &found) == Status::success && found != nullptr) return;
        status = Status::illegal_address;
    };
    visit_nodes(*plan.graph, [&](const GraphNode& node) {
        if (!node.enabled) return;
        switch (type_of(node.parameters)) {
            case GraphNodeType::mem_alloc:
                if (node.memory->allocated && !frees && status == Status::success) {
                    status =
                        fail(Status::invalid_value,
                             "memory that the last launch allocated was not freed: free it, or instantiate "
                             "with auto_free_on_launch");
                }
                break;
            case GraphNodeType::memcpy:
                if (node.command) {
                    const auto& copy = static_cast<const CopyEffect&>(*node.command->effect);
                    check(copy.destination(), copy.extent(), node.known_destination);
                    check(copy.source(), copy.extent(), node.known_source);
                }
                break;
            case GraphNodeType::memset:
                if (node.command) {
                    const auto& set = static_cast<const SetEffect&>(*node.command->effect);
                    check(set.destination(), set.extent(), node.known_destination);
                }
                break;
            case GraphNodeType::batch_mem_op:
                for (unsigned i = 0; i < std::get<BatchMemOpNodeParameters>(node.parameters).count &&
                                     status == Status::success;
                     ++i)
                    status = check_memory_operation(
                        std::get<BatchMemOpNodeParameters>(node.parameters).operations[i], false);
                break;
            default:
                break;
        }
    });
    if (status == Status::illegal_address) {
        thread().last = last;
        lose(device, status, "a node of a graph uses memory that was freed");
    }
    return status;
}

namespace {

EventHandle event_of(const GraphNodeParameters& parameters) {
    if (const auto* const wait = std::get_if<EventWaitNodeParameters>(&parameters)) return wait->event;
    return std::get<EventRecordNodeParameters>(parameters).event;
}

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
    look->role = Role::graph_condition;
    look->duration_from_effect = true;
    const auto* const condition = reinterpret_cast<const GraphCondition*>(
        std::get<ConditionalNodeParameters>(step.node->parameters).handle);
    look->effect = std::make_shared<ReadCondition>(&condition->value, run.plan);
    look->next = [this, run, &step, join = CommandRef(timeline_.pool(), join)](Command* looked) {
        const unsigned value = static_cast<const ReadCondition&>(*looked->effect).found;
        const ConditionalType type = std::get<ConditionalNodeParameters>(step.node->parameters).type;
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
        command->role = Role::graph_node;
        switch (type_of(node.parameters)) {
            case GraphNodeType::event_record:
                command->role = Role::event_record;
                if (const Found<Event> event = find_event(event_of(node.parameters))) {
                    event->record = CommandRef(timeline_.pool(), command);
                    event->capture = 0;
                }
                break;
            case GraphNodeType::wait_event:
                command->role = Role::event_wait;
                if (const Found<const Event> event = find_event(event_of(node.parameters));
                    event != nullptr && event->record)
                    after.push_back(event->record.get());
                break;
            case GraphNodeType::mem_alloc:
                command->role = Role::allocation;
                node.memory->allocated = true;
                break;
            case GraphNodeType::mem_free:
                command->role = Role::release;
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
                command->role = Role::effect;
                if (run.node_priority) command->priority = node.command->priority;
                if (run.environment) let_launch(run.environment, command);
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
    const Found<Stream> stream = find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    if (Status status = admit_uncaptured(*stream, launched_detail); status != Status::success) return status;
    const Found<GraphExec> found = find_exec(exec);
    if (found == nullptr)
        return fail(Status::invalid_value, "the executable does not exist, or was destroyed");
    const GraphPlan& plan = *found->plan;
    const bool frees = (found->flags & flags::graph_auto_free_on_launch) != 0;
    if (Status status = check_plan(plan, found->device, frees); status != Status::success) {
        // Memory that is gone shows when somebody waits.
        return status == Status::illegal_address ? Status::success : status;
    }
    const DeviceModel& model = *devices_[stream->device]->model;
    timeline_.spend(model.costs.graph_launch_node * static_cast<std::int64_t>(plan.nodes));

    Command* const begin = timeline_.make(*stream);
    begin->role = Role::graph_begin;
    begin->duration = model.graph_start_ns;
    if (!plan.graph->conditions.empty())
        begin->effect = std::make_shared<AssignDefaults<GraphCondition>>(plan.graph->conditions);
    // Two launches of one executable never overlap.
    Command* const previous = found->last.get();
    const CommandRef keep_begin(timeline_.pool(), begin);
    timeline_.enqueue(begin, {&previous, std::size_t{previous != nullptr}});
    std::vector<Command*> ends;
    std::shared_ptr<LaunchEnvironment> environment;
    const std::shared_ptr<DeviceGraph>& on_device = found->on_device;
    if (plan.may_launch_graphs) environment = outermost_environment(*stream, on_device);
    if (environment || on_device->by_device()) {
        begin->next = [on_device, uploaded = found->plan](Command*) {
            on_device->plan = uploaded;
            ++on_device->running;
        };
    }
    enqueue_steps(
        {found->plan, stream.get(), (found->flags & flags::graph_use_node_priority) != 0, environment},
        plan.whole, begin, false, &ends);
    if (environment) {
        Command* const nodes_end = timeline_.make(*stream);
        nodes_end->role = Role::graph_end;
        nodes_end->next = [this, environment](Command* ended) {
            environment->ends.emplace_back(timeline_.pool(), ended);
            leave(environment);
        };
        timeline_.enqueue_node(nodes_end, ends, nullptr);
        ends = {nodes_end};
    }
    Command* const end = timeline_.make(*stream);
    end->role = Role::graph_end;
    found->last = CommandRef(timeline_.pool(), end);
    if (environment) {
        environment->parent->join = found->last;
        timeline_.hold(end);
    } else if (on_device->by_device()) {
        end->next = [on_device](Command*) { --on_device->running; };
    }
    timeline_.enqueue(end, ends);
    start_background();
    background_.notify_one();  // which sleeps if nothing was pending
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
