// Signals that a kernel's code raises end the kernel instead of the process, and one that ends a kernel which
// does not end by itself. Owns the process's handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and one real-time
// signal; what was installed before them gets every signal that is not a kernel's.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "host/executor/fiber.hpp"

namespace cuscope::simt {

// What the handlers know of an OS thread that runs kernels. Written by that thread and by its handlers; only
// the range is written by others.
struct FaultTarget {
    // Kernel code runs: a fault goes on at `resume`, with `signal` set.
    std::atomic<bool> armed{false};
    Context* resume = nullptr;

    volatile int signal = 0;
    volatile int code = 0;
    const char* volatile address = nullptr;
    volatile bool is_write = false;
    const char* volatile instruction = nullptr;  // that faulted
    const char* volatile stack = nullptr;        // the stack pointer at the time

    // Code that may be left at any instruction, since it holds no lock: the kernel's own.
    std::atomic<const char*> interruptible_begin{nullptr}, interruptible_end{nullptr};
};

// Installs the handlers, or puts them back in front of what somebody installed after them.
void install_fault_handlers() noexcept;

// Gives the calling OS thread a stack for its handlers, and lets the handlers know of `target` until the
// object dies.
class FaultScope {
  public:
    explicit FaultScope(FaultTarget* target) noexcept;
    FaultScope(const FaultScope&) = delete;
    FaultScope& operator=(const FaultScope&) = delete;
    ~FaultScope();

  private:
    GuardedMemory signal_stack_;
};

// Asks a thread to leave its kernel. It does so only if it is in interruptible code when the signal arrives,
// so it may have to be asked again.
void interrupt_kernel(pthread_t thread) noexcept;

}  // namespace cuscope::simt
