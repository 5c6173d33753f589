#include "host/runtime/host_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "host/effects/kernel.hpp"
#include "host/effects/semaphore.hpp"
#include "host/graph/graph.hpp"
#include "host/runtime/call.hpp"
#include "runtime/registry.hpp"

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

const RuntimeRegistration registration({"host", 10, []() -> std::shared_ptr<Runtime> {
                                            return std::make_shared<HostRuntime>();
                                        }});

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

Time process_cpu_time() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace

HostRuntime::HostRuntime()
    : timeline_([this](Command* command) { effects_.add(command); },
                [this](Command* command) {
                    note_progress();
                    effects_.ended(command);
                },
                {[this] { return effects_.undone(); }, [this](Command* command) { return look(command); }}),
      effects_(mutex_, changed_, timeline_.pool(),
               {[this](const Command* command) { return starts(command); },
                [this](Command* command) { done(command); }}) {
    graphs_ = std::make_unique<Graphs>();
    const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    launch_blocking_ = blocking != nullptr && std::atoi(blocking) != 0;
    int ordinal = 0;
    add_model(*find_device_model("h200"), &ordinal);
}

HostRuntime::~HostRuntime() {
    for (const auto& [address, memory] : graphs_->memory) memory->base = nullptr;
}

HostRuntime::ThreadState& HostRuntime::thread() {
    static thread_local ThreadState state;
    static std::atomic<unsigned long long> threads{0};
    if (state.id == 0) state.id = ++threads;
    return state;
}

Status HostRuntime::fail(Status status, std::string detail) {
    thread().last = status;
    thread().detail = std::move(detail);
    return status;
}

void HostRuntime::lose(int device, Status status, std::string detail) {
    if (devices_[device]->lost != Status::success) return;
    devices_[device]->lost = status;
    devices_[device]->lost_detail = std::move(detail);
}

Status HostRuntime::invalid_handle(const char* what) {
    return fail(Status::invalid_resource_handle,
                std::string("the ") + what + " does not exist, or was destroyed");
}

// ---- commands

Command* HostRuntime::begin(Stream& stream, Engine engine, Role role) {
    Command* command = timeline_.make(stream);
    command->engine = engine;
    command->role = role;
    return command;
}

// Called before an effect runs. False: the effect is skipped, on a lost device and at exit.
bool HostRuntime::starts(const Command* command) {
    if (stopping_ || devices_[command->device]->lost != Status::success) return false;
    note_progress();
    if (command->engine == Engine::host) running_callback_ = command;
    if (command->engine == Engine::compute) {
        KernelEffect& kernel = KernelEffect::of(*command);
        kernel.outcome = {};
        kernel.control.abort = devices_[command->device]->resets > 0;
        running_kernels_.push_back(command);
    }
    return true;
}

// Called after an effect has run or was skipped.
void HostRuntime::done(Command* command) {
    note_progress();
    if (running_callback_ == command) running_callback_ = nullptr;
    if (command->duration_from_effect || command->may_trigger)
        timeline_.resolve(command, command->effect->elapsed(), command->effect->triggered());
    if (std::erase(running_kernels_, command) == 0) return;
    const simt::Outcome& outcome = KernelEffect::of(*command).outcome;
    printed_ += outcome.printed;
    if (outcome.status != Status::success) lose(command->device, outcome.status, outcome.detail);
}

void HostRuntime::abort_kernels(int device) {
    for (const Command* command : running_kernels_) {
        if (command->device == device) KernelEffect::of(*command).control.abort = true;
    }
}

void HostRuntime::commit(Command* command, Command* after) {
    timeline_.enqueue(command, {&after, std::size_t{after != nullptr}});
    start_background();
}

// Keeps the number of pending commands within bounds. It acts only once for many commands, because catching
// up at each would cost too much.
void HostRuntime::relieve(Lock& lock) {
    if (++unobserved_ < most_unobserved) return;
    unobserved_ = 0;
    catch_up(lock);
    // As on a GPU, a host that is too far ahead waits for the device.
    while (timeline_.pending() > most_pending && !stopping_) {
        if (!timeline_.advance_one() && wait_slice(lock, nullptr)) break;
    }
    effects_.let_run(lock);
    while (Command* due = effects_.before_last(most_effects)) {
        if (pass_stalled() || wait_slice(lock, due)) return;
    }
}

// ---- waits

bool HostRuntime::pass_stalled() {
    const bool stalled = effects_.pass_stalled();
    if (stalled && !stalled_) stalled_since_ = Real::now();
    return stalled_ = stalled;
}

// Destructors do this in place of a wait. Work that is over in simulated time gets a moment (50 ms) to be
// done in real time, so that the point at which memory is given back does not depend on the processor's
// speed. If the work takes longer (an endless kernel, a host function that waits), destructors do not wait
// again for 500 ms, since the program may drop many arrays in a row. True: do not wait any longer.
bool HostRuntime::linger(Lock& lock, Command* awaited) {
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
    effects_.await(stalled_ ? nullptr : awaited);
    ++waiting_;
    note_unlock();
    changed_.wait_for(lock, milliseconds(timeline_.watching() ? 2 : 10));
    --waiting_;
    return false;
}

// Waits for up to 50 ms for the work of `awaited`; null: for any command's work. True: the wait is to end,
// because the interrupt check says so or because a destructor has waited long enough.
bool HostRuntime::wait_slice(Lock& lock, Command* awaited) {
    if (NoWait::active()) return linger(lock, awaited);
    effects_.await(stalled_ ? nullptr : awaited);
    ++waiting_;
    note_unlock();
    // There is no notification when the host or another process writes the memory that a command polls.
    const milliseconds slice{timeline_.watching() ? 2 : 50};
    const bool notified = changed_.wait_for(lock, slice) == std::cv_status::no_timeout;
    --waiting_;
    if (!notified) pass_stalled();
    return asked_to_end(lock);
}

// Asks the interrupt check whether this thread's wait is to end. It is asked every few dozen milliseconds,
// however often the thread is woken: other threads may keep the devices busy endlessly.
bool HostRuntime::asked_to_end(Lock& lock) {
    constexpr milliseconds pause{30};
    thread_local Real::time_point last_asked;
    const Real::time_point now = Real::now();
    if (now - last_asked < pause) return false;
    last_asked = now;
    note_unlock();
    lock.unlock();
    const bool end = interrupted();
    take(lock);
    return end;
}

// Has `next`, which holds up the simulation, run for so long that it must be waiting for an action that the
// program has yet to take? If `command` depends on `next`, only the executor's report that the kernel is
// stalled counts, because the duration of `next` is then part of the timeline.
bool HostRuntime::waits_outside(const Command* command, const Command* next, Real::duration real) const {
    const bool stalled = next->running && next->effect->stalled();
    if (effects_.behind_stalled(next)) return real > patience;
    // Work that has begun ends by itself, unless it is stalled or is the program's host function.
    if (next->ended >= 0 && !stalled && next->engine != Engine::host) return false;
    if (effects_.depends_on(command, next)) return stalled && real > patience;
    return real > (stalled ? patience / 10 : patience);
}

Status HostRuntime::wait_for(Lock& lock, Command* command) {
    if (command == nullptr) return Status::success;
    const CommandRef keep(timeline_.pool(), command);
    Patience patience_with;
    while (Command* next = effects_.holding_up(command)) {
        if (stopping_) return Status::success;
        if (command->ended < 0) {
            next = timeline_.advance_until(command);
            if (next == nullptr) continue;
            const Real::duration held_up = patience_with.since(next);
            if (next->effect && !next->watches && !next->stalled && waits_outside(command, next, held_up)) {
                // It waits for an action of another stream or of the host, so these go on without it.
                timeline_.set_stalled(next, !effects_.behind_stalled(next));
                continue;
            }
        }
        // A kernel waits for another stream's command: simulate on, so that the stream gets there.
        if (command->ended >= 0 && pass_stalled()) timeline_.advance_one();
        if (wait_slice(lock, next == command && command->ended < 0 ? nullptr : next)) {
            if (command->ended >= 0) timeline_.wait_until(command->ended);
            return Status::not_ready;
        }
    }
    if (!drain(lock)) return Status::not_ready;
    // The host's clock must not depend on how soon the work was done in real time: only a host that had to
    // wait in simulated time pays for being woken up.
    if (command->ended > timeline_.now()) {
        timeline_.wait_until(command->ended + devices_[command->device]->model->wake_up_ns);
    }
    return Status::success;
}

std::vector<CommandRef> HostRuntime::last_of_device(int device) {
    std::vector<CommandRef> last;
    for (const SimStream* stream : timeline_.streams(device)) {
        if (stream->last) last.push_back(stream->last);
    }
    return last;
}

bool HostRuntime::is_idle(int device) {
    const std::vector<CommandRef> last = last_of_device(device);
    return std::all_of(last.begin(), last.end(),
                       [&](const CommandRef& command) { return effects_.functional(command.get()); });
}

Status HostRuntime::wait_for_device(Lock& lock, int device) {
    for (const CommandRef& last : last_of_device(device)) {
        if (NoWait::active()) {
            if (!is_done(lock, last.get())) return Status::not_ready;
        } else if (Status status = wait_for(lock, last.get()); status != Status::success) {
            return status;
        }
    }
    sweep(*devices_[device]);
    release_unloaded();
    return Status::success;
}

Status HostRuntime::wait_to_free(Lock& lock, int device) {
    const int first = device < 0 ? 0 : device, end = device < 0 ? device_count_.load() : device + 1;
    for (int i = first; i < end; ++i) {
        TRY(wait_for_device(lock, i));
    }
    return Status::success;
}

// Waits for the work of all commands that have ended so far, so that the memory that the host sees does not
// depend on how fast that work is. Stalled work, and work that depends on it, is left out. False: the wait
// was interrupted.
bool HostRuntime::drain(Lock& lock) {
    // Commands that other threads issue and that end meanwhile are left to these threads; otherwise this loop
    // might never end.
    const std::uint64_t all = effects_.count_ended();
    while (Command* last = effects_.last_to_do(all)) {
        if (stopping_ || (pass_stalled() && Real::now() - stalled_since_ > patience)) return true;
        if (wait_slice(lock, effects_.holding_up(last))) return false;
    }
    return true;
}

// Simulates the devices up to the host's time.
void HostRuntime::catch_up(Lock& lock) {
    Patience patience_with;
    const Time limit = timeline_.now();
    while (Command* next = timeline_.advance(limit)) {
        if (stopping_) return;
        if (patience_with.since(next) > patience &&
            (next->ended < 0 || next->engine == Engine::host || (next->running && next->effect->stalled()))) {
            timeline_.set_stalled(next, !effects_.behind_stalled(next));
            continue;
        }
        if (wait_slice(lock, next)) return;
    }
}

bool HostRuntime::is_done(Lock& lock, Command* command) {
    if (command == nullptr) return true;
    const CommandRef keep(timeline_.pool(), command);
    catch_up(lock);
    if (!drain(lock)) return false;
    if (command->ended < 0 || command->ended > timeline_.now()) return false;
    return effects_.functional(command);
}

// As on a GPU, the output of a kernel's printf appears when the host synchronizes.
void HostRuntime::flush_printed(Lock& lock) {
    if (printed_.empty()) return;
    const std::string text = std::exchange(printed_, {});
    note_unlock();
    lock.unlock();
    write_kernel_output(text);
    lock.lock();
}

// ---- progress without calls

void HostRuntime::start_background() {
    if (!background_started_) {
        background_started_ = true;
        std::thread([this] { background(); }).detach();
    }
    if (timeline_.pending() == 1) background_.notify_one();
}

// A program may wait, outside the runtime, for the effect of a host function or of a copy. So the devices
// advance by themselves when no call comes and the process is idle, or when no call has come for long: one
// completion at a time, and the host's clock with them.
void HostRuntime::background() {
    constexpr milliseconds look{50}, react{5};
    constexpr int idle_looks = 2, busy_looks = 40;
    Lock lock(mutex_);
    int idle = 0, busy = 0;
    Patience patience_with;
    while (!stopping_) {
        if (timeline_.pending() == 0) {
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
        while (!stopping_ && calls == calls_ && timeline_.pending() > 0) {
            const std::size_t before = timeline_.pending();
            Command* holder = nullptr;
            if (!timeline_.advance_one(&holder)) {
                if (holder != nullptr && effects_.behind_stalled(holder) &&
                    patience_with.since(holder) > patience) {
                    timeline_.set_stalled(holder, false);
                    continue;
                }
                effects_.await(nullptr);
                if (changed_.wait_for(lock, look) == std::cv_status::timeout) break;
                continue;
            }
            // Gives the program time to react to the changes that it can see, and the effects time to be
            // done.
            if (timeline_.pending() == before || --pause > 0) continue;
            pause = 64;
            lock.unlock();
            std::this_thread::sleep_for(react);
            lock.lock();
        }
    }
}

std::int64_t HostRuntime::clock_ns() {
    if (thread().in_host_function) return thread().host_function_time;
    if (forked_after_use()) return 0;
    const Call call(*this, &CallCosts::other, Call::On::host);
    return timeline_.now();
}

void HostRuntime::host_work(std::int64_t nanoseconds) {
    if (thread().in_host_function) {
        thread().host_function_time += nanoseconds;
        return;
    }
    if (forked_after_use()) return;
    Call call(*this, &CallCosts::other, Call::On::host);
    timeline_.spend(nanoseconds);
    catch_up(call.lock());
    drain(call.lock());
}

std::string HostRuntime::error_detail() { return thread().detail; }

void HostRuntime::shut_down() noexcept {
    if (forked_after_use()) return;
    Lock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    for (std::size_t i = 0; i < devices_.size(); ++i) abort_kernels(static_cast<int>(i));
    changed_.notify_all();
    background_.notify_all();
    // Running kernels get a moment to notice the abort. Any that are left end with the process.
    for (int i = 0; i < 20 && !running_kernels_.empty() && !effects_.idle(); ++i) {
        effects_.await(nullptr);
        changed_.wait_for(lock, milliseconds(10));
    }
}

}  // namespace cuscope::host
