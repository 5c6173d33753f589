#include "cuda/driver/call_gate.hpp"

#include <sched.h>

#include <chrono>
#include <thread>

#include "runtime/process.hpp"

namespace cuscope::cuda {

namespace detail {
std::atomic<GateState> gate{GateState::open};
constinit thread_local CallPlace* call_place = nullptr;
}  // namespace detail

namespace {

using detail::CallPlace;
using detail::gate;
using detail::GateState;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds longest(250);  // the longest wait of a thread until it is alone

std::atomic<CallPlace*> places{nullptr};  // never freed: a thread that closes the gate reads them all

// Returns the place for reuse when its thread ends.
struct PlaceOfThread {
    ~PlaceOfThread() {
        CallPlace* const place = detail::call_place;
        detail::call_place = nullptr;
        if (place != nullptr) place->taken.store(false, std::memory_order_release);
    }
};

std::timed_mutex& one_at_a_time() {
    static auto* const mutex = new std::timed_mutex;  // outlives static destructors
    return *mutex;
}

bool others_are_outside() {
    for (CallPlace* place = places.load(std::memory_order_acquire); place != nullptr; place = place->next) {
        if (place != detail::call_place && place->depth.load(std::memory_order_seq_cst) > 0) return false;
    }
    return true;
}

// Pauses briefly at first: most calls take a few microseconds.
void pause(Clock::time_point since) {
    if (Clock::now() - since < microseconds(50)) {
        ::sched_yield();
    } else {
        std::this_thread::sleep_for(microseconds(20));
    }
}

}  // namespace

namespace detail {

CallPlace* take_call_place() {
    thread_local const PlaceOfThread until_the_thread_ends;
    for (CallPlace* place = places.load(std::memory_order_acquire); place != nullptr; place = place->next) {
        bool free = false;
        if (place->taken.compare_exchange_strong(free, true, std::memory_order_acq_rel))
            return call_place = place;
    }
    auto* const made = new CallPlace;
    made->next = places.load(std::memory_order_relaxed);
    while (!places.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) {
    }
    return call_place = made;
}

void wait_outside(CallPlace& place) {
    constexpr milliseconds patience(2);
    constexpr milliseconds most = 2 * longest;
    Clock::duration waited{};  // without the waits for the GIL
    const auto may_enter = [&] {
        const GateState state = gate.load(std::memory_order_seq_cst);
        if (state == GateState::open || forked_after_use()) return true;  // a child lacks the closing thread
        return waited > (state == GateState::closing ? patience : most);
    };
    do {
        place.depth.store(0, std::memory_order_seq_cst);
        {
            // The GIL is taken back outside the gate, because that may take milliseconds.
            const WithoutInterpreter released;
            const Clock::time_point start = Clock::now();
            const Clock::duration before = waited;
            do {
                pause(start);
                waited = before + (Clock::now() - start);
            } while (!may_enter());
        }
        place.depth.exchange(1, std::memory_order_seq_cst);
    } while (!may_enter());
}

}  // namespace detail

AloneInDriver::AloneInDriver() {
    if (forked_after_use()) return;
    close_gate();
    // This thread's own calls pass the gate meanwhile.
    place_ = detail::call_place != nullptr ? detail::call_place : detail::take_call_place();
    ++place_->depth;
}

void AloneInDriver::close_gate() {
    const Clock::time_point start = Clock::now();
    lock_ = std::unique_lock(one_at_a_time(), std::try_to_lock);
    if (lock_) {
        gate = GateState::closed;
        if (others_are_outside()) return;
    }
    const WithoutInterpreter released;
    if (!lock_ && !lock_.try_lock_for(longest)) return;
    for (;;) {
        gate = GateState::closed;
        if (others_are_outside()) return;
        gate = GateState::closing;
        if (Clock::now() - start > longest) return;
        pause(start);
    }
}

AloneInDriver::~AloneInDriver() {
    if (place_ == nullptr) return;
    --place_->depth;
    if (lock_) gate = GateState::open;
}

}  // namespace cuscope::cuda
