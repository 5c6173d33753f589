#include "host/effects/effects.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_set>
#include <utility>

namespace cuscope::host {

Effects::Effects(std::mutex& mutex, std::condition_variable& changed, CommandPool& pool, Running& running)
    : mutex_(mutex), changed_(changed), pool_(pool), running_(running) {}

void Effects::add(Command* command) {
    command->effect_done = false;
    if (queue_.empty() && command->effect->quick() && ready(command)) {
        if (begin(command)) command->effect->run();
        command->effect_done = true;
        return;
    }
    if (command->engine == Engine::host) {
        callbacks_.push_back(command);
    } else {
        queue_.push_back(command);
        if (command->effect->brief()) {
            unannounced_ = true;
            return;
        }
    }
    start_threads();
    (command->engine == Engine::host ? callback_work_ : work_).notify_one();
}

void Effects::announce() {
    if (!std::exchange(unannounced_, false) || queue_.empty()) return;
    start_threads();
    work_.notify_one();
}

bool Effects::run_brief(Lock& lock) {
    Command* const command = next_runnable();
    if (command == nullptr || !command->effect->brief()) return false;
    note_unlock();
    run_queued(lock, command);
    // A worker that was woken meanwhile has gone back to sleep.
    unannounced_ = true;
    return true;
}

// The threads live as long as the process. They are detached, so that the exit of the process waits for none.
void Effects::start_threads() {
    while (!queue_.empty() && threads_ < threads_wanted_) {
        ++threads_;
        std::thread([this] { work(); }).detach();
    }
    if (!callbacks_.empty() && !callback_thread_) {
        callback_thread_ = true;
        std::thread([this] { call_back(); }).detach();
    }
}

void Effects::work() {
    Lock lock(mutex_);
    while (threads_ <= threads_wanted_) {
        Command* command = next_runnable();
        if (command == nullptr) {
            work_.wait(lock);
            continue;
        }
        run_queued(lock, command);
    }
    --threads_;
}

void Effects::run_queued(Lock& lock, Command* command) {
    ++active_;
    run(lock, command);
    --active_;
    // The queue may be long, so look at the front first: this command is there unless it has passed others. A
    // passed command is at the front, too, or behind passed commands alone.
    if (queue_.front() == command) {
        queue_.pop_front();
    } else {
        queue_.erase(std::find(queue_.begin(), queue_.end(), command));
    }
    if (queue_.empty() || !queue_.front()->passed) threads_wanted_ = 1;
    if (queue_.empty()) idle_.notify_all();
    if (threads_ > 1) work_.notify_all();
}

void Effects::let_run(Lock& lock) {
    announce();
    note_unlock();
    idle_.wait_for(lock, std::chrono::milliseconds(1), [&] { return queue_.empty(); });
}

// The first command that has not started, if all commands before it are done. Where some are stalled, the
// first command that does not depend on them.
Command* Effects::next_runnable() {
    bool passing = false;
    for (Command* command : queue_) {
        if (command->passed) {
            passing = true;
        } else if (command->running) {
            return nullptr;
        } else if (ready(command)) {
            return command;
        } else if (!passing) {
            return nullptr;
        }
    }
    return nullptr;
}

void Effects::call_back() {
    Lock lock(mutex_);
    for (;;) {
        Command* const command = next_callback();
        if (command == nullptr) {
            callback_work_.wait(lock);
            continue;
        }
        std::erase(callbacks_, command);
        run(lock, command);
    }
}

// The first callback, once it is ready. A callback that waits for a stalled kernel is passed, since the
// kernel may wait for a later one.
Command* Effects::next_callback() {
    for (Command* command : callbacks_) {
        if (ready(command)) return command;
        if (!behind_stalled(command)) return nullptr;
    }
    return nullptr;
}

bool Effects::behind_stalled(const Command* command) const {
    if (command->running || command->effect_done) return false;
    return std::any_of(queue_.begin(), queue_.end(), [&](const Command* other) {
        return other->passed && other != command && depends_on(command, other);
    });
}

// For a command that is ready. False: its effect is not to be run.
bool Effects::begin(Command* command) {
    if (!running_.starts(command)) return false;
    command->effect->starting(command->started);
    if (command->primary != nullptr) command->effect->primary_ended(command->primary->ended);
    return true;
}

void Effects::run(Lock& lock, Command* command) {
    command->running = true;
    if (begin(command)) {
        lock.unlock();
        command->effect->run();
        take(lock);
    }
    command->running = false;
    command->effect_done = true;
    running_.done(command);
    // The next work of the other thread may wait for this work.
    if (!callbacks_.empty()) callback_work_.notify_one();
    if (command->engine == Engine::host && !queue_.empty()) work_.notify_all();
    if (!command->awaited && !any_awaited_) return;
    any_awaited_ = false;
    changed_.notify_all();
}

bool Effects::ready(const Command* command) {
    return std::all_of(command->dependencies.begin(), command->dependencies.end(),
                       [&](Command* dependency) { return functional(dependency); });
}

void Effects::ended(Command* command) {
    ended_.push_back(command);
    reap();
}

Command* Effects::last_to_do(std::uint64_t count) {
    reap();
    return count <= reaped_ ? nullptr : ended_[count - reaped_ - 1];
}

void Effects::await(Command* command) {
    if (command == nullptr || command->effect_done) {
        any_awaited_ = true;
    } else {
        command->awaited = true;
    }
}

Command* Effects::before_last(std::size_t count) const {
    return queue_.size() > count ? queue_[queue_.size() - count - 1] : nullptr;
}

Command* Effects::undone() {
    reap();
    for (Command* command : ended_) {
        if (!command->effect_done && !command->stalled && ready(command)) return command;
    }
    return nullptr;
}

// Not called by the threads that do the work: memory that a caller allocated is better freed by a caller. It
// is enough to look at the front: commands end in the order in which their effects are done, unless one is
// stalled.
void Effects::reap() {
    while (!ended_.empty()) {
        Command* command = ended_.front();
        if (!command->functional) {
            if (!command->effect_done) return;
            for (const Command* dependency : command->dependencies) {
                if (!dependency->functional) return;
            }
            command->functional = true;
        }
        for (Command* dependency : command->dependencies) pool_.release(dependency);
        command->dependencies.clear();
        command->effect.reset();
        ended_.pop_front();
        ++reaped_;
        pool_.release(command);
    }
}

Command* Effects::holding_up(Command* command) {
    if (command->functional) return nullptr;
    if (command->ended < 0 || !command->effect_done) return command;
    // A command before it is stalled, or still runs: look only at the commands that this one waited for.
    std::vector<Command*> stack{command};
    while (!stack.empty()) {
        Command* top = stack.back();
        bool pushed = false;
        for (Command* dependency : top->dependencies) {
            if (dependency->functional) continue;
            if (dependency->ended < 0 || !dependency->effect_done) return dependency;
            stack.push_back(dependency);
            pushed = true;
            break;
        }
        if (pushed) continue;
        top->functional = true;
        stack.pop_back();
    }
    return nullptr;
}

bool Effects::depends_on(const Command* command, const Command* other) const {
    std::unordered_set<const Command*> seen;
    std::vector<const Command*> stack{command};
    while (!stack.empty()) {
        const Command* top = stack.back();
        stack.pop_back();
        if (top == other) return true;
        for (const Command* dependency : top->dependencies) {
            if (!dependency->functional && seen.insert(dependency).second) stack.push_back(dependency);
        }
    }
    return false;
}

bool Effects::pass_stalled() {
    bool any = false;
    int left = active_;  // the queue may be long, and few of its commands run
    for (Command* command : queue_) {
        if (left == 0) break;
        if (!command->running) continue;
        --left;
        if (!command->effect->stalled()) continue;
        any = true;
        if (command->passed) continue;
        command->passed = true;
        ++threads_wanted_;
    }
    if (any) {
        start_threads();
        work_.notify_all();
        if (!callbacks_.empty()) callback_work_.notify_one();
    }
    return any;
}

}  // namespace cuscope::host
