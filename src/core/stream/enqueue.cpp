#include "core/stream/enqueue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/error.hpp"
#include "core/graph/capture.hpp"
#include "core/stream/stream.hpp"
#include "runtime/process.hpp"

namespace cuscope::core {
namespace {

// The other threads need a moment; only a copy of pageable memory may take long. No lock is held meanwhile.
template <class Done>
void wait_until(Done&& done) {
    using Clock = std::chrono::steady_clock;
    constexpr auto check_interval = std::chrono::milliseconds(30);
    const WithoutInterpreter released;
    const auto begin = Clock::now();
    auto next_check = begin + check_interval;
    while (!done()) {
        const auto now = Clock::now();
        if (now >= next_check) {
            if (interrupted()) throw Interrupted();
            next_check = Clock::now() + check_interval;
        }
        if (now - begin < std::chrono::milliseconds(1)) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
}

}  // namespace

// After a fork, the threads that closed a gate or should leave it do not exist in the child. Calls of the
// runtime are refused there, so there is no need to wait.
void CaptureGate::enter_later() {
    if (forked_after_use()) return;
    do {
        leave();
        wait_until([&] { return (state_.load() & closing) == 0; });
    } while ((state_.fetch_add(1) & closing) != 0);
}

void CaptureGate::close() {
    if (forked_after_use()) return;
    std::uint32_t before = state_.fetch_or(closing);
    if ((before & closing) != 0) {
        wait_until([&] {
            if ((state_.load() & closing) != 0) return false;
            return ((before = state_.fetch_or(closing)) & closing) == 0;
        });
    }
    const std::uint32_t own = Enqueue::underway(*this) ? 1 : 0;
    if ((before & ~closing) != own) {
        try {
            wait_until([&] { return (state_.load() & ~closing) == own; });
        } catch (...) {
            state_.fetch_and(~closing);
            throw;
        }
    }
    version_.fetch_add(1);
}

bool CaptureGate::try_close() noexcept {
    std::uint32_t nobody = 0;
    if (!state_.compare_exchange_strong(nobody, closing)) return false;
    version_.fetch_add(1);
    return true;
}

bool Enqueue::underway(const CaptureGate& gate) noexcept {
    for (const Enqueue* one = innermost_; one != nullptr; one = one->outer_) {
        if (one->gate_ == &gate) return true;
    }
    return false;
}

Enqueue::Enqueue(const Stream& stream) {
    CaptureGate& gate = stream.gate();
    if (underway(gate)) return;
    gate.enter();
    gate_ = &gate;
    outer_ = innermost_;
    innermost_ = this;
}

CaptureGate& GivingBack::gate() noexcept {
    static constinit CaptureGate gate;
    return gate;
}

GivingBack::GivingBack() noexcept : entered_(!in_host_function() && gate().try_enter()) {
    if (!entered_ || captures_underway() == 0) return;
    gate().leave();
    entered_ = false;
}

ClosedGates::ClosedGates(const Stream& stream) { add(stream.gate()); }

bool ClosedGates::has(const CaptureGate& gate) const {
    return std::find(gates_.begin(), gates_.end(), &gate) != gates_.end();
}

void ClosedGates::add(CaptureGate& gate) {
    if (has(gate)) return;
    gates_.reserve(gates_.size() + 1);
    gate.close();
    gates_.push_back(&gate);
}

void ClosedGates::add(const std::shared_ptr<Stream>& stream) {
    kept_.push_back(stream);  // the end of the capture may drop the last other reference
    add(stream->gate());
}

bool ClosedGates::try_add(const std::shared_ptr<Stream>& stream) {
    kept_.push_back(stream);
    if (has(stream->gate())) return true;
    gates_.reserve(gates_.size() + 1);
    if (!stream->gate().try_close()) return false;
    gates_.push_back(&stream->gate());
    return true;
}

ClosedGates::~ClosedGates() {
    for (auto gate = gates_.rbegin(); gate != gates_.rend(); ++gate) (*gate)->open();
}

}  // namespace cuscope::core
