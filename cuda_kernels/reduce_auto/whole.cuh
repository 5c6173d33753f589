// Reduces a whole contiguous array in one kernel. Its length n >= 1 and the alignment of its elements are
// arbitrary.
//
// Launch (plan.hpp: plan_whole): blocks of 512 threads, up to 2 a multiprocessor; no dynamic shared memory.
//   slots         sizeof(Value) * 2 bytes a block (64 are enough for every policy), not read by a grid of one
//                 block; zero before the first launch, and left zero. Launches that may overlap need separate
//                 slots
//   bits, kind    arguments of P's constructor
//   divisor       1, or the count for a mean
#pragma once

#include "span.cuh"

constexpr int whole_threads = 512;

template <class P>
__global__ void __launch_bounds__(whole_threads, 2)
    whole(const void* in, void* out, long long n, unsigned long long bits, int kind, double divisor,
          void* slots) {
    fetch_ahead(in, n * static_cast<long long>(sizeof(typename P::Element)), blockIdx.x, gridDim.x);
    follow();
    const P policy(bits, kind, n);
    typename P::Value value = reduce_span<P::loads>(policy, static_cast<const typename P::Element*>(in), n,
                                                    threadIdx.x, whole_threads, blockIdx.x, gridDim.x);
    value = reduce_group(policy, value, whole_threads);
    if (collect(policy, value, 0, blockIdx.x, gridDim.x, slots, whole_threads) && threadIdx.x == 0)
        store(policy, out, 0, value, divisor);
}
