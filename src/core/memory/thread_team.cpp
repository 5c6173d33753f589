#include "core/memory/thread_team.hpp"

#include <algorithm>
#include <limits>

namespace cuscope::core {
namespace {

// More threads are not faster, because memory bandwidth is the limit.
constexpr std::size_t most_threads = 8;

unsigned thread_count(std::size_t pieces) {
    const std::size_t processors = std::max(ThreadPool::instance().width(), 2u);
    return static_cast<unsigned>(std::min({processors / 2, most_threads, pieces}));
}

}  // namespace

ThreadTeam::ThreadTeam(std::size_t pieces, std::function<void(std::size_t)> work)
    : work_(std::move(work)), done_(pieces) {
    // If fewer threads can be started, they do all of the work.
    threads_ = ThreadPool::instance().send(*this, thread_count(pieces));
}

ThreadTeam::~ThreadTeam() {
    stopped_ = true;
    allowed_ = std::numeric_limits<int>::max();
    allowed_.notify_all();
    ThreadPool::instance().recall(*this);
}

void ThreadTeam::allow(std::size_t pieces) {
    allowed_.store(static_cast<int>(pieces), std::memory_order_release);
    allowed_.notify_all();
}

void ThreadTeam::participate() {
    for (;;) {
        const std::size_t piece = next_.fetch_add(1, std::memory_order_relaxed);
        if (piece >= done_.size()) return;
        for (int allowed = allowed_.load(std::memory_order_acquire);
             static_cast<std::size_t>(allowed) <= piece; allowed = allowed_.load(std::memory_order_acquire)) {
            allowed_.wait(allowed, std::memory_order_acquire);
        }
        if (stopped_) return;
        work_(piece);
        done_[piece].store(1, std::memory_order_release);
        done_[piece].notify_all();
    }
}

}  // namespace cuscope::core
