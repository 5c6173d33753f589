#include "host/executor/monitor.hpp"

#include <chrono>
#include <ctime>

#include "host/executor/fault_handler.hpp"
#include "host/executor/grid.hpp"
#include "runtime/thread_pool.hpp"

namespace cuscope::simt {
namespace {

constexpr auto tick = std::chrono::milliseconds(5);
// After a grid has ended, the monitor stays awake for this long, ready for the next grid.
constexpr int idle_ticks = 200;

}  // namespace

Monitor& Monitor::instance() {
    static Monitor* monitor = new Monitor;  // the thread outlives every destructor
    return *monitor;
}

Monitor::Monitor() { install_fault_handlers(); }

void Monitor::watch(Grid& grid) {
    const std::scoped_lock lock(mutex_);
    grid.next_watched = watched_;
    grid.watched_link = &watched_;
    if (watched_ != nullptr) watched_->watched_link = &grid.next_watched;
    watched_ = &grid;
    if (!started_) {
        started_ = ThreadPool::start_thread(
            [](void* monitor) -> void* {
                static_cast<Monitor*>(monitor)->run();
                return nullptr;
            },
            this);
    } else if (sleeps_) {
        install_fault_handlers();
        wanted_.notify_one();
    }
}

void Monitor::unwatch(Grid& grid) {
    const std::scoped_lock lock(mutex_);
    *grid.watched_link = grid.next_watched;
    if (grid.next_watched != nullptr) grid.next_watched->watched_link = grid.watched_link;
}

void Monitor::run() {
    std::unique_lock lock(mutex_);
    for (int idle = 0;;) {
        if (watched_ == nullptr && ++idle > idle_ticks) {
            sleeps_ = true;
            while (watched_ == nullptr) wanted_.wait(lock);
            sleeps_ = false;
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
