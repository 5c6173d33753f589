// Does the work behind commands, on threads of its own, in the order that the timeline decided. Copies,
// memsets and kernels run one after the other (a kernel uses all cores by itself); host functions run on the
// callback thread. Commands that do not depend on a kernel pass it while it waits for something outside
// itself.
//
// Everything is called under the runtime's lock, which the threads leave while an effect runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "host/effects/running.hpp"
#include "host/runtime/lock.hpp"
#include "host/sim/command.hpp"

namespace cuscope::host {

class Effects {
  public:
    // `changed` is notified when an effect is done for which await() was called.
    Effects(std::mutex& mutex, std::condition_variable& changed, CommandPool& pool, Running& running);

    // Brief work is kept from the worker threads until announce(). So whoever makes commands end calls that
    // before giving up the lock, or else does the work with run_brief().
    void add(Command* command);
    void announce();
    // Does the next work that is due, if it is brief, on the calling thread. False: there is none. Leaves the
    // lock meanwhile.
    bool run_brief(Lock& lock);
    // A command has ended in simulated time. Takes over the timeline's reference to it.
    void ended(Command* command);
    // Has the command ended, and has its work been done, and the work of all commands that it waited for?
    bool functional(Command* command) { return holding_up(command) == nullptr; }
    // Why it is not functional: a command that has not ended, or whose work has not been done. Null if it is.
    Command* holding_up(Command* command);
    // How many commands have ended so far.
    std::uint64_t count_ended() const { return reaped_ + ended_.size(); }
    // The last of the first `count` commands that ended, or null if the work of all of them is done.
    Command* last_to_do(std::uint64_t count);
    // Has `changed` notified once the work of this command is done, or of any command with null.
    void await(Command* command);
    // Has the work been done of all commands that this one waits for?
    bool ready(const Command* command);
    // The first command that has ended and whose work could be done now, but is not. Stalled commands do not
    // count. Null if there is none.
    Command* undone();
    // Does `command` wait, however indirectly, for `other`?
    bool depends_on(const Command* command, const Command* other) const;
    // Cannot the command's work begin, because it waits for work that is stalled?
    bool behind_stalled(const Command* command) const;
    // Lets later effects pass the stalled ones. True if an effect is stalled.
    bool pass_stalled();
    // The command whose work has to be done until only `count` are left in the queue; null if there are no
    // more.
    Command* before_last(std::size_t count) const;
    bool idle() const { return queue_.empty(); }
    // The commands whose work is due, in the order in which it is done. Host functions are not among them:
    // they have a thread of their own.
    const std::deque<Command*>& queue() const { return queue_; }
    // Leaves the lock to the threads for a moment, or until the queue is empty. Where many short effects are
    // due, taking turns at the lock with a caller that issues more would take longer than the effects do.
    void let_run(Lock& lock);

  private:
    void start_threads();
    void work();
    void call_back();
    Command* next_runnable();
    Command* next_callback();
    bool begin(Command* command);
    void run_queued(Lock& lock, Command* command);
    void run(Lock& lock, Command* command);
    void reap();

    std::mutex& mutex_;
    std::condition_variable& changed_;
    std::condition_variable work_, callback_work_, idle_;
    CommandPool& pool_;
    Running& running_;
    std::deque<Command*> queue_;
    std::deque<Command*> callbacks_;
    std::deque<Command*> ended_;  // in order, from the first that is not functional yet
    std::uint64_t reaped_ = 0;    // how many have left it
    bool any_awaited_ = false;
    bool unannounced_ = false;  // the queue may hold work that no thread has been woken for
    int threads_ = 0, threads_wanted_ = 1, active_ = 0;
    bool callback_thread_ = false;
};

}  // namespace cuscope::host
