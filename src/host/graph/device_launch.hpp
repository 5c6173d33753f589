// Graphs that kernels launch. Private to src/host; everything happens under the runtime's lock, which a
// kernel takes when it launches one.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "host/executor/executor.hpp"
#include "host/graph/graph.hpp"

namespace cuscope::host {

// An executable as the device has it: the host may change it, or let it go, meanwhile.
struct HostRuntime::DeviceGraph {
    GraphExecHandle handle = nullptr;
    unsigned long long flags = 0;
    std::shared_ptr<GraphPlan> plan;  // that was uploaded last; null: none was
    int running = 0;                  // launches that have begun, or are about to
    bool queued = false;              // as a tail launch

    bool by_device() const { return (flags & flags::graph_device_launch) != 0; }
};

// A place where graphs run one after the other: the next one, a tail launch, when the one before it and all
// that belongs to it have ended. What a graph fires and forgets gets an environment of its own, which belongs
// to the graph's; what it launches as its sibling belongs to the one that its own belongs to. The outermost
// is the host's launch, in which no graph itself runs.
struct HostRuntime::LaunchEnvironment {
    std::shared_ptr<LaunchEnvironment> parent;  // that it belongs to; null: it is the host's launch
    Stream* stream = nullptr;
    std::shared_ptr<DeviceGraph> current;
    int unended =
        0;  // what the next one waits for: nodes of the current one, environments that belong to this
    int launched = 0;                                 // environments that were made for the current one
    std::vector<std::shared_ptr<DeviceGraph>> tails;  // that the current one launched
    std::deque<std::shared_ptr<DeviceGraph>> next;    // after these
    std::vector<CommandRef> ends;                     // of what has ended
    CommandRef join;                                  // the end of the host's launch
};

// What one kernel launches.
class HostRuntime::KernelLauncher final : public simt::GraphLauncher {
  public:
    KernelLauncher(HostRuntime& runtime, std::shared_ptr<LaunchEnvironment> environment)
        : runtime_(runtime), environment_(std::move(environment)) {}

    Status launch(void* exec, void* stream) override;
    void* current() const override;
    // The kernel has ended: what it fired begins.
    void begin_launched(Command* kernel);

  private:
    struct Launched {
        std::shared_ptr<DeviceGraph> graph;
        std::shared_ptr<LaunchEnvironment> environment;  // to which it belongs
    };

    HostRuntime& runtime_;
    std::shared_ptr<LaunchEnvironment> environment_;
    std::shared_ptr<DeviceGraph> graph_ = environment_->current;
    std::vector<Launched> launched_;
};

}  // namespace cuscope::host
