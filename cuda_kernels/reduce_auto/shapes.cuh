// The shapes of a reduction, as kernels over a policy (exchange.cuh): a whole contiguous array, with many or
// few elements, its rows, its columns. plan.hpp has the launch of each shape; sum.cu and the other .cu files
// have the instances.
#pragma once

#include "columns.cuh"
#include "few.cuh"
#include "rows.cuh"
#include "whole.cuh"

#define OFFER_SHAPES(...)                                                                                \
    template __global__ void few<__VA_ARGS__>(const void*, void*, long long, unsigned long long, int,    \
                                              double, void*);                                            \
    template __global__ void whole<__VA_ARGS__>(const void*, void*, long long, unsigned long long, int,  \
                                                double, void*);                                          \
    template __global__ void rows<__VA_ARGS__>(const void*, void*, long long, long long, long long,      \
                                               unsigned long long, int, double, int, int, void*);        \
    template __global__ void columns<__VA_ARGS__>(const void*, void*, long long, long long, long long,   \
                                                  long long, long long, unsigned long long, int, double, \
                                                  int, int, unsigned*, void*);
