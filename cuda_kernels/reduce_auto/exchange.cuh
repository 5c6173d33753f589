// How threads and blocks hand values to each other: lanes by shuffles, warps through shared memory, blocks
// through slots in global memory.
//
// Everything takes a *policy* P, which says what is reduced (sum.cu and the others define them):
//   P::Element, P::Value           what memory holds; what threads hand to each other (trivially copyable)
//   P(bits, kind, count)           of arguments that pick among the types and operations of an instance
//   identity(), combine(a, b)      of Values; combine is associative and commutative, up to rounding
//   lift(element, index)           a Value of one element; index counts along the reduced axis
//   add(value, element, index)     value = combine(value, lift(element, index)), of ascending indices
//   State, start(state), absorb(state, vector, index), finish(state)
//                                  the same of 16 bytes at once, in P::chains States a thread, with
//                                  P::loads vectors under way
//   store(out, i, value, divisor)  the result
// and, for what has_faster_ways<P> is true of,
//   of_warp(value)                 the combined value of a warp's 32 lanes, for its first
//   absorb_round(state, vectors, count, index, distance)
//                                  for absorb: the first `count` of vectors that lie `distance` elements
//                                  apart
#pragma once

template <class P>
constexpr bool has_faster_ways = false;

// Of a value of any size.
template <class V>
__device__ V shuffle_down(V value, int offset) {
    static_assert(sizeof(V) % 4 == 0);
    unsigned words[sizeof(V) / 4];
    memcpy(words, &value, sizeof value);
#pragma unroll
    for (unsigned& word : words) word = __shfl_down_sync(0xffffffffu, word, offset);
    memcpy(&value, words, sizeof value);
    return value;
}

// The first of `lanes` neighbours, a power of two up to 32, gets their value.
template <class P>
__device__ typename P::Value reduce_lanes(const P& policy, typename P::Value value, int lanes) {
#if __CUDA_ARCH__ >= 800
    if constexpr (has_faster_ways<P>) {
        if (lanes == 32) return policy.of_warp(value);
    }
#endif
    for (int offset = lanes / 2; offset > 0; offset /= 2)
        value = policy.combine(value, shuffle_down(value, offset));
    return value;
}

// The first thread of each group of `lanes` neighbours, a power of two up to the block's size, gets the
// group's value. All threads of the block call it; a second call needs a barrier between.
template <class P>
__device__ typename P::Value reduce_group(const P& policy, typename P::Value value, int lanes) {
    using Value = typename P::Value;
    __shared__ alignas(16) unsigned char memory[32 * sizeof(Value)];
    Value* of_warp = reinterpret_cast<Value*>(memory);
    value = reduce_lanes(policy, value, lanes < 32 ? lanes : 32);
    if (lanes <= 32) return value;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = lanes / 32;
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp % warps == 0) {
        value = lane < warps ? of_warp[warp + lane] : policy.identity();
        value = reduce_lanes(policy, value, has_faster_ways<P> ? 32 : warps);
    }
    return value;
}

// A slot passes one value from one block to another of the same launch without a fence and without an atomic
// operation: each 8-byte word of it carries 4 bytes of the value and a flag, and a word of 8 bytes arrives
// whole. So who sees the flag sees the bytes. Slots are all 0 before and after.
template <class Value>
struct Slot {
    static constexpr int words = (sizeof(Value) + 3) / 4;

    static __device__ void put(void* slots, unsigned index, const Value& value) {
        volatile unsigned long long* slot =
            static_cast<unsigned long long*>(slots) + static_cast<long long>(index) * words;
        unsigned parts[words] = {};
        memcpy(parts, &value, sizeof value);
#pragma unroll
        for (int i = 0; i < words; ++i) slot[i] = 1ull << 32 | parts[i];
    }

    // Waits until the value is there, and clears the slot.
    static __device__ Value take(void* slots, unsigned index) {
        volatile unsigned long long* slot =
            static_cast<unsigned long long*>(slots) + static_cast<long long>(index) * words;
        unsigned long long full[words];
        bool complete;
        do {
            complete = true;
#pragma unroll
            for (int i = 0; i < words; ++i) full[i] = slot[i];
#pragma unroll
            for (int i = 0; i < words; ++i) complete = complete && full[i] >> 32 != 0;
        } while (!complete);
        unsigned parts[words];
#pragma unroll
        for (int i = 0; i < words; ++i) {
            slot[i] = 0;
            parts[i] = static_cast<unsigned>(full[i]);
        }
        Value value;
        memcpy(&value, parts, sizeof value);
        return value;
    }
};

// Blocks first .. first + parts of the grid share one result: the last one waits for the others and combines,
// in the order of their numbers. It waits for blocks of lower numbers only, which start before it. True for
// the block, and in its thread 0 with the result, that is to store it.
template <class P>
__device__ bool collect(const P& policy, typename P::Value& value, unsigned first, unsigned part,
                        unsigned parts, void* slots, int threads) {
    if (part + 1 < parts) {
        if (threadIdx.x == 0) Slot<typename P::Value>::put(slots, first + part, value);
        return false;
    }
    if (parts > 1) {
        if (threadIdx.x != 0) value = policy.identity();
        for (unsigned i = threadIdx.x; i + 1 < parts; i += threads)
            value = policy.combine(value, Slot<typename P::Value>::take(slots, first + i));
        __syncthreads();
        value = reduce_group(policy, value, threads);
    }
    return true;
}
