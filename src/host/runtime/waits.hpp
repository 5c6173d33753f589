// The program's waits for commands, on the timeline and for the work behind them, and the progress that the
// devices make without calls. The time that a wait takes depends on how fast work is done; the simulated time
// must not. Private to src/host.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>

#include "host/runtime/lock.hpp"
#include "host/sim/command.hpp"
#include "runtime/status.hpp"

namespace cuscope::host {

struct Machine;

// Functions with a lock release it while they wait.
class Waits {
  public:
    explicit Waits(Machine& machine) : machine_(machine) {}

    // Waits until the command has ended and its work is done. Null: there is nothing to wait for.
    Status wait_for(Lock& lock, Command* command);
    // Has it ended by the host's time, and is its work done?
    bool is_done(Lock& lock, Command* command);
    // Waits for the work of all commands that have ended so far. False: the wait was interrupted.
    bool drain(Lock& lock);
    // Simulates the devices up to the host's time.
    void catch_up(Lock& lock);
    // Keeps the number of pending commands within bounds, after `issued` more.
    void relieve(Lock& lock, std::size_t issued = 1);

    // A command has become pending: the thread that lets devices advance without calls is started, or woken.
    void start_background();
    void wake_background() { background_.notify_one(); }
    void count_call() { ++calls_; }
    // A thread compiles a kernel, which takes as long as the machine needs: meanwhile, devices do not advance
    // without calls.
    void begin_compiling() { ++waiting_; }
    void end_compiling() { --waiting_; }
    // The process exits: all waits end.
    void stop(Lock& lock);

  private:
    using Real = std::chrono::steady_clock;

    bool pass_stalled();
    bool waits_outside(const Command* command, const Command* next, Real::duration real) const;
    bool wait_slice(Lock& lock, Command* awaited);
    bool asked_to_end(Lock& lock);
    bool linger(Lock& lock, Command* awaited);
    void background();

    Machine& machine_;
    std::condition_variable background_;  // a command has become pending
    bool stalled_ = false;                // some effect waits for the program, since stalled_since_
    Real::time_point stalled_since_;
    Real::time_point next_moment_;  // when linger() may wait again
    std::size_t unobserved_ = 0;    // commands issued since the devices were last simulated
    unsigned long long calls_ = 0;
    int waiting_ = 0;  // threads that wait for work, or compile
    bool background_started_ = false;
};

}  // namespace cuscope::host
