// Uses of the legacy default stream and ends of captures exclude each other. When the driver puts work into
// that stream, or is asked about it, it looks into every capture of the device's blocking streams. A capture
// that another thread ends at that moment is memory that is gone: a SIGSEGV inside libcuda.so (driver
// 580.159, an H100), within seconds.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <shared_mutex>

#include "runtime/process.hpp"

namespace cuscope::cuda {

inline std::shared_mutex& captures_of_legacy_stream() {
    static auto* const mutex = new std::shared_mutex;  // outlives static destructors
    return *mutex;
}

// While one call uses the stream, which does not wait. Nothing for other streams.
class LegacyUse {
  public:
    explicit LegacyUse(cudaStream_t stream) {
        if ((stream == nullptr || stream == cudaStreamLegacy) && !forked_after_use())
            lock_ = std::shared_lock(captures_of_legacy_stream());
    }

  private:
    std::shared_lock<std::shared_mutex> lock_;
};

// While a capture begins or ends, or a stream goes, which may end one.
class CaptureChange {
  public:
    CaptureChange() {
        if (!forked_after_use()) lock_ = std::unique_lock(captures_of_legacy_stream());
    }

  private:
    std::unique_lock<std::shared_mutex> lock_;
};

}  // namespace cuscope::cuda
