// The work of host functions. Private to src/host.
#pragma once

#include <memory>

#include "host/runtime/thread_state.hpp"
#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct Machine;
struct Stream;

class HostFunctionEffect final : public Effect {
  public:
    HostFunctionEffect(HostFunction function, void* data, Time overhead)
        : function_(function), data_(data), overhead_(overhead) {}

    void starting(Time time) override { started_ = time; }
    void run() override {
        ThreadState& state = thread();
        state.in_host_function = true;
        state.host_function_time = started_;
        function_(data_);
        elapsed_ = overhead_ + state.host_function_time - started_;
        state.in_host_function = false;
    }
    Time elapsed() const override { return elapsed_; }
    std::shared_ptr<Effect> copy() const override {
        return std::make_shared<HostFunctionEffect>(function_, data_, overhead_);
    }
    HostFunction called() const { return function_; }
    void* argument() const { return data_; }

  private:
    HostFunction function_;
    void* data_;
    Time overhead_, started_ = 0, elapsed_ = 0;
};

// Makes the command of a host function in a stream or of a node.
Status make_host_command(Machine& machine, const HostNodeParameters& parameters, Stream& stream,
                         Command** made);

}  // namespace cuscope::host
