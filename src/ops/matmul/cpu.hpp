// Matrix products on a simulated device, computed in the fastest way for the CPU.
#pragma once

#include "cuda_kernels/matmul/problem.hpp"
#include "ops/array.hpp"

namespace cuscope::ops {

// The function that multiplies matrices of one type, for run_natively().
struct NativeProduct {
    struct Operands {
        const void *a, *b;
        void* c;
        Problem problem;  // as for the kernels
        int batch;        // the number of matrices
        Type type;
    };

    static NativeProduct of(Type type);
    unsigned blocks(const Problem& problem, int batch) const;

    void (*function)(const Operands&, unsigned block, unsigned blocks);
    bool shared;  // the work is divided into blocks; a BLAS has threads of its own
};

}  // namespace cuscope::ops
