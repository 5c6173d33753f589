// The work of kernels. Private to src/host.
#pragma once

#include <memory>

#include "host/executor/executor.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

class HostRuntime::KernelEffect final : public Effect {
  public:
    simt::Launch launch;
    simt::RunControl control;
    simt::Outcome outcome;
    bool tells_time = true;

    // The effect of a command of the compute engine: only kernels are run by it.
    static KernelEffect& of(const Command& command) { return static_cast<KernelEffect&>(*command.effect); }

    void starting(Time time) override { launch.start_ns = time; }
    void primary_ended(Time time) override { launch.primary_ended_ns = time; }
    Time triggered() const override { return outcome.triggered_ns; }
    void run() override { outcome = simt::run(launch, control); }
    Time elapsed() const override { return tells_time ? outcome.elapsed_ns : 0; }
    bool stalled() const override { return control.stalled.load(); }
    bool may_launch_graphs() const {
        return (launch.image->table().flags & cuscope_simt::launches_graphs) != 0;
    }
    std::shared_ptr<KernelEffect> copy_kernel() const {
        auto made = std::make_shared<KernelEffect>();
        made->launch = launch;
        return made;
    }
    std::shared_ptr<Effect> copy() const override { return copy_kernel(); }
};

}  // namespace cuscope::host
