// Reduces the middle axis of (outer, length, inner), contiguous, where length is small and inner is large.
// Each thread reduces some columns alone, without shared memory and without a barrier.
//
// If rows hold a whole number of strips (columns.cuh), a thread has a strip, and its results are neighbours,
// which it stores at once. The array may begin at any element: then each strip is loaded out of the two
// aligned strips in which it lies.
//
// If rows do not hold whole strips, a thread's columns lie in *packs*: 4 bytes, or one larger element.
// Neighbouring threads have neighbouring packs. So all loads of a warp are coalesced, and the rows need not
// be aligned to each other.
//
// Launch (plan.hpp: plan_shallow): blocks of 256 threads; grid = ceil(outer * strips / 256) if rows hold
// whole strips, or else outer * ceil(inner / (256 * strip_columns)); no dynamic shared memory. It takes
// the arguments of `columns`, and does not read distance, outer_distance, lanes, splits and slots.
#pragma once

#include "columns.cuh"
#include "stores.cuh"

constexpr int shallow_threads = 256, shallow_rows = 4;  // rows under way at once

// Blocks a multiprocessor, as registers allow.
template <class P>
constexpr int shallow_blocks = strip_columns<P> * sizeof(typename P::Value) > 64 ? P::column_blocks : 4;

// The columns of one thread, in one row.
template <class E, int packs>
struct Packs {
    static constexpr int width = sizeof(E) < 4 ? 4 / sizeof(E) : 1;  // of a pack
    union {
        unsigned words[packs];
        E elements[packs * width];
    };

    __device__ Packs() {}
    // Pack i begins at row[starts[i]]. Of small elements, it is shifted out of the one or two aligned words
    // in which it lies.
    __device__ void load(const E* row, const int (&starts)[packs]) {
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            if constexpr (sizeof(E) >= 4) {
                elements[i] = row[starts[i]];
            } else {
                const auto address = reinterpret_cast<unsigned long long>(row + starts[i]);
                const auto* word = reinterpret_cast<const unsigned*>(address & ~3ull);
                const unsigned shift = static_cast<unsigned>(address & 3) * 8;
                words[i] = __funnelshift_r(word[0], word[shift != 0 ? 1 : 0], shift);
            }
        }
    }
    // The same without the other elements in those words, which may lie outside of the array.
    __device__ void load_singly(const E* row, const int (&starts)[packs]) {
#pragma unroll
        for (int i = 0; i < packs; ++i)
#pragma unroll
            for (int k = 0; k < width; ++k) elements[i * width + k] = row[starts[i] + k];
    }
};

// Adds the rows of some columns. load(to, row) loads the columns of a row into a Loaded. `at_once` rows are
// under way at once.
template <class Loaded, int at_once, class P, int columns, class Load>
__device__ __forceinline__ void add_rows(const P& policy, typename P::Value (&values)[columns],
                                         long long length, Load load) {
    for (long long row = 0; row < length; row += at_once) {
        Loaded rows[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i)  // the last row again, so that no load depends on a condition
            load(rows[i], row + i < length ? row + i : length - 1);
#pragma unroll
        for (int i = 0; i < at_once; ++i)
            if (row + i < length)
#pragma unroll
                for (int c = 0; c < columns; ++c) policy.add(values[c], rows[i].elements[c], row + i);
    }
}

// Reduces one strip. The threads of all blocks are numbered through the strips of all o.
template <class P>
__device__ __forceinline__ void reduce_shallow_strip(const P& policy, const typename P::Element* array,
                                                     void* out, long long outer, long long length,
                                                     long long inner, double divisor) {
    constexpr int width = strip_columns<P>;
    constexpr int rows_across = width > 8 ? 1 : shallow_rows / 2;  // two loads each
    const long long strips = inner / width;
    const long long strip = static_cast<long long>(blockIdx.x) * shallow_threads + threadIdx.x;
    if (strip >= strips * outer) return;
    const long long o = strips * outer < 1ll << 32
                            ? static_cast<unsigned>(strip) / static_cast<unsigned>(strips)
                            : strip / strips;
    const typename P::Element* const data = array + o * (length - 1) * inner + strip * width;
    typename P::Value values[width];
#pragma unroll
    for (auto& value : values) value = policy.identity();
    // Rows of whole strips are aligned to each other.
    if (reinterpret_cast<unsigned long long>(data) % Strip<P>::bytes == 0) {
        add_rows<Strip<P>, shallow_rows>(policy, values, length,
                                         [&](Strip<P>& to, long long row) { to.load(data + row * inner); });
    } else if (is_inside<P>(data, array, array + outer * length * inner) &&
               is_inside<P>(data + (length - 1) * inner, array, array + outer * length * inner)) {
        add_rows<Strip<P>, rows_across>(
            policy, values, length, [&](Strip<P>& to, long long row) { to.load_across(data + row * inner); });
    } else {
        for (long long row = 0; row < length; ++row)
#pragma unroll
            for (int c = 0; c < width; ++c) policy.add(values[c], data[row * inner + c], row);
    }
    policy.with_output(out, divisor, [&](auto* typed, auto set) {
        auto results = row_of<width>(typed);
#pragma unroll
        for (int c = 0; c < width; ++c) set(results[c], values[c]);
        results.store(typed + strip * width);
    });
}

// Reduces the thread's packs in one tile, which has 256 * strip_columns columns of one o.
template <class P>
__device__ __forceinline__ void reduce_shallow_packs(const P& policy, const typename P::Element* array,
                                                     void* out, long long outer, long long length,
                                                     long long inner, double divisor, long long o,
                                                     long long tile) {
    using E = typename P::Element;
    constexpr int pack = Packs<E, 1>::width, packs = strip_columns<P> / pack;
    constexpr int tile_columns = shallow_threads * strip_columns<P>;
    const long long before = tile * tile_columns;  // columns
    const E* const data = array + o * length * inner + before;

    // Relative to the tile. A pack that crosses the last column is moved before it, and a pack behind the
    // last column is replaced by the thread's first one. A column is stored only where it was before.
    const int here = inner - before < tile_columns ? static_cast<int>(inner - before) : tile_columns;
    int starts[packs];
    const auto owned = [&](int i) { return (i * shallow_threads + static_cast<int>(threadIdx.x)) * pack; };
#pragma unroll
    for (int i = 0; i < packs; ++i)
        starts[i] = owned(i) + pack <= here ? owned(i) : owned(i) < here ? here - pack : starts[0];
    if (owned(0) >= here) return;
    bool at_edge = false;  // Does a word lie in part outside of the array?
    if constexpr (pack > 1) {
        const long long last = (length - 1) * inner;
        const E* const end = array + outer * length * inner;
#pragma unroll
        for (int i = 0; i < packs; ++i)
            at_edge = at_edge || data + starts[i] < array + pack || data + last + starts[i] + 2 * pack > end;
    }
    typename P::Value values[packs * pack];
#pragma unroll
    for (auto& value : values) value = policy.identity();
    if (!at_edge) {
        add_rows<Packs<E, packs>, shallow_rows>(
            policy, values, length,
            [&](Packs<E, packs>& to, long long row) { to.load(data + row * inner, starts); });
    } else {
        for (long long row = 0; row < length; ++row) {
            Packs<E, packs> packed;
            packed.load_singly(data + row * inner, starts);
#pragma unroll
            for (int c = 0; c < packs * pack; ++c) policy.add(values[c], packed.elements[c], row);
        }
    }
    let_next_kernel_begin();
    policy.with_output(out, divisor, [&](auto* typed, auto set) {
        auto* const to = typed + o * inner + before;
#pragma unroll
        for (int i = 0; i < packs; ++i) {
            auto results = row_of<pack>(typed);
#pragma unroll
            for (int k = 0; k < pack; ++k) set(results[k], values[i * pack + k]);
            if (starts[i] == owned(i)) {
                results.store(to + starts[i]);
            } else {
#pragma unroll
                for (int k = 0; k < pack; ++k)
                    if (starts[i] + k >= owned(i)) to[starts[i] + k] = results[k];
            }
        }
    });
}

template <class P>
__global__ void __launch_bounds__(shallow_threads, shallow_blocks<P>)
    shallow(const void* in, void* out, long long outer, long long length, long long inner, long long,
            long long, unsigned long long bits, int kind, double divisor, int, int, void*) {
    using E = typename P::Element;
    constexpr int width = strip_columns<P>;
    fetch_ahead(in, outer * length * inner * static_cast<long long>(sizeof(E)), blockIdx.x, gridDim.x);
    wait_for_kernel_before();
    const P policy(bits, kind, length);
    const E* const array = static_cast<const E*>(in);
    if (inner % width == 0) return reduce_shallow_strip(policy, array, out, outer, length, inner, divisor);
    constexpr int tile_columns = shallow_threads * width;
    const unsigned tiles = static_cast<unsigned>((inner + tile_columns - 1) / tile_columns);
    reduce_shallow_packs(policy, array, out, outer, length, inner, divisor, blockIdx.x / tiles,
                         blockIdx.x % tiles);
}
