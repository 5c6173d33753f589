#include "host/runtime/waits.hpp"

#include <ctime>
#include <thread>

#include "host/effects/effects.hpp"
#include "host/runtime/machine.hpp"
#include "runtime/process.hpp"
#include "runtime/progress.hpp"

namespace cuscope::host {
namespace {

using std::chrono::milliseconds;
using Real = std::chrono::steady_clock;

// An effect that has run for this long (real time) counts as waiting for an action that the program has yet
// to take.
constexpr milliseconds patience{1000};
constexpr std::size_t most_effects = 16384;
// The limits on commands that were issued since the devices were last simulated, and on pending commands.
constexpr std::size_t most_unobserved = 1024, most_pending = 65536;

// Measures for how long (real time) one command has held up a wait. The command is known by its sequence
// number, since a later command may reuse its address.
class Patience {
  public:
    Real::duration since(const Command* command) {
        const Real::time_point now = Real::now();
        if (holder_ != command->sequence) {
            holder_ = command->sequence;
            since_ = now;
        }
        return now - since_;
    }

  private:
    std::uint64_t holder_ = ~std::uint64_t{0};
    Real::time_point since_;
};

// Lets the worker threads do the work that has become due and that the calling thread will not do itself.
class AnnounceAtEnd {
  public:
    explicit AnnounceAtEnd(Effects& effects) : effects_(effects) {}
    AnnounceAtEnd(const AnnounceAtEnd&) = delete;
    AnnounceAtEnd& operator=(const AnnounceAtEnd&) = delete;
    ~AnnounceAtEnd() { effects_.announce(); }

  private:
    Effects& effects_;
};

Time process_cpu_time() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

// Keeps the number of pending commands within bounds. It acts only once for many commands, because catching
// up at each would cost too much.
void Waits::relieve(Lock& lock, std::size_t issued) {
    unobserved_ += issued;
    if (unobserved_ < most_unobserved) return;
    unobserved_ = 0;
    const AnnounceAtEnd announce(machine_.effects);
    catch_up(lock);
    // As on a GPU, a host that is too far ahead waits for the device.
    while (machine_.timeline.pending() > most_pending && !machine_.running.stopping()) {
        if (!machine_.timeline.advance_one() && wait_slice(lock, nullptr)) break;
    }
    machine_.effects.let_run(lock);
    while (Command* due = machine_.effects.before_last(most_effects)) {
        if (pass_stalled() || wait_slice(lock, due)) return;
    }
}

bool Waits::pass_stalled() {
    const bool stalled = machine_.effects.pass_stalled();
    if (stalled && !stalled_) stalled_since_ = Real::now();
    return stalled_ = stalled;
}

// Destructors do this in place of a wait. Work that is over in simulated time gets a moment (50 ms) to be
// done in real time, so that the point at which memory is given back does not depend on the processor's
// speed. If the work takes longer (an endless kernel, a host function that waits), destructors do not wait
// again for 500 ms, since the program may drop many arrays in a row. True: do not wait any longer.
bool Waits::linger(Lock& lock, Command* awaited) {
    constexpr milliseconds moment{50}, pause{500};
    ThreadState& state = thread();
    const auto now = Real::now();
    if (state.moment_of != NoWait::number()) {
        if (now < next_moment_) return true;
        state.moment_of = NoWait::number();
        state.moment_ends = now + moment;
    }
    if (now >= state.moment_ends) {
        next_moment_ = now + pause;
        return true;
    }
    machine_.effects.await(stalled_ ? nullptr : awaited);
    ++waiting_;
    note_unlock();
    machine_.changed.wait_for(lock, milliseconds(machine_.timeline.watching() ? 2 : 10));
    --waiting_;
    return false;
}

// Waits for up to 50 ms for the work of `awaited`; null: for any command's work. Does brief work itself
// instead. True: the wait is to end, because the interrupt check says so or because a destructor has waited
// long enough.
bool Waits::wait_slice(Lock& lock, Command* awaited) {
    if (machine_.effects.run_brief(lock)) return !NoWait::active() && asked_to_end(lock);
    machine_.effects.announce();
    if (NoWait::active()) return linger(lock, awaited);
    machine_.effects.await(stalled_ ? nullptr : awaited);
    ++waiting_;
    note_unlock();
    // There is no notification when the host or another process writes the memory that a command polls.
    const milliseconds slice{machine_.timeline.watching() ? 2 : 50};
    const bool notified = machine_.changed.wait_for(lock, slice) == std::cv_status::no_timeout;
    --waiting_;
    if (!notified) pass_stalled();
    return asked_to_end(lock);
}

// Asks the interrupt check whether this thread's wait is to end. It is asked every few dozen milliseconds,
// however often the thread is woken: other threads may keep the devices busy endlessly.
bool Waits::asked_to_end(Lock& lock) {
    constexpr milliseconds pause{30};
    thread_local Real::time_point last_asked;
    const Real::time_point now = Real::now();
    if (now - last_asked < pause) return false;
    last_asked = now;
    machine_.effects.announce();
    const Doing doing(machine_.running.progress());
    note_unlock();
    lock.unlock();
    const bool end = interrupted();
    take(lock);
    return end;
}

// Has `next`, which holds up the simulation, run for so long that it must be waiting for an action that the
// program has yet to take? If `command` depends on `next`, only the executor's report that the kernel is
// stalled counts, because the duration of `next` is then part of the timeline.
bool Waits::waits_outside(const Command* command, const Command* next, Real::duration real) const {
    const bool stalled = next->running && next->effect->stalled();
    if (machine_.effects.behind_stalled(next)) return real > patience;
    // Work that has begun ends by itself, unless it is stalled or is the program's host function.
    if (next->ended >= 0 && !stalled && next->engine != Engine::host) return false;
    if (machine_.effects.depends_on(command, next)) return stalled && real > patience;
    return real > (stalled ? patience / 10 : patience);
}

Status Waits::wait_for(Lock& lock, Command* command) {
    if (command == nullptr) return Status::success;
    const CommandRef keep(machine_.timeline.pool(), command);
    const AnnounceAtEnd announce(machine_.effects);
    Patience patience_with;
    while (Command* next = machine_.effects.holding_up(command)) {
        if (machine_.running.stopping()) return Status::success;
        if (command->ended < 0) {
            next = machine_.timeline.advance_until(command);
            if (next == nullptr) continue;
            const Real::duration held_up = patience_with.since(next);
            if (next->effect && !next->watches && !next->stalled && waits_outside(command, next, held_up)) {
                // It waits for an action of another stream or of the host, so these go on without it.
                machine_.timeline.set_stalled(next, !machine_.effects.behind_stalled(next));
                continue;
            }
        }
        // A kernel waits for another stream's command: simulate on, so that the stream gets there.
        if (command->ended >= 0 && pass_stalled()) machine_.timeline.advance_one();
        if (wait_slice(lock, next == command && command->ended < 0 ? nullptr : next)) {
            if (command->ended >= 0) machine_.timeline.wait_until(command->ended);
            return Status::not_ready;
        }
    }
    if (!drain(lock)) return Status::not_ready;
    // The host's clock must not depend on how soon the work was done in real time: only a host that had to
    // wait in simulated time pays for being woken up.
    if (command->ended > machine_.timeline.now()) {
        call_context().waited_for = command->number();
        machine_.timeline.wait_until(command->ended + machine_.devices[command->device].model->wake_up_ns);
    }
    return Status::success;
}

// Waits for the work of all commands that have ended so far, so that the memory that the host sees does not
// depend on how fast that work is. Stalled work, and work that depends on it, is left out. False: the wait
// was interrupted.
bool Waits::drain(Lock& lock) {
    // Commands that other threads issue and that end meanwhile are left to these threads; otherwise this loop
    // might never end.
    const AnnounceAtEnd announce(machine_.effects);
    const std::uint64_t all = machine_.effects.count_ended();
    while (Command* last = machine_.effects.last_to_do(all)) {
        if (machine_.running.stopping() || (pass_stalled() && Real::now() - stalled_since_ > patience))
            return true;
        if (wait_slice(lock, machine_.effects.holding_up(last))) return false;
    }
    return true;
}

// Simulates the devices up to the host's time.
void Waits::catch_up(Lock& lock) {
    const AnnounceAtEnd announce(machine_.effects);
    Patience patience_with;
    const Time limit = machine_.timeline.now();
    while (Command* next = machine_.timeline.advance(limit)) {
        if (machine_.running.stopping()) return;
        if (patience_with.since(next) > patience &&
            (next->ended < 0 || next->engine == Engine::host || (next->running && next->effect->stalled()))) {
            machine_.timeline.set_stalled(next, !machine_.effects.behind_stalled(next));
            continue;
        }
        if (wait_slice(lock, next)) return;
    }
}

bool Waits::is_done(Lock& lock, Command* command) {
    if (command == nullptr) return true;
    const CommandRef keep(machine_.timeline.pool(), command);
    catch_up(lock);
    if (!drain(lock)) return false;
    if (command->ended < 0 || command->ended > machine_.timeline.now()) return false;
    return machine_.effects.functional(command);
}

// ---- progress without calls

void Waits::start_background() {
    if (!background_started_) {
        background_started_ = true;
        std::thread([this] { background(); }).detach();
    }
    if (machine_.timeline.pending() == 1) wake_background();
}

// A program may wait, outside the runtime, for the effect of a host function or of a copy. So the devices
// advance by themselves when no call comes and the process is idle, or when no call has come for long: one
// completion at a time, and the host's clock with them.
void Waits::background() {
    constexpr milliseconds look{50}, react{5};
    constexpr int idle_looks = 2, busy_looks = 40;
    Lock lock(machine_.mutex);
    int idle = 0, busy = 0;
    Patience patience_with;
    while (!machine_.running.stopping()) {
        if (machine_.timeline.pending() == 0) {
            background_.wait(lock);
            continue;
        }
        const auto calls = calls_;
        const Time cpu = process_cpu_time();
        lock.unlock();
        std::this_thread::sleep_for(look);
        lock.lock();
        if (calls != calls_ || waiting_ > 0) {
            idle = busy = 0;
            continue;
        }
        ++busy;
        idle = process_cpu_time() - cpu < 5'000'000 ? idle + 1 : 0;
        if (idle < idle_looks && busy < busy_looks) continue;
        pass_stalled();
        int pause = 64;
        while (!machine_.running.stopping() && calls == calls_ && machine_.timeline.pending() > 0) {
            const std::size_t before = machine_.timeline.pending();
            Command* holder = nullptr;
            const bool advanced = machine_.timeline.advance_one(&holder);
            machine_.effects.announce();
            if (!advanced) {
                if (holder != nullptr && machine_.effects.behind_stalled(holder) &&
                    patience_with.since(holder) > patience) {
                    machine_.timeline.set_stalled(holder, false);
                    continue;
                }
                machine_.effects.await(nullptr);
                if (machine_.changed.wait_for(lock, look) == std::cv_status::timeout) break;
                continue;
            }
            // Gives the program time to react to the changes that it can see, and the effects time to be
            // done.
            if (machine_.timeline.pending() == before || --pause > 0) continue;
            pause = 64;
            lock.unlock();
            std::this_thread::sleep_for(react);
            lock.lock();
        }
    }
}

void Waits::stop(Lock& lock) {
    machine_.changed.notify_all();
    background_.notify_all();
    // Running kernels get a moment to notice the abort. Any that are left end with the process.
    for (int i = 0; i < 20 && machine_.running.has_kernels() && !machine_.effects.idle(); ++i) {
        machine_.effects.await(nullptr);
        machine_.changed.wait_for(lock, milliseconds(10));
    }
}

}  // namespace cuscope::host
