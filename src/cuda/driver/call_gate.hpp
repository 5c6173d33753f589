// Keeps calls of the driver apart. A call that others may be made beside goes in and out, which costs a few
// nanoseconds: a thread writes to a place of its own and reads one number. A call that has to be alone closes
// the gate, and waits until all other threads are outside.
//
// A thread inside may wait there: a launch that finds the driver's queue full waits for work that depends on
// the next call of another thread. So no thread waits for ever at the gate. A thread that finds the gate
// closing goes in after 2 ms, and after half a second where another thread is alone. A thread that closes the
// gate goes on as if it were alone after a quarter of a second.
#pragma once

#include <atomic>
#include <mutex>

namespace cuscope::cuda {

namespace detail {
// Of each thread that made a call; used again when the thread has ended.
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

// While a call is made that others may be made beside. May be nested, and within an AloneInDriver.
class InsideDriver {
  public:
    InsideDriver() : place_(detail::call_place != nullptr ? detail::call_place : detail::take_call_place()) {
        const unsigned depth = place_->depth.load(std::memory_order_relaxed);
        // The number is read after the place is written, as the thread that closes the gate does it the
        // other way round: one of the two sees the other.
        place_->depth.exchange(depth + 1, std::memory_order_seq_cst);
        if (depth == 0 && detail::gate.load(std::memory_order_seq_cst) != detail::GateState::open)
            detail::wait_outside(*place_);
    }
    InsideDriver(const InsideDriver&) = delete;
    InsideDriver& operator=(const InsideDriver&) = delete;
    ~InsideDriver() { leave(); }
    // The thread goes on outside.
    void leave() {
        if (place_ == nullptr) return;
        place_->depth.store(place_->depth.load(std::memory_order_relaxed) - 1, std::memory_order_release);
        place_ = nullptr;
    }

  private:
    detail::CallPlace* place_;
};

// While a call is made that no other may be made beside. Not within an InsideDriver.
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
