// Keeps driver calls apart that must not run at the same time. Most calls may overlap with others: they enter
// and leave, which costs a few nanoseconds (the thread writes to its own place and reads one variable). A
// call that must be alone closes the gate and waits until all other threads are outside.
//
// A thread may wait inside the driver: a launch that finds the driver's queue full waits for work that may
// depend on the next call of another thread. So no wait at the gate is unlimited. A thread that finds the
// gate closing enters after 2 ms; if another thread is alone inside, it enters after half a second. A thread
// that closes the gate goes on after a quarter of a second, even if it is not alone.
#pragma once

#include <atomic>
#include <mutex>

namespace cuscope::cuda {

namespace detail {
// One for each thread that has made a call; reused after the thread has ended.
struct alignas(64) CallPlace {
    std::atomic<unsigned> depth{0};
    std::atomic<bool> taken{true};
    CallPlace* next = nullptr;
};
enum class GateState { open, closing, closed };
extern std::atomic<GateState> gate;
extern constinit thread_local CallPlace* call_place;
CallPlace* take_call_place();
void wait_outside(CallPlace& place);
}  // namespace detail

// Exists during a driver call that may overlap with others. May be nested, and may be used within an
// AloneInDriver.
class InsideDriver {
  public:
    InsideDriver() : place_(detail::call_place != nullptr ? detail::call_place : detail::take_call_place()) {
        const unsigned depth = place_->depth.load(std::memory_order_relaxed);
        // This thread writes its place and then reads the gate. The closing thread writes the gate and then
        // reads the places. So at least one of them sees the other.
        place_->depth.exchange(depth + 1, std::memory_order_seq_cst);
        if (depth == 0 && detail::gate.load(std::memory_order_seq_cst) != detail::GateState::open)
            detail::wait_outside(*place_);
    }
    InsideDriver(const InsideDriver&) = delete;
    InsideDriver& operator=(const InsideDriver&) = delete;
    ~InsideDriver() { leave(); }
    // Leaves before the end of the scope.
    void leave() {
        if (place_ == nullptr) return;
        place_->depth.store(place_->depth.load(std::memory_order_relaxed) - 1, std::memory_order_release);
        place_ = nullptr;
    }

  private:
    detail::CallPlace* place_;
};

// Exists during a driver call that must not overlap with others. Not within an InsideDriver.
class AloneInDriver {
  public:
    AloneInDriver();
    AloneInDriver(const AloneInDriver&) = delete;
    AloneInDriver& operator=(const AloneInDriver&) = delete;
    ~AloneInDriver();

  private:
    void close_gate();

    std::unique_lock<std::timed_mutex> lock_;
    detail::CallPlace* place_ = nullptr;
};

}  // namespace cuscope::cuda
