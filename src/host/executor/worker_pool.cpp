#include "host/executor/worker_pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#include "host/executor/fault_handler.hpp"
#include "host/executor/grid.hpp"

namespace cuscope::simt {
namespace {

constexpr std::size_t thread_stack_bytes = 512 << 10;
constexpr auto tick = std::chrono::milliseconds(5);
// After a grid has ended, the monitor stays awake for this long, ready for the next grid.
constexpr int idle_ticks = 200;

unsigned usable_processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace

WorkerPool& WorkerPool::instance() {
    static WorkerPool* pool = new WorkerPool;  // the threads outlive every destructor
    return *pool;
}

WorkerPool::WorkerPool() : width_(usable_processors()) { install_fault_handlers(); }

// These threads block all signals: signals to the process are not meant for them.
bool WorkerPool::start_thread(void* (*function)(void*), void* argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, thread_stack_bytes);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const bool started = pthread_create(&thread, &attributes, function, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return started;
}

unsigned WorkerPool::send(Grid& grid, unsigned threads) {
    const std::scoped_lock lock(mutex_);
    unsigned sent = 0;
    for (; sent < threads; ++sent) {
        if (idle_ <= jobs_.size()) {
            auto enter = [](void* pool) -> void* {
                static_cast<WorkerPool*>(pool)->work();
                return nullptr;
            };
            if (!start_thread(enter, this)) break;
            ++threads_;
            ++idle_;
        } else {
            work_came_.notify_one();
        }
        jobs_.push_back(&grid);
        ++grid.helpers;
    }
    return sent;
}

void WorkerPool::recall(Grid& grid) {
    std::unique_lock lock(mutex_);
    grid.helpers -= static_cast<unsigned>(std::erase(jobs_, &grid));
    while (grid.helpers != 0) grid_left_.wait(lock);
}

void WorkerPool::work() {
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
        Grid* grid = jobs_.front();
        jobs_.pop_front();
        --idle_;
        lock.unlock();
        grid->participate();
        lock.lock();
        ++idle_;
        if (--grid->helpers == 0) grid_left_.notify_all();
    }
}

void WorkerPool::watch(Grid& grid) {
    const std::scoped_lock lock(watch_mutex_);
    grid.next_watched = watched_;
    grid.watched_link = &watched_;
    if (watched_ != nullptr) watched_->watched_link = &grid.next_watched;
    watched_ = &grid;
    if (!monitor_started_) {
        monitor_started_ = start_thread(
            [](void* pool) -> void* {
                static_cast<WorkerPool*>(pool)->monitor();
                return nullptr;
            },
            this);
    } else if (monitor_sleeps_) {
        install_fault_handlers();
        watch_wanted_.notify_one();
    }
}

void WorkerPool::unwatch(Grid& grid) {
    const std::scoped_lock lock(watch_mutex_);
    *grid.watched_link = grid.next_watched;
    if (grid.next_watched != nullptr) grid.next_watched->watched_link = grid.watched_link;
}

void WorkerPool::monitor() {
    std::unique_lock lock(watch_mutex_);
    for (int idle = 0;;) {
        if (watched_ == nullptr && ++idle > idle_ticks) {
            monitor_sleeps_ = true;
            while (watched_ == nullptr) watch_wanted_.wait(lock);
            monitor_sleeps_ = false;
        }
        install_fault_handlers();
        if (watched_ != nullptr) {
            idle = 0;
            const auto now = std::chrono::steady_clock::now();
            for (Grid* grid = watched_; grid != nullptr; grid = grid->next_watched) grid->watch(now);
        }
        lock.unlock();
        timespec pause{0, std::chrono::nanoseconds(tick).count()};
        nanosleep(&pause, nullptr);
        lock.lock();
    }
}

}  // namespace cuscope::simt
