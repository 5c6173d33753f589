// How threads and blocks pass values to each other: lanes by shuffles, warps through shared memory, blocks
// through slots in global memory.
//
// All functions take a *policy* P, which defines the reduction (sum.cu and the other .cu files define
// policies):
//   P::Element, P::Value           the type in memory; the type that threads exchange (trivially copyable)
//   P(bits, kind, count)           the arguments choose among the types and operations of an instance
//   identity(), combine(a, b)      of Values; combine is associative and commutative, up to rounding
//   lift(element, index)           a Value of one element; index counts along the reduced axis
//   add(value, element, index)     value = combine(value, lift(element, index)), with ascending indices
//   State, start(state), absorb(state, vector, index), finish(state)
//                                  the same for 16 bytes at once, in P::chains States a thread, with
//                                  P::loads vectors under way
//   with_output(out, divisor, use) calls use(typed, set) once. `typed` points to the output, with its type;
//                                  set(to, value) turns a Value into an element of the output
// and, if has_faster_ways<P> is true,
//   of_warp(value)                 the combined value of a warp's 32 lanes, in its first lane
//   absorb_round(state, vectors, count, index, distance)
//                                  replaces absorb: the first `count` of vectors that are `distance`
//                                  elements apart
#pragma once

template <class P>
constexpr bool has_faster_ways = false;

// Stores the result in out[i].
template <class P>
__device__ void store(const P& policy, void* out, long long i, const typename P::Value& value,
                      double divisor) {
    policy.with_output(out, divisor, [&](auto* typed, auto set) { set(typed[i], value); });
}

// Shuffles a value of any size.
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

// Combines the values of `lanes` neighbours, a power of two up to 32. The first lane gets the result.
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

// Combines the values of each group of `lanes` neighbours, a power of two up to the block's size. The first
// thread of a group gets the result. All threads of the block must call this; a second call needs a barrier
// in between.
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

// Combines `count` values of each of `results` results: at(k, j) is value j of result k. Neighbouring lanes
// share a result, and one of them calls use(k, value). Only the whole warps of the block take part.
template <class P, class At, class Use>
__device__ void combine_each(const P& policy, unsigned results, unsigned count, const At& at,
                             const Use& use) {
    const unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned lanes = 32;  // of a result
    while (lanes > 1 && results * lanes > warps * 32) lanes /= 2;
    if (warp >= warps) return;
    for (unsigned first = warp * (32 / lanes); first < results; first += warps * (32 / lanes)) {
        const unsigned k = first + lane / lanes;
        typename P::Value value = policy.identity();
        if (k < results)
#pragma unroll 4
            for (unsigned j = lane % lanes; j < count; j += lanes) value = policy.combine(value, at(k, j));
        value = reduce_lanes(policy, value, static_cast<int>(lanes));
        if (k < results && lane % lanes == 0) use(k, value);
    }
}

// A slot passes one value from one block to another of the same launch, without a fence and without an atomic
// operation. Each 8-byte word of a slot holds 4 bytes of the value and a flag, and an 8-byte word arrives
// whole. So a block that sees the flag also sees the bytes. Slots are all 0 before and after a launch.
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
};

// Calls use(value) for the values of `count` slots that are `distance` apart, in their order. Waits for them,
// and clears the slots. Several loads are under way at once: one after another, each takes as long as all.
template <class Value, class Use>
__device__ void take_all(void* slots, long long first, long long distance, unsigned count, const Use& use) {
    constexpr int words = Slot<Value>::words;
    constexpr unsigned batch = words <= 2 ? 8 : words <= 4 ? 4 : 2;
    volatile unsigned long long* const all = static_cast<unsigned long long*>(slots);
    for (unsigned begin = 0; begin < count; begin += batch) {
        unsigned long long full[batch][words];
        bool complete;
        do {
            complete = true;
#pragma unroll
            for (unsigned b = 0; b < batch; ++b)
#pragma unroll
                for (int i = 0; i < words; ++i)
                    full[b][i] =
                        begin + b < count ? all[(first + (begin + b) * distance) * words + i] : 1ull << 32;
#pragma unroll
            for (unsigned b = 0; b < batch; ++b)
#pragma unroll
                for (int i = 0; i < words; ++i) complete = complete && full[b][i] >> 32 != 0;
        } while (!complete);
#pragma unroll
        for (unsigned b = 0; b < batch; ++b) {
            if (begin + b >= count) break;
            unsigned parts[words];
#pragma unroll
            for (int i = 0; i < words; ++i) {
                all[(first + (begin + b) * distance) * words + i] = 0;
                parts[i] = static_cast<unsigned>(full[b][i]);
            }
            Value value;
            memcpy(&value, parts, sizeof value);
            use(value);
        }
    }
}

// Blocks first .. first + parts of the grid share one result. The last block waits for the others and
// combines the values in the order of the blocks' numbers. It waits only for blocks with lower numbers, which
// start earlier. Returns true in the block that has to store the result; its thread 0 has the value.
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
            take_all<typename P::Value>(slots, first + i, 0, 1, [&](const typename P::Value& other) {
                value = policy.combine(value, other);
            });
        __syncthreads();
        value = reduce_group(policy, value, threads);
    }
    return true;
}
