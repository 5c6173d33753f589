// Reduces the middle axis of (outer, length, inner), contiguous, where inner is small: a few columns side by
// side, of any length.
//
// The elements of one o are read as they lie, in strips of 16 bytes (8 for some policies). The threads of a
// launch that share an o step over a multiple of `inner` elements. So the place of an element in a thread's
// strip belongs to the same column in every step.
//
// Launch (plan.hpp: plan_narrow): blocks of up to 256 threads; a block's strips hold a multiple of `inner`
// elements, and so do those of `lanes` threads, which divide the block. grid = outer * splits; no dynamic
// shared memory. The arguments are those of `columns`; distance and outer_distance are not read. For splits >
// 1:
//   tickets       as many unsigned for each o as groups.hpp tells, zero before the first launch and left zero
//   partials      inner * sizeof(Value) bytes a block, 16-byte aligned, with any content
#pragma once

#include "columns.cuh"

constexpr int narrow_threads = 256, narrow_loads = 4;

template <class P>
__global__ void __launch_bounds__(narrow_threads, P::column_blocks)
    narrow(const void* in, void* out, long long outer, long long length, long long inner, long long,
           long long, unsigned long long bits, int kind, double divisor, int lanes, int splits,
           unsigned* tickets, void* partials) {
    using E = typename P::Element;
    using Value = typename P::Value;
    constexpr unsigned width = strip_columns<P>, loads = narrow_loads;
    __shared__ alignas(16) unsigned char memory[narrow_threads * width * sizeof(Value)];
    Value* shared = reinterpret_cast<Value*>(memory);
    fetch_ahead(in, outer * length * inner * static_cast<long long>(sizeof(E)), blockIdx.x, gridDim.x);
    follow();
    const P policy(bits, kind, length);
    const unsigned columns = static_cast<unsigned>(inner), threads = blockDim.x, thread = threadIdx.x;
    const unsigned o = blockIdx.x / splits, split = blockIdx.x % splits;

    const long long count = length * inner;
    const E* const data = static_cast<const E*>(in) + o * count;
    const unsigned past = static_cast<unsigned>(reinterpret_cast<unsigned long long>(data)) % Strip<P>::bytes;
    unsigned head = (Strip<P>::bytes - past) % Strip<P>::bytes / sizeof(E);  // elements before the strips
    if (head > count) head = static_cast<unsigned>(count);
    const long long strips = (count - head) / width;

    // Of the thread's first strip: its number, the column of its first element, the rows of all.
    const unsigned first = split * threads + thread;
    unsigned column = (head + first * width) % columns, row = (head + first * width) / columns, rows[width];
#pragma unroll
    for (unsigned c = 0; c < width; ++c) {
        rows[c] = row;
        if (++column == columns) column = 0, ++row;
    }
    Value values[width];
#pragma unroll
    for (Value& value : values) value = policy.identity();
    const unsigned step = static_cast<unsigned>(splits) * threads, rows_a_step = step * width / columns;
    const auto add = [&](const Strip<P>& strip, long long skipped) {
#pragma unroll
        for (unsigned c = 0; c < width; ++c) policy.add(values[c], strip.elements[c], skipped + rows[c]);
    };
    const E* const aligned = data + head;
    Strip<P> loaded[loads];
    long long strip = first, skipped = 0;
    for (; strip + (loads - 1) * step < strips; strip += loads * step, skipped += loads * rows_a_step) {
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) loaded[i].load(aligned + (strip + i * step) * width);
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) add(loaded[i], skipped + i * rows_a_step);
    }
    if (strip < strips) {
#pragma unroll
        for (unsigned i = 0; i < loads; ++i)  // the last strip again, so that no load depends on a condition
            loaded[i].load(aligned + (strip + i * step < strips ? strip + i * step : strip) * width);
#pragma unroll
        for (unsigned i = 0; i < loads; ++i)
            if (strip + i * step < strips) add(loaded[i], skipped + i * rows_a_step);
    }

    // The threads that are a multiple of `lanes` apart have the same columns: combines them as a tree.
#pragma unroll
    for (unsigned c = 0; c < width; ++c) shared[c * threads + thread] = values[c];
    const unsigned member = thread / lanes;
    for (unsigned members = threads / lanes; members > 1;) {
        const unsigned half = (members + 1) / 2;
        __syncthreads();
        if (member + half < members)
#pragma unroll 1
            for (unsigned c = 0; c < width; ++c) {
                Value& mine = shared[c * threads + thread];
                mine = policy.combine(mine, shared[c * threads + thread + half * lanes]);
            }
        members = half;
    }
    __syncthreads();

    // The values of a column from the strips of the first `lanes` threads, and from the elements that are in
    // no strip.
    const auto of_block = [&](unsigned k) {
        Value value = policy.identity();
        const unsigned begin = (k + columns - head % columns) % columns;
        for (unsigned i = begin; i < lanes * width; i += columns)
            value = policy.combine(value, shared[i % width * threads + i / width]);
        if (split != 0) return value;
        for (unsigned i = k; i < head; i += columns)
            value = policy.combine(value, policy.lift(data[i], i / columns));
        const long long tail = head + strips * width;
        const unsigned at = static_cast<unsigned>(tail % columns);
        for (long long i = tail + (k + columns - at) % columns; i < count; i += columns)
            value = policy.combine(value, policy.lift(data[i], i / columns));
        return value;
    };
    const int results = static_cast<int>(columns);
    combine_splits(policy, shared, tickets + o * cuscope::reduce::tickets(splits, results, blockDim.x),
                   static_cast<Value*>(partials) + static_cast<long long>(o) * splits * columns, results,
                   split, splits, of_block, [&](unsigned k, const Value& value) {
                       store(policy, out, static_cast<long long>(o) * inner + k, value, divisor);
                   });
}
