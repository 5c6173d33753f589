// The prologue of every call of the host runtime. Private to src/host.
#pragma once

#include <utility>

#include "host/runtime/host_runtime.hpp"
#include "runtime/process.hpp"

namespace cuscope::host {

// Takes the lock and charges the call's cost to the simulated host clock. It also decides whether the call is
// refused independently of its arguments: in a forked child, in a host function, or on a lost device.
class HostRuntime::Call {
  public:
    enum class On { device, host };  // device: the call is refused while the device is lost

    Call(HostRuntime& runtime, std::int64_t CallCosts::*cost, On on = On::device) {
        if (forked_after_use()) {
            refused_ = Status::initialization_error;
            thread().last = refused_;
            thread().detail = "the process was forked after cuscope had been used in its parent";
            return;
        }
        if (thread().in_host_function) {
            refused_ = Status::not_permitted;
            return;
        }
        lock_ = Lock(runtime.mutex_, std::defer_lock);
        take(lock_);
        ++runtime.calls_;
        Device& device = runtime.device();
        if (!NoWait::again()) runtime.timeline_.spend(device.model->costs.*cost);
        if (on == On::device && device.lost != Status::success) {
            refused_ = runtime.fail(device.lost, device.lost_detail);
        }
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
#define ENTER(cost, ...)                                           \
    Call call(*this, &CallCosts::cost __VA_OPT__(, ) __VA_ARGS__); \
    if (call.refused()) return call.status()

// Restores the last error. cudaGetLastError belongs to the runtime library: a failing driver function (cu...)
// does not set it.
class HostRuntime::LastErrorKept {
  public:
    LastErrorKept() : last_(thread().last) {}
    LastErrorKept(const LastErrorKept&) = delete;
    LastErrorKept& operator=(const LastErrorKept&) = delete;
    ~LastErrorKept() { thread().last = last_; }

  private:
    Status last_;
};

// Makes another device the thread's current one for a scope.
class HostRuntime::OnDevice {
  public:
    explicit OnDevice(int device) : before_(std::exchange(thread().device, device)) {}
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    ~OnDevice() { thread().device = before_; }

  private:
    int before_;
};

}  // namespace cuscope::host
