// The basis of cooperative groups: barriers and exchanges of values. They take the place of their call as
// parameters, because no token in the user's own text marks it.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/vectors.h"
#include "cuscope_simt/warp.h"

// The last parameters of a function that may wait: the place of its call.
#define CUSCOPE_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace cuscope_simt {

template <class T>
struct Plain {
    using Type = T;
};
template <class T>
struct Plain<T&> : Plain<T> {};
template <class T>
struct Plain<T&&> : Plain<T> {};
template <class T>
struct Plain<const T> : Plain<T> {};
template <class T>
using plain = typename Plain<T>::Type;

CUSCOPE_INLINE unsigned lower_lanes() { return (1u << lane()) - 1; }
CUSCOPE_INLINE unsigned lanes_below(unsigned mask) {
    return static_cast<unsigned>(__builtin_popcount(mask & lower_lanes()));
}

CUSCOPE_INLINE unsigned active_lanes(const char* file, int line) {
    const Site site{file, line, "coalesced_threads"};
    return switching([&](Fiber* self) { return self->api->active_mask(self, &site); });
}

CUSCOPE_INLINE unsigned ballot(unsigned mask, bool predicate, const Site& site) {
    return static_cast<unsigned>(rendezvous(WarpKind::ballot, mask, predicate, 0, nullptr, &site));
}

// For any type that can be copied byte by byte.
template <class T>
CUSCOPE_INLINE T exchange(unsigned mask, T value, int source, const Site& site) {
    static_assert(__is_trivially_copyable(T), "a group shuffles what can be copied byte by byte");
    alignas(T) char result[sizeof(T)];
    for (unsigned at = 0; at < sizeof(T); at += 8) {
        const unsigned bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
        unsigned long long bits = 0;
        __builtin_memcpy(&bits, reinterpret_cast<const char*>(&value) + at, bytes);
        bits = rendezvous(WarpKind::shuffle, mask, bits, source, nullptr, &site);
        __builtin_memcpy(result + at, &bits, bytes);
    }
    T out = value;
    __builtin_memcpy(static_cast<void*>(&out), result, sizeof(T));
    return out;
}

// The values of a tile of several warps. The values must stay in place until all threads have called `done`.
struct Gathered {
    const unsigned long long* table;
    unsigned first, count;
    const Site& site;

    static CUSCOPE_INLINE Gathered of(unsigned first, unsigned count, const void* value, const Site& site) {
        const auto* table = switching([&](Fiber* self) {
            return self->api->gather(self, first, count, reinterpret_cast<unsigned long long>(value), &site);
        });
        return {table, first, count, site};
    }
    template <class T>
    CUSCOPE_INLINE T at(unsigned rank) const {
        return *reinterpret_cast<const T*>(table[first + rank]);
    }
    CUSCOPE_INLINE void done() const { of(first, count, nullptr, site); }
};

CUSCOPE_INLINE unsigned arrive(Scope scope) { return cuscope_fiber->api->arrive(cuscope_fiber, scope); }
CUSCOPE_INLINE void wait(Scope scope, unsigned token, const Site& site) {
    switching([&](Fiber* self) { self->api->wait(self, scope, token, &site); });
}

CUSCOPE_INLINE unsigned volume(const Index3& size) { return size.x * size.y * size.z; }
CUSCOPE_INLINE Index3 cluster_position() {
    const Fiber& self = *cuscope_fiber;
    return {self.block_index.x % self.cluster_dim.x, self.block_index.y % self.cluster_dim.y,
            self.block_index.z % self.cluster_dim.z};
}
CUSCOPE_INLINE unsigned cluster_rank() {
    const Index3 at = cluster_position();
    const Index3& size = cuscope_fiber->cluster_dim;
    return (at.z * size.y + at.y) * size.x + at.x;
}

}  // namespace cuscope_simt
