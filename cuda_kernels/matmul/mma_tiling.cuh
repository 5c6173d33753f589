// The shapes of a block of 09_tensor_cores, and the places of a slab's elements in shared memory.
#pragma once

#include "mma.cuh"

__host__ __device__ constexpr int tensor_cores_threads(int block_m, int block_n, int warp_m, int warp_n) {
    return block_m / warp_m * (block_n / warp_n) * 32;
}

// With AlongK, B is stored transposed: neighbours in memory are along k, as in A. Its slab then has a row for
// each column of B.
template <class T, int BlockM, int BlockN, int WarpM, int WarpN, int Stages, bool AlongK = false>
struct MmaTiling {
    using Part = typename Mma<T>::Part;
    static constexpr int chunk = 16 / sizeof(T);   // elements of one copy
    static constexpr int depth = 128 / sizeof(T);  // extent of a slab along k
    static constexpr int step = 32 / sizeof(T);    // extent of one mma along k
    static constexpr int warps_n = BlockN / WarpN;
    static constexpr int threads = tensor_cores_threads(BlockM, BlockN, WarpM, WarpN);

    static constexpr bool along_k = AlongK;
    static constexpr int a_across = 8, b_across = AlongK ? 8 : BlockN / chunk;  // chunks in a row of a slab
    static constexpr int a_rows = threads / a_across;  // rows that the block copies at once
    static constexpr int b_rows = threads / b_across, all_b_rows = AlongK ? BlockN : depth;
    static constexpr int a_bytes = BlockM * 128, b_bytes = depth * BlockN * static_cast<int>(sizeof(T));
    static constexpr int stage_bytes = a_bytes + b_bytes;
    static constexpr int shared_bytes = Stages * stage_bytes;
    static_assert(BlockM % a_rows == 0 && all_b_rows % b_rows == 0 && threads % b_across == 0 &&
                  b_across % 8 == 0);
    static_assert(BlockM % WarpM == 0 && BlockN % WarpN == 0 && WarpM % 16 == 0 && WarpN % 16 == 0);

    // A row of a slab spans all banks at least once, so the chunks of one column would all be in the same
    // four banks. Therefore the chunks of a row are permuted: their index is xor-ed with a number that
    // differs among the eight rows (float and double: four) that are read together.
    __device__ static int a_offset(int row, int x) {
        const int swap = sizeof(T) == 8 ? row % 4 * 2 : row % 8;
        return (row * a_across + (x ^ swap)) * 16;
    }
    // `row`: the step of k; with AlongK, the column.
    __device__ static int b_offset(int row, int x) {
        if constexpr (AlongK) return a_bytes + a_offset(row, x);
        const int k = row;
        int swap = k % 8;
        if constexpr (sizeof(T) == 1) swap = k % 2 + k / 4 % 4 * 2;
        if constexpr (sizeof(T) >= 4) swap = k % 4 * 2;
        return a_bytes + (k * b_across + (x ^ swap)) * 16;
    }

    // Loads the 16 x `step` part of A at a row and chunk x, for one mma.
    __device__ static void load_a(Part (&a)[Mma<T>::a_parts], const char* stage, int row, int x) {
        const int lane = threadIdx.x % 32;
        if constexpr (sizeof(T) == 8) {
            for (int i = 0; i < 2; ++i)
                a[i] = element(stage + a_offset(row + lane / 4 + i * 8, x + lane % 4 / 2), lane % 2);
        } else {
            load_matrices(a, stage + a_offset(row + lane % 16, x + lane / 16));
            if constexpr (sizeof(T) == 4)
                for (unsigned& bits : a) bits = to_tf32(bits);
        }
    }

    // Loads the `step` x 16 part of B at k and a column, for two mma. pair_at tells the columns of each.
    __device__ static void load_b(Part (&b)[2][Mma<T>::b_parts], const char* stage, int k, int column) {
        const int lane = threadIdx.x % 32, x = column / chunk;
        if constexpr (AlongK && sizeof(T) == 8) {
            for (int j = 0; j < 2; ++j)
                b[j][0] =
                    element(stage + b_offset(column + j * 8 + lane / 4, k / chunk + lane % 4 / 2), lane % 2);
        } else if constexpr (AlongK) {
            // Eight columns of 16 bytes make a matrix: both halves of the step for one mma, then for the
            // other.
            unsigned m[4];
            load_matrices(m, stage + b_offset(column + lane / 16 * 8 + lane % 8, k / chunk + lane / 8 % 2));
            for (int i = 0; i < 4; ++i) b[i / 2][i % 2] = sizeof(T) == 4 ? to_tf32(m[i]) : m[i];
        } else if constexpr (sizeof(T) == 2) {
            unsigned m[4];
            load_matrices_transposed(m, stage + b_offset(k + lane % 16, x + lane / 16));
            for (int i = 0; i < 4; ++i) b[i / 2][i % 2] = m[i];
        } else if constexpr (sizeof(T) == 1) {
            // ldmatrix cannot transpose bytes. Transposed in pairs, a lane has columns 2g and 2g + 1 of two
            // steps of k; with two matrices of the right rows, of four consecutive steps. One mma takes the
            // even columns, the other the odd ones.
            const int i = lane % 8, row = lane / 16 * 16 + i / 2 * 4 + lane / 8 % 2 * 2 + i % 2;
            unsigned m[4];
            load_matrices_transposed(m, stage + b_offset(k + row, x));
            for (int j = 0; j < 2; ++j) {
                b[0][j] = __byte_perm(m[2 * j], m[2 * j + 1], 0x6420);
                b[1][j] = __byte_perm(m[2 * j], m[2 * j + 1], 0x7531);
            }
        } else {
            for (int j = 0; j < 2; ++j)
                for (int i = 0; i < Mma<T>::b_parts; ++i) {
                    const int n = column + j * 8 + lane / 4;
                    b[j][i] = element(stage + b_offset(k + i * 4 + lane % 4, n / chunk), n % chunk);
                    if constexpr (sizeof(T) == 4) b[j][i] = to_tf32(b[j][i]);
                }
        }
    }

    // Two mma compute 16 columns of C. Of these, a lane has two pairs of neighbours in a row (`lower` by 0 or
    // 8 rows). Pair j starts at column pair_at(j).
    __device__ static int pair_at(int j) {
        return in_turns ? threadIdx.x % 4 * 4 + j * 2 : threadIdx.x % 4 * 2 + j * 8;
    }
    template <class Sum>
    __device__ static Sum pair_sum(const Sum (&sums)[2][4], int lower, int j, int i) {
        return in_turns ? sums[i][lower * 2 + j] : sums[j][lower * 2 + i];
    }

  private:
    // Do the two mma take columns in turns, instead of eight neighbours each?
    static constexpr bool in_turns = sizeof(T) == 1 && !AlongK;

    __device__ static Part element(const char* chunk_at, int i) {
        return reinterpret_cast<const Part*>(chunk_at)[i];
    }
};
