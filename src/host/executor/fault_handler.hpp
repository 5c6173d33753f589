// A signal that a kernel's code raises ends the kernel instead of the process; another signal ends a kernel
// that does not end by itself. Owns the process's handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and one
// real-time signal. The handlers that were installed before get every signal that does not come from a
// kernel.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "host/executor/fiber.hpp"

namespace cuscope::simt {

// The handlers' data about an OS thread that runs kernels. That thread and its handlers write it; other
// threads write only the range.
struct FaultTarget {
    // Kernel code is running. After a fault, execution goes on at `resume`, with `signal` set.
    std::atomic<bool> armed{false};
    Context* resume = nullptr;

    volatile int signal = 0;
    volatile int code = 0;
    const char* volatile address = nullptr;
    volatile bool is_write = false;
    const char* volatile instruction = nullptr;  // the instruction that faulted
    const char* volatile stack = nullptr;        // the stack pointer at the fault

    // Code that may be left at any instruction because it holds no lock: the kernel's own code.
    std::atomic<const char*> interruptible_begin{nullptr}, interruptible_end{nullptr};
};

// Installs the handlers, or puts them back in front of handlers that were installed after them.
void install_fault_handlers() noexcept;

// Gives the calling OS thread a stack for its handlers, and makes `target` known to the handlers until the
// object is destroyed.
class FaultScope {
  public:
    explicit FaultScope(FaultTarget* target) noexcept;
    FaultScope(const FaultScope&) = delete;
    FaultScope& operator=(const FaultScope&) = delete;
    ~FaultScope();

  private:
    GuardedMemory signal_stack_;
};

// Asks a thread to leave its kernel. The thread does so only if it is in interruptible code when the signal
// arrives, so it may have to be asked again.
void interrupt_kernel(pthread_t thread) noexcept;

}  // namespace cuscope::simt
