// Combines the values that several blocks have of the same results.
#pragma once

#include "exchange.cuh"
#include "rules.hpp"

// Of the blocks that share the same results, the last one of a group combines the values of its group, and
// the last one of all combines the values of the groups. Each waits only for blocks with lower numbers, which
// start earlier; and blocks that wait are fewer than a device holds (plan.hpp). pass(k, put) calls put(k,
// value) with this block's value of each result k < results, and keep(k, value) stores a result. `shared` has
// room for a Value of each thread. The order is fixed.
template <class P, class Pass, class Keep>
__device__ void combine_in_slots(const P& policy, typename P::Value* shared, void* slots, unsigned outer,
                                 unsigned o, unsigned results, unsigned split, unsigned splits,
                                 const Pass& pass, const Keep& keep) {
    using Value = typename P::Value;
    const unsigned threads = blockDim.x, thread = threadIdx.x;
    const auto size = static_cast<unsigned>(cuscope::reduce::splits_of_group(
        static_cast<int>(splits), static_cast<int>(results), static_cast<int>(threads)));
    const unsigned group = split / size, groups = (splits + size - 1) / size, begin = group * size;
    const unsigned end = begin + size < splits ? begin + size : splits;
    const long long of_blocks = static_cast<long long>(o) * splits * results;
    const long long of_groups = (static_cast<long long>(outer) * splits + o * groups) * results;
    const auto put_in = [&](long long first) {
        return [=](unsigned k, const Value& value) {
            Slot<Value>::put(slots, static_cast<unsigned>(first + k), value);
        };
    };
    pass(put_in(of_blocks + split * results));
    if (split + 1 != end) return;
    // Combines `count` values of each result.
    const unsigned at_once = results < threads ? results : threads, members = threads / at_once;
    const auto combine = [&](long long first, unsigned count, const auto& use) {
        const unsigned member = thread / at_once;
        for (unsigned base = 0; base < results; base += at_once) {
            const unsigned k = base + thread % at_once, left = results - base;
            Value value = policy.identity();
            __syncthreads();
            if (k < results && member < members && member < count)
                take_all<Value>(slots, first + static_cast<long long>(member) * results + k,
                                static_cast<long long>(members) * results,
                                (count - member + members - 1) / members,
                                [&](const Value& other) { value = policy.combine(value, other); });
            shared[thread] = value;
            __syncthreads();
            combine_each(
                policy, left < at_once ? left : at_once, members,
                [&](unsigned c, unsigned j) { return shared[j * at_once + c]; },
                [&](unsigned c, const Value& result) { use(base + c, result); });
        }
    };
    if (groups == 1) return combine(of_blocks, splits, keep);
    combine(of_blocks + static_cast<long long>(begin) * results, end - begin,
            put_in(of_groups + group * results));
    if (end == splits) combine(of_groups, groups, keep);
}
