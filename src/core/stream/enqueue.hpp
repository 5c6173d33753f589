// Putting work into a stream, and beginning or ending a capture of it, exclude each other. Whether work uses
// its memory now or belongs to a graph, which keeps the memory, is found out before the call of the runtime:
// a capture that another thread began in between would make a node of the work whose memory nobody keeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace cuscope::core {

class Stream;

// One of each stream. Free of charge but for two additions while nobody captures the stream.
class CaptureGate {
  public:
    void enter() {
        if ((state_.fetch_add(1, std::memory_order_seq_cst) & closing) != 0) enter_later();
    }
    // False where somebody closes the gate.
    bool try_enter() noexcept {
        if ((state_.fetch_add(1, std::memory_order_seq_cst) & closing) == 0) return true;
        leave();
        return false;
    }
    void leave() noexcept { state_.fetch_sub(1, std::memory_order_seq_cst); }

    // Throws Interrupted where Ctrl-C ends the wait for work that another thread is putting into the stream:
    // a copy of pageable memory waits for earlier work of the stream.
    void close();
    bool try_close() noexcept;  // false where it would wait
    void open() noexcept {
        version_.fetch_add(1, std::memory_order_seq_cst);
        state_.fetch_and(~closing, std::memory_order_seq_cst);
    }

    // For calls that are too quick for enter(): a number that changes while the gate is closed. Odd: it is.
    std::uint32_t version() const noexcept { return version_.load(std::memory_order_seq_cst); }

  private:
    static constexpr std::uint32_t closing = 1u << 31;
    void enter_later();

    std::atomic<std::uint32_t> state_{0};  // how many put work into the stream; `closing`
    std::atomic<std::uint32_t> version_{0};
};

// While work is put into a stream. May be made again inside another of the same thread.
class Enqueue {
  public:
    explicit Enqueue(const Stream& stream);
    Enqueue(const Enqueue&) = delete;
    Enqueue& operator=(const Enqueue&) = delete;
    ~Enqueue() {
        if (gate_ == nullptr) return;
        innermost_ = outer_;
        gate_->leave();
    }
    // Is this thread putting work into the stream? A handler of a signal may find it so.
    static bool underway(const CaptureGate& gate) noexcept;

  private:
    static inline constinit thread_local const Enqueue* innermost_ = nullptr;

    CaptureGate* gate_ = nullptr;  // null: entered by an outer one
    const Enqueue* outer_ = nullptr;
};

// While something is given back, which takes calls in streams: no capture begins meanwhile. False where it is
// to be given back later: inside a host function, and while something is captured.
class GivingBack {
  public:
    GivingBack() noexcept;
    GivingBack(const GivingBack&) = delete;
    GivingBack& operator=(const GivingBack&) = delete;
    ~GivingBack() {
        if (entered_) gate().leave();
    }
    explicit operator bool() const noexcept { return entered_; }
    static CaptureGate& gate() noexcept;

  private:
    bool entered_;
};

// While a capture of streams begins or ends, or a stream joins one.
class ClosedGates {
  public:
    ClosedGates() = default;
    // The stream is there for as long as this.
    explicit ClosedGates(const Stream& stream);
    ClosedGates(const ClosedGates&) = delete;
    ClosedGates& operator=(const ClosedGates&) = delete;
    ~ClosedGates();
    // Streams of one capture: in the order in which they joined it.
    void add(const std::shared_ptr<Stream>& stream);
    void add(CaptureGate& gate);
    bool try_add(const std::shared_ptr<Stream>& stream);

  private:
    bool has(const CaptureGate& gate) const;

    std::vector<std::shared_ptr<Stream>> kept_;
    std::vector<CaptureGate*> gates_;
};

}  // namespace cuscope::core
