// cooperative_groups: the groups and their collective operations.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/groups/places.h"

#define _CG_VERSION 1001
#define _CG_HAS_CLUSTER_GROUP

namespace cooperative_groups {

namespace details {
using namespace ::cuscope_simt;

enum class Kind : unsigned { lanes, tile, block, cluster, grid };

template <unsigned a>
inline constexpr bool is_power_of_two = a != 0 && (a & (a - 1)) == 0;
}  // namespace details

class thread_block;
class coalesced_group;
class grid_group;
class cluster_group;
template <unsigned Size, class Parent = void>
class thread_block_tile;

// Any group. Functions that only some groups have are not here.
class thread_group {
  public:
    unsigned long long num_threads() const;
    unsigned long long size() const { return num_threads(); }
    unsigned long long thread_rank() const;
    void sync(CUSCOPE_HERE) const;
    unsigned get_type() const { return static_cast<unsigned>(kind_); }

  protected:
    explicit thread_group(details::Kind kind, unsigned a = 0, unsigned b = 0) : kind_(kind), a_(a), b_(b) {}

    details::Kind kind_;
    unsigned a_;  // coalesced group: the mask. tile: its first thread
    unsigned b_;  // coalesced group: rank and number of sibling groups, 16 bits each. tile: its size

    friend class coalesced_group;
    friend thread_group tiled_partition(const thread_group& parent, unsigned size);
    friend thread_group tiled_partition(const thread_block& parent, unsigned size);
};

class thread_block : public thread_group {
  public:
    struct arrival_token {
        unsigned value;
    };

    static void sync(CUSCOPE_HERE) {
        const details::Site site{file, line, "thread_block::sync"};
        details::barrier(details::BarrierKind::plain, 0, &site);
    }
    arrival_token barrier_arrive() const { return {details::arrive(details::Scope::block)}; }
    void barrier_wait(arrival_token&& token, CUSCOPE_HERE) const {
        details::wait(details::Scope::block, token.value, {file, line, "thread_block::barrier_wait"});
    }
    static unsigned num_threads() { return cuscope_fiber->thread_count; }
    static unsigned size() { return num_threads(); }
    static unsigned thread_rank() { return cuscope_fiber->linear_thread; }
    static dim3 group_index() { return details::block_index(); }
    static dim3 thread_index() { return details::thread_index(); }
    static dim3 group_dim() { return details::block_dim(); }
    static dim3 dim_threads() { return details::block_dim(); }

  private:
    thread_block() : thread_group(details::Kind::block) {}
    friend thread_block this_thread_block();
};

inline thread_block this_thread_block() { return thread_block(); }

// A GPU needs this memory for tiles of more than a warp.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
    char unused;
};
template <unsigned MaxBlockSize>
inline thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
    return this_thread_block();
}

class grid_group : public thread_group {
  public:
    struct arrival_token {
        unsigned value;
    };

    bool is_valid() const { return cuscope_fiber->is_cooperative != 0; }
    void sync(CUSCOPE_HERE) const {
        check(file, line);
        const unsigned token = details::arrive(details::Scope::grid);
        details::wait(details::Scope::grid, token, {file, line, "grid_group::sync"});
    }
    arrival_token barrier_arrive(CUSCOPE_HERE) const {
        check(file, line);
        return {details::arrive(details::Scope::grid)};
    }
    void barrier_wait(arrival_token&& token, CUSCOPE_HERE) const {
        details::wait(details::Scope::grid, token.value, {file, line, "grid_group::barrier_wait"});
    }

    static unsigned long long num_threads() { return num_blocks() * cuscope_fiber->thread_count; }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long thread_rank() {
        return block_rank() * cuscope_fiber->thread_count + cuscope_fiber->linear_thread;
    }
    static dim3 group_dim() { return details::grid_dim(); }
    static dim3 dim_threads() { return details::block_dim(); }
    static dim3 thread_index() { return details::thread_index(); }
    static dim3 dim_blocks() { return details::grid_dim(); }
    static unsigned long long num_blocks() {
        const details::Index3& size = cuscope_fiber->grid_dim;
        return static_cast<unsigned long long>(size.x) * size.y * size.z;
    }
    static dim3 block_index() { return details::block_index(); }
    static unsigned long long block_rank() {
        const details::Index3 &at = cuscope_fiber->block_index, &size = cuscope_fiber->grid_dim;
        return (static_cast<unsigned long long>(at.z) * size.y + at.y) * size.x + at.x;
    }
    static dim3 dim_clusters() {
        const details::Index3 &size = cuscope_fiber->grid_dim, &part = cuscope_fiber->cluster_dim;
        return {size.x / part.x, size.y / part.y, size.z / part.z};
    }
    static unsigned long long num_clusters() {
        const dim3 size = dim_clusters();
        return static_cast<unsigned long long>(size.x) * size.y * size.z;
    }
    static dim3 cluster_index() {
        const details::Index3 &at = cuscope_fiber->block_index, &part = cuscope_fiber->cluster_dim;
        return {at.x / part.x, at.y / part.y, at.z / part.z};
    }
    static unsigned long long cluster_rank() {
        const dim3 at = cluster_index(), size = dim_clusters();
        return (static_cast<unsigned long long>(at.z) * size.y + at.y) * size.x + at.x;
    }

  private:
    grid_group() : thread_group(details::Kind::grid) {}
    static void check(const char* file, int line) {
        if (cuscope_fiber->is_cooperative) return;
        const details::Site site{file, line, "grid_group::sync"};
        details::fault(details::Fault::trap, "the grid can only synchronise in a cooperative launch", &site);
    }
    friend grid_group this_grid();
};

inline grid_group this_grid() { return grid_group(); }

class cluster_group : public thread_group {
  public:
    struct arrival_token {
        unsigned value;
    };

    static void sync(CUSCOPE_HERE) {
        const unsigned token = details::arrive(details::Scope::cluster);
        details::wait(details::Scope::cluster, token, {file, line, "cluster_group::sync"});
    }
    static arrival_token barrier_arrive() { return {details::arrive(details::Scope::cluster)}; }
    static void barrier_wait(arrival_token&& token, CUSCOPE_HERE) {
        details::wait(details::Scope::cluster, token.value, {file, line, "cluster_group::barrier_wait"});
    }
    template <class T>
    static T* map_shared_rank(T* address, int rank, CUSCOPE_HERE) {
        const details::Site site{file, line, "cluster_group::map_shared_rank"};
        return static_cast<T*>(details::switching([&](details::Fiber* self) {
            return self->api->map_shared(self,
                                         const_cast<const void*>(static_cast<const volatile void*>(address)),
                                         static_cast<unsigned>(rank), &site);
        }));
    }
    static unsigned query_shared_rank(const void* address) {
        return static_cast<unsigned>(cuscope_fiber->api->shared_rank(cuscope_fiber, address));
    }
    static dim3 block_index() {
        const details::Index3 at = details::cluster_position();
        return {at.x, at.y, at.z};
    }
    static unsigned block_rank() { return details::cluster_rank(); }
    static dim3 thread_index() { return details::thread_index(); }
    static unsigned thread_rank() {
        return block_rank() * cuscope_fiber->thread_count + cuscope_fiber->linear_thread;
    }
    static dim3 dim_blocks() {
        const details::Index3& size = cuscope_fiber->cluster_dim;
        return {size.x, size.y, size.z};
    }
    static unsigned num_blocks() { return details::volume(cuscope_fiber->cluster_dim); }
    static dim3 dim_threads() {
        const dim3 block = details::block_dim(), blocks = dim_blocks();
        return {block.x * blocks.x, block.y * blocks.y, block.z * blocks.z};
    }
    static unsigned num_threads() { return num_blocks() * cuscope_fiber->thread_count; }
    static unsigned size() { return num_threads(); }

  private:
    cluster_group() : thread_group(details::Kind::cluster) {}
    friend cluster_group this_cluster();
};

inline cluster_group this_cluster() { return cluster_group(); }

// A group of any lanes of a warp.
class coalesced_group : public thread_group {
  public:
    unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcount(a_)); }
    unsigned size() const { return num_threads(); }
    unsigned thread_rank() const { return details::lanes_below(a_); }
    unsigned meta_group_rank() const { return b_ & 0xffffu; }
    unsigned meta_group_size() const { return b_ >> 16; }
    unsigned cuscope_mask() const { return a_; }

    void sync(CUSCOPE_HERE) const {
        const details::Site site{file, line, "coalesced_group::sync"};
        details::rendezvous(details::WarpKind::sync, a_, 0, 0, nullptr, &site);
    }
    template <class T>
    details::plain<T> shfl(T&& value, int rank, CUSCOPE_HERE) const {
        const int lane = size() == 32 ? rank & 31 : lane_of(rank);
        return details::exchange<details::plain<T>>(a_, value, lane, {file, line, "coalesced_group::shfl"});
    }
    template <class T>
    details::plain<T> shfl_up(T&& value, unsigned delta, CUSCOPE_HERE) const {
        const int rank = static_cast<int>(thread_rank()) - static_cast<int>(delta);
        return details::exchange<details::plain<T>>(a_, value, rank < 0 ? details::lane() : lane_of(rank),
                                                    {file, line, "coalesced_group::shfl_up"});
    }
    template <class T>
    details::plain<T> shfl_down(T&& value, unsigned delta, CUSCOPE_HERE) const {
        const unsigned rank = thread_rank() + delta;
        return details::exchange<details::plain<T>>(
            a_, value, rank >= size() ? details::lane() : lane_of(static_cast<int>(rank)),
            {file, line, "coalesced_group::shfl_down"});
    }
    int any(int predicate, CUSCOPE_HERE) const {
        return details::ballot(a_, predicate != 0, {file, line, "coalesced_group::any"}) != 0;
    }
    int all(int predicate, CUSCOPE_HERE) const {
        return details::ballot(a_, predicate == 0, {file, line, "coalesced_group::all"}) == 0;
    }
    unsigned ballot(int predicate, CUSCOPE_HERE) const {
        return packed(details::ballot(a_, predicate != 0, {file, line, "coalesced_group::ballot"}));
    }
    template <class T>
    unsigned match_any(T value, CUSCOPE_HERE) const {
        const details::Site site{file, line, "coalesced_group::match_any"};
        return packed(static_cast<unsigned>(details::rendezvous(details::WarpKind::match_any, a_,
                                                                details::bits_of(value), 0, nullptr, &site)));
    }
    template <class T>
    unsigned match_all(T value, int& predicate, CUSCOPE_HERE) const {
        const details::Site site{file, line, "coalesced_group::match_all"};
        return packed(static_cast<unsigned>(details::rendezvous(
            details::WarpKind::match_all, a_, details::bits_of(value), 0, &predicate, &site)));
    }

    static coalesced_group cuscope_part(unsigned mask, unsigned rank = 0, unsigned count = 1) {
        return coalesced_group(mask, rank, count);
    }

  private:
    explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned count = 1)
        : thread_group(details::Kind::lanes, mask, rank | count << 16) {}

    int lane_of(int rank) const {
        unsigned rest = a_;
        for (; rank > 0 && rest != 0; --rank) rest &= rest - 1;
        return rank < 0 || rest == 0 ? details::lane() : __builtin_ctz(rest);
    }
    // The bits of the group's lanes, packed side by side.
    unsigned packed(unsigned lanes) const {
        unsigned result = 0, at = 0;
        for (unsigned rest = a_; rest != 0; rest &= rest - 1)
            result |= (lanes >> __builtin_ctz(rest) & 1u) << at++;
        return result;
    }
    friend coalesced_group coalesced_threads(const char*, int);
    friend class thread_group;
    friend thread_group tiled_partition(const thread_group& parent, unsigned size);
    friend thread_group tiled_partition(const thread_block& parent, unsigned size);
    friend coalesced_group tiled_partition(const coalesced_group& parent, unsigned size);
};

inline coalesced_group coalesced_threads(CUSCOPE_HERE) {
    return coalesced_group(details::active_lanes(file, line));
}

namespace details {

// The rank of a tile among its sibling tiles, and their number.
template <unsigned Size, class Parent>
struct TileCount {
    static unsigned rank(unsigned thread) { return thread % Parent::cuscope_size / Size; }
    static unsigned count() { return Parent::cuscope_size / Size; }
};
template <unsigned Size>
struct TileCount<Size, thread_block> {
    static unsigned rank(unsigned thread) { return thread / Size; }
    static unsigned count() { return (cuscope_fiber->thread_count + Size - 1) / Size; }
};

template <unsigned Size, bool in_warp = (Size <= 32)>
class Tile;

template <unsigned Size>
class Tile<Size, true> : public thread_group {
  public:
    static unsigned cuscope_mask() {
        return Size == 32 ? ~0u : ((1u << (Size % 32)) - 1) << (static_cast<unsigned>(lane()) & ~(Size - 1));
    }
    static void sync(CUSCOPE_HERE) {
        const Site site{file, line, "thread_block_tile::sync"};
        rendezvous(WarpKind::sync, cuscope_mask(), 0, 0, nullptr, &site);
    }
    template <class T>
    plain<T> shfl(T&& value, int rank, CUSCOPE_HERE) const {
        return exchange<plain<T>>(cuscope_mask(), value, first() | (rank & (int{Size} - 1)),
                                  {file, line, "thread_block_tile::shfl"});
    }
    template <class T>
    plain<T> shfl_up(T&& value, unsigned delta, CUSCOPE_HERE) const {
        const int source = lane() - static_cast<int>(delta);
        return exchange<plain<T>>(cuscope_mask(), value, source < first() ? lane() : source,
                                  {file, line, "thread_block_tile::shfl_up"});
    }
    template <class T>
    plain<T> shfl_down(T&& value, unsigned delta, CUSCOPE_HERE) const {
        const int source = lane() + static_cast<int>(delta);
        return exchange<plain<T>>(cuscope_mask(), value, source > first() + int{Size} - 1 ? lane() : source,
                                  {file, line, "thread_block_tile::shfl_down"});
    }
    template <class T>
    plain<T> shfl_xor(T&& value, unsigned mask, CUSCOPE_HERE) const {
        const int source = lane() ^ static_cast<int>(mask);
        return exchange<plain<T>>(cuscope_mask(), value, source > first() + int{Size} - 1 ? lane() : source,
                                  {file, line, "thread_block_tile::shfl_xor"});
    }
    int any(int predicate, CUSCOPE_HERE) const {
        return details::ballot(cuscope_mask(), predicate != 0, {file, line, "thread_block_tile::any"}) != 0;
    }
    int all(int predicate, CUSCOPE_HERE) const {
        return details::ballot(cuscope_mask(), predicate == 0, {file, line, "thread_block_tile::all"}) == 0;
    }
    unsigned ballot(int predicate, CUSCOPE_HERE) const {
        return details::ballot(cuscope_mask(), predicate != 0, {file, line, "thread_block_tile::ballot"}) >>
               first();
    }
    template <class T>
    unsigned match_any(T value, CUSCOPE_HERE) const {
        const Site site{file, line, "thread_block_tile::match_any"};
        return static_cast<unsigned>(
                   rendezvous(WarpKind::match_any, cuscope_mask(), bits_of(value), 0, nullptr, &site)) >>
               first();
    }
    template <class T>
    unsigned match_all(T value, int& predicate, CUSCOPE_HERE) const {
        const Site site{file, line, "thread_block_tile::match_all"};
        return static_cast<unsigned>(
                   rendezvous(WarpKind::match_all, cuscope_mask(), bits_of(value), 0, &predicate, &site)) >>
               first();
    }

  protected:
    Tile() : thread_group(Kind::lanes, cuscope_mask(), 1u << 16) {}
    static int first() { return lane() & -int{Size}; }
};

template <unsigned Size>
class Tile<Size, false> : public thread_group {
  public:
    static void sync(CUSCOPE_HERE) { gathered(nullptr, {file, line, "thread_block_tile::sync"}); }
    template <class T>
    plain<T> shfl(T&& value, unsigned rank, CUSCOPE_HERE) const {
        const plain<T> own = value;
        const Site site{file, line, "thread_block_tile::shfl"};
        const Gathered all = gathered(&own, site);
        const plain<T> result = all.template at<plain<T>>(rank & (Size - 1));
        all.done();
        return result;
    }
    int any(int predicate, CUSCOPE_HERE) const {
        return votes(predicate, {file, line, "thread_block_tile::any"}) != 0;
    }
    int all(int predicate, CUSCOPE_HERE) const {
        return votes(!predicate, {file, line, "thread_block_tile::all"}) == 0;
    }
    static Gathered gathered(const void* value, const Site& site) {
        return Gathered::of(cuscope_fiber->linear_thread & ~(Size - 1), Size, value, site);
    }

  protected:
    Tile() : thread_group(Kind::tile, cuscope_fiber->linear_thread & ~(Size - 1), Size) {}

  private:
    static unsigned votes(int predicate, const Site& site) {
        const Gathered all = gathered(&predicate, site);
        unsigned count = 0;
        const unsigned first = cuscope_fiber->linear_thread & ~(Size - 1),
                       rest = cuscope_fiber->thread_count - first;
        for (unsigned i = 0; i < Size && i < rest; ++i) count += all.template at<int>(i) != 0;
        all.done();
        return count;
    }
};

template <unsigned Size>
class SizedTile : public Tile<Size> {
  public:
    static_assert(is_power_of_two<Size> && Size <= 1024,
                  "a tile has a power of two of threads, 1024 at most");
    static constexpr unsigned cuscope_size = Size;
    static constexpr unsigned num_threads() { return Size; }
    static constexpr unsigned size() { return Size; }
    static unsigned thread_rank() { return cuscope_fiber->linear_thread & (Size - 1); }

  protected:
    SizedTile() = default;
};

}  // namespace details

template <unsigned Size, class Parent>
class thread_block_tile : public details::SizedTile<Size> {
  public:
    explicit thread_block_tile(const Parent&) {}
    static unsigned meta_group_rank() {
        return details::TileCount<Size, Parent>::rank(cuscope_fiber->linear_thread);
    }
    static unsigned meta_group_size() { return details::TileCount<Size, Parent>::count(); }
    operator thread_block_tile<Size, void>() const {
        return thread_block_tile<Size, void>(meta_group_rank(), meta_group_size());
    }
};

template <unsigned Size>
class thread_block_tile<Size, void> : public details::SizedTile<Size> {
  public:
    template <class Parent>
    thread_block_tile(const thread_block_tile<Size, Parent>& tile)
        : rank_(tile.meta_group_rank()), count_(tile.meta_group_size()) {}
    unsigned meta_group_rank() const { return rank_; }
    unsigned meta_group_size() const { return count_; }

  private:
    thread_block_tile(unsigned rank, unsigned count) : rank_(rank), count_(count) {}
    template <unsigned, class>
    friend class thread_block_tile;
    friend thread_block_tile<1, void> this_thread();

    unsigned rank_, count_;
};

inline thread_block_tile<1, void> this_thread() { return {0, 1}; }

inline unsigned long long thread_group::num_threads() const {
    switch (kind_) {
        case details::Kind::lanes:
            return static_cast<unsigned>(__builtin_popcount(a_));
        case details::Kind::tile:
            return b_;
        case details::Kind::block:
            return thread_block::num_threads();
        case details::Kind::cluster:
            return cluster_group::num_threads();
        case details::Kind::grid:
            return grid_group::num_threads();
    }
    return 0;
}
inline unsigned long long thread_group::thread_rank() const {
    switch (kind_) {
        case details::Kind::lanes:
            return details::lanes_below(a_);
        case details::Kind::tile:
            return cuscope_fiber->linear_thread - a_;
        case details::Kind::block:
            return thread_block::thread_rank();
        case details::Kind::cluster:
            return cluster_group::thread_rank();
        case details::Kind::grid:
            return grid_group::thread_rank();
    }
    return 0;
}
inline void thread_group::sync(const char* file, int line) const {
    const details::Site site{file, line, "thread_group::sync"};
    switch (kind_) {
        case details::Kind::lanes:
            details::rendezvous(details::WarpKind::sync, a_, 0, 0, nullptr, &site);
            break;
        case details::Kind::tile:
            details::Gathered::of(a_, b_, nullptr, site);
            break;
        case details::Kind::block:
            thread_block::sync(file, line);
            break;
        case details::Kind::cluster:
            cluster_group::sync(file, line);
            break;
        case details::Kind::grid:
            this_grid().sync(file, line);
            break;
    }
}

template <class Group>
inline void sync(const Group& group, CUSCOPE_HERE) {
    group.sync(file, line);
}
template <class Group>
inline auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
    return group.thread_rank();
}
template <class Group>
inline auto group_size(const Group& group) -> decltype(group.num_threads()) {
    return group.num_threads();
}

// The first thread of the group calls the function; with _broadcast, all threads get its result.
template <class Group, class Function, class... Arguments>
inline void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
    if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
inline auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments)
    -> decltype(function(static_cast<Arguments&&>(arguments)...)) {
    details::plain<decltype(function(static_cast<Arguments&&>(arguments)...))> result{};
    if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
    return group.shfl(result, 0);
}

}  // namespace cooperative_groups
