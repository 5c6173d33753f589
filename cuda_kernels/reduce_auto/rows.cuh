// Reduces the rows of a matrix: out[r] of in[r * distance + c], c < length, for r < count. Rows are
// contiguous, begin at any element, and may overlap.
//
// Launch (plan.hpp: plan_rows): blocks of 256 threads; no dynamic shared memory. `lanes` threads, a power of
// two from 1 to 256, work on a row, and so a block works on 256 / lanes rows:
//   grid = ceil(count * lanes / 256).
// If there are few long rows, lanes = 256 and `splits` blocks work on each row:
//   grid = count * splits.
// slots: for splits > 1, as in whole.cuh; otherwise not read.
#pragma once

#include "span.cuh"

constexpr int rows_threads = 256;
#if __CUDA_ARCH__ >= 900
constexpr int rows_blocks = 4;  // a multiprocessor
#else
constexpr int rows_blocks = 3;
#endif

// As many vectors under way as registers allow.
template <class P>
constexpr int rows_loads = sizeof(typename P::Element) == 4 && sizeof(typename P::Value) <= 8 ? P::loads
                           : P::loads < 4                                                     ? P::loads
                                                                                              : 4;

template <class P>
__global__ void __launch_bounds__(rows_threads, rows_blocks)
    rows(const void* in, void* out, long long count, long long length, long long distance,
         unsigned long long bits, int kind, double divisor, int lanes, int splits, void* slots) {
    const long long side_by_side = distance == length ? count * length : 0;
    fetch_ahead(in, side_by_side * static_cast<long long>(sizeof(typename P::Element)), blockIdx.x,
                gridDim.x);
    wait_for_kernel_before();
    const P policy(bits, kind, length);
    const unsigned part = splits > 1 ? blockIdx.x % splits : 0;
    const unsigned first = blockIdx.x - part;  // the number of the row's first block
    const long long group = splits > 1 ? blockIdx.x / splits : blockIdx.x;
    const long long row = group * (rows_threads / lanes) + threadIdx.x / lanes;
    const unsigned member = threadIdx.x % lanes;
    const bool exists = row < count;
    const auto* data = static_cast<const typename P::Element*>(in) + (exists ? row * distance : 0);
    typename P::Value value =
        reduce_span<rows_loads<P>>(policy, data, exists ? length : 0, member, lanes, part, splits);
    let_next_kernel_begin();
    value = reduce_group(policy, value, lanes);
    if (collect(policy, value, first, part, splits, slots, rows_threads) && exists && member == 0)
        store(policy, out, row, value, divisor);
}
