#include "runtime/process.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdio>

namespace cuscope {

std::atomic<bool> detail::forked{false};

namespace {

std::atomic<InterruptCheck> interrupt_check{nullptr};
std::atomic<KernelOutput> kernel_output{nullptr};
std::atomic<bool> exiting{false};
std::atomic<bool> used{false};

void after_fork_in_child() {
    if (used.load(std::memory_order_relaxed)) detail::forked.store(true, std::memory_order_relaxed);
}

}  // namespace

void set_interrupt_check(InterruptCheck check) noexcept { interrupt_check.store(check); }

bool interrupted() {
    if (NoWait::active()) return false;
    InterruptCheck check = interrupt_check.load();
    return check != nullptr && check();
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
