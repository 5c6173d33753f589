// The beginning of every call of the host runtime. Private to src/host.
#pragma once

#include <utility>

#include "host/runtime/host_runtime.hpp"
#include "runtime/process.hpp"

namespace cuscope::host {

// Takes the lock, spends what the call costs, and finds out whether the call is refused whatever its
// arguments are: in a forked child, in a host function, on a lost device.
class HostRuntime::Call {
  public:
    enum class On { device, host };  // does a lost device refuse it?

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

// The last error is the runtime library's: what fails in a function of the driver does not set it.
class HostRuntime::LastErrorKept {
  public:
    LastErrorKept() : last_(thread().last) {}
    LastErrorKept(const LastErrorKept&) = delete;
    LastErrorKept& operator=(const LastErrorKept&) = delete;
    ~LastErrorKept() { thread().last = last_; }

  private:
    Status last_;
};

// Another device is the current one of the thread meanwhile.
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
