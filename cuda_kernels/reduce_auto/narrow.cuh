// Reduces the middle axis of (outer, length, inner), contiguous, where inner is small: a few columns side by
// side, of any length.
//
// The elements of one o are read as they lie, in strips of 16 bytes (8 for some policies). The threads of a
// launch that share an o step over a multiple of `inner` elements. So the place of an element in a thread's
// strip belongs to the same column in every step.
//
// Launch (plan.hpp: plan_narrow): blocks of up to 256 threads; a block's strips hold a multiple of `inner`
// elements, and so do those of `lanes` threads, which divide the block. grid = outer * splits; no dynamic
// shared memory. It takes the arguments of `columns`; distance and outer_distance are not read.
#pragma once

#include "columns.cuh"
#include "span.cuh"

constexpr int narrow_threads = 256;

template <class P>
__global__ void __launch_bounds__(narrow_threads, P::column_blocks)
    narrow(const void* in, void* out, long long outer, long long length, long long inner, long long,
           long long, unsigned long long bits, int kind, double divisor, int lanes, int splits, void* slots) {
    using E = typename P::Element;
    using Value = typename P::Value;
    constexpr unsigned width = strip_columns<P>,
                       loads = cuscope::reduce::strips_of_narrow(width, sizeof(Value));
    __shared__ alignas(16) unsigned char memory[narrow_threads * width * sizeof(Value)];
    __shared__ alignas(16) unsigned char memory_of_ends[2 * width * sizeof(E)];
    Value* const shared = reinterpret_cast<Value*>(memory);
    E* const ends = reinterpret_cast<E*>(memory_of_ends);
    fetch_ahead(in, outer * length * inner * static_cast<long long>(sizeof(E)), blockIdx.x, gridDim.x);
    wait_for_kernel_before();
    const P policy(bits, kind, length);
    const unsigned columns = static_cast<unsigned>(inner), threads = blockDim.x, thread = threadIdx.x;
    const unsigned o = blockIdx.x / splits, split = blockIdx.x % splits;

    const long long count = length * inner;
    const E* const data = static_cast<const E*>(in) + o * count;
    const unsigned past = static_cast<unsigned>(reinterpret_cast<unsigned long long>(data)) % Strip<P>::bytes;
    unsigned head = (Strip<P>::bytes - past) % Strip<P>::bytes / sizeof(E);  // elements before the strips
    if (head > count) head = static_cast<unsigned>(count);
    const long long strips = (count - head) / width, tail = head + strips * width;
    // The elements that are in no strip. They arrive while the strips are read.
    if (split == 0 && thread < head + (count - tail))
        ends[thread] = data[thread < head ? thread : tail + (thread - head)];

    // A round of a block is `loads` strips of each thread. Of the thread's first strip: its number, the
    // column of its first element, the rows of all.
    const unsigned first = split * threads * loads + thread;
    unsigned column = (head + first * width) % columns, row = (head + first * width) / columns, rows[width];
#pragma unroll
    for (unsigned c = 0; c < width; ++c) {
        rows[c] = row;
        if (++column == columns) column = 0, ++row;
    }
    Value values[width];
#pragma unroll
    for (Value& value : values) value = policy.identity();
    const unsigned rows_a_step = threads * width / columns, steps = static_cast<unsigned>(splits) * loads;
    const auto add = [&](const Strip<P>& strip, long long skipped) {
#pragma unroll
        for (unsigned c = 0; c < width; ++c) policy.add(values[c], strip.elements[c], skipped + rows[c]);
    };
    const E* const aligned = data + head;
    Strip<P> loaded[loads];
    long long strip = first, skipped = 0;
    for (; strip + (loads - 1) * threads < strips; strip += steps * threads, skipped += steps * rows_a_step) {
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) loaded[i].load(aligned + (strip + i * threads) * width);
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) add(loaded[i], skipped + i * rows_a_step);
    }
    let_next_kernel_begin_evenly();
    if (strip < strips) {
#pragma unroll
        for (unsigned i = 0; i < loads; ++i) {
            const bool there = strip + i * threads < strips;
            const E* const at = aligned + (there ? strip + i * threads : strip) * width;
            if constexpr (Strip<P>::bytes == 16)
                loaded[i].four = load_if(there, reinterpret_cast<const uint4*>(at));
            else  // the first strip again, so that no load depends on a condition
                loaded[i].load(at);
        }
#pragma unroll
        for (unsigned i = 0; i < loads; ++i)
            if (strip + i * threads < strips) add(loaded[i], skipped + i * rows_a_step);
    }

    // A column has the same places in the strips of every `lanes` threads.
#pragma unroll
    for (unsigned c = 0; c < width; ++c) shared[c * threads + thread] = values[c];
    __syncthreads();
    const unsigned members = threads / lanes, shift = head % columns;
    const auto of_member = [&](unsigned k, unsigned member) {
        const Value* const its = shared + member * lanes;
        unsigned at = k >= shift ? k - shift : k + columns - shift;
        Value value = its[at % width * threads + at / width];
        while ((at += columns) < lanes * width)
            value = policy.combine(value, its[at % width * threads + at / width]);
        return value;
    };
    const auto with_ends = [&](unsigned k, Value value) {
        if (split != 0) return value;
        for (unsigned i = k; i < head; i += columns)
            value = policy.combine(value, policy.lift(ends[i], i / columns));
        const unsigned column_of_tail = static_cast<unsigned>(tail % columns);
        for (long long i = tail + (k + columns - column_of_tail) % columns; i < count; i += columns)
            value = policy.combine(value, policy.lift(ends[head + (i - tail)], i / columns));
        return value;
    };
    const auto pass = [&](const auto& put) {
        combine_each(policy, columns, members, of_member,
                     [&](unsigned k, const Value& value) { put(k, with_ends(k, value)); });
    };
    const auto keep = [&](unsigned k, const Value& value) {
        store(policy, out, static_cast<long long>(o) * inner + k, value, divisor);
    };
    if (splits == 1) return pass(keep);
    combine_in_slots(policy, shared, slots, static_cast<unsigned>(outer), o, columns, split,
                     static_cast<unsigned>(splits), pass, keep);
}
