// Launches of graphs from kernels in the host runtime: which launches are refused, and when each graph runs.
#include "host/graph/device_launch.hpp"

#include <utility>

#include "host/effects/kernel.hpp"
#include "host/runtime/machine.hpp"

namespace cuscope::host {
namespace {

// The stream of such a launch is one of these constants, which say how the graph is launched.
constexpr std::uintptr_t tail = 0x0100000000000000, fire_and_forget = 0x0200000000000000,
                         sibling = 0x0300000000000000;
// The limits of an H200. They count all launches of one graph's launch, also launches that have ended.
constexpr int most_launched = 120;
constexpr std::size_t most_tails = 255;

}  // namespace

void* KernelLauncher::current() const {
    return graph_->by_device() ? reinterpret_cast<void*>(graph_->handle) : nullptr;
}

Status KernelLauncher::launch(void* exec, void* stream) {
    Lock lock(machine_.mutex, std::defer_lock);
    take(lock);
    const auto how = reinterpret_cast<std::uintptr_t>(stream);
    if (exec == nullptr || (how != tail && how != fire_and_forget && how != sibling))
        return Status::invalid_value;
    const Found<const GraphExec> found = machine_.graphs.find_exec(static_cast<GraphExecHandle>(exec));
    // The device would read memory where there is no executable.
    if (found == nullptr || !found->on_device->by_device()) return Status::illegal_address;
    const std::shared_ptr<DeviceGraph>& graph = found->on_device;
    if (graph->plan == nullptr || graph->queued) return Status::invalid_value;
    if (how == tail) {
        if (graph->running > 0 && graph != graph_) return Status::invalid_value;
        if (environment_->tails.size() == most_tails) return Status::invalid_value;
        graph->queued = true;
        environment_->tails.push_back(graph);
        return Status::success;
    }
    const auto& to = how == sibling ? environment_->parent : environment_;
    if (graph->running > 0 || to->launched == most_launched) return Status::invalid_value;
    ++graph->running;
    ++to->launched;
    launched_.push_back({graph, to});
    return Status::success;
}

void KernelLauncher::begin_launched(Command* kernel) {
    for (const Launched& launched : launched_) {
        const auto environment = std::make_shared<LaunchEnvironment>();
        environment->parent = launched.environment;
        environment->stream = environment_->stream;
        ++launched.environment->unended;
        LaunchEnvironment::begin(machine_, environment, launched.graph, {&kernel, 1});
    }
    launched_.clear();
}

LaunchEnvironment::Ref LaunchEnvironment::outermost(Stream& stream,
                                                    const std::shared_ptr<DeviceGraph>& graph) {
    auto whole = std::make_shared<LaunchEnvironment>();
    whole->stream = &stream;
    whole->unended = 1;
    auto environment = std::make_shared<LaunchEnvironment>();
    environment->parent = std::move(whole);
    environment->stream = &stream;
    environment->current = graph;
    environment->unended = 1;
    return environment;
}

void let_launch(Machine& machine, const LaunchEnvironment::Ref& environment, Command* command,
                const KernelEffect& model) {
    const std::shared_ptr<KernelEffect> kernel = model.copy_kernel();
    command->effect = kernel;
    auto launcher = std::make_shared<KernelLauncher>(machine, environment);
    kernel->launch.graphs = launcher;
    // The graphs that it launches are known once it was run. So is its duration, if the kernel tells it.
    kernel->tells_time = command->duration_from_effect;
    command->duration_from_effect = true;
    command->next = [launcher = std::move(launcher)](Command* ended) { launcher->begin_launched(ended); };
}

void LaunchEnvironment::begin(Machine& machine, const Ref& environment, std::shared_ptr<DeviceGraph> graph,
                              std::span<Command* const> after) {
    environment->current = std::move(graph);
    environment->unended = 1;
    environment->launched = 0;
    const std::shared_ptr<GraphPlan> plan = environment->current->plan;
    Stream& stream = *environment->stream;
    const bool whole = plan->check_launch(machine, stream.device, false) == Status::success;

    Command* const begin = machine.timeline.make(stream);
    begin->role = Role::graph_begin;
    begin->duration = machine.devices[stream.device].model->graph_start_ns;
    machine.timeline.enqueue_now(begin, after);
    std::vector<Command*> ends{begin};
    if (whole) {
        ends.clear();
        const bool node_priority = (environment->current->flags & flags::graph_use_node_priority) != 0;
        const GraphRun run{plan, &stream, node_priority, environment, begin->number()};
        run.enqueue(machine, plan->whole, begin, true, &ends);
    }
    Command* const end = machine.timeline.make(stream);
    end->role = Role::graph_end;
    end->graph = begin->number();
    end->next = [&machine, environment](Command* ended) {
        environment->ends.emplace_back(machine.timeline.pool(), ended);
        leave(machine, environment);
    };
    machine.timeline.enqueue_now(end, ends);
}

void LaunchEnvironment::leave(Machine& machine, const Ref& environment) {
    if (--environment->unended > 0) return;
    if (environment->current) --environment->current->running;
    auto& next = environment->next;
    next.insert(next.begin(), environment->tails.begin(), environment->tails.end());
    environment->tails.clear();
    const std::vector<CommandRef> ends = std::exchange(environment->ends, {});
    std::vector<Command*> after;
    for (const CommandRef& end : ends) after.push_back(end.get());
    if (!next.empty()) {
        std::shared_ptr<DeviceGraph> graph = std::move(next.front());
        next.pop_front();
        graph->queued = false;
        ++graph->running;
        begin(machine, environment, std::move(graph), after);
    } else if (environment->parent) {
        auto& outer = environment->parent->ends;
        outer.insert(outer.end(), ends.begin(), ends.end());
        leave(machine, environment->parent);
    } else {
        machine.timeline.release_hold(environment->join.get(), after);
        environment->join = {};
    }
}

}  // namespace cuscope::host
