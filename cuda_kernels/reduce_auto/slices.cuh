// Reduces the middle axis of (outer, length, inner), contiguous, where length * inner is small: short rows
// (inner = 1), or a few short rows side by side. The elements of one o are a slice.
//
// A block loads many slices at once, as the vectors of 16 bytes in which they lie, into shared memory. There
// each thread reduces the elements of one result, and neighbouring threads store neighbouring results.
//
// Launch (plan.hpp: plan_slices): `lanes` slices a block of 256 threads, grid = ceil(outer / lanes). lanes
// slices are a multiple of 16 bytes, and with 16 bytes more at most 16 KiB. No dynamic shared memory.
// It takes the arguments of `columns`, and does not read distance, outer_distance, splits and slots.
#pragma once

#include "span.cuh"

constexpr int slices_threads = 256, slices_loads = 4;
constexpr int slices_vectors = slices_threads * slices_loads;
#if __CUDA_ARCH__ >= 800
constexpr int slices_blocks = 6;  // a multiprocessor
#else
constexpr int slices_blocks = 4;  // sm_75 has room for 1024 threads
#endif

// Copies the vectors in which the block's elements lie. In the first and the last vector of the array only
// the array's own elements are read.
template <class E>
__device__ void stage(uint4* staged, const E* array, long long total, const E* begin, unsigned count) {
    const unsigned past = static_cast<unsigned>(reinterpret_cast<unsigned long long>(begin)) % 16;
    const auto* aligned = reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(begin) - past);
    const unsigned bytes = past + count * static_cast<unsigned>(sizeof(E));
    const unsigned vectors = (bytes + 15) / 16;
    const long long ahead =
        reinterpret_cast<const char*>(array + total) - reinterpret_cast<const char*>(aligned);
    const unsigned first = begin == array && past != 0 ? 1 : 0;
    const unsigned end = ahead / 16 < vectors ? static_cast<unsigned>(ahead / 16) : vectors;
    uint4 loaded[slices_loads];
#pragma unroll
    for (unsigned i = 0; i < slices_loads; ++i) {
        const unsigned v = first + threadIdx.x + i * slices_threads;
        loaded[i] = load_if(v < end, aligned + v);
    }
#pragma unroll
    for (unsigned i = 0; i < slices_loads; ++i) {
        const unsigned v = first + threadIdx.x + i * slices_threads;
        if (v < end) staged[v] = loaded[i];
    }
    if (first == 0 && end == vectors) return;
    constexpr unsigned width = 16 / sizeof(E);
    const unsigned elements = bytes / sizeof(E);
    const unsigned k = threadIdx.x % width, v = threadIdx.x < width ? 0 : end > first ? end : first;
    const bool at_head = threadIdx.x < width && first == 1, at_tail = threadIdx.x / width == 1 && v < vectors;
    const unsigned at = v * width + k;
    if ((at_head || at_tail) && at >= past / sizeof(E) && at < elements)
        reinterpret_cast<E*>(staged)[at] = reinterpret_cast<const E*>(aligned)[at];
}

// Of a row of `vectors` whole vectors.
template <class P>
__device__ typename P::Value reduce_vectors(const P& policy, const uint4* vectors, unsigned count) {
    typename P::State state;
    policy.start(state);
    for (unsigned v = 0; v < count; ++v) {
        const long long index = v * (16 / sizeof(typename P::Element));
        if constexpr (has_faster_ways<P>) {
            const uint4 one[1] = {vectors[v]};
            policy.absorb_round(state, one, 1, index, 0);
        } else {
            policy.absorb(state, vectors[v], index);
        }
    }
    return policy.finish(state);
}

template <class P>
__global__ void __launch_bounds__(slices_threads, slices_blocks)
    slices(const void* in, void* out, long long outer, long long length, long long inner, long long,
           long long, unsigned long long bits, int kind, double divisor, int lanes, int, void*) {
    using E = typename P::Element;
    __shared__ uint4 staged[slices_vectors];
    fetch_ahead(in, outer * length * inner * static_cast<long long>(sizeof(E)), blockIdx.x, gridDim.x);
    wait_for_kernel_before();
    const P policy(bits, kind, length);
    const auto* array = static_cast<const E*>(in);
    const unsigned rows = static_cast<unsigned>(length), columns = static_cast<unsigned>(inner);
    const unsigned slice = rows * columns;
    const long long first = static_cast<long long>(blockIdx.x) * lanes, left = outer - first;
    const unsigned here = left < lanes ? static_cast<unsigned>(left) : static_cast<unsigned>(lanes);
    const E* begin = array + first * slice;
    stage(staged, array, outer * slice, begin, here * slice);
    __syncthreads();
    let_next_kernel_begin();

    const unsigned past = static_cast<unsigned>(reinterpret_cast<unsigned long long>(begin)) % 16;
    const E* elements = reinterpret_cast<const E*>(reinterpret_cast<const char*>(staged) + past);
    const unsigned vectors = slice * static_cast<unsigned>(sizeof(E)) / 16;
    const bool in_vectors = columns == 1 && past == 0 && slice * sizeof(E) % 16 == 0;
    for (unsigned result = threadIdx.x; result < here * columns; result += slices_threads) {
        typename P::Value value;
        if (in_vectors) {
            value = reduce_vectors(policy, staged + result * vectors, vectors);
        } else {
            const unsigned o = columns == 1 ? result : result / columns;
            const E* x = elements + (o * slice + (result - o * columns));
            value = policy.identity();
#pragma unroll 4
            for (unsigned row = 0; row < rows; ++row) policy.add(value, x[row * columns], row);
        }
        store(policy, out, first * columns + result, value, divisor);
    }
}
