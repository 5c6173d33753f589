// Reduces a contiguous array that is so small for the device that a thread takes at most four vectors, all
// under way at once. The same as `whole` without its loop and its long rounds. That is less code, which saved
// 0.6 to 0.8 of the 2.2 to 3.3 microseconds that up to 2^18 floats took on an H200.
//
// Launch (plan.hpp: plan_whole, where is_few): blocks of 512 threads, up to 2 a multiprocessor; the same
// arguments as `whole`.
#pragma once

#include "whole.cuh"

constexpr int few_vectors = 4;  // for each thread

template <class P>
__global__ void __launch_bounds__(whole_threads, 2)
    few(const void* in, void* out, long long n, unsigned long long bits, int kind, double divisor,
        void* slots) {
    fetch_ahead(in, n * static_cast<long long>(sizeof(typename P::Element)), blockIdx.x, gridDim.x);
    wait_for_kernel_before();
    const P policy(bits, kind, n);
    const auto* data = static_cast<const typename P::Element*>(in);
    const Span<typename P::Element> span(data, n);
    typename P::State states[P::chains];
    start(policy, states);
    const unsigned thread = blockIdx.x * whole_threads + threadIdx.x, threads = gridDim.x * whole_threads;
    absorb_last<few_vectors>(policy, states, span, 0, thread, threads);
    typename P::Value value = finish(policy, states, span, data, n, thread, threads);
    let_next_kernel_begin();
    value = reduce_group(policy, value, whole_threads);
    if (collect(policy, value, 0, blockIdx.x, gridDim.x, slots, whole_threads) && threadIdx.x == 0)
        store(policy, out, 0, value, divisor);
}
