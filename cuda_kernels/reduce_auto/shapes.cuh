// The shapes of a reduction, as kernels over a policy (exchange.cuh): a whole contiguous array, with many or
// few elements; its last axis; an axis before the last, with a kernel each for short slices, for few rows,
// for few columns, and for all others; elements that do not lie together. plan.hpp chooses among them and has
// the launch of each; sum.cu and the other .cu files have the instances.
#pragma once

#include "columns.cuh"
#include "few.cuh"
#include "narrow.cuh"
#include "rows.cuh"
#include "shallow.cuh"
#include "slices.cuh"
#include "strided.cuh"
#include "whole.cuh"

#define OFFER_AXIS(kernel, ...)                                                                              \
    template __global__ void kernel<__VA_ARGS__>(const void*, void*, long long, long long, long long,        \
                                                 long long, long long, unsigned long long, int, double, int, \
                                                 int, void*);
#define OFFER_SHAPES(...)                                                                               \
    template __global__ void few<__VA_ARGS__>(const void*, void*, long long, unsigned long long, int,   \
                                              double, void*);                                           \
    template __global__ void whole<__VA_ARGS__>(const void*, void*, long long, unsigned long long, int, \
                                                double, void*);                                         \
    template __global__ void rows<__VA_ARGS__>(const void*, void*, long long, long long, long long,     \
                                               unsigned long long, int, double, int, int, void*);       \
    OFFER_AXIS(columns, __VA_ARGS__)                                                                    \
    OFFER_AXIS(narrow, __VA_ARGS__)                                                                     \
    OFFER_AXIS(shallow, __VA_ARGS__)                                                                    \
    template __global__ void strided<__VA_ARGS__>(const void*, void*, long long, long long, long long,  \
                                                  long long, long long, long long, long long,           \
                                                  unsigned long long, int, double, int, int, void*);    \
    OFFER_AXIS(slices, __VA_ARGS__)
