// The order in which kernels multiply numbers in parts: bytes of integers (to_planes), parts of floats
// (to_parts).
#pragma once

// The passes over k, in their order: part `a` of A times part `level - a` of B.
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
