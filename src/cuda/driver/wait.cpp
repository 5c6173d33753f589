#include "cuda/driver/wait.hpp"

#include <cuda.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "cuda/driver/capture_use.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/driver/function.hpp"
#include "cuda/driver/idle.hpp"
#include "runtime/process.hpp"

namespace cuscope::cuda {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr auto spin_time = milliseconds(5);    // without a pause: most waits are over by then
constexpr auto yield_time = milliseconds(20);  // letting other threads run, but not sleeping
constexpr auto longest_sleep = microseconds(100);
constexpr auto check_interval = milliseconds(30);  // how often interrupted() is called

// The number of threads inside a query.
std::atomic<int> asking{0};

// Makes one query. A thread that finds the process exiting makes no more queries and stays here until the
// process ends, because the library destroys its state then.
template <class Query>
cudaError_t ask(Query query, bool was_exiting) {
    ++asking;
    if (process_exiting() && !was_exiting) {
        --asking;
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
    const cudaError_t status = query();
    --asking;
    if (status != cudaErrorNotReady) note_progress();
    return status;
}

// Repeats the query until it returns something other than cudaErrorNotReady, or until the wait is
// interrupted.
template <class Query>
cudaError_t poll(Query query) {
    const bool was_exiting = process_exiting();  // the thread that ends the process may itself wait
    if (const cudaError_t status = ask(query, was_exiting); status != cudaErrorNotReady) return status;
    const Clock::time_point start = Clock::now();
    Clock::time_point next_check = start + check_interval;
    for (;;) {
        if (const cudaError_t status = ask(query, was_exiting); status != cudaErrorNotReady) return status;
        const Clock::time_point now = Clock::now();
        if (now >= next_check) {
            if (interrupted()) return cudaErrorNotReady;
            next_check = Clock::now() + check_interval;
        }
        const auto waited = now - start;
        if (waited < spin_time) continue;
        if (waited < yield_time) {
            ::sched_yield();
        } else {
            // A sleep's overshoot stays a small part of the whole wait.
            std::this_thread::sleep_for(std::min<Clock::duration>(waited / 64, longest_sleep));
        }
    }
}

// An event of the current device, without timing.
class TemporaryEvent {
  public:
    TemporaryEvent() {
        if (cudaEventCreateWithFlags(&event_, cudaEventDisableTiming) != cudaSuccess) event_ = nullptr;
    }
    TemporaryEvent(const TemporaryEvent&) = delete;
    TemporaryEvent& operator=(const TemporaryEvent&) = delete;
    ~TemporaryEvent() {
        if (event_ != nullptr) cudaEventDestroy(event_);
    }
    cudaEvent_t get() const { return event_; }

  private:
    cudaEvent_t event_ = nullptr;
};

DriverFunction<CUresult (*)(CUcontext, CUevent)> ctx_record_event("cuCtxRecordEvent", 12050);

}  // namespace

void end_waits() {
    const Clock::time_point start = Clock::now();
    while (asking > 0 && Clock::now() - start < milliseconds(200))
        std::this_thread::sleep_for(microseconds(50));
}

cudaError_t wait_for_stream(cudaStream_t stream) {
    return poll([=] {
        const StreamUse use(stream);
        return cudaStreamQuery(stream);
    });
}

cudaError_t wait_for_event(cudaEvent_t event) {
    return poll([=] {
        const InsideDriver inside;
        return cudaEventQuery(event);
    });
}

cudaError_t wait_for_device() {
    // The runtime library has no query for a whole device. So the driver records an event behind all work of
    // the context.
    const auto record = ctx_record_event.get();
    if (record == nullptr) return cudaSuccess;
    const TemporaryEvent event;  // this also makes the device's context current
    CUcontext context = nullptr;
    if (event.get() == nullptr || current_context(&context) != cudaSuccess) return cudaSuccess;
    // If a stream of the device is captured, this call invalidates the capture.
    CUresult recorded = CUDA_SUCCESS;
    {
        const CaptureChange change(CaptureChange::Unless::nothing_is_captured);
        recorded = record(context, event.get());
    }
    if (is_capture_error(static_cast<int>(recorded))) return static_cast<cudaError_t>(recorded);
    return recorded == CUDA_SUCCESS ? wait_for_event(event.get()) : cudaSuccess;
}

cudaError_t wait_beside_captures(KnownStreams& streams) {
    if (captures_underway == 0) {
        const TemporaryEvent event;
        CUcontext context = nullptr;
        const auto record = ctx_record_event.get();
        bool recorded = false;
        if (record != nullptr && event.get() != nullptr && current_context(&context) == cudaSuccess) {
            const InsideDriver inside;  // no capture begins from here on
            recorded = captures_underway == 0 && record(context, event.get()) == CUDA_SUCCESS;
        }
        if (recorded) return wait_for_event(event.get());
    }
    cudaError_t status = cudaSuccess;
    for (const cudaEvent_t event : streams.events_behind_work()) {
        if (status == cudaSuccess) status = wait_for_event(event);
        cudaEventDestroy(event);
    }
    return status;
}

cudaError_t wait_for_legacy_stream() {
    const RelaxedThread relaxed;
    const TemporaryEvent event;
    {
        const StreamUse use(cudaStreamLegacy);
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
        if (cudaStreamIsCapturing(cudaStreamLegacy, &capture) != cudaSuccess ||
            capture != cudaStreamCaptureStatusNone || event.get() == nullptr ||
            cudaEventRecord(event.get(), cudaStreamLegacy) != cudaSuccess) {
            return cudaSuccess;
        }
    }
    return wait_for_event(event.get());
}

bool is_idle_for_now(cudaStream_t stream) {
    constexpr auto patience = microseconds(200);
    const RelaxedThread relaxed;
    const TemporaryEvent event;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
    if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone ||
        event.get() == nullptr || cudaEventRecord(event.get(), stream) != cudaSuccess) {
        cudaGetLastError();
        return true;
    }
    const Clock::time_point end = Clock::now() + patience;
    while (cudaEventQuery(event.get()) == cudaErrorNotReady) {
        if (Clock::now() > end) return false;
    }
    return true;
}

}  // namespace cuscope::cuda
