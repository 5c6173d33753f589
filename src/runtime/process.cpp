#include "runtime/process.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace cuscope {

std::atomic<bool> detail::forked{false};
constinit thread_local unsigned detail::calls = 0;

namespace {

std::atomic<InterruptCheck> interrupt_check{nullptr};
std::atomic<LetInterpreterGo> let_interpreter_go{nullptr};
std::atomic<TakeInterpreter> take_interpreter{nullptr};
std::atomic<KernelOutput> kernel_output{nullptr};
std::atomic<bool> exiting{false};
std::atomic<bool> used{false};

std::atomic<std::uint64_t> progress{0};
std::atomic<QuietReport> quiet_report{nullptr};
std::atomic<double> quiet_limit{0};

// The progress that the waits of one call on a thread have observed.
struct Quiet {
    using Clock = std::chrono::steady_clock;
    Clock::time_point since;
    std::uint64_t progress = 0;
    unsigned call = 0;
    bool reported = true, reporting = false;
};

bool quiet_for_long() {
    const QuietReport report = quiet_report.load(std::memory_order_relaxed);
    const double limit = quiet_limit.load(std::memory_order_relaxed);
    if (report == nullptr || limit <= 0) return false;
    static thread_local Quiet quiet;
    if (quiet.reporting) return false;
    const Quiet::Clock::time_point now = Quiet::Clock::now();
    const std::uint64_t seen = progress.load(std::memory_order_relaxed);
    if (detail::calls != quiet.call) quiet.reported = false;
    if (detail::calls != quiet.call || seen != quiet.progress) {
        quiet.since = now;
        quiet.progress = seen;
        quiet.call = detail::calls;
    }
    const double seconds = std::chrono::duration<double>(now - quiet.since).count();
    if (quiet.reported || seconds < limit) return false;
    quiet.reporting = true;
    const QuietAnswer answer = report(seconds);
    quiet.reporting = false;
    quiet.call = detail::calls;  // the report may have made calls itself
    quiet.since = Quiet::Clock::now();
    quiet.reported = answer != QuietAnswer::goes_on;
    return answer == QuietAnswer::end;
}

void after_fork_in_child() {
    if (used.load(std::memory_order_relaxed)) detail::forked.store(true, std::memory_order_relaxed);
}

}  // namespace

void set_interrupt_check(InterruptCheck check) noexcept { interrupt_check.store(check); }

bool interrupted() {
    if (NoWait::active()) return false;
    InterruptCheck check = interrupt_check.load();
    return (check != nullptr && check()) || quiet_for_long();
}

void note_progress() noexcept { progress.fetch_add(1, std::memory_order_relaxed); }

void set_quiet_report(QuietReport report, double seconds) noexcept {
    quiet_limit.store(seconds);
    quiet_report.store(report);
}

void set_interpreter_lock(LetInterpreterGo let_go, TakeInterpreter take) noexcept {
    take_interpreter.store(take);
    let_interpreter_go.store(let_go);
}

WithoutInterpreter::WithoutInterpreter() {
    const LetInterpreterGo let_go = let_interpreter_go.load();
    state_ = let_go == nullptr ? nullptr : let_go();
}

WithoutInterpreter::~WithoutInterpreter() {
    if (state_ != nullptr) take_interpreter.load()(state_);
}

void set_kernel_output(KernelOutput output) noexcept { kernel_output.store(output); }
bool has_kernel_output() noexcept { return kernel_output.load() != nullptr; }

void write_kernel_output(const std::string& text) {
    if (const KernelOutput write = kernel_output.load(); write != nullptr) {
        write(text.data(), text.size());
    } else {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    }
}

void set_process_exiting() noexcept { exiting.store(true); }
bool process_exiting() noexcept { return exiting.load(); }

void note_runtime_use() noexcept {
    static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
    static_cast<void>(registered);
    used.store(true);
}

}  // namespace cuscope
