// Inclusive sums of an array in one pass: blocks take a number, and read the sums of the blocks before them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

enum : unsigned { EMPTY = 0, AGGREGATE = 1, PREFIX = 2 };

// Status and sum in one word, so that one read sees both.
union Descriptor {
    struct {
        unsigned status;
        int sum;
    };
    unsigned long long word;
};

template <int ITEMS>
__global__ void scan(const int* __restrict__ in, int* __restrict__ out, int n, unsigned long long* descriptors,
                     unsigned* ticket) {
    __shared__ int warp_sums[32];
    __shared__ unsigned tile_id;
    __shared__ int before;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);

    if (block.thread_rank() == 0)
        tile_id = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*ticket).fetch_add(1, cuda::memory_order_relaxed);
    block.sync();
    const int first = (tile_id * block.size() + block.thread_rank()) * ITEMS;

    int items[ITEMS], sum = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        sum += first + i < n ? in[first + i] : 0;
        items[i] = sum;
    }
    int prefix = sum;
    for (unsigned d = 1; d < warp.size(); d *= 2) {
        const int other = warp.shfl_up(prefix, d);
        if (warp.thread_rank() >= d) prefix += other;
    }
    if (warp.thread_rank() == warp.size() - 1) warp_sums[warp.meta_group_rank()] = prefix;
    block.sync();
    int of_warps = 0;
    for (unsigned w = 0; w < warp.meta_group_size(); ++w) of_warps += w < warp.meta_group_rank() ? warp_sums[w] : 0;
    prefix += of_warps - sum;  // without this thread's own

    if (block.thread_rank() == block.size() - 1) {
        using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
        Descriptor own;
        own.status = tile_id == 0 ? PREFIX : AGGREGATE;
        own.sum = prefix + sum;
        Word(descriptors[tile_id]).store(own.word, cuda::memory_order_release);
        int total = 0;
        for (int look = (int)tile_id - 1; look >= 0; --look) {
            Descriptor seen;
            do {
                seen.word = Word(descriptors[look]).load(cuda::memory_order_acquire);
            } while (seen.status == EMPTY);
            total += seen.sum;
            if (seen.status == PREFIX) break;
        }
        before = total;
        own.status = PREFIX;
        own.sum += total;
        Word(descriptors[tile_id]).store(own.word, cuda::memory_order_release);
    }
    block.sync();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
        if (first + i < n) out[first + i] = before + prefix + items[i];
}

// The sum of each segment of `length`, by tiles of that size.
template <unsigned length>
__global__ void segment_sums(const int* in, int* out) {
    auto tile = cg::tiled_partition<length>(cg::this_thread_block());
    const int i = cg::this_grid().thread_rank();
    const int sum = cg::reduce(tile, in[i], cg::plus<int>());
    if (tile.thread_rank() == 0) out[i / length] = sum;
}
