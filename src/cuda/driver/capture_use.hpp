// Keeps apart library calls that must not run at the same time. The driver (580.159, seen on an H100 and an
// H200) hangs, or ends the process with a SIGSEGV, within seconds in these cases:
// - One thread enqueues work in the legacy default stream or queries it, which looks into every capture of
//   the device's blocking streams, while another thread ends one of these captures.
// - One thread adds a node to a capture while another thread adds to it, ends it or invalidates it.
// - A capture begins or ends while another thread makes a call in any stream.
// - A capture ends while another thread makes a call that invalidates it: see UnsafeCall.
// - Two threads are inside cuStreamSynchronize, which also returns pool memory: each waits for a lock of the
//   driver that the other holds.
// - Probably: graphs, which may own memory, are created or destroyed during a cuStreamSynchronize.
// - A pool is destroyed while other threads use other pools or streams: see spare_pools.hpp.
// CUDA also leaves it to the caller that no two threads use the same graph at the same time (Runtime API,
// "Graph object thread safety"). Objects of this package may be used from every thread, so the locks are
// here.
//
// The order of the locks: KnownStreams, GraphUse, PoolChange, then the gate of call_gate.hpp. A thread that
// waits for one of them releases the GIL meanwhile: the thread that holds the lock may be inside a driver
// call that waits for a host function, which needs the GIL.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "cuda/driver/call_gate.hpp"
#include "runtime/process.hpp"

namespace cuscope::cuda {

// The number of active captures that this package began.
inline std::atomic<int> captures_underway{0};

// Exists during a graph call. Graph calls take turns. A launch that finds the driver's queue full keeps the
// others waiting until there is room.
class GraphUse {
  public:
    GraphUse();

  private:
    std::unique_lock<std::recursive_mutex> lock_;
};

// True if the stream is captured. For the legacy default stream, which cannot be captured: true if it waits
// for a captured stream.
bool is_captured(cudaStream_t stream);

// Exists during a call that uses a stream and does not wait. If the stream is captured, all other calls wait
// for this one.
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

// Exists while a capture begins or ends, or during a call that may join a stream to a capture, invalidate one
// or end one.
class CaptureChange {
  public:
    enum class Unless { never, nothing_is_captured };
    explicit CaptureChange(Unless unless = Unless::never);

    void begun(cudaStream_t stream);
    // To be called after a call that may have ended the capture that began in this stream.
    void may_have_ended(cudaStream_t stream);
    void gone(cudaStream_t stream);  // the stream was destroyed

  private:
    std::optional<InsideDriver> inside_;
    std::optional<GraphUse> graphs_;
    std::optional<AloneInDriver> alone_;
};

// True if thread_exchange_stream_capture_mode() has relaxed this thread's capture mode: then its unsafe calls
// invalidate no capture. A RelaxedThread does not change it.
inline thread_local bool is_relaxed = false;

// Exists during a call that CUDA names potentially unsafe in a capture (cudaThreadExchangeStreamCaptureMode):
// it allocates or releases memory, or changes the device. Unless the thread's mode is relaxed, such a call
// looks into the captures of other threads and invalidates them.
class UnsafeCall {
  public:
    UnsafeCall() {
        if (!is_relaxed) change_.emplace(CaptureChange::Unless::nothing_is_captured);
    }

  private:
    std::optional<CaptureChange> change_;
};

// Exists during a blocking library call that has nothing left to wait for but returns pool memory to the
// device. False if another thread is making such a call: that call returns the memory too.
class SynchronisationTurn {
  public:
    SynchronisationTurn();
    explicit operator bool() const { return lock_.owns_lock(); }

  private:
    std::unique_lock<std::timed_mutex> lock_;
};

// Exists while a pool or a graph is created or destroyed. Waits at most 20 ms for the end of a
// SynchronisationTurn, since other threads may have given that call work to wait for.
class PoolChange {
  public:
    PoolChange();

  private:
    std::unique_lock<std::timed_mutex> lock_;
};

// To be called after a reset of the current device, which destroyed its captures.
void forget_captures();

}  // namespace cuscope::cuda
