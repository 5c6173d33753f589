#include "core/memory/thread_team.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

namespace cuscope::core {
namespace {

// More threads are not faster, because memory bandwidth is the limit.
constexpr std::size_t most_threads = 8;

std::size_t thread_count(std::size_t pieces) {
    const std::size_t processors = std::max(std::thread::hardware_concurrency(), 2u);
    return std::min({processors / 2, most_threads, pieces});
}

}  // namespace

Crew::Crew(std::size_t pieces, std::function<void(std::size_t)> work)
    : work_(std::move(work)), done_(pieces) {
    const std::size_t wanted = thread_count(pieces);
    threads_.reserve(wanted);
    try {
        while (threads_.size() < wanted) threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
        // The threads that did start do all of the work.
    }
}

Crew::~Crew() {
    stopped_ = true;
    allowed_ = std::numeric_limits<int>::max();
    allowed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Crew::allow(std::size_t pieces) {
    allowed_.store(static_cast<int>(pieces), std::memory_order_release);
    allowed_.notify_all();
}

void Crew::run() {
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
