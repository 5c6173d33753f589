// Plain types of the contract for stream memory operations. The numbers equal the driver's.
#pragma once

#include <cstdint>

namespace cuscope {

// CUstreamBatchMemOpType
enum class MemoryOperationType : int {
    wait_value_32 = 1,
    write_value_32 = 2,
    flush_remote_writes = 3,
    wait_value_64 = 4,
    write_value_64 = 5,
    barrier = 6,
};

// CUstreamBatchMemOpParams: a barrier has no address and no value.
struct MemoryOperation {
    MemoryOperationType type = MemoryOperationType::barrier;
    void* address = nullptr;
    std::uint64_t value = 0;
    unsigned flags = 0;

    bool writes() const {
        return type == MemoryOperationType::write_value_32 || type == MemoryOperationType::write_value_64;
    }
    bool waits() const {
        return type == MemoryOperationType::wait_value_32 || type == MemoryOperationType::wait_value_64;
    }
    unsigned bytes() const {
        return type == MemoryOperationType::write_value_64 || type == MemoryOperationType::wait_value_64 ? 8
                                                                                                         : 4;
    }
};

namespace flags {
// CUstreamWaitValue_flags
inline constexpr unsigned wait_value_geq = 0x0, wait_value_eq = 0x1, wait_value_and = 0x2,
                          wait_value_nor = 0x3, wait_value_flush = 1U << 30;
// CUstreamMemoryBarrier_flags
inline constexpr unsigned memory_barrier_system = 0x0, memory_barrier_device = 0x1;
}  // namespace flags

// A batch has fewer operations than this.
inline constexpr unsigned most_memory_operations = 256;

}  // namespace cuscope
