// Shared by rungs 06 and 07: a block's 128 x 128 tile of C, loaded 16 bytes at a time; each thread multiplies
// 8 x 8 elements.
#pragma once

#include "arithmetic.cuh"
#include "packs.cuh"
#include "problem.cuh"

template <class T>
struct PackTiles {
    static constexpr int tile = 128;               // rows and columns of a block's part of C
    static constexpr int pack = Pack<T>::size;     // elements in 16 bytes
    static constexpr int depth = 2 * pack;         // extent of a slab of A and B along k
    static constexpr int apart = 16;               // threads along a side of the tile
    static constexpr int threads = apart * apart;  // each loads one pack of A and one of B
    static constexpr int packs = tile / apart / pack;
    static constexpr int a_stride = tile + pack;  // padding: the next step of k begins at another bank
    static_assert(tile * depth == threads * pack);

    // A is transposed, so that a thread reads 4 neighbours of a column of A at once, like 4 neighbours of a
    // row of B.
    struct alignas(16) Slab {
        T a[depth][a_stride];
        T b[depth][tile];
    };

    // The numbers that a thread has loaded from global memory and not yet stored to a slab.
    struct Carried {
        Pack<T> a, b;
    };

    __device__ static Carried load(const T* a, const T* b, const Problem& p, Corner corner, int first) {
        const int t = threadIdx.x;
        const int a_row = corner.row + t / 2, a_column = first + t % 2 * pack;
        const int b_row = first + t / (tile / pack), b_column = corner.column + t % (tile / pack) * pack;
        return {load_pack(a + a_row * p.a_row + a_column, a_row < p.m ? p.k - a_column : 0),
                load_pack(b + b_row * p.b_row + b_column, b_row < p.k ? p.n - b_column : 0)};
    }

    __device__ static void store(Slab& slab, const Carried& carried) {
        const int t = threadIdx.x;
#pragma unroll
        for (int i = 0; i < pack; ++i) slab.a[t % 2 * pack + i][t / 2] = carried.a.x[i];
        store_pack(&slab.b[t / (tile / pack)][t % (tile / pack) * pack], carried.b);
    }

    // A thread's rows and columns form packs that are 16 packs apart.
    T sums[packs * pack][packs * pack] = {};

    __device__ void multiply(const Slab& slab) {
        const int y = threadIdx.x / apart * pack, x = threadIdx.x % apart * pack;
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            Pack<T> from_a[packs], from_b[packs];
#pragma unroll
            for (int j = 0; j < packs; ++j) {
                from_a[j] = load_pack(&slab.a[i][y + apart * pack * j]);
                from_b[j] = load_pack(&slab.b[i][x + apart * pack * j]);
            }
#pragma unroll
            for (int r = 0; r < packs * pack; ++r)
#pragma unroll
                for (int s = 0; s < packs * pack; ++s)
                    multiply_add(sums[r][s], from_a[r / pack].x[r % pack], from_b[s / pack].x[s % pack]);
        }
    }

    __device__ void store_sums(T* c, const Problem& p, Corner corner) const {
        c += blockIdx.z * p.c_batch;
        const int y = threadIdx.x / apart * pack, x = threadIdx.x % apart * pack;
        const bool whole = in_packs(c, p.c_row);
#pragma unroll
        for (int r = 0; r < packs * pack; ++r) {
            const int row = corner.row + y + r / pack * apart * pack + r % pack;
            if (row >= p.m) continue;
#pragma unroll
            for (int s = 0; s < packs; ++s) {
                const int column = corner.column + x + apart * pack * s;
                T* to = c + row * p.c_row + column;
                Pack<T> sum;
#pragma unroll
                for (int i = 0; i < pack; ++i) sum.x[i] = sums[r][s * pack + i];
                if (whole && column + pack <= p.n) {
                    store_pack(to, sum);
                } else {
#pragma unroll
                    for (int i = 0; i < pack; ++i)
                        if (column + i < p.n) to[i] = sum.x[i];
                }
            }
        }
    }
};
