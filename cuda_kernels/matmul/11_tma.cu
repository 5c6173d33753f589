// Rung 10 spends its warps on copies: 256 threads compute an address for every 16 bytes, and all of them meet
// at a barrier for every slab. The tensor cores wait when a block begins, when it ends, and while its tile of
// C is written. Every block reads all of its slabs itself.
// Here, one thread starts all copies of a block: the tensor memory accelerator (TMA) copies a whole slab for
// one instruction. It waits for barriers in shared memory that tell which stages are free, and the two
// warpgroups that multiply wait for barriers that tell which stages are full. They give and take registers,
// because the copying warpgroup needs few. Blocks stay for many tiles, so that the slabs of the next tile
// arrive while a tile of C is written. Two neighbouring blocks (a cluster) have the same columns of C: each
// copies half of their slab of B, for both.
//
// Needs: A, B at multiples of 16 bytes, with rows (and matrices of a batch) multiples of 16 bytes apart;
// compute capability 9.0, compiled for sm_90a.
#include "mma_stores.cuh"
#include "problem.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

constexpr int multiplying_warps = 8, rows = 128, depth = 64, row_bytes = 128, panel_columns = 64;
constexpr int copying_warpgroup = 2, tma_threads = 384;
constexpr int shared_limit = 227 << 10;

template <class Out, int BlockN, int Stages>
struct TmaTiling {
    // The slabs. A panel has 64 neighbours in memory; the slab of A is two panels if A is transposed.
    static constexpr int a_bytes = rows * row_bytes, b_bytes = BlockN * row_bytes;
    static constexpr int stage_bytes = a_bytes + b_bytes, panel_bytes = depth * row_bytes;
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

template <class Out, int BlockN, int Stages, int Cluster, bool TransposedA, bool TransposedB>
struct TmaProduct {
    using Tiling = TmaTiling<Out, BlockN, Stages>;
    static constexpr int panels = BlockN / panel_columns;
    static constexpr bool whole_panels = panels % Cluster == 0;  // else a block copies half of each

    const Problem& p;
    TileOrder order;
    char* stages;
    Barrier *full, *empty;
    int rank;  // of the block in its cluster

    __device__ void copy_slab(const TensorMap& a, const TensorMap& b, const TileOrder::Place& place, int k,
                              char* stage, Barrier& arrived) const {
        const int row = (place.row * Cluster + rank) * rows, a_matrix = p.a_batch == 0 ? 0 : place.matrix;
        if constexpr (TransposedA) {
            load_box(stage, a, row, k, a_matrix, arrived);
            load_box(stage + Tiling::panel_bytes, a, row + panel_columns, k, a_matrix, arrived);
        } else {
            load_box(stage, a, k, row, a_matrix, arrived);
        }
        const int column = place.column * BlockN, b_matrix = p.b_batch == 0 ? 0 : place.matrix;
        char* const to = stage + Tiling::a_bytes;
        if constexpr (TransposedB) {
            constexpr int share = BlockN / Cluster;
            copy_share(to + rank * share * row_bytes, b, k, column + rank * share, b_matrix, arrived);
        } else if constexpr (whole_panels) {
            constexpr int share = panels / Cluster;
#pragma unroll
            for (int i = 0; i < share; ++i)
                copy_share(to + (rank * share + i) * Tiling::panel_bytes, b,
                           column + (rank * share + i) * panel_columns, k, b_matrix, arrived);
        } else {
            constexpr int share = depth / Cluster;
#pragma unroll
            for (int i = 0; i < panels; ++i)
                copy_share(to + i * Tiling::panel_bytes + rank * share * row_bytes, b,
                           column + i * panel_columns, k + rank * share, b_matrix, arrived);
        }
    }

    // Copies a part of the slab of B to all blocks of the cluster.
    static __device__ void copy_share(char* to, const TensorMap& b, int x, int y, int matrix,
                                      Barrier& arrived) {
        if constexpr (Cluster > 1)
            load_box(to, b, x, y, matrix, arrived, static_cast<unsigned short>((1 << Cluster) - 1));
        else
            load_box(to, b, x, y, matrix, arrived);
    }

    // For one thread: copies the slabs of all tiles, after the kernel before this one.
    __device__ void copy(const TensorMap& a, const TensorMap& b) const {
        wait_for_kernel_before();
        Turn<Stages> turn;
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
            const TileOrder::Place place = order.place(i);
            for (int k = 0; k < p.k; k += depth, turn.next()) {
                empty[turn.stage].wait(turn.parity ^ 1);
                full[turn.stage].arrive_and_expect(Tiling::stage_bytes);
                copy_slab(a, b, place, k, stages + turn.stage * Tiling::stage_bytes, full[turn.stage]);
            }
        }
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

    template <class T>
    __device__ __forceinline__ void multiply(const TensorMap& c_map, Out* c) const {
        const int warpgroup = threadIdx.x / 128;
        // The first of the warpgroup's rows of A, and the distances from 16 steps of k to the next.
        const int a_from = warpgroup * (TransposedA ? Tiling::panel_bytes : 64 * row_bytes);
        constexpr int a_step = TransposedA ? 16 * row_bytes : 32, b_step = TransposedB ? 32 : 16 * row_bytes;
        Turn<Stages> turn;
        float sums[BlockN / 2];
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
            int previous = -1;
            for (int k = 0; k < p.k; k += depth, turn.next()) {
                full[turn.stage].wait(turn.parity);
                const char* const stage = stages + turn.stage * Tiling::stage_bytes;
                fence_warpgroup();
#pragma unroll
                for (int j = 0; j < depth / 16; ++j)
                    multiply_add<TransposedA, !TransposedB>(
                        T(), sums, matrix_at(stage + a_from + j * a_step, Tiling::panel_bytes, 8 * row_bytes),
                        matrix_at(stage + Tiling::a_bytes + j * b_step, Tiling::panel_bytes, 8 * row_bytes),
                        k > 0 || j > 0);
                commit_products();
                wait_for_products<1>();
                if (previous >= 0) release(previous);
                previous = turn.stage;
            }
            wait_for_products<0>();
#pragma unroll
            for (float& sum : sums) read_after_waiting(sum);
            release(previous);
            store_tile(c_map, c, order.place(i), sums);
        }
        if (threadIdx.x % 32 == 0) wait_for_stores();  // they read shared memory of this block
    }

    // Stores the 16 rows of the tile that this warp has, by way of shared memory. The chunks of 16 bytes in a
    // row of a box are permuted as in the slabs.
    __device__ __forceinline__ void store_tile(const TensorMap& c_map, Out* c, const TileOrder::Place& place,
                                               const float (&sums)[BlockN / 2]) const {
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
                const float* const from = sums + 4 * (box * Tiling::box_columns / 8 + j);
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

template <class T, class Out, int BlockN, int Stages, int Cluster, bool TransposedA, bool TransposedB>
__global__ void __launch_bounds__(tma_threads, 1) __cluster_dims__(Cluster, 1, 1)
    tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
        const __grid_constant__ TensorMap c_map, Out* c, const Problem p, int batch, int group) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__CUSCOPE_HOST__)
    __trap();
#else
    using Product = TmaProduct<Out, BlockN, Stages, Cluster, TransposedA, TransposedB>;
    using Tiling = typename Product::Tiling;
    extern __shared__ __align__(1024) char shared[];
    auto* const full = reinterpret_cast<Barrier*>(shared + Tiling::barriers_from);
    const Product product{p,
                          TileOrder(p, batch, group, Cluster * rows, BlockN),
                          shared,
                          full,
                          full + Stages,
                          static_cast<int>(blockIdx.x % Cluster)};
    if (threadIdx.x == 0) {
        let_next_kernel_begin();
        for (int i = 0; i < Stages; ++i) {
            product.full[i].init(1);
            product.empty[i].init(multiplying_warps * Cluster);
        }
        show_barriers();
    }
    if constexpr (Cluster > 1)
        wait_for_cluster();
    else
        __syncthreads();
    if (threadIdx.x / 128 == copying_warpgroup) {
        give_registers<24>();
        if (threadIdx.x % 128 == 0) product.copy(a, b);
    } else {
        take_registers<240>();
        product.template multiply<T>(c_map, c);
    }
    // A block must be there as long as another copies into it or arrives at its barriers.
    if constexpr (Cluster > 1) {
        __syncwarp();
        wait_for_cluster();
    }
#endif
}

#ifndef CUSCOPE_ONE_INSTANCE  // else the caller names the instance to compile
#define LAYOUT(T, Out, ...)                                                   \
    template __global__ void tma<T, Out, __VA_ARGS__>(                        \
        const __grid_constant__ TensorMap, const __grid_constant__ TensorMap, \
        const __grid_constant__ TensorMap, Out*, const Problem, int, int);
#define INSTANCE(...)                 \
    LAYOUT(__VA_ARGS__, false, false) \
    LAYOUT(__VA_ARGS__, false, true)  \
    LAYOUT(__VA_ARGS__, true, false)  \
    LAYOUT(__VA_ARGS__, true, true)
INSTANCE(__half, __half, 256, 4, 2)
INSTANCE(__half, __half, 256, 4, 1)
INSTANCE(__half, __half, 192, 4, 2)
INSTANCE(__half, __half, 192, 4, 1)
INSTANCE(__half, __half, 128, 6, 2)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 256, 4, 2)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 256, 4, 1)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 192, 4, 2)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 192, 4, 1)
INSTANCE(__nv_bfloat16, __nv_bfloat16, 128, 6, 2)
#endif
