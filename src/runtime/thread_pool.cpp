#include "runtime/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>

namespace cuscope {
namespace {

constexpr std::size_t thread_stack_bytes = 512 << 10;

unsigned usable_processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

ThreadPool& ThreadPool::instance() {
    static ThreadPool* pool = new ThreadPool;  // the threads outlive every destructor
    return *pool;
}

ThreadPool::ThreadPool() : width_(usable_processors()) {}

// Signals to the process are not meant for these threads. A fault of the thread itself still reaches its
// handler.
bool ThreadPool::start_thread(void* (*function)(void*), void* argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, thread_stack_bytes);
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    const bool started = pthread_create(&thread, &attributes, function, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return started;
}

unsigned ThreadPool::send(Job& job, unsigned threads) {
    const std::scoped_lock lock(mutex_);
    unsigned sent = 0;
    for (; sent < threads; ++sent) {
        if (idle_ <= jobs_.size()) {
            auto enter = [](void* pool) -> void* {
                static_cast<ThreadPool*>(pool)->work();
                return nullptr;
            };
            if (!start_thread(enter, this)) break;
            ++threads_;
            ++idle_;
        } else {
            work_came_.notify_one();
        }
        jobs_.push_back(&job);
        ++job.helpers_;
    }
    return sent;
}

void ThreadPool::recall(Job& job) {
    std::unique_lock lock(mutex_);
    job.helpers_ -= static_cast<unsigned>(std::erase(jobs_, &job));
    while (job.helpers_ != 0) job_left_.wait(lock);
}

void ThreadPool::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        while (jobs_.empty()) {
            if (threads_ >= width_) {
                --idle_;
                --threads_;
                return;
            }
            work_came_.wait(lock);
        }
        Job* job = jobs_.front();
        jobs_.pop_front();
        --idle_;
        lock.unlock();
        job->participate();
        lock.lock();
        ++idle_;
        if (--job->helpers_ == 0) job_left_.notify_all();
    }
}

}  // namespace cuscope
