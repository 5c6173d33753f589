// Calls that programs make hundreds of thousands of times a second go to the driver directly. For a record or
// a wait, the library would add a quarter of the driver's time.
#pragma once

#include <optional>
#include <utility>

#include "cuda/driver/function.hpp"
#include "runtime/process.hpp"
#include "runtime/types.hpp"

namespace cuscope::cuda {

// A failure because of a capture invalidates the capture, so a second attempt would return a different error.
static_assert(static_cast<int>(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) == cudaErrorStreamCaptureUnsupported &&
              static_cast<int>(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) == cudaErrorStreamCaptureWrongThread);
constexpr bool is_capture_error(int status) {
    return status >= cudaErrorStreamCaptureUnsupported && status <= cudaErrorStreamCaptureWrongThread;
}

// Calls the driver and returns its status; nothing if the caller has to call the library. After a failure the
// library repeats the call, because it knows the status and sets its last error. Capture errors are returned
// directly: they have the same numbers in both.
template <class Function, class... Arguments>
std::optional<Status> driver_call(DriverFunction<Function>& function, Arguments&&... arguments) {
    if (forked_after_use()) return std::nullopt;
    const Function call = function.get();
    if (call == nullptr) return std::nullopt;
    const CUresult result = call(std::forward<Arguments>(arguments)...);
    if (result == CUDA_SUCCESS) return Status::success;
    if (is_capture_error(static_cast<int>(result))) return static_cast<Status>(result);
    return std::nullopt;
}

}  // namespace cuscope::cuda
