// Combines the values that several blocks have of the same results.
#pragma once

#include "groups.hpp"

// Is this the last of `count` blocks that draw a ticket? Then the block sees all that the others wrote
// before. All threads of a block call this. It leaves the ticket 0, as it was before the first block.
__device__ inline bool is_last_of(unsigned* ticket, unsigned count) {
    __shared__ bool is_last;
    __threadfence();  // release each thread's own writes
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicInc(ticket, count - 1) == count - 1;
        __threadfence();  // acquire
    }
    __syncthreads();
    return is_last;
}

// Combines the partials member, member + members, ... of a result, of which there are `count`; they are
// `distance` apart. Eight loads are under way at once, whatever the count is: one after another they took up
// to 5 microseconds on an H200.
template <class P>
__device__ typename P::Value sum_of_partials(const P& policy, const typename P::Value* partials,
                                             long long distance, int count, int member, int members) {
    constexpr int loads = 8;
    typename P::Value value = policy.identity();
    for (int i = member; i < count; i += loads * members) {
        typename P::Value loaded[loads];
#pragma unroll
        for (int j = 0; j < loads; ++j) {
            const int at = i + j * members;
            loaded[j] = at < count ? partials[at * distance] : policy.identity();
        }
#pragma unroll
        for (int j = 0; j < loads; ++j) value = policy.combine(value, loaded[j]);
    }
    return value;
}

// Combines the values that `splits` blocks have of the same results, and stores them. of_block(k) is the
// block's value of result k < results, and store(k, value) stores it. groups.hpp tells how many `tickets`
// there are, and partials has room for results * splits Values. All threads of the block call this, after
// their last write of the values that of_block reads, and after a barrier; `shared` has room for a Value of
// each thread, and is overwritten.
//
// The order is fixed. The splits of a group are combined by its last block, which leaves the values in the
// place of the group's first split. The last of these blocks combines the groups.
template <class P, class OfBlock, class Store>
__device__ void combine_splits(const P& policy, typename P::Value* shared, unsigned* tickets,
                               typename P::Value* partials, int results, unsigned split, int splits,
                               const OfBlock& of_block, const Store& store) {
    using Value = typename P::Value;
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    if (splits == 1) {
        for (int k = thread; k < results; k += threads) store(k, of_block(k));
        return;
    }
    for (int k = thread; k < results; k += threads)
        partials[static_cast<long long>(split) * results + k] = of_block(k);
    const int size = cuscope::reduce::splits_of_group(splits, results, threads);
    const int at_once = results < threads ? results : threads;
    const int member = thread / at_once, members = threads / at_once;
    unsigned* ticket = tickets;
    int first = 0, step = 1, count = splits;
    if (size < splits) {
        const int group = static_cast<int>(split) / size;
        ticket = tickets + 1 + group;
        first = group * size;
        count = size < splits - first ? size : splits - first;
    }
    while (is_last_of(ticket, count)) {
        Value* const values = partials + static_cast<long long>(first) * results;
        const bool all = ticket == tickets;
        for (int k = thread % at_once; k < results; k += at_once) {
            Value value = sum_of_partials(policy, values + k, static_cast<long long>(step) * results, count,
                                          member, members);
            if (members > 1) {  // then every thread passes here once
                shared[thread] = value;
                __syncthreads();
                if (member == 0)
                    for (int i = 1; i < members; ++i) value = policy.combine(value, shared[i * at_once + k]);
            }
            if (member == 0) {
                if (all)
                    store(k, value);
                else
                    values[k] = value;  // only this thread has read it
            }
        }
        if (all) return;
        ticket = tickets;
        first = 0, step = size, count = cuscope::reduce::groups(splits, size);
    }
}
