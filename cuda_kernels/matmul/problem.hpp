// The arguments of every rung. Plain C++, included by the kernels and by the code that launches them.
#pragma once

// C (m x n) = A (m x k) times B (k x n), all in row-major order. Distances are in elements: from one row to
// the next, and from one matrix of a batch (blockIdx.z) to the next. A batch distance of 0 uses the same
// matrix again. m, n and k are from 1 to 2^31 - 1024, so that a tile past the end still has int coordinates.
//
// a_column is the distance from one column of A to the next. Of the rungs only few_rows reads it; for the
// others it is 1. Rungs 08, 09 and few_rows also write a C whose columns are c_column apart.
//
// With k_batch, the matrices of a batch are parts of the k of one A and one B, whose tensor maps hold all of
// k: matrix i takes the k steps from i * k_batch on. Past the end of the maps, the steps are zeros, so the
// last part may be shorter. Only kernels with tensor maps take such parts.
struct Problem {
    int m, n, k;
    long long a_row, b_row, c_row;
    long long a_batch, b_batch, c_batch;
    long long k_batch = 0;
    long long a_column = 1, c_column = 1;
};
