// The order in which kernels multiply the bytes of integers (to_planes).
#pragma once

// The passes over k, in their order: plane `a` of A times plane `level - a` of B.
struct Pass {
    int level, a = 0;

    __device__ bool last_of_level() const { return a == level; }
    __device__ void next() {
        if (last_of_level())
            --level, a = 0;
        else
            ++a;
    }
};
