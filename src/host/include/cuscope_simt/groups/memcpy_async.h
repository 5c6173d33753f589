// cooperative_groups::memcpy_async: each thread copies its share at once; `wait` waits for all shares.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/groups/groups.h"
#include "cuscope_simt/groups/shape.h"

namespace cooperative_groups {

namespace details {
template <class Group>
inline void copy_share(const Group& group, void* to, const void* from, size_t bytes) {
    // In pieces of 16 bytes; the last piece may be shorter.
    const size_t step = 16 * static_cast<size_t>(group.num_threads());
    for (size_t at = 16 * static_cast<size_t>(group.thread_rank()); at < bytes; at += step) {
        const size_t piece = bytes - at < 16 ? bytes - at : 16;
        ::cuscope_simt::copying(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, piece);
        __builtin_memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, piece);
    }
}
}  // namespace details

template <class Group, class T>
inline void memcpy_async(const Group& group, T* __restrict__ to, const T* __restrict__ from, size_t bytes) {
    details::copy_share(group, to, from, bytes);
}
template <class Group, class T, decltype(sizeof(0)) Alignment>
inline void memcpy_async(const Group& group, T* __restrict__ to, const T* __restrict__ from,
                         const ::cuda::aligned_size_t<Alignment>& bytes) {
    details::copy_share(group, to, from, bytes);
}
// Counts in elements: copies as many as both sides have.
template <class Group, class T, class ToLayout, class FromLayout>
inline void memcpy_async(const Group& group, T* __restrict__ to, const ToLayout& to_count,
                         const T* __restrict__ from, const FromLayout& from_count) {
    const size_t a = to_count, b = from_count;
    details::copy_share(group, to, from, (a < b ? a : b) * sizeof(T));
}
template <class Group>
inline void wait(const Group& group, CUSCOPE_HERE) {
    group.sync(file, line);
}
template <unsigned Stages, class Group>
inline void wait_prior(const Group& group, CUSCOPE_HERE) {
    group.sync(file, line);
}

}  // namespace cooperative_groups
