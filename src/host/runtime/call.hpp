// The prologue of every call of the host runtime, and the effects that these calls issue. Private to
// src/host.
#pragma once

#include <utility>

#include "host/executor/executor.hpp"
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

class HostRuntime::KernelEffect final : public Effect {
  public:
    simt::Launch launch;
    simt::RunControl control;
    simt::Outcome outcome;
    bool tells_time = true;

    void starting(Time time) override { launch.start_ns = time; }
    void primary_ended(Time time) override { launch.primary_ended_ns = time; }
    Time triggered() const override { return outcome.triggered_ns; }
    void run() override { outcome = simt::run(launch, control); }
    Time elapsed() const override { return tells_time ? outcome.elapsed_ns : 0; }
    bool stalled() const override { return control.stalled.load(); }
    bool may_launch_graphs() const {
        return (launch.image->table().flags & cuscope_simt::launches_graphs) != 0;
    }
    std::shared_ptr<Effect> copy() const override {
        auto made = std::make_shared<KernelEffect>();
        made->launch = launch;
        return made;
    }
};

class HostRuntime::HostFunctionEffect final : public Effect {
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

}  // namespace cuscope::host
