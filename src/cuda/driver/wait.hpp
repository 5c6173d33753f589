// Waits for the device that Ctrl-C can end. They only poll until the work is done. The caller then makes the
// library's own blocking call, which returns at once, for its status and its side effects (printf output,
// pool memory that returns to the device). While any stream is captured, the caller omits that call: another
// thread may have given the device more work, and a blocking call would keep all other threads from their
// turn.
#pragma once

#include <cuda_runtime_api.h>

namespace cuscope::cuda {

class KnownStreams;

// All return the status of the last query. cudaErrorNotReady means that the wait was interrupted; CUDA never
// keeps it as the last error.
cudaError_t wait_for_stream(cudaStream_t stream);
cudaError_t wait_for_event(cudaEvent_t event);
// Waits for everything that was issued to the current device so far. Returns at once with a driver older than
// 12.5, which has no such query. If a stream of the device is captured, this invalidates the capture and
// returns a capture error.
cudaError_t wait_for_device();
// The same, but invalidates no capture that this package knows: streams that are being captured are left out.
// The thread is in the relaxed mode.
cudaError_t wait_beside_captures(KnownStreams& streams);
// Waits for the legacy default stream and all blocking streams. Returns at once if this would invalidate an
// active capture.
cudaError_t wait_for_legacy_stream();

// Has all work of the stream ended? Polls for a moment (200 us). To be called by a thread that keeps other
// threads from adding work. True if the stream is captured: nothing is waited for then.
bool is_idle_for_now(cudaStream_t stream);

// To be called at exit. Returns when no waiting thread is inside the library any more; none enters again.
void end_waits();

// While this object lives, the thread's calls do not invalidate other threads' captures (relaxed capture
// mode), as the waits inside the library's own copies do not.
class RelaxedThread {
  public:
    RelaxedThread() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    RelaxedThread(const RelaxedThread&) = delete;
    RelaxedThread& operator=(const RelaxedThread&) = delete;
    ~RelaxedThread() { cudaThreadExchangeStreamCaptureMode(&mode_); }

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace cuscope::cuda
