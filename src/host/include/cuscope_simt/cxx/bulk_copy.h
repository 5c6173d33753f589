// The bulk copies of <cuda/barrier>: cuda::device::experimental.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/cxx/barrier.h"
#pragma cuscope needs ptx
#include "cuscope_simt/tensor/bulk_copy.h"

struct CUtensorMap_st;
typedef struct CUtensorMap_st CUtensorMap;

namespace cuda {
namespace device {
namespace experimental {

using ::CUtensorMap;

template <class Completion>
inline void cp_async_bulk_global_to_shared(void* to, const void* from, unsigned bytes,
                                           barrier<thread_scope_block, Completion>& counting, CUSCOPE_HERE) {
    const ::cuscope_simt::Site site{file, line, "cp_async_bulk_global_to_shared"};
    ::cuscope_simt::tensor::copy_bytes(static_cast<char*>(to), static_cast<const char*>(from), bytes, &site);
    counting.cuscope_bytes(0, bytes);
}
inline void cp_async_bulk_shared_to_global(void* to, const void* from, unsigned bytes, CUSCOPE_HERE) {
    const ::cuscope_simt::Site site{file, line, "cp_async_bulk_shared_to_global"};
    ::cuscope_simt::tensor::copy_bytes(static_cast<char*>(to), static_cast<const char*>(from), bytes, &site);
}

template <bool load, int rank>
inline unsigned cuscope_copy_tile(char* shared, const CUtensorMap* given, const int (&first)[rank],
                                  const ::cuscope_simt::Site* site) {
    const ::cuscope_simt::TensorMapLayout& map =
        ::cuscope_simt::tensor::tensor_map_of<rank>(reinterpret_cast<const char*>(given), site);
    ::cuscope_simt::tensor::copy_tile<load>(shared, map, first, site);
    return ::cuscope_simt::tensor::tile_bytes(map);
}

#define CUSCOPE_LIST(...) __VA_ARGS__
#define CUSCOPE_TILES(axes, coordinates, values)                                                          \
    template <class Completion>                                                                           \
    inline void cp_async_bulk_tensor_##axes##d_global_to_shared(                                          \
        void* to, const CUtensorMap* map, coordinates, barrier<thread_scope_block, Completion>& counting, \
        CUSCOPE_HERE) {                                                                                   \
        const ::cuscope_simt::Site site{file, line, "cp_async_bulk_tensor_" #axes "d_global_to_shared"};  \
        const int first[] = {values};                                                                     \
        counting.cuscope_bytes(0, cuscope_copy_tile<true>(static_cast<char*>(to), map, first, &site));    \
    }                                                                                                     \
    inline void cp_async_bulk_tensor_##axes##d_shared_to_global(const CUtensorMap* map, coordinates,      \
                                                                const void* from, CUSCOPE_HERE) {         \
        const ::cuscope_simt::Site site{file, line, "cp_async_bulk_tensor_" #axes "d_shared_to_global"};  \
        const int first[] = {values};                                                                     \
        cuscope_copy_tile<false>(static_cast<char*>(const_cast<void*>(from)), map, first, &site);         \
    }
CUSCOPE_TILES(1, CUSCOPE_LIST(int c0), CUSCOPE_LIST(c0))
CUSCOPE_TILES(2, CUSCOPE_LIST(int c0, int c1), CUSCOPE_LIST(c0, c1))
CUSCOPE_TILES(3, CUSCOPE_LIST(int c0, int c1, int c2), CUSCOPE_LIST(c0, c1, c2))
CUSCOPE_TILES(4, CUSCOPE_LIST(int c0, int c1, int c2, int c3), CUSCOPE_LIST(c0, c1, c2, c3))
CUSCOPE_TILES(5, CUSCOPE_LIST(int c0, int c1, int c2, int c3, int c4), CUSCOPE_LIST(c0, c1, c2, c3, c4))
#undef CUSCOPE_TILES
#undef CUSCOPE_LIST

// The copies are done when their instruction ends.
CUSCOPE_INLINE void fence_proxy_async_shared_cta() {}
CUSCOPE_INLINE void cp_async_bulk_commit_group() {}
template <int count>
CUSCOPE_INLINE void cp_async_bulk_wait_group_read() {}

}  // namespace experimental
}  // namespace device
}  // namespace cuda
