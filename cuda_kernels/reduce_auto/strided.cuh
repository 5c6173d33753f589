// Reduces elements at any two distances, without a copy of them: out[o] of the elements
//   in + o / outer_columns * outer_row + o % outer_columns * outer_column + r * row + c * column
// for r < rows and c < columns. Distances are in bytes, and may be negative or 0.
//
// Launch (plan.hpp: plan_strided): blocks of 256 threads, of which `lanes`, a power of two, take neighbouring
// columns; `splits` blocks share the elements of a result; grid = results * splits; no dynamic shared memory.
// slots: for splits > 1, as in whole.cuh; otherwise not read.
#pragma once

#include "../common/overlap.cuh"
#include "exchange.cuh"

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
    const long long members = strided_threads / lanes;
    const char* const data =
        static_cast<const char*>(in) + o / outer_columns * outer_row + o % outer_columns * outer_column;

    // A step takes `lanes` columns of `members` rows. Each block has an equal share of all steps, which may
    // begin and end within a row: shares of whole rows would differ by a row, and the launch takes as long as
    // its longest block.
    const long long row_steps = (columns + lanes - 1) / lanes,
                    steps = (rows + members - 1) / members * row_steps;
    long long at = steps * part / splits;
    const long long end = steps * (part + 1) / splits;
    long long r = at / row_steps * members + member, c = at % row_steps * lanes + lane;
    const char* element = data + r * row + c * column;
    const long long across = lanes * column, down = members * row - (row_steps - 1) * across;

    typename P::Value value = policy.identity();
    while (at < end) {
        E loaded[strided_loads];
        long long index[strided_loads];
        bool there[strided_loads];
#pragma unroll
        for (int i = 0; i < strided_loads; ++i, ++at) {
            index[i] = r * columns + c;
            there[i] = at < end && r < rows && c < columns;
            // The first element in place of one behind the end, so that no load depends on a condition.
            loaded[i] = *reinterpret_cast<const E*>(there[i] ? element : data);
            const bool wraps = c + lanes >= row_steps * lanes;
            c = wraps ? lane : c + lanes;
            r += wraps ? members : 0;
            element += wraps ? down : across;
        }
#pragma unroll
        for (int i = 0; i < strided_loads; ++i)
            if (there[i]) policy.add(value, loaded[i], index[i]);
    }
    value = reduce_group(policy, value, strided_threads);
    if (collect(policy, value, first, part, splits, slots, strided_threads) && threadIdx.x == 0)
        store(policy, out, o, value, divisor);
}
