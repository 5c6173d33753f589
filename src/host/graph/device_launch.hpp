// Graphs that kernels launch. Private to src/host; everything happens under the runtime's lock, which a
// kernel takes when it launches one.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "host/executor/executor.hpp"
#include "host/graph/plan.hpp"

namespace cuscope::host {

class KernelEffect;

// An executable as the device has it. The host may change or destroy its own meanwhile.
struct DeviceGraph {
    GraphExecHandle handle = nullptr;
    unsigned long long flags = 0;
    std::shared_ptr<GraphPlan> plan;  // the last one that was uploaded; null: none was
    int running = 0;                  // launches that have begun, or are about to
    bool queued = false;              // as a tail launch

    bool by_device() const { return (flags & flags::graph_device_launch) != 0; }
};

// A place where graphs run one after the other. The next graph is a tail launch. It begins when the graph
// before it has ended, and with it all environments that belong to this one. A graph that is fired and
// forgotten gets an environment of its own, which belongs to the environment of the launching graph. A graph
// that is launched as a sibling gets an environment that belongs to the parent of the launching graph's
// environment. The outermost environment is the launch by the host; no graph runs in it.
struct LaunchEnvironment {
    using Ref = std::shared_ptr<LaunchEnvironment>;
    // The environment of a graph that the host launches, and whose kernels launch graphs.
    static Ref outermost(Stream& stream, const std::shared_ptr<DeviceGraph>& graph);
    // The caller has counted `graph` as running.
    static void begin(Machine& machine, const Ref& environment, std::shared_ptr<DeviceGraph> graph,
                      std::span<Command* const> after);
    // Something has ended for which the next graph of the environment waits.
    static void leave(Machine& machine, const Ref& environment);

    std::shared_ptr<LaunchEnvironment> parent;  // to which it belongs; null: it is the host's launch
    Stream* stream = nullptr;
    std::shared_ptr<DeviceGraph> current;
    // For how much the next graph waits: the nodes of the current graph, and environments that belong here.
    int unended = 0;
    int launched = 0;                                 // environments that the current graph made
    std::vector<std::shared_ptr<DeviceGraph>> tails;  // launched by the current graph
    std::deque<std::shared_ptr<DeviceGraph>> next;    // tail launches of earlier graphs, after `tails`
    std::vector<CommandRef> ends;                     // of the graphs that have ended here
    CommandRef join;                                  // the end of the host's launch
};

// The launches of one kernel.
class KernelLauncher final : public simt::GraphLauncher {
  public:
    KernelLauncher(Machine& machine, std::shared_ptr<LaunchEnvironment> environment)
        : machine_(machine), environment_(std::move(environment)) {}

    Status launch(void* exec, void* stream) override;
    void* current() const override;
    // The kernel has ended: the graphs that it fired begin.
    void begin_launched(Command* kernel);

  private:
    struct Launched {
        std::shared_ptr<DeviceGraph> graph;
        std::shared_ptr<LaunchEnvironment> environment;  // to which it belongs
    };

    Machine& machine_;
    std::shared_ptr<LaunchEnvironment> environment_;
    std::shared_ptr<DeviceGraph> graph_ = environment_->current;
    std::vector<Launched> launched_;
};

// Gives a kernel the environment in which it launches graphs. `command` is a kernel like `model`. Its effect
// becomes one of its own, which knows the launch.
void let_launch(Machine& machine, const LaunchEnvironment::Ref& environment, Command* command,
                const KernelEffect& model);

}  // namespace cuscope::host
