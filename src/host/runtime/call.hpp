// The prologue of every call of the host runtime. Private to src/host.
#pragma once

#include "host/runtime/machine.hpp"
#include "runtime/process.hpp"

namespace cuscope::host {

// Takes the lock and charges the call's cost to the simulated host clock. It also decides whether the call is
// refused independently of its arguments: in a forked child, in a host function, or on a lost device.
class Call {
  public:
    enum class On { device, host };  // device: the call is refused while the device is lost

    Call(Machine& machine, std::int64_t CallCosts::*cost, On on = On::device) {
        ThreadState& here = thread();
        if (forked_after_use()) {
            refused_ = Status::initialization_error;
            here.last = refused_;
            here.detail = "the process was forked after cuscope had been used in its parent";
            return;
        }
        if (here.in_host_function) {
            refused_ = Status::not_permitted;
            return;
        }
        lock_ = Lock(machine.mutex, std::defer_lock);
        take(lock_);
        if (!Look::active()) machine.waits.count_call();
        const Device& device = machine.devices[here.device];
        if (!NoWait::again() && !Look::active()) machine.timeline.spend(device.model->costs.*cost);
        if (on == On::device) refused_ = device.check();
    }

    bool refused() const { return refused_ != Status::success; }
    Status status() const { return refused_; }
    Lock& lock() { return lock_; }

  private:
    Lock lock_;
    Status refused_ = Status::success;
};

// Begins a method of the contract: ENTER(field of CallCosts), or ENTER(field, Call::On::host). Makes `call`,
// and returns from the method if the call is refused.
#define ENTER(cost, ...)                                              \
    Call call(machine_, &CallCosts::cost __VA_OPT__(, ) __VA_ARGS__); \
    if (call.refused()) return call.status()

}  // namespace cuscope::host
