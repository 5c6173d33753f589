// Overlaps a launch with the end of the launch before it in its stream. With the attribute programmatic
// stream serialization, the blocks of a launch start as soon as all blocks of the earlier launch let them or
// have ended, and wait here for the end of that launch. Without the attribute, nothing here has an effect.
// Before they wait, reductions prefetch the data that they will read to the second-level cache. All writes
// meet in that cache, so a write of the earlier launch is still seen. For the same reason no data is loaded
// with __ldg, which assumes that memory does not change while a kernel runs.
#pragma once

// Each block prefetches its share of the data that a launch over so many bytes reads first, and then waits.
// All threads call this, and no data is read or written before.
__device__ inline void fetch_ahead(const void* data, long long bytes, unsigned part, unsigned parts) {
#if __CUDA_ARCH__ >= 900 && !defined(__CUSCOPE_HOST__)
    constexpr long long piece = 4096, most = 16ll << 20;
    const unsigned long long address = reinterpret_cast<unsigned long long>(data);
    const unsigned long long begin = (address + 15) / 16 * 16;
    const long long whole = bytes - static_cast<long long>(begin - address);
    const long long wanted = whole < most ? whole : most;
    for (long long at = (static_cast<long long>(threadIdx.x) * parts + part) * piece; at < wanted;
         at += static_cast<long long>(blockDim.x) * parts * piece) {
        const long long left = wanted - at;
        const unsigned size = static_cast<unsigned>(left < piece ? left : piece) / 16 * 16;
        if (size > 0) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin + at), "r"(size));
    }
#endif
}

// The next kernel of the stream may begin once all blocks of this one have called this or have ended. Its own
// wait makes it safe.
__device__ __forceinline__ void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900 && !defined(__CUSCOPE_HOST__)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// The same after the main loop of a kernel of which a multiprocessor holds about three blocks, unless blocks
// of the next launch would then find places unevenly. If a launch has more blocks than multiprocessors, but
// leaves places free, blocks of the next one take these places. The others begin where blocks end first: one
// multiprocessor gets three, another one. The sums of 2^26 x 4 floats took 299 microseconds instead of 242 on
// an H200.
__device__ __forceinline__ void let_next_kernel_begin_evenly() {
#if __CUDA_ARCH__ >= 900 && !defined(__CUSCOPE_HOST__)
    unsigned multiprocessors;
    asm("mov.u32 %0, %%nsmid;" : "=r"(multiprocessors));
    if (gridDim.x <= multiprocessors || 4 * gridDim.x > 9 * multiprocessors) let_next_kernel_begin();
#endif
}

// Before this, a kernel that may begin early reads and writes no memory that other kernels write or read.
__device__ __forceinline__ void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900 && !defined(__CUSCOPE_HOST__)
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ inline void follow() {
    let_next_kernel_begin();
    wait_for_kernel_before();
}
