// Does the work behind commands, on threads of its own, in the order that the timeline decided. Copies,
// memsets and kernels run one after the other (a kernel uses all cores by itself); host functions run on the
// callback thread. A kernel that waits for something outside itself is passed by what does not depend on it.
//
// Everything is called under the runtime's lock, which the threads leave while an effect runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "host/runtime/lock.hpp"
#include "host/sim/command.hpp"

namespace cuscope::host {

class Effects {
  public:
    struct Hooks {
        std::function<bool(const Command*)> starts;  // false: its effect is not to be run
        std::function<void(Command*)> done;          // also if it was not
    };

    // `changed` is notified when an effect is done that somebody awaits.
    Effects(std::mutex& mutex, std::condition_variable& changed, CommandPool& pool, Hooks hooks);

    void add(Command* command);
    // A command has ended in simulated time. Takes over the timeline's reference to it.
    void ended(Command* command);
    // Has the command ended, and has its work been done, and that of all that it waited for?
    bool functional(Command* command) { return holding_up(command) == nullptr; }
    // Why it is not functional: a command that has not ended, or whose work has not been done. Null if it is.
    Command* holding_up(Command* command);
    // How many commands have ended so far, and the last of the first `count` of them, if the work of any of
    // these is yet to be done.
    std::uint64_t count_ended() const { return reaped_ + ended_.size(); }
    Command* last_to_do(std::uint64_t count);
    // Has `changed` notified once the work of this, or null: of any, is done.
    void await(Command* command);
    // Has all been done that the command waits for?
    bool ready(const Command* command);
    // The first that has ended and can be done, but is not; null if there is none. What is stalled does not
    // count.
    Command* undone();
    // Does `command` wait, however indirectly, for `other`?
    bool depends_on(const Command* command, const Command* other) const;
    // Cannot the command's work begin, because it waits for work that is stalled?
    bool behind_stalled(const Command* command) const;
    // Lets later effects pass one that is stalled. True if there is one.
    bool pass_stalled();
    // What has to be done until only so many wait; null if no more do.
    Command* before_last(std::size_t count) const;
    bool idle() const { return queue_.empty(); }
    // What is due, in the order in which it is done. Host functions, which have a thread of their own, are
    // not in it.
    const std::deque<Command*>& queue() const { return queue_; }
    // Leaves the lock to the threads for a moment, or until nothing waits for them: where many short effects
    // are due, taking turns at the lock with a caller that issues more would take longer than they do.
    void let_run(Lock& lock);

  private:
    void start_threads();
    void work();
    void call_back();
    Command* next_runnable();
    Command* next_callback();
    bool begin(Command* command);
    void run(Lock& lock, Command* command);
    void reap();

    std::mutex& mutex_;
    std::condition_variable& changed_;
    std::condition_variable work_, callback_work_, idle_;
    CommandPool& pool_;
    Hooks hooks_;
    std::deque<Command*> queue_;
    std::deque<Command*> callbacks_;
    std::deque<Command*> ended_;  // in order; not functional yet, or behind one that is not
    std::uint64_t reaped_ = 0;    // how many were in it before these
    bool any_awaited_ = false;
    int threads_ = 0, threads_wanted_ = 1, running_ = 0;
    bool callback_thread_ = false;
};

}  // namespace cuscope::host
