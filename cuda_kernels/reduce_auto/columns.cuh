// Reduces the middle axis of a three-dimensional view: out[o * inner + c] of in[o * outer_distance + r *
// distance + c], r < length, for o < outer and c < inner. The last axis is contiguous.
//
// Each thread owns the columns in 16 bytes (8 for some policies), called a strip. Strips are numbered through
// all of outer. A block of 256 threads takes `lanes` neighbouring strips, with 256 / lanes threads down each
// strip. `splits` blocks share the rows of each tile of strips.
//
// Launch (plan.hpp: plan_columns): grid = ceil(strips / lanes) * splits; lanes is a power of two from 1 to
// 256; no dynamic shared memory.
//   slots         for splits > 1: a slot (exchange.cuh) for each column of a tile and each block, and for
//                 each column of a tile and each group of blocks (rules.hpp); zero before the first launch
//                 and left zero
#pragma once

#include "../common/overlap.cuh"
#include "splits.cuh"

constexpr int columns_threads = 256;

template <class P>
constexpr int strip_columns = cuscope::reduce::strip_columns(sizeof(typename P::Element),
                                                             sizeof(typename P::Value));

template <class P>
union Strip {
    static constexpr int bytes = strip_columns<P> * sizeof(typename P::Element);
    uint4 four;
    uint2 two;
    typename P::Element elements[strip_columns<P>];

    __device__ Strip() {}
    // Loads the whole strip from aligned memory.
    __device__ void load(const typename P::Element* data) {
        if constexpr (bytes == 16)
            four = __ldcg(reinterpret_cast<const uint4*>(data));
        else
            two = __ldcg(reinterpret_cast<const uint2*>(data));
    }
    // Loads a strip from any address, out of the two aligned strips in which it lies. Both are read. One of
    // them is also the neighbour's, so they come through the first-level cache.
    __device__ void load_across(const typename P::Element* data) {
        constexpr int count = bytes / 4;
        const auto address = reinterpret_cast<unsigned long long>(data);
        const void* aligned = reinterpret_cast<const void*>(address / bytes * bytes);
        const unsigned past = static_cast<unsigned>(address % bytes);
        unsigned words[2 * count];
        if constexpr (bytes == 16) {
            const auto* both = static_cast<const uint4*>(aligned);
            const uint4 first = both[0], second = both[1];
            memcpy(words, &first, bytes);
            memcpy(words + count, &second, bytes);
#pragma unroll
            for (int i = 0; i < 6; ++i) words[i] = (past & 8) != 0 ? words[i + 2] : words[i];
        } else {
            const auto* both = static_cast<const uint2*>(aligned);
            const uint2 first = both[0], second = both[1];
            memcpy(words, &first, bytes);
            memcpy(words + count, &second, bytes);
        }
        if constexpr (sizeof(typename P::Element) < 8) {
#pragma unroll
            for (int i = 0; i <= count; ++i) words[i] = (past & 4) != 0 ? words[i + 1] : words[i];
        }
        if constexpr (sizeof(typename P::Element) < 4) {
#pragma unroll
            for (int i = 0; i < count; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], past % 4 * 8);
        }
        memcpy(elements, words, bytes);
    }
};

// Do the aligned strips in which the strip at `data` lies also lie in the array?
template <class P>
__device__ bool is_inside(const typename P::Element* data, const typename P::Element* array,
                          const typename P::Element* end) {
    constexpr unsigned long long bytes = Strip<P>::bytes;
    const unsigned long long first = reinterpret_cast<unsigned long long>(data) / bytes * bytes;
    return first >= reinterpret_cast<unsigned long long>(array) &&
           first + 2 * bytes <= reinterpret_cast<unsigned long long>(end);
}

// Reduces rows first, first + step, ... of a strip of `columns` columns. The strip may also add what lies
// behind these columns to its other values. `array` and `end` are the array's limits.
template <class P>
__device__ void reduce_strip(const P& policy, typename P::Value (&values)[strip_columns<P>],
                             const typename P::Element* data, long long distance, long long first,
                             long long length, long long step, int columns, const typename P::Element* array,
                             const typename P::Element* end) {
    constexpr int width = strip_columns<P>;
    constexpr int rows = cuscope::reduce::strips_of_columns(width, true);
    long long row = first;
    const bool aligned = reinterpret_cast<unsigned long long>(data) % Strip<P>::bytes == 0 &&
                         distance * sizeof(typename P::Element) % Strip<P>::bytes == 0;
    if (columns == width && aligned) {
        Strip<P> strips[rows];
        const typename P::Element* next = data + first * distance;
        const long long stride = step * distance;
        for (; row + (rows - 1) * step < length; row += rows * step) {
#pragma unroll
            for (int i = 0; i < rows; ++i, next += stride) strips[i].load(next);
#pragma unroll
            for (int i = 0; i < rows; ++i)
#pragma unroll
                for (int c = 0; c < width; ++c) policy.add(values[c], strips[i].elements[c], row + i * step);
        }
#pragma unroll
        for (int i = 0; i < rows; ++i, next += stride)
            if (row + i * step < length) strips[i].load(next);
#pragma unroll
        for (int i = 0; i < rows; ++i)
            if (row + i * step < length)
#pragma unroll
                for (int c = 0; c < width; ++c) policy.add(values[c], strips[i].elements[c], row + i * step);
        return;
    }
    constexpr int few = cuscope::reduce::strips_of_columns(width, false);
    for (; row < length; row += few * step) {
        Strip<P> strips[few];
        const long long last = row + (few - 1) * step;
        if (last < length && is_inside<P>(data + row * distance, array, end) &&
            is_inside<P>(data + last * distance, array, end)) {
#pragma unroll
            for (int i = 0; i < few; ++i) strips[i].load_across(data + (row + i * step) * distance);
#pragma unroll
            for (int i = 0; i < few; ++i)
#pragma unroll
                for (int c = 0; c < width; ++c) policy.add(values[c], strips[i].elements[c], row + i * step);
            continue;
        }
#pragma unroll
        for (int i = 0; i < few; ++i)
#pragma unroll
            for (int c = 0; c < width; ++c)
                if (c < columns && row + i * step < length)
                    strips[i].elements[c] = data[(row + i * step) * distance + c];
#pragma unroll
        for (int i = 0; i < few; ++i)
#pragma unroll
            for (int c = 0; c < width; ++c)
                if (c < columns && row + i * step < length)
                    policy.add(values[c], strips[i].elements[c], row + i * step);
    }
}

template <class P>
__global__ void __launch_bounds__(columns_threads, P::column_blocks)
    columns(const void* in, void* out, long long outer, long long length, long long inner, long long distance,
            long long outer_distance, unsigned long long bits, int kind, double divisor, int lanes,
            int splits, void* slots) {
    using Value = typename P::Value;
    constexpr int width = strip_columns<P>;
    __shared__ alignas(16) unsigned char memory[columns_threads * width * sizeof(Value)];
    Value* shared = reinterpret_cast<Value*>(memory);
    const long long side_by_side =
        distance == inner && outer_distance == length * inner ? outer * length * inner : 0;
    fetch_ahead(in, side_by_side * static_cast<long long>(sizeof(typename P::Element)), blockIdx.x,
                gridDim.x);
    wait_for_kernel_before();
    const P policy(bits, kind, length);
    const unsigned tile = blockIdx.x / splits, split = blockIdx.x % splits;
    const int lane = threadIdx.x % lanes, member = threadIdx.x / lanes, members = columns_threads / lanes;
    const long long strips = (inner + width - 1) / width;  // strips of one o
    const long long strip = static_cast<long long>(tile) * lanes + lane;

    Value values[width];
#pragma unroll
    for (Value& value : values) value = policy.identity();
    if (strip < strips * outer) {
        const long long o = strip / strips, column = (strip - o * strips) * width;
        const long long rest = inner - column;
        const auto* array = static_cast<const typename P::Element*>(in);
        reduce_strip(policy, values, array + o * outer_distance + column, distance,
                     static_cast<long long>(split) * members + member, length,
                     static_cast<long long>(splits) * members, rest < width ? static_cast<int>(rest) : width,
                     array, array + (outer - 1) * outer_distance + (length - 1) * distance + inner);
    }
    let_next_kernel_begin_evenly();
    // From here on, columns are distributed to threads one by one.
#pragma unroll
    for (int c = 0; c < width; ++c) shared[c * columns_threads + threadIdx.x] = values[c];
    __syncthreads();
    const unsigned in_tile = lanes * width;
    const auto of_member = [&](unsigned k, unsigned member) {
        return shared[k % width * columns_threads + member * lanes + k / width];
    };
    const auto pass = [&](const auto& put) { combine_each(policy, in_tile, members, of_member, put); };
    const auto keep = [&](unsigned k, const Value& value) {
        const long long s = static_cast<long long>(tile) * lanes + k / width;
        const long long o = s / strips, column = (s - o * strips) * width + k % width;
        if (s < strips * outer && column < inner) store(policy, out, o * inner + column, value, divisor);
    };
    if (splits == 1) return pass(keep);
    combine_in_slots(policy, shared, slots, gridDim.x / splits, tile, in_tile, split,
                     static_cast<unsigned>(splits), pass, keep);
}
