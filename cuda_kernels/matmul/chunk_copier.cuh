// Copies slabs of A and B to the places of MmaTiling, 16 bytes at a time.
#pragma once

#include "async_copy.cuh"
#include "mma_tiling.cuh"
#include "problem.cuh"

// Copies slabs of A and B, one after another, into stages.
template <class T, class Tiling, int BlockM>
struct ChunkCopier {
    const T* a_from[BlockM / Tiling::a_rows];
    const T* b_from;
    long long b_row;
    int a_k, k;   // the first step of k that this thread copies of A; steps left from the slab's start
    int b_bytes;  // bytes of a chunk of B inside the matrix
    int a_y, a_x, b_y, b_x;
    int a_left, b_left;  // rows of A, and columns of B that are stored as rows, from this thread's first on

    __device__ ChunkCopier(const T* a, const T* b, const Problem& p, Corner corner) : b_row(p.b_row), k(p.k) {
        const int t = threadIdx.x;
        a_y = t / Tiling::a_across, a_x = t % Tiling::a_across, a_k = a_x * Tiling::chunk;
        a_left = p.m - corner.row - a_y;
#pragma unroll
        for (int i = 0; i < BlockM / Tiling::a_rows; ++i)  // a row past the end is not read
            a_from[i] = a + min(corner.row + a_y + i * Tiling::a_rows, p.m - 1) * p.a_row + a_k;
        b_y = t / Tiling::b_across, b_x = t % Tiling::b_across;
        if constexpr (Tiling::along_k) {
            b_left = p.n - corner.column - b_y;
            b_from = b + min(corner.column + b_y, p.n - 1) * p.b_row + b_x * Tiling::chunk;
            return;
        }
        const int column = corner.column + b_x * Tiling::chunk;
        b_bytes = bytes_of(p.n - column);
        b_from = b + b_y * p.b_row + min(column, (p.n - 1) / Tiling::chunk * Tiling::chunk);
    }

    // Of a chunk, if so many elements are left.
    static __device__ int bytes_of(int left) {
        return max(0, min(left, Tiling::chunk)) * static_cast<int>(sizeof(T));
    }

    __device__ void copy(char* stage) {
        const int a_bytes = bytes_of(k - a_k);
#pragma unroll
        for (int i = 0; i < BlockM / Tiling::a_rows; ++i) {
            copy_async_part(stage + Tiling::a_offset(a_y + i * Tiling::a_rows, a_x), a_from[i],
                            i * Tiling::a_rows < a_left ? a_bytes : 0);
            a_from[i] += Tiling::depth;
        }
#pragma unroll
        for (int row = 0; row < Tiling::all_b_rows; row += Tiling::b_rows) {
            int bytes = 0;
            if constexpr (Tiling::along_k)
                bytes = row < b_left ? bytes_of(k - b_x * Tiling::chunk) : 0;
            else
                bytes = b_y + row < k ? b_bytes : 0;
            // Without bytes, nothing is read.
            copy_async_part(stage + Tiling::b_offset(b_y + row, b_x), b_from + row * b_row, bytes);
        }
        b_from += Tiling::along_k ? Tiling::depth : Tiling::depth * b_row;
        k -= Tiling::depth;
        commit_copies();
    }
};
