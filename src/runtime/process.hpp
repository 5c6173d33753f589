// Process-wide state that every layer reads: a request to end a wait, the process's exit, and whether the
// process was forked.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "runtime/status.hpp"

namespace cuscope {

namespace detail {
extern std::atomic<bool> forked;
extern constinit thread_local unsigned calls;
}  // namespace detail

// A wait polls `interrupted()` every few dozen milliseconds with no lock held. If it returns true, the wait
// returns Status::not_ready; a synchronisation returns this status for no other reason. The bindings set the
// check once. It returns true only on a thread that may be interrupted.
using InterruptCheck = bool (*)();
void set_interrupt_check(InterruptCheck check) noexcept;
bool interrupted();

// While a NoWait exists on a thread, contract calls that would wait for a whole device before they release
// something (free, free_host, host_unregister, free_array, free_mipmapped_array, library_unload,
// mem_pool_destroy) do nothing and return Status::not_ready. No call on the thread asks interrupted().
// Destructors use it: they must never wait, and they must not consume a Ctrl-C.
class NoWait {
  public:
    NoWait() noexcept : outer_(active_) {
        if (!outer_) ++number_;
        active_ = true;
    }
    NoWait(const NoWait&) = delete;
    NoWait& operator=(const NoWait&) = delete;
    ~NoWait() { active_ = outer_; }
    static bool active() noexcept { return active_; }
    // The number of the outermost NoWait of this thread. Each has a different number.
    static unsigned long long number() noexcept { return number_; }

    // Marks a release that is a retry, or that depends on whether work is done yet. The moment at which it
    // succeeds depends on the processor's speed. So a simulated device charges no time for it, and the
    // timeline stays the same on every run.
    class Again {
      public:
        explicit Again(bool again = true) noexcept : outer_(again_) { again_ = again_ || again; }
        Again(const Again&) = delete;
        Again& operator=(const Again&) = delete;
        ~Again() { again_ = outer_; }

      private:
        bool outer_;
    };
    static bool again() noexcept { return active_ && again_; }

  private:
    static inline thread_local bool again_ = false;
    static inline thread_local bool active_ = false;
    static inline thread_local unsigned long long number_ = 0;
    bool outer_;
};

// While a Look exists on a thread, its calls are no part of the program: they only show an object to the
// user, for example in a notebook, or prepare to count, time or check a kernel. A simulated device charges no
// time for them, and no trace has them.
class Look {
  public:
    Look() noexcept : outer_(active_) { active_ = true; }
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;
    ~Look() { active_ = outer_; }
    static bool active() noexcept { return active_; }

  private:
    static inline thread_local bool active_ = false;
    bool outer_;
};

// note_progress() tells waiting threads that something has advanced: work has begun or ended, or a compiler
// runs. If a thread keeps asking interrupted() within one call of the program and nothing advances for
// `seconds`, `report` is called, once for that call; 0: never. It is called with no lock held, on any thread.
// If it returns QuietAnswer::end, interrupted() returns true.
void note_progress() noexcept;
inline void note_call() noexcept { ++detail::calls; }  // the thread's next wait belongs to a new call
enum class QuietAnswer { goes_on, reported, end };     // goes_on: some work does advance
using QuietReport = QuietAnswer (*)(double seconds);
void set_quiet_report(QuietReport report, double seconds) noexcept;

// Releases the interpreter's lock (the GIL), if the thread holds it, during a runtime call that may take
// long. It is meant for the calls of destructors, which run wherever the last reference is dropped: a driver
// may hold its own lock until a host function has run, and that function needs the GIL. The bindings set both
// functions once. Do not use it while holding a C++ lock.
using LetInterpreterGo = void* (*)();  // null: this thread does not hold the GIL
using TakeInterpreter = void (*)(void*);
void set_interpreter_lock(LetInterpreterGo let_go, TakeInterpreter take) noexcept;
class WithoutInterpreter {
  public:
    WithoutInterpreter();
    WithoutInterpreter(const WithoutInterpreter&) = delete;
    WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;
    ~WithoutInterpreter();

  private:
    void* state_;
};

// Locks the mutex. If the thread has to wait for it, it releases the GIL meanwhile. Use it for every mutex
// under which a call may wait for the GIL.
template <class Lock>
Lock locked(typename Lock::mutex_type& mutex) {
    Lock lock(mutex, std::try_to_lock);
    if (!lock) {
        const WithoutInterpreter released;
        lock.lock();
    }
    return lock;
}

// Kernels print to this function, which the bindings set once, or to the C library's stdout if none is set.
using KernelOutput = void (*)(const char* text, std::size_t bytes);
void set_kernel_output(KernelOutput output) noexcept;
bool has_kernel_output() noexcept;
void write_kernel_output(const std::string& text);  // with no lock held

// After set_process_exiting(), owners leave all resources to the operating system, and callbacks are not run.
void set_process_exiting() noexcept;
bool process_exiting() noexcept;

// True in a forked child if the parent had used a runtime. CUDA does not work there. Neither does the
// simulation, because its threads exist only in the parent. `note_runtime_use` is called when a runtime is
// created.
void note_runtime_use() noexcept;
inline bool forked_after_use() noexcept { return detail::forked.load(std::memory_order_relaxed); }

}  // namespace cuscope
