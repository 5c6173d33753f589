// Reduces elements at any two distances, without a copy of them: out[o] of the elements
//   in + o / outer_columns * outer_row + o % outer_columns * outer_column + r * row + c * column
// for r < rows and c < columns. Distances are in bytes, and may be negative or 0.
//
// Launch (plan.hpp: plan_strided): blocks of 256 threads, of which `lanes`, a power of two, take neighbouring
// columns; `splits` blocks share the rows of a result; grid = results * splits; no dynamic shared memory.
// slots: for splits > 1, as in whole.cuh; otherwise not read.
#pragma once

#include "exchange.cuh"
#include "overlap.cuh"

constexpr int strided_threads = 256, strided_loads = 8;

template <class P>
__global__ void __launch_bounds__(strided_threads, 4)
    strided(const void* in, void* out, long long outer_columns, long long outer_row, long long outer_column,
            long long rows, long long columns, long long row, long long column, unsigned long long bits,
            int kind, double divisor, int lanes, int splits, void* slots) {
    using E = typename P::Element;
    follow();
    const P policy(bits, kind, rows * columns);
    const unsigned part = blockIdx.x % splits, first = blockIdx.x - part;
    const long long o = blockIdx.x / splits;
    const int lane = static_cast<int>(threadIdx.x) % lanes, member = static_cast<int>(threadIdx.x) / lanes;
    const long long members = strided_threads / lanes, step = splits * members;
    const char* const data =
        static_cast<const char*>(in) + o / outer_columns * outer_row + o % outer_columns * outer_column;

    typename P::Value value = policy.identity();
    long long r = part * members + member, c = lane;
    const char* element = data + r * row + c * column;
    const long long across = lanes * column, down = step * row - (columns - 1 - lane) / lanes * across;
    if (c >= columns) r = rows;
    while (r < rows) {
        E loaded[strided_loads];
        long long index[strided_loads];
        int count = 0;
#pragma unroll
        for (int i = 0; i < strided_loads; ++i) {
            index[i] = r * columns + c;
            // Behind the last row the first element again, so that no load depends on a condition.
            loaded[i] = *reinterpret_cast<const E*>(r < rows ? element : data);
            count += r < rows;
            const bool wraps = c + lanes >= columns;
            c = wraps ? lane : c + lanes;
            r += wraps ? step : 0;
            element += wraps ? down : across;
        }
#pragma unroll
        for (int i = 0; i < strided_loads; ++i)
            if (i < count) policy.add(value, loaded[i], index[i]);
    }
    value = reduce_group(policy, value, strided_threads);
    if (collect(policy, value, first, part, splits, slots, strided_threads) && threadIdx.x == 0)
        policy.store(out, o, value, divisor);
}
