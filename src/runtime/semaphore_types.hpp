// Plain types of the contract for semaphores of other interfaces. Numbers are CUDA's own.
#pragma once

#include <cstdint>

namespace cuscope {

using ExternalSemaphoreHandle = struct ExternalSemaphoreT*;

// cudaExternalSemaphoreHandleType: those of Linux
enum class ExternalSemaphoreType : int { opaque_fd = 1, timeline_semaphore_fd = 9 };

// cudaExternalSemaphoreHandleDesc
struct ExternalSemaphoreDescription {
    ExternalSemaphoreType type = ExternalSemaphoreType::opaque_fd;
    int fd = -1;
    unsigned flags = 0;
};

// cudaExternalSemaphoreSignalParams and cudaExternalSemaphoreWaitParams: the value of a timeline's fence
struct ExternalSemaphoreParameters {
    std::uint64_t value = 0;
    unsigned flags = 0;
};

// cudaExternalSemaphoreSignalNodeParams and cudaExternalSemaphoreWaitNodeParams
struct ExternalSemaphoreNodeParameters {
    const ExternalSemaphoreHandle* semaphores = nullptr;
    const ExternalSemaphoreParameters* parameters = nullptr;  // one for each
    unsigned count = 0;
};

}  // namespace cuscope
