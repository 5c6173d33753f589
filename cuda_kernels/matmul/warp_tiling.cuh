// The shapes of 08_warp_tiles: a block's tile of C, the parts of it that warps and threads compute, and the
// slabs.
#pragma once

#include "packs.cuh"

// A warp is 4 x 8 threads.
__host__ __device__ constexpr int warp_tiles_threads(int block_m, int block_n, int thread_m, int thread_n) {
    return block_m / (4 * thread_m) * (block_n / (8 * thread_n)) * 32;
}

// 256 threads with 128 sums each fill the registers of a multiprocessor. It holds two blocks of 128 threads.
__host__ __device__ constexpr int warp_tiles_blocks(int threads) { return threads >= 256 ? 1 : 2; }

// With AlongK, B is stored transposed.
template <class T, int BlockM, int BlockN, int BlockK, int ThreadM, int ThreadN, int Stages, int Width,
          bool AlongK = false>
struct WarpTiling {
    static constexpr bool along_k = AlongK;
    static constexpr int pack = Pack<T>::size;
    // A thread's packs of rows, and of columns, are a warp's width apart. In a step of k, a 16-byte load of A
    // then reads 4 neighbouring packs in a warp, and a load of B reads 8. No two of them are in the same
    // bank.
    static constexpr int lanes_m = 4, lanes_n = 8;
    static constexpr int warp_m = lanes_m * ThreadM, warp_n = lanes_n * ThreadN;
    static constexpr int warps_n = BlockN / warp_n;
    static constexpr int threads = warp_tiles_threads(BlockM, BlockN, ThreadM, ThreadN);

    // A is transposed: [k][row], and each row of it is a pack longer. Threads copy it element by element, in
    // a warp 8 steps of k times 4 rows: whole sectors of global memory, and 32 different banks.
    static constexpr int a_stride = BlockM + pack;
    static constexpr int a_rows = threads / 8;        // rows that the block copies at once
    static constexpr int a_places = BlockM / a_rows;  // copies of one thread for 8 steps of k
    // B is not transposed, and is copied `Width` elements at a time. With AlongK, it is copied like A.
    static constexpr int b_stride = BlockN + (AlongK ? pack : 0);
    static constexpr int b_across = AlongK ? 8 : BlockN / Width;  // copies for a row of the slab
    static constexpr int b_rows = threads / b_across;             // rows that the block copies at once
    static constexpr int b_places = (AlongK ? BlockN : BlockK) / b_rows;

    static constexpr int a_elements = BlockK * a_stride, b_elements = BlockK * b_stride;
    static constexpr int stage = a_elements + b_elements;
    static constexpr int shared_bytes = Stages * stage * static_cast<int>(sizeof(T));

    static_assert(BlockM % warp_m == 0 && BlockN % warp_n == 0 && ThreadM % pack == 0 && ThreadN % pack == 0);
    static_assert(BlockK % 8 == 0 && BlockM % a_rows == 0 && threads % b_across == 0 &&
                  (AlongK ? BlockN : BlockK) % b_rows == 0);
    static_assert(Stages >= 2 && (Width == 1 || Width == pack));
};
