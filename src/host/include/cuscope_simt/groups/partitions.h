// cooperative_groups: partitions of groups into smaller groups.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/groups/groups.h"

namespace cooperative_groups {

template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    return thread_block_tile<Size, Parent>(parent);
}

inline thread_group tiled_partition(const thread_block&, unsigned size) {
    if (size > 32) return thread_group(details::Kind::tile, cuscope_fiber->linear_thread / size * size, size);
    const unsigned in = static_cast<unsigned>(details::lane()) / size * size;
    const unsigned mask = size == 32 ? ~0u : ((1u << size) - 1) << in;
    const unsigned count = (cuscope_fiber->thread_count + size - 1) / size;
    return coalesced_group(mask, cuscope_fiber->linear_thread / size, count);
}
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
    const unsigned rank = parent.thread_rank() / size;
    unsigned mask = 0, at = 0;
    for (unsigned rest = parent.cuscope_mask(); rest != 0; rest &= rest - 1, ++at)
        if (at / size == rank) mask |= rest & -rest;
    return coalesced_group(mask, rank, (parent.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
    if (parent.kind_ == details::Kind::block) return tiled_partition(this_thread_block(), size);
    const unsigned mask = parent.kind_ == details::Kind::lanes ? parent.a_ : ~0u;
    return tiled_partition(coalesced_group(mask), size);
}

inline coalesced_group binary_partition(const coalesced_group& group, bool predicate, CUSCOPE_HERE) {
    const unsigned mask = group.cuscope_mask();
    const unsigned set = details::ballot(mask, predicate, {file, line, "binary_partition"});
    return predicate ? group.cuscope_part(mask & set, 0, 2) : group.cuscope_part(mask & ~set, 1, 2);
}

namespace details {
template <unsigned Size, class Parent>
inline coalesced_group lanes_of(const thread_block_tile<Size, Parent>& tile) {
    static_assert(Size <= 32, "a tile of more than a warp cannot be partitioned by value");
    const unsigned lanes = cuscope_fiber->thread_count - (cuscope_fiber->linear_thread & ~31u);
    return coalesced_group::cuscope_part(tile.cuscope_mask() & (lanes >= 32 ? ~0u : (1u << lanes) - 1));
}
}  // namespace details

template <unsigned Size, class Parent>
inline coalesced_group binary_partition(const thread_block_tile<Size, Parent>& tile, bool predicate,
                                        CUSCOPE_HERE) {
    return binary_partition(details::lanes_of(tile), predicate, file, line);
}

template <class Label>
inline coalesced_group labeled_partition(const coalesced_group& group, Label label, CUSCOPE_HERE) {
    const details::Site site{file, line, "labeled_partition"};
    const auto mask = static_cast<unsigned>(details::rendezvous(
        details::WarpKind::match_any, group.cuscope_mask(), details::bits_of(label), 0, nullptr, &site));
    // The groups are numbered in the order of their first lanes.
    const unsigned leaders = details::ballot(group.cuscope_mask(), details::lanes_below(mask) == 0, site);
    const unsigned first = mask & -mask;
    return group.cuscope_part(mask, static_cast<unsigned>(__builtin_popcount(leaders & (first - 1))),
                              static_cast<unsigned>(__builtin_popcount(leaders)));
}
template <unsigned Size, class Parent, class Label>
inline coalesced_group labeled_partition(const thread_block_tile<Size, Parent>& tile, Label label,
                                         CUSCOPE_HERE) {
    return labeled_partition(details::lanes_of(tile), label, file, line);
}

namespace experimental {
using ::cooperative_groups::block_tile_memory;
using ::cooperative_groups::this_thread_block;
using ::cooperative_groups::thread_block_tile;
using ::cooperative_groups::tiled_partition;
}  // namespace experimental

}  // namespace cooperative_groups
