// The slabs of A and B that a block multiplies at a time: 128 bytes along k. Matrices of elements of 2 bytes
// may be stored either way. wgmma takes others only if neighbours in memory are along k: B has to be stored
// transposed, and A not.
#pragma once

#include "tma_block.cuh"

constexpr int panel_columns = 64;  // elements
// A panel has 64 neighbours in memory; the slab of A is two panels if A is transposed.
constexpr int panel_bytes = 64 * row_bytes;

template <class T, class Out, int BlockN, int Stages, int Cluster, bool TransposedA, bool TransposedB>
struct TmaSlabs : TmaBlock<Out, BlockN, Stages, Cluster> {
    using Block = TmaBlock<Out, BlockN, Stages, Cluster>;
    using Tiling = typename Block::Tiling;
    using Block::copy_share, Block::rank;
    using Block::p, Block::order, Block::stages, Block::full, Block::empty, Block::release;
    static_assert(sizeof(T) == 2 || (!TransposedA && TransposedB), "neighbours in memory are along k");
    static constexpr int depth = row_bytes / sizeof(T);  // elements
    static constexpr int panels = BlockN / panel_columns;
    static constexpr bool whole_panels = panels % Cluster == 0;  // else a block copies half of each

    // Copies the slabs of a tile from step k of two matrices of the tensor maps.
    __device__ void copy_slabs(const TensorMap& a, int a_matrix, const TensorMap& b, int b_matrix,
                               const TileOrder::Place& place, int k, char* stage, Barrier& arrived) const {
        const int row = (place.row * Cluster + rank) * rows;
        if constexpr (TransposedA) {
            load_box(stage, a, row, k, a_matrix, arrived);
            load_box(stage + panel_bytes, a, row + panel_columns, k, a_matrix, arrived);
        } else {
            load_box(stage, a, k, row, a_matrix, arrived);
        }
        const int column = place.column * BlockN;
        char* const to = stage + Tiling::a_bytes;
        if constexpr (TransposedB) {
            constexpr int share = BlockN / Cluster;
            copy_share(to + rank * share * row_bytes, b, k, column + rank * share, b_matrix, arrived);
        } else if constexpr (whole_panels) {
            constexpr int share = panels / Cluster;
#pragma unroll
            for (int i = 0; i < share; ++i)
                copy_share(to + (rank * share + i) * panel_bytes, b,
                           column + (rank * share + i) * panel_columns, k, b_matrix, arrived);
        } else {
            constexpr int share = depth / Cluster;
#pragma unroll
            for (int i = 0; i < panels; ++i)
                copy_share(to + i * panel_bytes + rank * share * row_bytes, b, column + i * panel_columns,
                           k + rank * share, b_matrix, arrived);
        }
    }

    // For one thread: copies the slabs of a pass over k, or over the part of k that the matrix of C has.
    __device__ __forceinline__ void copy_pass(const TensorMap& a, int a_matrix, const TensorMap& b,
                                              int b_matrix, const TileOrder::Place& place,
                                              Turn<Stages>& turn) const {
        const int first = static_cast<int>(place.matrix * p.k_batch);
        for (int k = 0; k < p.k; k += depth, turn.next()) {
            empty[turn.stage].wait(turn.parity ^ 1);
            full[turn.stage].arrive_and_expect(Tiling::stage_bytes);
            copy_slabs(a, a_matrix, b, b_matrix, place, first + k, stages + turn.stage * Tiling::stage_bytes,
                       full[turn.stage]);
        }
    }

    // For one thread: copies the slabs of all tiles, after the kernel before this one.
    __device__ void copy(const TensorMap& a, const TensorMap& b) const {
        wait_for_kernel_before();
        Turn<Stages> turn;
        for (unsigned i = blockIdx.x / Cluster; i < order.count; i += gridDim.x / Cluster) {
            const TileOrder::Place place = order.place(i);
            copy_pass(a, p.a_batch == 0 ? 0 : place.matrix, b, p.b_batch == 0 ? 0 : place.matrix, place,
                      turn);
        }
    }

    // Starts the products of the warpgroup's rows of A with B; they replace the sums if `adds` is false.
    template <class Sum>
    static __device__ __forceinline__ void multiply_slabs(Sum (&sums)[BlockN / 2], const char* stage,
                                                          bool adds) {
        // The first of the warpgroup's rows of A, and the distances from 32 bytes of k to the next.
        const int a_from = threadIdx.x / 128 * (TransposedA ? panel_bytes : 64 * row_bytes);
        constexpr int a_step = TransposedA ? 16 * row_bytes : 32, b_step = TransposedB ? 32 : 16 * row_bytes;
        fence_warpgroup();
#pragma unroll
        for (int j = 0; j < row_bytes / 32; ++j)
            multiply_add<TransposedA, !TransposedB>(
                T(), sums, matrix_at(stage + a_from + j * a_step, panel_bytes, 8 * row_bytes),
                matrix_at(stage + Tiling::a_bytes + j * b_step, panel_bytes, 8 * row_bytes), adds || j > 0);
        commit_products();
    }

    // Adds the sum of each `SlabsOfSum` of the next slabs to the totals, by the units for floats.
    template <int SlabsOfSum>
    __device__ __forceinline__ void add_slabs(float (&totals)[BlockN / 2], int slabs,
                                              Turn<Stages>& turn) const {
        float sums[BlockN / 2];
        for (int left = slabs; left > 0; left -= SlabsOfSum) {
            int previous = -1;
            for (int slab = 0; slab < min(left, SlabsOfSum); ++slab, turn.next()) {
                full[turn.stage].wait(turn.parity);
                multiply_slabs(sums, stages + turn.stage * Tiling::stage_bytes, slab > 0);
                wait_for_products<1>();
                if (previous >= 0) release(previous);
                previous = turn.stage;
            }
            wait_for_products<0>();
            add_sums(totals, sums, previous);
        }
    }

    // Adds sums, of which the products have been waited for. Then the stage may be filled again.
    __device__ __forceinline__ void add_sums(float (&totals)[BlockN / 2], float (&sums)[BlockN / 2],
                                             int stage) const {
#pragma unroll
        for (float& sum : sums) read_after_waiting(sum);
        release(stage);
#pragma unroll
        for (int j = 0; j < BlockN / 2; ++j) totals[j] += sums[j];
    }
};
