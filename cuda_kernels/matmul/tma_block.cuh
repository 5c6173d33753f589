// The parts of a block that works with TMA on tiles of C: the room for slabs of A and B in shared memory,
// which one thread fills and two warpgroups multiply, the order of the tiles, and the way of a tile to C.
#pragma once

#include "mma_stores.cuh"
#include "problem.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

constexpr int multiplying_warps = 8, rows = 128, row_bytes = 128;
constexpr int copying_warpgroup = 2, tma_threads = 384;
constexpr int shared_limit = 227 << 10;

template <class Out, int BlockN, int Stages>
struct TmaTiling {
    // The slabs: 128 bytes along k, for each row of A and each column of B.
    static constexpr int a_bytes = rows * row_bytes, b_bytes = BlockN * row_bytes;
    static constexpr int stage_bytes = a_bytes + b_bytes;
    // A tile of C leaves in boxes of 16 rows and 128 bytes, from the boxes that its warp has in shared
    // memory.
    static constexpr int box_columns = row_bytes / sizeof(Out), box_bytes = 16 * row_bytes;
    static constexpr int all_boxes = BlockN / box_columns;
    static constexpr int barrier_bytes = 2 * Stages * sizeof(Barrier);
    static constexpr int room =
        (shared_limit - Stages * stage_bytes - barrier_bytes) / (multiplying_warps * box_bytes);
    static constexpr int boxes = room >= all_boxes ? all_boxes : room / 2 * 2;
    static constexpr int boxes_at_once = boxes == all_boxes ? boxes : boxes / 2;
    static constexpr int boxes_from = Stages * stage_bytes;
    static constexpr int barriers_from = boxes_from + multiplying_warps * boxes * box_bytes;
    static constexpr int shared_bytes = barriers_from + barrier_bytes;
};

// The tiles of C, in the order in which clusters take them: down columns of `group` clusters, so that the
// clusters that run together share rows of A and columns of B in the second-level cache.
struct TileOrder {
    unsigned down, across, group, count;

    __device__ TileOrder(const Problem& p, int batch, int group, int rows_of_cluster, int columns)
        : down((p.m + rows_of_cluster - 1) / rows_of_cluster),
          across((p.n + columns - 1) / columns),
          group(group),
          count(down * across * batch) {}

    struct Place {
        unsigned row, column, matrix;  // of clusters of tiles, tiles, the batch
    };
    __device__ Place place(unsigned index) const {
        const unsigned matrix = index / (down * across), tile = index % (down * across);
        const unsigned at = tile / (group * across), inside = tile % (group * across);
        const unsigned height = min(group, down - at * group);
        return {at * group + inside % height, inside / height, matrix};
    }
};

// The stage that a thread uses next, and the parity of the phase in which it is filled.
template <int Stages>
struct Turn {
    int stage = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void next() {
        if (++stage == Stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

template <class Out, int BlockN, int Stages, int Cluster>
struct TmaBlock {
    using Tiling = TmaTiling<Out, BlockN, Stages>;
    static constexpr int block_n = BlockN, stage_count = Stages, cluster = Cluster;

    const Problem& p;
    TileOrder order;
    char* stages;
    Barrier *full, *empty;
    int rank;  // of the block in its cluster

    // Copies a part of the slab of B to all blocks of the cluster.
    static __device__ void copy_share(char* to, const TensorMap& b, int x, int y, int matrix,
                                      Barrier& arrived) {
        if constexpr (Cluster > 1)
            load_box(to, b, x, y, matrix, arrived, static_cast<unsigned short>((1 << Cluster) - 1));
        else
            load_box(to, b, x, y, matrix, arrived);
    }

    // The warp has read the stage. Its blocks copy into it when all warps of all blocks have.
    __device__ void release(int stage) const {
        __syncwarp();
        const int at = threadIdx.x % 32;
        if constexpr (Cluster > 1) {
            if (at < Cluster) empty[stage].arrive_at(at);
        } else {
            if (at == 0) empty[stage].arrive();
        }
    }

    // Stores the 16 rows of the tile that this warp has, by way of shared memory. The chunks of 16 bytes in a
    // row of a box are permuted as in the slabs.
    template <class Sum>
    __device__ __forceinline__ void store_tile(const TensorMap& c_map, Out* c, const TileOrder::Place& place,
                                               const Sum (&sums)[BlockN / 2]) const {
        constexpr int pack = 16 / sizeof(Out), all = Tiling::all_boxes, at_once = Tiling::boxes_at_once;
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int row = (place.row * Cluster + rank) * rows + warp * 16, column = place.column * BlockN;
        const bool by_tma =
            reinterpret_cast<unsigned long long>(c) % 16 == 0 && p.c_row % pack == 0 && p.c_batch % pack == 0;
        char* const boxes = stages + Tiling::boxes_from + warp * Tiling::boxes * Tiling::box_bytes;
        char* const line = boxes + lane / 4 * row_bytes;
        const int y = lane / 4 % 8, x = lane % 4 * 2 * sizeof(Out);
#pragma unroll
        for (int box = 0; box < all; box += at_once) {
            char* const first = line + box % Tiling::boxes * Tiling::box_bytes;
            // The stores that read these boxes were issued before the latest group, or are the latest.
            if (lane == 0) wait_until_read<Tiling::boxes / at_once - 1>();
            __syncwarp();
#pragma unroll
            for (int j = 0; j < at_once * Tiling::box_columns / 8; ++j) {
                const int at = j % (Tiling::box_columns / 8) * 8 * static_cast<int>(sizeof(Out)) + x;
                char* const to = first + j / (Tiling::box_columns / 8) * Tiling::box_bytes +
                                 ((at / 16 ^ y) * 16 + at % 16);
                const Sum* const from = sums + 4 * (box * Tiling::box_columns / 8 + j);
                store_pair(reinterpret_cast<Out*>(to), from[0], from[1]);
                store_pair(reinterpret_cast<Out*>(to + 8 * row_bytes), from[2], from[3]);
            }
            if (by_tma) {
                show_to_tensor_cores();
                __syncwarp();
                if (lane == 0) {
#pragma unroll
                    for (int j = 0; j < at_once; ++j)
                        store_box(c_map, column + (box + j) * Tiling::box_columns, row, place.matrix,
                                  boxes + (box % Tiling::boxes + j) * Tiling::box_bytes);
                    commit_stores();
                }
            } else {
                __syncwarp();
                Out* const to = c + place.matrix * p.c_batch;
                for (int j = 0; j < at_once; ++j)
                    store_elements(to, row, column + (box + j) * Tiling::box_columns,
                                   boxes + (box % Tiling::boxes + j) * Tiling::box_bytes);
            }
        }
    }

    // Stores a box of C whose rows TMA does not take.
    __device__ void store_elements(Out* c, int row, int column, const char* box) const {
        const int lane = threadIdx.x % 32;
        for (int y = 0; y < 16 && row + y < p.m; ++y) {
            for (int x = lane; x < Tiling::box_columns && column + x < p.n; x += 32) {
                const int at = x * static_cast<int>(sizeof(Out));
                c[(row + y) * p.c_row + column + x] =
                    *reinterpret_cast<const Out*>(box + y * row_bytes + ((at / 16 ^ y % 8) * 16 + at % 16));
            }
        }
    }
};

// Runs a block of a kernel. Product is a TmaBlock with a function that copies, for one thread, and a function
// that multiplies, for the multiplying warpgroups.
template <class Product, class Out>
__device__ __forceinline__ void run_block(const TensorMap& a, const TensorMap& b, const TensorMap& c_map,
                                          Out* c, const Problem& p, int batch, int group) {
    constexpr int cluster = Product::cluster, stages = Product::stage_count;
    extern __shared__ __align__(1024) char shared[];
    auto* const full = reinterpret_cast<Barrier*>(shared + Product::Tiling::barriers_from);
    const Product product{{{p, TileOrder(p, batch, group, cluster * rows, Product::block_n), shared, full,
                            full + stages, static_cast<int>(blockIdx.x % cluster)}}};
    if (threadIdx.x == 0) {
        let_next_kernel_begin();
        for (int i = 0; i < stages; ++i) {
            product.full[i].init(1);
            product.empty[i].init(multiplying_warps * cluster);
        }
        show_barriers();
    }
    if constexpr (cluster > 1)
        wait_for_cluster();
    else
        __syncthreads();
    if (threadIdx.x / 128 == copying_warpgroup) {
        give_registers<24>();
        if (threadIdx.x % 128 == 0) product.copy(a, b);
    } else {
        take_registers<240>();
        product.multiply(c_map, c);
    }
    // A block must be there as long as another copies into it or arrives at its barriers.
    if constexpr (cluster > 1) {
        __syncwarp();
        wait_for_cluster();
    }
}
