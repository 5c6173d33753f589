// A contiguous span of memory, shared by parts * width threads, in vectors of 16 bytes.
#pragma once

#include "../common/overlap.cuh"
#include "exchange.cuh"

template <class Element>
struct Span {
    const uint4* aligned;  // the vectors
    long long vectors;     // the number of vectors
    unsigned head, tail;   // elements before and behind the vectors, at most 15 each

    static constexpr int width = 16 / sizeof(Element);

    __device__ Span(const Element* data, long long n) {
        const unsigned past = static_cast<unsigned>(reinterpret_cast<unsigned long long>(data)) % 16;
        head = (16 - past) % 16 / sizeof(Element);
        if (head > n) head = static_cast<unsigned>(n);
        aligned = reinterpret_cast<const uint4*>(data + head);
        vectors = (n - head) / width;
        tail = static_cast<unsigned>(n - head) % width;
    }
    // The index in the span of a vector's first element.
    __device__ long long index(long long vector) const { return head + vector * width; }
    __device__ const Element* in_head(unsigned i) const {
        return reinterpret_cast<const Element*>(aligned) + i - static_cast<long long>(head);
    }
    __device__ const Element* in_tail(unsigned i) const {
        return reinterpret_cast<const Element*>(aligned + vectors) + i;
    }
};

// Loads a vector if it exists. The asm keeps the compiler from loading a thread's vectors one by one, each
// after the one before has been used.
__device__ inline uint4 load_if(bool there, const uint4* vector) {
    uint4 bits = {};
#if defined(__CUSCOPE_HOST__)
    if (there) bits = __ldcg(vector);
#else
    asm volatile(
        "{\n"
        ".reg .pred there;\n"
        "setp.ne.u32 there, %5, 0;\n"
        "@there ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];\n"
        "}"
        : "+r"(bits.x), "+r"(bits.y), "+r"(bits.z), "+r"(bits.w)
        : "l"(vector), "r"(static_cast<unsigned>(there))
        : "memory");
#endif
    return bits;
}

template <class P>
__device__ void start(const P& policy, typename P::State (&states)[P::chains]) {
#pragma unroll
    for (auto& state : states) policy.start(state);
}

// Less than a round is left of a span. It is distributed evenly, and all loads are under way before the first
// is used.
template <int loads, class P>
__device__ void absorb_last(const P& policy, typename P::State (&states)[P::chains],
                            const Span<typename P::Element>& span, long long done, unsigned thread,
                            unsigned threads) {
    const unsigned left = static_cast<unsigned>(span.vectors - done);
    const uint4* rest = span.aligned + done;
    uint4 vectors[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i)
        vectors[i] = load_if(thread + i * threads < left, rest + (thread + i * threads));
    if constexpr (has_faster_ways<P>) {
        int count = 0;
#pragma unroll
        for (int i = 0; i < loads; ++i) count += thread + i * threads < left;
        policy.absorb_round(states[0], vectors, count, span.index(done + thread), threads * span.width);
    } else {
#pragma unroll
        for (int i = 0; i < loads; ++i)
            if (thread + i * threads < left)
                policy.absorb(states[i % P::chains], vectors[i], span.index(done + thread + i * threads));
    }
}

// Adds the elements that are in no whole vector. Most arrays have none. Not inlined, so that this code takes
// no registers from the main code and does not lie in its middle.
template <class P>
__device__ __noinline__ typename P::Value with_ends(P policy, typename P::Value value,
                                                    const typename P::Element* data, long long n,
                                                    unsigned thread, unsigned threads) {
    const Span<typename P::Element> span(data, n);
    for (unsigned i = thread; i < span.head; i += threads)
        value = policy.combine(value, policy.lift(*span.in_head(i), i));
    for (unsigned i = thread; i < span.tail; i += threads)
        value = policy.combine(value, policy.lift(*span.in_tail(i), span.index(span.vectors) + i));
    return value;
}

// A thread's value of the n elements, after it has absorbed its vectors of the span.
template <class P>
__device__ typename P::Value finish(const P& policy, const typename P::State (&states)[P::chains],
                                    const Span<typename P::Element>& span, const typename P::Element* data,
                                    long long n, unsigned thread, unsigned threads) {
    typename P::Value value = policy.finish(states[0]);
#pragma unroll
    for (int i = 1; i < P::chains; ++i) value = policy.combine(value, policy.finish(states[i]));
    if ((span.head | span.tail) != 0) value = with_ends(policy, value, data, n, thread, threads);
    return value;
}

// Reduces the share of this thread, `member` of `width` in part `part` of `parts`. parts * width * loads must
// be below 2^32. The share and its order follow from the arguments alone.
template <int loads, class P>
__device__ typename P::Value reduce_span(const P& policy, const typename P::Element* data, long long n,
                                         unsigned member, unsigned width, unsigned part, unsigned parts) {
    const Span<typename P::Element> span(data, n);
    const unsigned thread = part * width + member, threads = parts * width;
    typename P::State states[P::chains];
    start(policy, states);

    // Whole rounds: each part takes width * loads consecutive vectors.
    long long done = 0;
    for (; done + threads * loads <= span.vectors; done += threads * loads) {
        const long long first = done + part * (width * loads) + member;
        uint4 vectors[loads];
#pragma unroll
        for (int i = 0; i < loads; ++i) vectors[i] = __ldcg(span.aligned + first + i * width);
        if constexpr (has_faster_ways<P>) {
            policy.absorb_round(states[0], vectors, loads, span.index(first), width * span.width);
        } else {
#pragma unroll
            for (int i = 0; i < loads; ++i)
                policy.absorb(states[i % P::chains], vectors[i], span.index(first + i * width));
        }
    }
    absorb_last<loads>(policy, states, span, done, thread, threads);
    return finish(policy, states, span, data, n, thread, threads);
}
