// Launches of the host runtime's graphs.
#include <algorithm>
#include <utility>

#include "host/effects/copies.hpp"
#include "host/graph/device_launch.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

// Is all of the box memory that the runtime knows?
bool HostRuntime::is_there(const Box& box, const Extent& extent) {
    const Allocation* found = nullptr;
    return check_box(box, extent, "memory of a node", &found) == Status::success && found != nullptr;
}

// Refuses a launch whose allocation nodes still hold memory, and loses the device if memory of a node was
// freed.
Status HostRuntime::check_plan(const GraphPlan& plan, int device, bool frees) {
    const Status last = thread().last;
    Status status = Status::success;
    visit_nodes(*plan.graph, [&](const GraphNode& node) {
        if (status == Status::success && node.enabled) status = node.check_launch(*this, frees);
    });
    if (status == Status::illegal_address) {
        thread().last = last;
        lose(device, status, "a node of a graph uses memory that was freed");
    }
    return status;
}

namespace {

// Gives conditions their default values, when a launch begins.
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

}  // namespace

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
        node.enqueue(*this, {run, step, after, now}, command);
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
    ENTER(graph_launch);
    const Found<Stream> stream = find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    TRY(admit_uncaptured(*stream, launched_detail));
    const Found<GraphExec> found = find_exec(exec);
    if (found == nullptr)
        return fail(Status::invalid_value, "the executable does not exist, or was destroyed");
    const GraphPlan& plan = *found->plan;
    const bool frees = (found->flags & flags::graph_auto_free_on_launch) != 0;
    if (Status status = check_plan(plan, found->device, frees); status != Status::success) {
        // The error of memory that is gone shows at the next wait.
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
    background_.notify_one();  // the thread sleeps if nothing was pending
    if (launch_blocking_) return wait_for(call.lock(), CommandRef(found->last).get());
    unobserved_ += plan.nodes;
    relieve(call.lock());
    return Status::success;
}

}  // namespace cuscope::host
