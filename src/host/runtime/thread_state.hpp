// The runtime's state for one thread: its current device, and the last error with its detail. Private to
// src/host.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct ThreadState {
    int device = 0;
    Status last = Status::success;
    std::string detail;
    unsigned long long id = 0;
    CaptureMode capture_mode = CaptureMode::global;
    bool in_host_function = false;
    Time host_function_time = 0;
    // Waits::linger() stores here how long this thread's latest NoWait scope may still wait.
    unsigned long long moment_of = 0;
    std::chrono::steady_clock::time_point moment_ends;
};

// The state of the calling thread.
ThreadState& thread();

// Makes the status the thread's last error, and returns it.
Status fail(Status status, std::string detail = {});
// CUDA refuses most handles with this status, but handles of graphs, nodes, executables, pools and semaphores
// with invalid_value.
Status invalid_handle(const char* what, Status status = Status::invalid_resource_handle);

// Restores the last error. cudaGetLastError belongs to the runtime library: a failing driver function (cu...)
// does not set it.
class LastErrorKept {
  public:
    LastErrorKept() : last_(thread().last) {}
    LastErrorKept(const LastErrorKept&) = delete;
    LastErrorKept& operator=(const LastErrorKept&) = delete;
    ~LastErrorKept() { thread().last = last_; }

  private:
    Status last_;
};

// Makes another device the thread's current one for a scope.
class OnDevice {
  public:
    explicit OnDevice(int device) : before_(std::exchange(thread().device, device)) {}
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    ~OnDevice() { thread().device = before_; }

  private:
    int before_;
};

}  // namespace cuscope::host
