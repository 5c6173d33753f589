// The contract on top of the CUDA runtime library. Its only own state serves waits that Ctrl-C can end, and
// pools that are reused; the library holds everything else.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <utility>

#include "cuda/calls/printing.hpp"
#include "cuda/calls/spare_pools.hpp"
#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/driver/idle.hpp"
#include "cuda/handles.hpp"
#include "runtime/process.hpp"
#include "runtime/runtime.hpp"

namespace cuscope::cuda {

class CudaRuntime final : public Runtime {
  public:
    std::string kind() const override { return "cuda"; }
    bool simulated() const override { return false; }

#define CUSCOPE_METHOD(method, parameters, arguments) Status method parameters override;
#include "runtime/runtime_methods.inc"
#undef CUSCOPE_METHOD

    std::int64_t clock_ns() override;
    void host_work(std::int64_t nanoseconds) override;
    std::string error_detail() override;
    Status wait_beside_captures() override;
    std::int64_t trace_clock_ns() override { return clock_ns(); }
    WorkRecording set_recorder(ActivityRecorder* recorder) override;
    std::string flush_records(bool last) override;
    bool describe_stream(StreamHandle stream, StreamRecord* record) override;
    bool call_begins(const StreamHandle* stream) override;
    void call_ends() override;
    // Switches CUPTI off if that had to wait for the end of a capture or of work. To be called when either
    // may have ended.
    void settle_traces();
    PendingList pending() override { return {}; }  // the core remembers what it enqueued
    EventLook look_at(EventHandle event) override;
    GraphNodeHandle last_captured(StreamHandle stream) override;
    bool peek(void*, const void*, std::size_t) override { return false; }  // the core copies
    // Host functions stay enqueued in the driver, which cannot drop them. The core's host functions check
    // process_exiting() before they do anything.
    void shut_down() noexcept override;

  private:
    // Calls the library. Fails in a forked child, where the driver does not work.
    template <class Call>
    Status make(Call&& call) {
        if (forked_after_use()) return failed(Status::initialization_error);
        return answered(static_cast<Status>(std::forward<Call>(call)()));
    }
    // The same for a call in a stream. Not for calls that wait.
    template <class Call>
    Status make_in(StreamHandle stream, Call&& call) {
        const StreamUse use(native(stream));
        return make(std::forward<Call>(call));
    }
    // The same for a call that may invalidate captures of other threads: see UnsafeCall.
    template <class Call>
    Status make_unsafe(Call&& call) {
        const UnsafeCall unsafe;
        return make(std::forward<Call>(call));
    }
    // Makes the library's own blocking call after a wait that returned `waited`: see driver/wait.hpp.
    template <class Call>
    Status make_after_wait(cudaError_t waited, Call&& call) {
        if (waited == cudaErrorNotReady) return Status::not_ready;
        if (is_capture_error(waited)) return failed(static_cast<Status>(waited));
        settle_traces();
        if (captures_underway > 0) return answered(static_cast<Status>(waited));
        const PrintCapture capture;
        const SynchronisationTurn turn;
        const InsideDriver inside;  // no capture begins from here on
        if (!turn || captures_underway > 0) return answered(static_cast<Status>(waited));
        return make(std::forward<Call>(call));
    }
    template <class Wait, class Call>
    Status make_after(StreamHandle stream, Wait&& wait, Call&& call);
    template <class Call>
    Status make_copy(StreamHandle stream, bool waits, Call&& call);
    // For calls that wait for a whole device or for all devices: would the call wait although this thread
    // must not?
    bool would_wait(bool all_devices = false) {
        return NoWait::active() && !forked_after_use() && !streams_.idle(all_devices);
    }
    // For unsafe calls that release memory or code, and so wait for all work of the device.
    enum class WaitsFor { this_device, all_devices };
    template <class Call>
    Status make_release(WaitsFor devices, Call&& call) {
        if (would_wait(devices == WaitsFor::all_devices)) return Status::not_ready;
        const UnsafeCall unsafe;
        // True if a capture has begun since would_wait().
        if (NoWait::active() && !forked_after_use() && captures_underway > 0) return Status::not_ready;
        return make(std::forward<Call>(call));
    }
    Status answered(Status status) { return status == Status::success ? status : failed(status); }

    // Records the details of this thread's failed call for error_detail().
    Status failed(Status status);
    Status out_of_memory(const char* what, std::size_t bytes);

    KnownStreams streams_;
    SparePools pools_;
};

}  // namespace cuscope::cuda
