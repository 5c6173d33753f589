#include "host/graph/exec.hpp"

#include <utility>

#include "host/graph/device_launch.hpp"
#include "host/runtime/machine.hpp"

namespace cuscope::host {
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

GraphExec::GraphExec(Machine& machine, const Graph& graph, unsigned long long its_flags)
    : plan(GraphPlan::of(machine, graph)),
      flags(its_flags),
      source(graph.number),
      unique(graph.unique()),
      device(graph.device),
      on_device(std::make_shared<DeviceGraph>()) {
    on_device->handle = reinterpret_cast<GraphExecHandle>(this);
    on_device->flags = flags;
}

GraphPlan& GraphExec::changeable(Machine& machine) {
    if (plan.use_count() == 1) return *plan;
    auto changed = GraphPlan::of(machine, *plan->graph);
    std::unordered_map<unsigned long long, GraphNode*> by_origin;
    for (const auto& [origin, node] : plan->by_origin) {
        GraphNode* const copy = changed->by_origin.at(node->serial);
        copy->enabled = node->enabled;
        by_origin[origin] = copy;
    }
    changed->by_origin = std::move(by_origin);
    plan = std::move(changed);
    return *plan;
}

GraphNode* GraphExec::own(const GraphNode& original) const {
    const auto found = plan->by_origin.find(original.serial);
    return found == plan->by_origin.end() ? nullptr : found->second;
}

void GraphExec::upload(Machine& machine, Stream& stream) const {
    if (!on_device->by_device()) return;
    Command* command = machine.begin(stream, Engine::none, Role::graph_upload);
    command->next = [on_device = on_device, uploaded = plan](Command*) { on_device->plan = uploaded; };
    machine.commit(command);
}

Status GraphExec::launch(Machine& machine, Lock& lock, Stream& stream) {
    const GraphPlan& whole = *plan;
    const bool frees = (flags & flags::graph_auto_free_on_launch) != 0;
    if (Status status = whole.check_launch(machine, device, frees); status != Status::success) {
        // The error of memory that is gone shows at the next wait.
        return status == Status::illegal_address ? Status::success : status;
    }
    const DeviceModel& model = *machine.devices[stream.device].model;
    machine.timeline.spend(model.costs.graph_launch_node * static_cast<std::int64_t>(whole.nodes));

    Command* const begin = machine.timeline.make(stream);
    begin->role = Role::graph_begin;
    begin->duration = model.graph_start_ns;
    if (!whole.graph->conditions.empty())
        begin->effect = std::make_shared<AssignDefaults<GraphCondition>>(whole.graph->conditions);
    // Two launches of one executable never overlap.
    Command* const previous = last.get();
    const CommandRef keep_begin(machine.timeline.pool(), begin);
    machine.timeline.enqueue(begin, {&previous, std::size_t{previous != nullptr}});
    std::vector<Command*> ends;
    std::shared_ptr<LaunchEnvironment> environment;
    if (whole.may_launch_graphs) environment = LaunchEnvironment::outermost(stream, on_device);
    if (environment || on_device->by_device()) {
        begin->next = [on_device = on_device, uploaded = plan](Command*) {
            on_device->plan = uploaded;
            ++on_device->running;
        };
    }
    const bool node_priority = (flags & flags::graph_use_node_priority) != 0;
    const GraphRun run{plan, &stream, node_priority, environment, begin->number()};
    run.enqueue(machine, whole.whole, begin, false, &ends);
    if (environment) {
        Command* const nodes_end = machine.timeline.make(stream);
        nodes_end->role = Role::graph_end;
        nodes_end->next = [&machine, environment](Command* ended) {
            environment->ends.emplace_back(machine.timeline.pool(), ended);
            LaunchEnvironment::leave(machine, environment);
        };
        machine.timeline.enqueue_node(nodes_end, ends, nullptr);
        ends = {nodes_end};
    }
    Command* const end = machine.timeline.make(stream);
    end->role = Role::graph_end;
    end->graph = begin->number();
    last = CommandRef(machine.timeline.pool(), end);
    if (environment) {
        environment->parent->join = last;
        machine.timeline.hold(end);
    } else if (on_device->by_device()) {
        end->next = [on_device = on_device](Command*) { --on_device->running; };
    }
    machine.timeline.enqueue(end, ends);
    machine.waits.start_background();
    machine.waits.wake_background();  // the thread sleeps if nothing was pending
    if (machine.launch_blocking) {
        const int index = stream.device;  // another thread may destroy the stream during the wait
        TRY(machine.waits.wait_for(lock, CommandRef(last).get()));
        return machine.devices[index].check();
    }
    machine.waits.relieve(lock, whole.nodes + 1);
    return Status::success;
}

}  // namespace cuscope::host
