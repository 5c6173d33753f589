// How a launch overlaps the end of the one before it in its stream. With the attribute programmatic stream
// serialization, its blocks start as soon as all of that one's have started, and wait here for its end.
// Before, they have what they will read brought from memory to the second-level cache: the place where all
// writes meet, so whoever still writes there is not missed. For the same reason nothing is loaded with __ldg,
// which takes memory to stay as it is while a kernel runs.
#pragma once

// Each block asks for its share of what launches of so many bytes read first, and waits. All threads call it,
// and nothing is read or written before.
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

__device__ inline void follow() {
#if __CUDA_ARCH__ >= 900 && !defined(__CUSCOPE_HOST__)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
