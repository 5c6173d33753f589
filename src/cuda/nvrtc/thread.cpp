#include "cuda/nvrtc/thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "cuda/nvrtc/signal_handlers.hpp"
#include "runtime/process.hpp"

namespace cuscope::cuda::nvrtc {
namespace {

constexpr std::chrono::milliseconds poll_interval{30};
constexpr std::size_t stack_bytes = std::size_t{64} << 20;  // the compiler recurses into nested sources

struct Task {
    std::function<Status()> work;
    std::mutex mutex;
    std::condition_variable changed;
    bool finished = false;
    Status status = Status::unknown;
    std::exception_ptr thrown;

    void run() {
        Status answer = Status::unknown;
        std::exception_ptr error;
        try {
            const HandlersKept kept;
            answer = work();
        } catch (...) {
            error = std::current_exception();
        }
        work = nullptr;
        const std::lock_guard lock(mutex);
        finished = true;
        status = answer;
        thrown = error;
        changed.notify_all();
    }
};

void* run_task(void* argument) {
    const std::unique_ptr<std::shared_ptr<Task>> task(static_cast<std::shared_ptr<Task>*>(argument));
    (*task)->run();
    return nullptr;
}

// False if no thread can be created.
bool start_thread(const std::shared_ptr<Task>& task) {
    auto argument = std::make_unique<std::shared_ptr<Task>>(task);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    // Signals are left to the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const bool started = pthread_create(&thread, &attributes, run_task, argument.get()) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (started) argument.release();
    return started;
}

}  // namespace

ThreadEnd run_in_thread(std::function<Status()> work, const CompileLimit& limit, Status* status) {
    const auto task = std::make_shared<Task>();
    task->work = std::move(work);
    if (!start_thread(task)) task->run();
    std::unique_lock lock(task->mutex);
    while (!task->finished) {
        if (task->changed.wait_for(lock, poll_interval, [&] { return task->finished; })) break;
        if (limit.is_over()) return ThreadEnd::timed_out;
        lock.unlock();
        note_progress();  // a compiler may take long without being stuck
        const bool stop = interrupted();
        lock.lock();
        if (stop) return ThreadEnd::interrupted;
    }
    if (task->thrown) std::rethrow_exception(task->thrown);
    *status = task->status;
    return ThreadEnd::finished;
}

}  // namespace cuscope::cuda::nvrtc
