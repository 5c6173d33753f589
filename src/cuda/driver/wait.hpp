// Waits for the device that Ctrl-C can end. They only ask whether work is done; the caller then makes the
// library's own blocking call, which returns at once, for its status and its side effects (the output of
// printf, memory of pools that goes back). While something is captured the caller leaves that out: another
// thread may have given the device more to do, and a call that waits would keep all others from their turn.
#pragma once

#include <cuda_runtime_api.h>

namespace cuscope::cuda {

// All answer what the last query did; cudaErrorNotReady, which CUDA keeps in no last error, means that the
// wait was interrupted.
cudaError_t wait_for_stream(cudaStream_t stream);
cudaError_t wait_for_event(cudaEvent_t event);
// Everything that was issued to the current device so far. Where the driver cannot tell (older than 12.5) it
// is done at once. A capture on the device, which this spoils, is an error of captures.
cudaError_t wait_for_device();
// What the legacy default stream waits for: itself and all blocking streams. Done at once while a stream is
// being captured that this would spoil.
cudaError_t wait_for_legacy_stream();

// Has all that was given to the stream ended? Asks for a moment. For a thread that keeps others from adding
// to it. True where it is captured: nothing is waited for then.
bool is_idle_for_now(cudaStream_t stream);

// At exit: returns when no thread that waits is inside the library any more; none gets there again.
void end_waits();

// What copies do inside, captures of others do not mind: so is what this thread does as long as one of these
// lives.
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
