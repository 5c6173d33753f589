// Blocks, tiles, coalesced groups, their collectives, and groups that are passed on.
// launch blocks 2 6,5,2
// launch tiles 1 96
// launch coalesced 1 64
// launch reductions 1 64
// launch scans 1 64
// launch passed_on 1 64
// launch large_tiles 1 256
// launch partitions 1 64
// launch copies 1 64 1024
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)
namespace cg = cooperative_groups;

__global__ void blocks(unsigned* failures) {
    cg::thread_block block = cg::this_thread_block();
    __shared__ int seen[60];
    CHECK(block.size() == 60 && block.num_threads() == 60);
    CHECK(block.thread_rank() == (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
    CHECK(block.group_index().x == blockIdx.x && block.thread_index().y == threadIdx.y);
    CHECK(block.dim_threads().x == 6 && block.group_dim().z == 2);
    seen[block.thread_rank()] = block.thread_rank();
    block.sync();
    CHECK(seen[59 - block.thread_rank()] == 59 - (int)block.thread_rank());
    cg::sync(block);
    seen[block.thread_rank()] = 2;
    auto token = block.barrier_arrive();
    block.barrier_wait(static_cast<decltype(token)&&>(token));
    CHECK(seen[(block.thread_rank() + 7) % 60] == 2);
    cg::grid_group grid = cg::this_grid();
    CHECK(grid.size() == 120 && grid.thread_rank() == blockIdx.x * 60 + block.thread_rank());
    CHECK(grid.num_blocks() == 2 && grid.block_rank() == blockIdx.x && grid.dim_blocks().x == 2);
    CHECK(cg::this_thread().size() == 1 && cg::this_thread().thread_rank() == 0);
}

struct Triple {
    double a;
    int b;
    short c;
};

__global__ void tiles(unsigned* failures) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8, cg::thread_block_tile<32>> tile = cg::tiled_partition<8>(warp);
    auto four = cg::tiled_partition<4>(block);
    const int lane = threadIdx.x % 32, in_tile = lane % 8, first = threadIdx.x - in_tile, v = threadIdx.x;
    CHECK(warp.thread_rank() == lane && warp.size() == 32 && warp.meta_group_rank() == threadIdx.x / 32);
    CHECK(warp.meta_group_size() == 3 && tile.meta_group_size() == 4 && tile.meta_group_rank() == lane / 8);
    CHECK(four.meta_group_size() == 24 && four.meta_group_rank() == threadIdx.x / 4);
    CHECK(tile.num_threads() == 8 && tile.thread_rank() == in_tile);
    CHECK(tile.shfl(v, 3) == first + 3 && tile.shfl(v, 11) == first + 3);
    CHECK(tile.shfl_up(v, 2) == (in_tile >= 2 ? v - 2 : v) && tile.shfl_down(v, 3) == (in_tile < 5 ? v + 3 : v));
    CHECK(tile.shfl_xor(v, 5) == (v ^ 5));
    CHECK(tile.any(in_tile == 7) && !tile.any(0) && tile.all(1) && !tile.all(in_tile));
    CHECK(tile.ballot(in_tile & 1) == 0xaa && tile.match_any(in_tile / 2) == 3u << in_tile / 2 * 2);
    int all;
    CHECK(tile.match_all(first, all) == 0xff && all && tile.match_all(v, all) == 0 && !all);
    Triple mine = {0.5 * v, v, (short)-v};
    Triple other = warp.shfl_down(mine, 1);
    if (lane < 31) CHECK(other.a == 0.5 * (v + 1) && other.b == v + 1 && other.c == -(v + 1));
    tile.sync();
    cg::sync(warp);
    float sum = v;
    for (int i = warp.size() / 2; i > 0; i /= 2) sum += warp.shfl_down(sum, i);
    if (warp.thread_rank() == 0) CHECK(sum == 32 * v + 496);
    if (warp.meta_group_rank() == 1) CHECK(warp.ballot(1) == 0xffffffffu);
}

__global__ void coalesced(unsigned* failures) {
    if (threadIdx.x % 3 == 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        const int rank = active.thread_rank(), lane = threadIdx.x % 32, base = threadIdx.x - lane;
        const int first = base == 0 ? 1 : 34;
        CHECK(active.size() == (base == 0 ? 11 : 10));
        CHECK((int)threadIdx.x == first + 3 * rank);
        CHECK(active.shfl((int)threadIdx.x, 4) == first + 12);
        CHECK(active.shfl_up(rank, 1) == (rank > 0 ? rank - 1 : 0));
        CHECK(active.shfl_down(rank, 1) == (rank + 1 < (int)active.size() ? rank + 1 : rank));
        CHECK(active.ballot(rank < 3) == 7u && active.any(rank == 5) && active.all(rank >= 0));
        CHECK(active.match_any(rank == 2) == (rank == 2 ? 4u : ((1u << active.size()) - 1) & ~4u));
        active.sync();
        CHECK(cg::reduce(active, rank, cg::plus<int>()) == (int)(active.size() * (active.size() - 1) / 2));
        CHECK(cg::reduce(active, 1.0, cg::plus<double>()) == active.size());
    }
}

struct Larger {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

__global__ void reductions(unsigned* failures) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto tile = cg::tiled_partition<8>(warp);
    const int lane = warp.thread_rank();
    CHECK(cg::reduce(warp, lane, cg::plus<int>()) == 496);
    CHECK(cg::reduce(warp, (unsigned)lane, cg::greater<unsigned>()) == 31);
    CHECK(cg::reduce(warp, lane - 5, cg::less<int>()) == -5);
    CHECK(cg::reduce(warp, 1u << lane, cg::bit_or<unsigned>()) == ~0u);
    CHECK(cg::reduce(tile, lane, cg::plus<int>()) == lane / 8 * 64 + 28);
    CHECK(cg::reduce(tile, 0.25f * lane, cg::plus<float>()) == 0.25f * (lane / 8 * 64 + 28));
    CHECK(cg::reduce(warp, 1LL << lane, cg::bit_xor<long long>()) == 0xffffffffLL);
    CHECK(cg::reduce(warp, (double)lane, cg::greater<double>()) == 31.0);
    CHECK(cg::reduce(warp, lane, Larger()) == 31);
    CHECK(cg::reduce(warp, lane, [](int a, int b) { return a < b ? a : b; }) == 0);
}

__global__ void scans(unsigned* failures) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto tile = cg::tiled_partition<16>(warp);
    const int lane = warp.thread_rank(), rank = tile.thread_rank();
    CHECK(cg::inclusive_scan(warp, lane) == lane * (lane + 1) / 2);
    CHECK(cg::exclusive_scan(warp, lane) == lane * (lane - 1) / 2);
    CHECK(cg::inclusive_scan(tile, 2, cg::plus<int>()) == 2 * (rank + 1));
    CHECK(cg::inclusive_scan(tile, rank % 5, cg::greater<int>()) == (rank < 5 ? rank : 4));
}

__device__ int sum_of(cg::thread_group group, int* memory, int value) {
    const int rank = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        memory[rank] = value;
        group.sync();
        if (rank < i) value += memory[rank + i];
        group.sync();
    }
    return value;
}

template <class Group>
__device__ int sum_in(const Group& group, int value) {
    for (int i = group.size() / 2; i > 0; i /= 2) value += group.shfl_xor(value, i);
    return value;
}

__global__ void passed_on(unsigned* failures) {
    __shared__ int memory[64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int sum = sum_of(block, memory, threadIdx.x);
    if (threadIdx.x == 0) CHECK(sum == 2016);
    sum = sum_of(tile, memory + threadIdx.x / 16 * 16, 1);
    if (tile.thread_rank() == 0) CHECK(sum == 16);
    cg::thread_group eight = cg::tiled_partition(block, 8);
    sum = sum_of(eight, memory + threadIdx.x / 8 * 8, 2);
    if (eight.thread_rank() == 0) CHECK(sum == 16);
    CHECK(eight.size() == 8 && eight.thread_rank() == threadIdx.x % 8);
    CHECK(sum_in(tile, 3) == 48);
    cg::thread_block_tile<16> plain = tile;
    CHECK(plain.meta_group_rank() == threadIdx.x / 16 && plain.meta_group_size() == 4);
}

__global__ void large_tiles(unsigned* failures) {
    __shared__ cg::block_tile_memory<256> memory;
    __shared__ int turn[2];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    const int rank = tile.thread_rank(), which = threadIdx.x / 128;
    CHECK(tile.size() == 128 && rank == (int)threadIdx.x % 128);
    CHECK((int)tile.meta_group_rank() == which && tile.meta_group_size() == 2);
    if (rank == 5) turn[which] = which + 10;
    tile.sync();
    CHECK(turn[which] == which + 10);
    CHECK(tile.shfl((int)threadIdx.x, 77) == which * 128 + 77);
    CHECK(tile.any(rank == 100) && !tile.any(0) && tile.all(rank < 128));
    CHECK(cg::reduce(tile, rank, cg::plus<int>()) == 127 * 64);
    CHECK(cg::reduce(tile, (double)rank, cg::greater<double>()) == 127.0);
}

__global__ void partitions(unsigned* failures) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int lane = warp.thread_rank();
    auto half = cg::binary_partition(warp, lane < 10);
    CHECK(half.size() == (lane < 10 ? 10 : 22) && (int)half.thread_rank() == (lane < 10 ? lane : lane - 10));
    auto label = cg::labeled_partition(warp, lane % 3);
    CHECK(label.size() == (lane % 3 == 2 ? 10 : 11) && (int)label.thread_rank() == lane / 3);
    auto active = cg::coalesced_threads();
    auto part = cg::tiled_partition(active, 8);
    CHECK(part.size() == 8 && (int)part.thread_rank() == lane % 8 && (int)part.meta_group_rank() == lane / 8);
}

__device__ int global_data[256];

__global__ void copies(unsigned* failures) {
    extern __shared__ int shared[];
    auto block = cg::this_thread_block();
    for (int i = threadIdx.x; i < 256; i += 64) global_data[i] = i * i;
    __threadfence();
    block.sync();
    cg::memcpy_async(block, shared, global_data, sizeof(int) * 256);
    cg::wait(block);
    for (int i = threadIdx.x; i < 256; i += 64) CHECK(shared[255 - i] == (255 - i) * (255 - i));
    block.sync();
    cg::memcpy_async(block, shared, 100, global_data + 3, 50);
    cg::wait_prior<0>(block);
    CHECK(threadIdx.x >= 50 || shared[threadIdx.x] == (int)((threadIdx.x + 3) * (threadIdx.x + 3)));
}
