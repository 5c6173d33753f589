// Plain types of the contract for external semaphores. The numbers equal CUDA's.
#pragma once

#include <cstdint>

namespace cuscope {

using ExternalSemaphoreHandle = struct ExternalSemaphoreT*;

// cudaExternalSemaphoreHandleType: the types that Linux has
enum class ExternalSemaphoreType : int { opaque_fd = 1, timeline_semaphore_fd = 9 };

// cudaExternalSemaphoreHandleDesc
struct ExternalSemaphoreDescription {
    ExternalSemaphoreType type = ExternalSemaphoreType::opaque_fd;
    int fd = -1;
    unsigned flags = 0;
};

// cudaExternalSemaphoreSignalParams and cudaExternalSemaphoreWaitParams: `value` is the fence value of a
// timeline semaphore
struct ExternalSemaphoreParameters {
    std::uint64_t value = 0;
    unsigned flags = 0;
};

// cudaExternalSemaphoreSignalNodeParams and cudaExternalSemaphoreWaitNodeParams
struct ExternalSemaphoreNodeParameters {
    const ExternalSemaphoreHandle* semaphores = nullptr;
    const ExternalSemaphoreParameters* parameters = nullptr;  // one for each semaphore
    unsigned count = 0;
};

}  // namespace cuscope
