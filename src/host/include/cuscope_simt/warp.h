// Barriers of a block and the operations of a warp. `At` holds the place of the call in the source: the
// compiler driver puts At<file, line, place>:: before each of these names.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/fiber.h"

#ifdef CUSCOPE_DIAGNOSE
namespace cuscope_simt {
constexpr const char* source_files[] = {""};
}
#endif

namespace cuscope_simt {

CUSCOPE_OWN int barrier(BarrierKind kind, int predicate, const Site* site) {
    return switching([=](Fiber* self)
                         CUSCOPE_CALLED { return self->api->barrier(self, kind, predicate, site); });
}

// PTX's bar.sync and bar.arrive.
CUSCOPE_OWN void named_barrier(unsigned id, unsigned count, bool waits, const Site* site) {
    switching([=](Fiber* self) { self->api->named_barrier(self, id, count, waits, site); });
}

CUSCOPE_INLINE unsigned long long rendezvous(WarpKind kind, unsigned mask, unsigned long long value,
                                             int operand, int* extra, const Site* site) {
    return switching([=](Fiber* self) CUSCOPE_CALLED {
        return self->api->warp(self, kind, mask, value, operand, extra, site);
    });
}

// The bits of a value of up to 64 bits, to be sent to another lane.
template <class T>
CUSCOPE_INLINE unsigned long long bits_of(const T& value) {
    static_assert(sizeof(T) <= 8 && __is_trivially_copyable(T),
                  "a warp operation takes a value of at most 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T>
CUSCOPE_INLINE T value_of(unsigned long long bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// The types that shuffles take, from CUDA's own list. Smaller types become int, as in CUDA.
CUSCOPE_INLINE int shuffled(int v) { return v; }
CUSCOPE_INLINE unsigned shuffled(unsigned v) { return v; }
CUSCOPE_INLINE long shuffled(long v) { return v; }
CUSCOPE_INLINE unsigned long shuffled(unsigned long v) { return v; }
CUSCOPE_INLINE long long shuffled(long long v) { return v; }
CUSCOPE_INLINE unsigned long long shuffled(unsigned long long v) { return v; }
CUSCOPE_INLINE float shuffled(float v) { return v; }
CUSCOPE_INLINE double shuffled(double v) { return v; }
template <class T, class = typename T::cuscope_shuffles>
CUSCOPE_INLINE T shuffled(T v) {
    return v;
}

CUSCOPE_OWN int lane() { return static_cast<int>(cuscope_fiber->linear_thread & 31u); }

template <class T>
CUSCOPE_INLINE T shuffle(unsigned mask, T value, int source, const Site* site) {
    return value_of<T>(rendezvous(WarpKind::shuffle, mask, bits_of(value), source, nullptr, site));
}

template <class T>
struct IsMatchable {
    static constexpr bool value = false;
};
#define CUSCOPE_MATCHABLE(type)             \
    template <>                             \
    struct IsMatchable<type> {              \
        static constexpr bool value = true; \
    };
CUSCOPE_MATCHABLE(int)
CUSCOPE_MATCHABLE(unsigned)
CUSCOPE_MATCHABLE(long)
CUSCOPE_MATCHABLE(unsigned long)
CUSCOPE_MATCHABLE(long long)
CUSCOPE_MATCHABLE(unsigned long long)
CUSCOPE_MATCHABLE(float)
CUSCOPE_MATCHABLE(double)
#undef CUSCOPE_MATCHABLE

#define CUSCOPE_SITE(operation) \
    static constexpr Site site { source_files[File], Line, operation, Place }

template <int File, int Line, int Place = 0>
struct At {
    static CUSCOPE_INLINE void __syncthreads() {
        CUSCOPE_SITE("__syncthreads");
        barrier(BarrierKind::plain, 0, &site);
    }
    static CUSCOPE_INLINE int __syncthreads_count(int predicate) {
        CUSCOPE_SITE("__syncthreads_count");
        return barrier(BarrierKind::count, predicate, &site);
    }
    static CUSCOPE_INLINE int __syncthreads_and(int predicate) {
        CUSCOPE_SITE("__syncthreads_and");
        return barrier(BarrierKind::all, predicate, &site);
    }
    static CUSCOPE_INLINE int __syncthreads_or(int predicate) {
        CUSCOPE_SITE("__syncthreads_or");
        return barrier(BarrierKind::any, predicate, &site);
    }
    static CUSCOPE_INLINE void __barrier_sync(unsigned id) {
        CUSCOPE_SITE("__barrier_sync");
        if (id == 0) return void(barrier(BarrierKind::plain, 0, &site));
        named_barrier(id, 0, true, &site);
    }
    static CUSCOPE_INLINE void __barrier_sync_count(unsigned id, unsigned threads) {
        CUSCOPE_SITE("__barrier_sync_count");
        named_barrier(id, threads, true, &site);
    }
    static CUSCOPE_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
        CUSCOPE_SITE("__syncwarp");
        rendezvous(WarpKind::sync, mask, 0, 0, nullptr, &site);
    }
    static CUSCOPE_INLINE unsigned __activemask() {
        CUSCOPE_SITE("__activemask");
        return switching([](Fiber* self) { return self->api->active_mask(self, &site); });
    }

    // The same rules as PTX's shfl.sync: `first` and `last` bound the segment of `width` lanes.
    template <class T>
    static CUSCOPE_INLINE auto __shfl_sync(unsigned mask, T value, int source, int width = 32) {
        CUSCOPE_SITE("__shfl_sync");
        const int first = lane() & -width;
        return shuffle(mask, shuffled(value), first | (source & (width - 1)), &site);
    }
    template <class T>
    static CUSCOPE_INLINE auto __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
        CUSCOPE_SITE("__shfl_up_sync");
        const int first = lane() & -width, source = lane() - static_cast<int>(delta & 31u);
        return shuffle(mask, shuffled(value), source < first ? lane() : source, &site);
    }
    template <class T>
    static CUSCOPE_INLINE auto __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
        CUSCOPE_SITE("__shfl_down_sync");
        const int last = (lane() & -width) | (width - 1), source = lane() + static_cast<int>(delta & 31u);
        return shuffle(mask, shuffled(value), source > last ? lane() : source, &site);
    }
    template <class T>
    static CUSCOPE_INLINE auto __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
        CUSCOPE_SITE("__shfl_xor_sync");
        const int last = (lane() & -width) | (width - 1), source = lane() ^ (lane_mask & 31);
        return shuffle(mask, shuffled(value), source > last ? lane() : source, &site);
    }

    static CUSCOPE_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
        CUSCOPE_SITE("__ballot_sync");
        return ballot(mask, predicate, &site);
    }
    static CUSCOPE_INLINE int __any_sync(unsigned mask, int predicate) {
        CUSCOPE_SITE("__any_sync");
        return ballot(mask, predicate, &site) != 0;
    }
    static CUSCOPE_INLINE int __all_sync(unsigned mask, int predicate) {
        CUSCOPE_SITE("__all_sync");
        return ballot(mask, !predicate, &site) == 0;
    }
    static CUSCOPE_INLINE int __uni_sync(unsigned mask, int predicate) {
        CUSCOPE_SITE("__uni_sync");
        return ballot(mask, predicate, &site) == 0 || ballot(mask, !predicate, &site) == 0;
    }

    template <class T>
    static CUSCOPE_INLINE unsigned __match_any_sync(unsigned mask, T value) {
        static_assert(IsMatchable<T>::value, "__match_any_sync takes a 32- or 64-bit number");
        CUSCOPE_SITE("__match_any_sync");
        return static_cast<unsigned>(
            rendezvous(WarpKind::match_any, mask, bits_of(value), 0, nullptr, &site));
    }
    template <class T>
    static CUSCOPE_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
        static_assert(IsMatchable<T>::value, "__match_all_sync takes a 32- or 64-bit number");
        CUSCOPE_SITE("__match_all_sync");
        int all = 0;
        const unsigned long long lanes =
            rendezvous(WarpKind::match_all, mask, bits_of(value), 0, &all, &site);
        *predicate = all;
        return static_cast<unsigned>(lanes);
    }

#define CUSCOPE_REDUCE(name, type, kind)                                                                 \
    static CUSCOPE_INLINE type __reduce_##name##_sync(unsigned mask, type value) {                       \
        CUSCOPE_SITE("__reduce_" #name "_sync");                                                         \
        return static_cast<type>(                                                                        \
            rendezvous(WarpKind::reduce_##kind, mask, static_cast<unsigned>(value), 0, nullptr, &site)); \
    }
    CUSCOPE_REDUCE(add, int, add_signed)
    CUSCOPE_REDUCE(add, unsigned, add_unsigned)
    CUSCOPE_REDUCE(min, int, min_signed)
    CUSCOPE_REDUCE(min, unsigned, min_unsigned)
    CUSCOPE_REDUCE(max, int, max_signed)
    CUSCOPE_REDUCE(max, unsigned, max_unsigned)
    CUSCOPE_REDUCE(and, unsigned, and)
    CUSCOPE_REDUCE(or, unsigned, or)
    CUSCOPE_REDUCE(xor, unsigned, xor)
#undef CUSCOPE_REDUCE

  private:
    static CUSCOPE_INLINE unsigned ballot(unsigned mask, int predicate, const Site* site) {
        return static_cast<unsigned>(rendezvous(WarpKind::ballot, mask, predicate != 0, 0, nullptr, site));
    }
};
#undef CUSCOPE_SITE

}  // namespace cuscope_simt
