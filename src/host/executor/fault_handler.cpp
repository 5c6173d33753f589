#include "host/executor/fault_handler.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>

#include "host/executor/sigfpe.hpp"

#if defined(__SANITIZE_THREAD__)
#define CUSCOPE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUSCOPE_TSAN 1
#endif
#endif

namespace cuscope::simt {
namespace {

constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t signal_stack_bytes = 64 << 10;

// The handlers' data of each thread. Handlers also run on threads that never ran a kernel. There, a
// dynamically allocated thread-local variable could not be read; and an extension module that is loaded late
// has no room for a static one. So this is a pthread key.
class HandlerSlot {
  public:
    HandlerSlot() { pthread_key_create(&key_, nullptr); }
    void* get() const { return pthread_getspecific(key_); }
    void set(void* value) const { pthread_setspecific(key_, value); }

  private:
    pthread_key_t key_{};
};
const HandlerSlot target_slot, chained_slot;

FaultTarget* this_target() { return static_cast<FaultTarget*>(target_slot.get()); }

struct Previous {
    struct sigaction first {};   // the handler before ours
    struct sigaction latest {};  // a handler that was installed in front of ours later, else the same
};
Previous previous[std::size(fault_signals)];
std::mutex install_mutex;
int interrupt_signal = 0;

void call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(signal, info, context);
    } else if (action.sa_handler == SIG_DFL) {
        struct sigaction fallback {};
        fallback.sa_handler = SIG_DFL;
        sigaction(signal, &fallback, nullptr);
        // A fault happens again when the handler returns. A signal that was sent has to be sent again.
        if (info->si_code <= 0) raise(signal);
    } else if (action.sa_handler != SIG_IGN) {
        action.sa_handler(signal);
    }
}

// Another handler may chain to the handler that it replaced, which may be ours. When the signal comes back
// that way, it goes to the handler that was there first.
void chain(int signal, siginfo_t* info, void* context) {
    for (std::size_t i = 0; i < std::size(fault_signals); ++i) {
        if (fault_signals[i] != signal) continue;
        struct sigaction fallback {};
        fallback.sa_handler = SIG_DFL;
        const auto chained = reinterpret_cast<std::intptr_t>(chained_slot.get());
        const struct sigaction& action = chained == 0   ? previous[i].latest
                                         : chained == 1 ? previous[i].first
                                                        : fallback;
        chained_slot.set(reinterpret_cast<void*>(chained + 1));
        call(action, signal, info, context);
        chained_slot.set(reinterpret_cast<void*>(chained));
    }
}

bool is_write([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
    return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    return false;
#endif
}

// A handler that was installed after ours gets the fault first, and may pass it on with raise().
bool is_raised_here(const siginfo_t* info) { return info->si_code == SI_TKILL && info->si_pid == getpid(); }

void on_fault(int signal, siginfo_t* info, void* context) {
    FaultTarget* target = this_target();
    if (target == nullptr || !target->armed.load(std::memory_order_relaxed) ||
        (info->si_code <= 0 && !is_raised_here(info))) {
        chain(signal, info, context);
        return;
    }
    if (signal == SIGFPE && info->si_code > 0 && finish_division(context)) return;
    target->armed.store(false, std::memory_order_relaxed);
    target->signal = signal;
    target->code = info->si_code;
    target->address = info->si_code > 0 ? static_cast<const char*>(info->si_addr) : nullptr;
    target->is_write = signal == SIGSEGV && is_write(context);
    target->instruction = interrupted_address(context);
    target->stack = interrupted_stack(context);
    resume_from_signal(context, *target->resume);
}

void on_interrupt(int signal, siginfo_t*, void* context) {
    FaultTarget* target = this_target();
    if (target == nullptr || !target->armed.load(std::memory_order_relaxed)) return;
    const char* at = interrupted_address(context);
    if (at < target->interruptible_begin.load(std::memory_order_relaxed) ||
        at >= target->interruptible_end.load(std::memory_order_relaxed))
        return;
    target->armed.store(false, std::memory_order_relaxed);
    target->signal = signal;
    resume_from_signal(context, *target->resume);
}

using SigactionFunction = int (*)(int, const struct sigaction*, struct sigaction*);

// ThreadSanitizer delays asynchronous signals until its own code runs, and a kernel never calls that code.
SigactionFunction direct_sigaction() {
#if defined(CUSCOPE_TSAN)
    if (void* function = dlsym(RTLD_DEFAULT, "__sigaction"))
        return reinterpret_cast<SigactionFunction>(function);
#endif
    return &sigaction;
}

// The highest real-time signal without a handler.
int choose_interrupt_signal() {
    for (int candidate = SIGRTMAX - 2; candidate > SIGRTMIN; --candidate) {
        struct sigaction current {};
        if (sigaction(candidate, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
            current.sa_handler == SIG_DFL)
            return candidate;
    }
    return SIGRTMAX - 2;
}

}  // namespace

void install_fault_handlers() noexcept {
    const std::scoped_lock lock(install_mutex);
    for (std::size_t i = 0; i < std::size(fault_signals); ++i) {
        struct sigaction current {};
        sigaction(fault_signals[i], nullptr, &current);
        if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == &on_fault) continue;
        if (interrupt_signal == 0) previous[i].first = current;
        previous[i].latest = current;
        struct sigaction ours {};
        ours.sa_sigaction = &on_fault;
        // SA_NODEFER: a handler that we chain to may need the signal to be delivered while it runs.
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(fault_signals[i], &ours, nullptr);
    }
    if (interrupt_signal != 0) return;
    const int chosen = choose_interrupt_signal();
    struct sigaction ours {};
    ours.sa_sigaction = &on_interrupt;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    direct_sigaction()(chosen, &ours, nullptr);
    interrupt_signal = chosen;
}

FaultScope::FaultScope(FaultTarget* target) noexcept {
    target_slot.set(target);
    stack_t current{};
    sigaltstack(nullptr, &current);
    if ((current.ss_flags & SS_DISABLE) != 0 || current.ss_size < signal_stack_bytes / 2) {
        signal_stack_ = GuardedMemory(signal_stack_bytes);
        stack_t ours{};
        ours.ss_sp = signal_stack_.begin();
        ours.ss_size = signal_stack_.bytes();
        if (signal_stack_) sigaltstack(&ours, nullptr);
    }
    sigset_t set;
    sigemptyset(&set);
    for (int signal : fault_signals) sigaddset(&set, signal);
    sigaddset(&set, interrupt_signal);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

FaultScope::~FaultScope() {
    target_slot.set(nullptr);
    stack_t current{};
    sigaltstack(nullptr, &current);
    if (signal_stack_ && current.ss_sp == signal_stack_.begin()) {
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }
}

void interrupt_kernel(pthread_t thread) noexcept { pthread_kill(thread, interrupt_signal); }

}  // namespace cuscope::simt
