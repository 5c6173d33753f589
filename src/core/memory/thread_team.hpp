// Threads of the pool that do numbered pieces of work in order, each as soon as it is allowed.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/thread_pool.hpp"

namespace cuscope::core {

class ThreadTeam final : private ThreadPool::Job {
  public:
    ThreadTeam(std::size_t pieces, std::function<void(std::size_t)> work);
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;
    // Waits for the pieces that have begun. The others are not done.
    ~ThreadTeam();

    // False if no thread could be started.
    explicit operator bool() const { return threads_ > 0; }
    // Allows all pieces with a number below this one.
    void allow(std::size_t pieces);
    bool done(std::size_t piece) const { return done_[piece].load(std::memory_order_acquire) != 0; }
    void wait(std::size_t piece) const { done_[piece].wait(0, std::memory_order_acquire); }
    void wait_for_all() const {
        for (std::size_t i = 0; i < done_.size(); ++i) wait(i);
    }

  private:
    void participate() override;

    std::function<void(std::size_t)> work_;
    std::vector<std::atomic<int>> done_;
    std::atomic<std::size_t> next_{0};
    std::atomic<int> allowed_{0};  // an int, because a futex takes one
    std::atomic<bool> stopped_{false};
    unsigned threads_ = 0;
};

}  // namespace cuscope::core
