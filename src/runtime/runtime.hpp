// The contract: the operations of a CUDA runtime, without any implementation. It has one virtual method for
// each runtime function that the core needs, with the function's name (without its prefix), parameters and
// meaning; runtime_methods.inc is the list. Methods may be called from any thread. A method that waits holds
// no lock that a host function or another thread's call could need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/activity.hpp"
#include "runtime/kernel_time.hpp"
#include "runtime/launch_counts.hpp"
#include "runtime/look_types.hpp"
#include "runtime/pending.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope {

class Runtime {
  public:
    Runtime() = default;
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    virtual ~Runtime() = default;

    // "cuda" or "host": the first part of the names of its devices.
    virtual std::string kind() const = 0;
    // Does time come from a model rather than from a clock?
    virtual bool simulated() const = 0;

#define CUSCOPE_METHOD(method, parameters, arguments) virtual Status method parameters = 0;
#include "runtime/runtime_methods.inc"
#undef CUSCOPE_METHOD

    // The host's time as this runtime sees it, in nanoseconds from an arbitrary start.
    virtual std::int64_t clock_ns() = 0;
    // Advances the host's time. Allowed inside a host function.
    virtual void host_work(std::int64_t nanoseconds) = 0;
    // Details beyond the status code about the calling thread's last failed call or a lost device: the
    // kernel, block, thread, address and source line of a fault; the amount of memory that was available.
    // Empty if there are none.
    virtual std::string error_detail() = 0;
    // Called when the process is about to exit: run no more host functions and wait for nothing. Idempotent.
    virtual void shut_down() noexcept = 0;
    // The pending work on all devices of the runtime, in the order in which it was enqueued, as far as the
    // runtime knows. A GPU's runtime knows nothing. The call does not wait and changes nothing: neither the
    // simulated time, nor a capture, nor the last error. It may come from any thread, also inside a host
    // function.
    virtual PendingList pending() = 0;
    // The next two also wait for nothing and change nothing. They may not be called inside a host function.
    // A GPU does not tell when an event happened.
    virtual EventLook look_at(EventHandle event) = 0;
    // Reads memory of a simulated device that no work uses. False: it is not mapped, or the device is real.
    virtual bool peek(void* destination, const void* source, std::size_t bytes) = 0;
    // The node that the next captured work of a stream will depend on; null if it is not one alone. The
    // answer of stream_get_capture_info() lies in the runtime's memory, which another thread's captured work
    // may change.
    virtual GraphNodeHandle last_captured(StreamHandle stream) = 0;

    // Waits for the work given to the current device so far, as device_synchronize does, but invalidates no
    // capture: streams that are being captured are left out. Status::not_ready: the wait was interrupted.
    virtual Status wait_beside_captures() = 0;
    // The host's time for traces. Unlike clock_ns(), asking costs a simulated host no time.
    virtual std::int64_t trace_clock_ns() = 0;
    // Hands records of the work that ends from now on to the recorder; null: no more. The recorder lives
    // until then. Returns where the records come from.
    virtual WorkRecording set_recorder(ActivityRecorder* recorder) = 0;
    // Returns when the records of all work that has ended were handed over, or why that was not possible.
    // `last`: no more records are wanted.
    virtual std::string flush_records(bool last) = 0;
    // Describes the stream for traces. False if it cannot be asked now: it is being captured, or waits for a
    // stream that is, or there is no such stream. Changes no last error, and costs a simulated host no time.
    virtual bool describe_stream(StreamHandle stream, StreamRecord* record) = 0;
    // Work that this thread gives to a device until call_ends() belongs to the call that call_context() has.
    // `stream`: the stream of the call; null: it has none, or the legacy default stream. False: call_ends()
    // need not be called.
    virtual bool call_begins(const StreamHandle* stream) = 0;
    virtual void call_ends() = 0;
};

}  // namespace cuscope
