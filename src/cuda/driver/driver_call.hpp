// Calls that programs make hundreds of thousands of times a second, asked of the driver at once: to a record
// or a wait the library adds a quarter of what the driver takes.
#pragma once

#include <optional>
#include <utility>

#include "cuda/driver/function.hpp"
#include "runtime/process.hpp"
#include "runtime/types.hpp"

namespace cuscope::cuda {

// What failed because of a capture has spoilt it: asked a second time, it answers otherwise.
static_assert(static_cast<int>(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) == cudaErrorStreamCaptureUnsupported &&
              static_cast<int>(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) == cudaErrorStreamCaptureWrongThread);
constexpr bool is_capture_error(int status) {
    return status >= cudaErrorStreamCaptureUnsupported && status <= cudaErrorStreamCaptureWrongThread;
}

// What the driver answers; nothing if the library is to be asked: for a call that failed, it knows the status
// and sets its last error. Errors of captures have one number in both.
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
