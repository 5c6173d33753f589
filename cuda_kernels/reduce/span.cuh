// A contiguous span of memory, shared by parts * width threads, in vectors of 16 bytes.
#pragma once

#include "exchange.cuh"
#include "overlap.cuh"

template <class Element>
struct Span {
    const uint4* aligned;  // the vectors
    long long vectors;     // how many
    unsigned head, tail;   // elements before and behind them, at most 15 each

    static constexpr int width = 16 / sizeof(Element);

    __device__ Span(const Element* data, long long n) {
        const unsigned past = static_cast<unsigned>(reinterpret_cast<unsigned long long>(data)) % 16;
        head = (16 - past) % 16 / sizeof(Element);
        if (head > n) head = static_cast<unsigned>(n);
        aligned = reinterpret_cast<const uint4*>(data + head);
        vectors = (n - head) / width;
        tail = static_cast<unsigned>(n - head) % width;
    }
    // Of a vector's first element, counted from the span's.
    __device__ long long index(long long vector) const { return head + vector * width; }
    __device__ const Element* in_head(unsigned i) const {
        return reinterpret_cast<const Element*>(aligned) + i - static_cast<long long>(head);
    }
    __device__ const Element* in_tail(unsigned i) const {
        return reinterpret_cast<const Element*>(aligned + vectors) + i;
    }
};

// What this thread, `member` of `width` in part `part` of `parts`, takes of the span. parts * width *
// loads is below 2^32. The share and its order follow from the arguments alone.
template <int loads, class P>
__device__ typename P::Value reduce_span(const P& policy, const typename P::Element* data, long long n,
                                         unsigned member, unsigned width, unsigned part, unsigned parts) {
    constexpr int chains = P::chains;
    const Span<typename P::Element> span(data, n);
    const unsigned thread = part * width + member, threads = parts * width;
    typename P::State states[chains];
#pragma unroll
    for (auto& state : states) policy.start(state);
    uint4 vectors[loads];

    // Whole rounds: each part takes width * loads vectors in a row.
    long long done = 0;
    for (; done + threads * loads <= span.vectors; done += threads * loads) {
        const long long first = done + part * (width * loads) + member;
#pragma unroll
        for (int i = 0; i < loads; ++i) vectors[i] = __ldcg(span.aligned + first + i * width);
        if constexpr (has_faster_ways<P>) {
            policy.absorb_round(states[0], vectors, loads, span.index(first), width * span.width);
        } else {
#pragma unroll
            for (int i = 0; i < loads; ++i)
                policy.absorb(states[i % chains], vectors[i], span.index(first + i * width));
        }
    }
    // Less than a round is left: dealt out evenly, and all under way before the first is used.
    const unsigned left = static_cast<unsigned>(span.vectors - done);
    const uint4* rest = span.aligned + done;
#pragma unroll
    for (int i = 0; i < loads; ++i)
        if (thread + i * threads < left) vectors[i] = __ldcg(rest + (thread + i * threads));
    if constexpr (has_faster_ways<P>) {
        int count = 0;
#pragma unroll
        for (int i = 0; i < loads; ++i) count += thread + i * threads < left;
        policy.absorb_round(states[0], vectors, count, span.index(done + thread), threads * span.width);
    } else {
#pragma unroll
        for (int i = 0; i < loads; ++i)
            if (thread + i * threads < left)
                policy.absorb(states[i % chains], vectors[i], span.index(done + thread + i * threads));
    }

    typename P::Value value = policy.finish(states[0]);
#pragma unroll
    for (int i = 1; i < chains; ++i) value = policy.combine(value, policy.finish(states[i]));
    // Elements that no whole vector holds.
    for (unsigned i = thread; i < span.head; i += threads)
        value = policy.combine(value, policy.lift(*span.in_head(i), i));
    for (unsigned i = thread; i < span.tail; i += threads)
        value = policy.combine(value, policy.lift(*span.in_tail(i), span.index(span.vectors) + i));
    return value;
}
