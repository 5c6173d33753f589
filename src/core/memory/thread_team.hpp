// Threads that do numbered pieces of work in order, each as soon as it is allowed.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace cuscope::core {

class Crew {
  public:
    Crew(std::size_t pieces, std::function<void(std::size_t)> work);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    // Waits for the pieces that have begun. The others are not done.
    ~Crew();

    // False if no thread could be started.
    explicit operator bool() const { return !threads_.empty(); }
    // Allows all pieces with a number below this one.
    void allow(std::size_t pieces);
    bool done(std::size_t piece) const { return done_[piece].load(std::memory_order_acquire) != 0; }
    void wait(std::size_t piece) const { done_[piece].wait(0, std::memory_order_acquire); }
    void wait_for_all() const {
        for (std::size_t i = 0; i < done_.size(); ++i) wait(i);
    }

  private:
    void run();

    std::function<void(std::size_t)> work_;
    std::vector<std::atomic<int>> done_;
    std::atomic<std::size_t> next_{0};
    std::atomic<int> allowed_{0};  // an int, because a futex takes one
    std::atomic<bool> stopped_{false};
    std::vector<std::thread> threads_;
};

}  // namespace cuscope::core
