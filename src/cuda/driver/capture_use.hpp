// Which calls of the library may meet. The driver (580.159, seen on an H100 and an H200) hangs, or ends the
// process with a SIGSEGV, within seconds where
// - one thread puts work into the legacy default stream, or asks about it, which looks into every capture of
//   the device's blocking streams, while another thread ends one of these captures;
// - one thread puts a node into a capture that another thread adds to, ends or spoils;
// - a capture begins beside a call in any stream, or ends;
// - two threads are inside cuStreamSynchronize, which also gives memory of pools back: each waits for a
//   lock of the driver that the other has;
// - as far as can be told, graphs, which may own memory, come and go beside cuStreamSynchronize;
// - a pool goes while other threads use other pools or streams: spare_pools.hpp.
// CUDA also leaves it to its caller that no two threads use one graph at a time (Runtime API, "Graph object
// thread safety"). Objects of this package may be used from every thread, so the locks are here.
//
// The order of the locks: KnownStreams, GraphUse, then the gate of call_gate.hpp. A thread that waits for one
// of them lets go of the interpreter's lock meanwhile: the thread that has the lock may be inside a call of
// the driver that waits for a host function, which needs the interpreter's lock.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "cuda/driver/call_gate.hpp"
#include "runtime/process.hpp"

namespace cuscope::cuda {

// How many captures are under way that this package began.
inline std::atomic<int> captures_underway{0};

// While a call on graphs is made: they take turns. A launch that finds the driver's queue full keeps the
// others out until there is room.
class GraphUse {
  public:
    GraphUse();

  private:
    std::unique_lock<std::recursive_mutex> lock_;
};

// Is the stream captured? The legacy stream counts as captured while a stream is that it waits for.
bool is_captured(cudaStream_t stream);

// While one call uses a stream, which does not wait. A call in a stream that is being captured has all others
// wait.
class StreamUse {
  public:
    explicit StreamUse(cudaStream_t stream) {
        if (captures_underway.load(std::memory_order_relaxed) > 0) look_at(stream);
    }

  private:
    void look_at(cudaStream_t stream);

    InsideDriver inside_;  // first: no capture begins or ends from here on
    std::optional<GraphUse> graphs_;
    std::optional<AloneInDriver> alone_;
};

// While a capture begins or ends, or a call is made that may join a stream to one, spoil one or end one.
class CaptureChange {
  public:
    enum class Unless { never, nothing_is_captured };
    explicit CaptureChange(Unless unless = Unless::never);

    void begun(cudaStream_t stream);
    // A call has been made that may have ended the capture that began in the stream.
    void may_have_ended(cudaStream_t stream);
    void gone(cudaStream_t stream);  // destroyed

  private:
    std::optional<InsideDriver> inside_;
    std::optional<GraphUse> graphs_;
    std::optional<AloneInDriver> alone_;
};

// While a blocking call of the library is made that has nothing left to wait for, but gives memory of pools
// back. False where another thread makes such a call: the memory goes back without a second one.
class SynchronisationTurn {
  public:
    SynchronisationTurn();
    explicit operator bool() const { return lock_.owns_lock(); }

  private:
    std::unique_lock<std::timed_mutex> lock_;
};

// While a pool or a graph is made or goes: not beside the above, unless that takes long, since other threads
// may have given it something to wait for.
class PoolChange {
  public:
    PoolChange();

  private:
    std::unique_lock<std::timed_mutex> lock_;
};

// The current device was reset, and took its captures with it.
void forget_captures();

}  // namespace cuscope::cuda
