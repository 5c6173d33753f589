// The work of kernels: the settings that a launch requests, and the command that it becomes. Private to
// src/host.
#pragma once

#include <memory>
#include <optional>

#include "host/counting/counting.hpp"
#include "host/executor/executor.hpp"
#include "host/kernel_time/shapes.hpp"
#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct Device;
struct Event;
struct Kernel;
class MemoryRegistry;
struct LoadedKernel;
struct Machine;
struct Stream;

// The settings that the attributes of a launch request, and what LoadedKernel::resolve makes of them.
struct LaunchRequest {
    bool cooperative = false;
    Dim3 cluster{0, 0, 0}, preferred_cluster{0, 0, 0};  // all zero: not given
    std::optional<int> priority;
    bool overlaps = false;  // programmatic stream serialization
    Event* programmatic_event = nullptr;
    bool trigger_at_block_start = false;
    bool node = false;  // the launch is a graph node
    Event* completion_event = nullptr;
    Kernel* counted = nullptr;  // the kernel in the counting image; used with `counting`
    std::shared_ptr<simt::Counting> counting;
    std::shared_ptr<simt::Sampling> profiling;  // made by make_kernel if config.profiled is set
    Dim3 resolved_cluster{1, 1, 1};             // found by resolve, like the next one
    int blocks_per_multiprocessor = 1;          // one at least
    std::shared_ptr<KernelShape> shape;  // made by make_kernel; null: the time does not come from counts
};

// Checks an attribute of both streams and launches.
Status check_attribute(const Device& device, const LaunchAttribute& attribute, LaunchAttributeId id);
Status read_attributes(Machine& machine, const LaunchConfig& config, LaunchRequest* request);

// The shape of a resolved launch whose time comes from its counts; null if it does not.
std::shared_ptr<KernelShape> shape_of(const LoadedKernel& loaded, const LaunchConfig& config,
                                      const LaunchRequest& request, const MemoryRegistry& memory,
                                      void** arguments);

// Makes the command of a launch in a stream or of a kernel node. It runs the counting image if
// `request->counting` is set.
Status make_kernel(Machine& machine, const LaunchConfig& config, Kernel& kernel, void** arguments,
                   Stream& stream, LaunchRequest* request, Command** made);

class KernelEffect final : public Effect {
  public:
    simt::Launch launch;
    simt::RunControl control;
    simt::Outcome outcome;
    bool tells_time = true;
    bool is_brief = false;
    std::uint32_t name = 0;              // an index into activity_names()
    std::shared_ptr<KernelShape> shape;  // null if the time does not come from counts, or was known before
    std::int64_t waves = 1;
    Time saved_in_graph = 0, kernel_latency = 0;  // with a shape: see set_duration

    // The effect of a command of the compute engine: only kernels are run by it.
    static KernelEffect& of(const Command& command) { return static_cast<KernelEffect&>(*command.effect); }

    void starting(Time time) override { launch.start_ns = time; }
    void primary_ended(Time time) override { launch.primary_ended_ns = time; }
    Time triggered() const override { return outcome.triggered_ns; }
    void run() override;
    Time elapsed() const override;
    Time known_duration() const override {
        return shape && shape->published && !launch.graphs ? time_of_shape() : -1;
    }
    // Of a wave of blocks. The shape must have learned it.
    Time time_of_shape() const;
    bool brief() const override { return is_brief; }
    bool stalled() const override { return control.stalled.load(); }
    bool may_launch_graphs() const {
        return (launch.image->table().flags & cuscope_simt::launches_graphs) != 0;
    }
    std::shared_ptr<KernelEffect> copy_kernel() const {
        auto made = std::make_shared<KernelEffect>();
        made->launch = launch;
        made->name = name;
        made->shape = shape;
        made->waves = waves;
        made->saved_in_graph = saved_in_graph;
        made->kernel_latency = kernel_latency;
        return made;
    }
    std::shared_ptr<Effect> copy() const override { return copy_kernel(); }
};

// Lets launches that are made after the end of this one know the time of the shape. The end is a moment of
// the timeline, so the same program knows the time at the same place on every run.
void publish_time(const std::shared_ptr<KernelShape>& shape, Command* command);

// To be called when a kernel of a graph is launched again. Its time is known if another launch of the same
// shape has ended, so nothing waits for this one to run.
void take_known_time(Command* command);

}  // namespace cuscope::host
