// Matrix products on a simulated device, computed in the fastest way for the CPU.
#pragma once

#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"

namespace cuscope::ops {

// The function that multiplies matrices, for run_natively().
struct NativeProduct {
    // C lies in rows. A and B have any strides.
    struct Operands {
        const void *a, *b;
        void* c;
        Problem problem;        // as for the kernels
        int batch;              // the number of matrices
        std::int64_t b_column;  // the distance between neighbours in a row of B
    };

    static NativeProduct of(Type factors, Type product, std::int64_t b_column);
    unsigned blocks(const Problem& problem, int batch) const;

    void (*function)(const Operands&, unsigned block, unsigned blocks);
    bool shared;  // the work is divided into blocks; a BLAS has threads of its own
    std::int64_t b_column = 1;
};

}  // namespace cuscope::ops
