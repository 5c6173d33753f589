// Enqueueing work in a stream excludes beginning or ending a capture of the stream. Before the call of the
// runtime, core decides whether the work uses its memory now or becomes a node of a graph, which then keeps
// the memory. If another thread began a capture between this decision and the call, the work would become a
// node, but the graph would not keep its memory alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace cuscope::core {

class Stream;

// One for each stream. While the stream is not captured, it costs two atomic additions for each command.
class CaptureGate {
  public:
    void enter() {
        if ((state_.fetch_add(1, std::memory_order_seq_cst) & closing) != 0) enter_later();
    }
    // False if another thread is closing the gate.
    bool try_enter() noexcept {
        if ((state_.fetch_add(1, std::memory_order_seq_cst) & closing) == 0) return true;
        leave();
        return false;
    }
    void leave() noexcept { state_.fetch_sub(1, std::memory_order_seq_cst); }

    // Waits for other threads that are putting work into the stream, such as a copy of pageable memory, which
    // waits for earlier work of the stream. Throws Interrupted if Ctrl-C ends this wait.
    void close();
    bool try_close() noexcept;  // false if it would have to wait
    void open() noexcept {
        version_.fetch_add(1, std::memory_order_seq_cst);
        state_.fetch_and(~closing, std::memory_order_seq_cst);
    }

    // For calls that are too quick for enter(): a number that changes whenever the gate is closed; odd while
    // it is.
    std::uint32_t version() const noexcept { return version_.load(std::memory_order_seq_cst); }

  private:
    static constexpr std::uint32_t closing = 1u << 31;
    void enter_later();

    // how many threads are putting work into the stream, and the bit `closing`
    std::atomic<std::uint32_t> state_{0};
    std::atomic<std::uint32_t> version_{0};
};

// Held while work is put into a stream. May be nested in another one of the same thread.
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
    // Is this thread putting work into the stream? A signal handler can run in that state.
    static bool underway(const CaptureGate& gate) noexcept;

  private:
    static inline constinit thread_local const Enqueue* innermost_ = nullptr;

    CaptureGate* gate_ = nullptr;  // null: an outer one has entered
    const Enqueue* outer_ = nullptr;
};

// Held while a resource is given back by calls in streams: no capture can begin meanwhile. False if the
// resource must be given back later: inside a host function, or while a stream is captured.
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

// Held while a capture of streams begins or ends, or a stream joins one.
class ClosedGates {
  public:
    ClosedGates() = default;
    // The stream must outlive this object.
    explicit ClosedGates(const Stream& stream);
    ClosedGates(const ClosedGates&) = delete;
    ClosedGates& operator=(const ClosedGates&) = delete;
    ~ClosedGates();
    // For the streams of one capture: to be added in the order in which they joined it.
    void add(const std::shared_ptr<Stream>& stream);
    void add(CaptureGate& gate);
    bool try_add(const std::shared_ptr<Stream>& stream);

  private:
    bool has(const CaptureGate& gate) const;

    std::vector<std::shared_ptr<Stream>> kept_;
    std::vector<CaptureGate*> gates_;
};

}  // namespace cuscope::core
