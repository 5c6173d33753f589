// What the process says to every layer: somebody wants a wait to end, the process exits, the process was
// forked.
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

// Waits poll `interrupted()` every few dozen milliseconds, with no lock held; when it answers true they
// return Status::not_ready, which a synchronisation answers for no other reason. The check is set once, by
// the bindings; it answers true only on a thread that may be interrupted.
using InterruptCheck = bool (*)();
void set_interrupt_check(InterruptCheck check) noexcept;
bool interrupted();

// While a thread has one of these, calls of the contract that would wait for all of a device before they give
// something back (free, free_host, host_unregister, free_array,
// free_mipmapped_array, library_unload, mem_pool_destroy) do nothing
// there and answer Status::not_ready; no call on the thread asks interrupted(). Destructors have one: they
// never wait, and Ctrl-C is not theirs to take.
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
    // Of the outermost one of this thread: no other has had it.
    static unsigned long long number() noexcept { return number_; }

    // While a release is tried again, or depends on whether work has been done yet. When that succeeds
    // depends on how fast the processor is, so a simulated device counts no time for it: the timeline stays
    // the same on every run.
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

// Whatever a wait may be for has got on: work has begun or ended, a compiler runs. A thread that asks
// interrupted() again and again in one call of the program, while nothing got on for `seconds`, has `report`
// called, once in that call; 0: never. With no lock held; on any thread, interrupted() is true if it says so.
void note_progress() noexcept;
inline void note_call() noexcept { ++detail::calls; }  // the calling thread's next wait is another one
enum class QuietAnswer { goes_on, reported, end };     // goes_on: something works after all
using QuietReport = QuietAnswer (*)(double seconds);
void set_quiet_report(QuietReport report, double seconds) noexcept;

// Lets go of the interpreter's lock, if the thread has it, while a call of the runtime is made that may take
// long. For calls of destructors, which run wherever the last reference goes: a driver may hold its own lock
// until a host function has run, which needs the interpreter's. The bindings set both functions once. Not to
// be made with a lock of C++ held.
using LetInterpreterGo = void* (*)();  // null: this thread does not have its lock
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

// A lock on the mutex. A thread that has to wait for it lets go of the interpreter's lock meanwhile, so this
// is for every thread that takes a mutex under which a call may wait for the interpreter's lock.
template <class Lock>
Lock locked(typename Lock::mutex_type& mutex) {
    Lock lock(mutex, std::try_to_lock);
    if (!lock) {
        const WithoutInterpreter released;
        lock.lock();
    }
    return lock;
}

// Where what kernels print goes: to this, which the bindings set once, or the C library's stdout where none
// is.
using KernelOutput = void (*)(const char* text, std::size_t bytes);
void set_kernel_output(KernelOutput output) noexcept;
bool has_kernel_output() noexcept;
void write_kernel_output(const std::string& text);  // with no lock held

// From here on owners leave everything to the operating system, and callbacks are not run.
void set_process_exiting() noexcept;
bool process_exiting() noexcept;

// True in a child process of one that had used a runtime: CUDA cannot be used there, and neither can a
// simulation whose threads stayed behind. `note_runtime_use` is called when a runtime is made.
void note_runtime_use() noexcept;
inline bool forked_after_use() noexcept { return detail::forked.load(std::memory_order_relaxed); }

}  // namespace cuscope
