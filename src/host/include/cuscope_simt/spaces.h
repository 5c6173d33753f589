// Conversions of addresses between memory spaces, and the block's place in its cluster.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/vectors.h"

// Addresses of all spaces are equal here, except for shared memory, because kernels keep its addresses in 32
// bits: the dynamic part begins at dynamic_start. The low bits are equal to those of the real address, so
// that alignments stay the same.
#define CUSCOPE_SPACE(space)                                               \
    CUSCOPE_INLINE size_t __cvta_generic_to_##space(const void* address) { \
        return reinterpret_cast<size_t>(address);                          \
    }                                                                      \
    CUSCOPE_INLINE void* __cvta_##space##_to_generic(size_t address) {     \
        return reinterpret_cast<void*>(address);                           \
    }
CUSCOPE_SPACE(global)
CUSCOPE_SPACE(constant)
CUSCOPE_SPACE(local)
#undef CUSCOPE_SPACE

namespace cuscope_simt {
inline constexpr size_t dynamic_start = 1u << 24;
CUSCOPE_INLINE size_t static_start() {
    return reinterpret_cast<size_t>(cuscope_fiber->static_shared) & ~static_cast<size_t>(1023);
}
}  // namespace cuscope_simt

CUSCOPE_INLINE size_t __cvta_generic_to_shared(const void* address) {
    const size_t at = reinterpret_cast<size_t>(address),
                 dynamic = reinterpret_cast<size_t>(cuscope_fiber->dynamic_shared);
    if (dynamic != 0 && at >= dynamic && at <= dynamic + cuscope_fiber->dynamic_shared_bytes)
        return ::cuscope_simt::dynamic_start + (at - dynamic);
    return at - ::cuscope_simt::static_start();
}
CUSCOPE_INLINE void* __cvta_shared_to_generic(size_t address) {
    return reinterpret_cast<void*>(address >= ::cuscope_simt::dynamic_start &&
                                           cuscope_fiber->dynamic_shared != nullptr
                                       ? reinterpret_cast<size_t>(cuscope_fiber->dynamic_shared) +
                                             (address - ::cuscope_simt::dynamic_start)
                                       : address + ::cuscope_simt::static_start());
}

CUSCOPE_INLINE unsigned __cluster_query_shared_rank(const void* address) {
    return static_cast<unsigned>(cuscope_fiber->api->shared_rank(cuscope_fiber, address));
}
CUSCOPE_INLINE dim3 __clusterDim() {
    const ::cuscope_simt::Index3& size = cuscope_fiber->cluster_dim;
    return {size.x, size.y, size.z};
}
CUSCOPE_INLINE unsigned __clusterSizeInBlocks() {
    const dim3 size = __clusterDim();
    return size.x * size.y * size.z;
}
CUSCOPE_INLINE dim3 __clusterIdx() {
    const ::cuscope_simt::Index3 &at = cuscope_fiber->block_index, &size = cuscope_fiber->cluster_dim;
    return {at.x / size.x, at.y / size.y, at.z / size.z};
}
CUSCOPE_INLINE dim3 __clusterGridDimInClusters() {
    const ::cuscope_simt::Index3 &grid = cuscope_fiber->grid_dim, &size = cuscope_fiber->cluster_dim;
    return {grid.x / size.x, grid.y / size.y, grid.z / size.z};
}
CUSCOPE_INLINE dim3 __clusterRelativeBlockIdx() {
    const ::cuscope_simt::Index3 &at = cuscope_fiber->block_index, &size = cuscope_fiber->cluster_dim;
    return {at.x % size.x, at.y % size.y, at.z % size.z};
}
CUSCOPE_INLINE unsigned __clusterRelativeBlockRank() {
    const dim3 at = __clusterRelativeBlockIdx(), size = __clusterDim();
    return (at.z * size.y + at.y) * size.x + at.x;
}

CUSCOPE_INLINE void __cluster_barrier_arrive() {
    cuscope_fiber->cluster_token = cuscope_fiber->api->arrive(cuscope_fiber, ::cuscope_simt::Scope::cluster);
}
CUSCOPE_INLINE void __cluster_barrier_arrive_relaxed() { __cluster_barrier_arrive(); }
CUSCOPE_INLINE void __cluster_barrier_wait(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const ::cuscope_simt::Site site{file, line, "__cluster_barrier_wait"};
    ::cuscope_simt::switching([&](::cuscope_simt::Fiber* self) {
        self->api->wait(self, ::cuscope_simt::Scope::cluster, self->cluster_token, &site);
    });
}
CUSCOPE_INLINE void* __cluster_map_shared_rank(const void* address, unsigned rank,
                                               const char* file = __builtin_FILE(),
                                               int line = __builtin_LINE()) {
    const ::cuscope_simt::Site site{file, line, "__cluster_map_shared_rank"};
    return ::cuscope_simt::switching(
        [&](::cuscope_simt::Fiber* self) { return self->api->map_shared(self, address, rank, &site); });
}

CUSCOPE_INLINE unsigned __isShared(const void* address) {
    return __cluster_query_shared_rank(address) == __clusterRelativeBlockRank();
}
CUSCOPE_INLINE unsigned __isCtaShared(const void* address) { return __isShared(address); }
CUSCOPE_INLINE unsigned __isClusterShared(const void* address) {
    return __cluster_query_shared_rank(address) < __clusterSizeInBlocks();
}
CUSCOPE_INLINE unsigned __isLocal(const void* address) {
    return address >= cuscope_fiber->stack_begin && address < cuscope_fiber->stack_end;
}
CUSCOPE_INLINE unsigned __isGlobal(const void* address) {
    return !__isClusterShared(address) && !__isLocal(address);
}

CUSCOPE_INLINE void __prof_trigger(int) {}

// The special registers about clusters.
namespace cuscope_simt {
namespace special {
#define CUSCOPE_CLUSTER_REGISTERS(name, value)               \
    CUSCOPE_INLINE unsigned name##_x() { return value().x; } \
    CUSCOPE_INLINE unsigned name##_y() { return value().y; } \
    CUSCOPE_INLINE unsigned name##_z() { return value().z; }
CUSCOPE_CLUSTER_REGISTERS(cluster_ctaid, __clusterRelativeBlockIdx)
CUSCOPE_CLUSTER_REGISTERS(cluster_nctaid, __clusterDim)
CUSCOPE_CLUSTER_REGISTERS(clusterid, __clusterIdx)
CUSCOPE_CLUSTER_REGISTERS(nclusterid, __clusterGridDimInClusters)
#undef CUSCOPE_CLUSTER_REGISTERS
CUSCOPE_INLINE unsigned cluster_ctarank() { return __clusterRelativeBlockRank(); }
CUSCOPE_INLINE unsigned cluster_nctarank() { return __clusterSizeInBlocks(); }
CUSCOPE_INLINE unsigned is_explicit_cluster() { return __clusterSizeInBlocks() > 1; }
}  // namespace special
}  // namespace cuscope_simt
