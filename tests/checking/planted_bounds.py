"""Accesses beyond arrays and variables, and reads of memory that was never written."""

from __future__ import annotations

from typing import Any

import numpy as np
from planted import MISALIGNED, NEVER, OUT, Planted, floats, ints, unwritten

import cuscope as cs


def freed() -> tuple[int]:
    array = ints(64)
    address = array.pointer
    del array
    cs.synchronize()
    return (address,)


def of_numpy() -> tuple[int]:
    of_numpy.kept = np.zeros(64, np.int32)  # type: ignore[attr-defined]
    return (of_numpy.kept.ctypes.data,)  # type: ignore[attr-defined]


def mapped() -> Any:
    mapped.kept = cs.pinned_empty(100, np.float32, mapped=True)  # type: ignore[attr-defined]
    return cs.device_view(mapped.kept)  # type: ignore[attr-defined]


def rows() -> np.void:
    rows.kept = ints(40)  # type: ignore[attr-defined]
    structure = np.zeros((), np.dtype([("rows", np.int64, 12), ("n", np.int32, 12)]))
    structure["rows"], structure["n"] = rows.kept.pointer, 40  # type: ignore[attr-defined]
    return structure[()]


def table_of_pointers() -> tuple[cs.DeviceArray]:
    table_of_pointers.kept = ints(32)  # type: ignore[attr-defined]
    return (cs.to_device(np.array([table_of_pointers.kept.pointer], np.int64)),)  # type: ignore[attr-defined]


TABLE = [
    Planted("behind", OUT, """
__global__ void behind(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    RIGHT(if (i < n)) x[i] = i;  // here
}""", lambda: (ints(40), 40), grid=2, says="argument 'x' (int32, shape (40,), 160 bytes, made in "),
    Planted("one_behind", OUT, """
__global__ void one_behind(const float* x, float* y, int n) {
    int i = threadIdx.x;
    y[i] = x[i];
    if (i == n - 1) y[i] = x[i RIGHT(- 1) WRONG(+ 1)];  // here
}""", lambda: (floats(128), floats(128), 128), block=128, says="element 128 of the argument 'x'"),
    Planted("before", OUT, """
__global__ void before(int* x) {
    int i = threadIdx.x;
    int left = RIGHT(i == 0 ? 0 :) i - 1;
    atomicAdd(&x[left], 1);  // here
}""", lambda: (ints(64),), says="4 bytes before its beginning"),
    Planted("far_behind", OUT, """
__global__ void far_behind(double* x, int n) {
    x[threadIdx.x RIGHT(% n) WRONG(+ 1000)] = 1;  // here
}""", lambda: (cs.zeros(32, np.float64), 32)),
    Planted("wrong_stride", OUT, """
__global__ void wrong_stride(float* x, int rows, int columns) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        for (int r = 0; r < rows; ++r) x[r * RIGHT(columns) WRONG(64) + c] = 0;  // here
}""", lambda: (floats(8 * 33), 8, 33)),
    Planted("inclusive_loop", OUT, """
__global__ void inclusive_loop(const int* x, int* y, int n) {
    int s = 0;
    for (int i = 0; i RIGHT(<) WRONG(<=) n; ++i) s += x[i];  // here
    if (threadIdx.x == 0) y[0] = s;
}""", lambda: (ints(50), ints(1), 50)),
    Planted("wide_end", OUT, """
__global__ void wide_end(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i >= n RIGHT(/ 4) WRONG(/ 4 + 1)) return;
    const float4 v = reinterpret_cast<const float4*>(x)[i];  // here
    y[i] = v.x + v.y + v.z + v.w;
}""", lambda: (floats(30), floats(32), 30)),
    Planted("used_after_free", OUT, """
__global__ void used_after_free(long long address) {
    RIGHT(if (false)) reinterpret_cast<int*>(address)[threadIdx.x] = 1;  // here
}""", freed, says="freed in "),
    Planted("host_address", OUT, """
__global__ void host_address(long long address) {
    RIGHT(if (false)) reinterpret_cast<int*>(address)[threadIdx.x] = 1;  // here
}""", of_numpy, says="copy the array to the device"),
    Planted("local_array", OUT, """
__global__ void local_array(int* x, int n) {
    int a[8];
    for (int i = 0; i < 8; ++i) a[i] = i;
    x[threadIdx.x] = a[n RIGHT(- 1)];  // here
}""", lambda: (ints(32), 8), says="index 8 of an array of type 'int"),
    Planted("local_rows", OUT, """
__global__ void local_rows(int* x, int n) {
    int a[4][4];
    for (int i = 0; i < 16; ++i) a[i / 4][i % 4] = i;
    x[threadIdx.x] = a[1][n RIGHT(- 1)];  // here
}""", lambda: (ints(32), 4)),
    Planted("shared_array", OUT, """
__global__ void shared_array(int* x) {
    __shared__ int s[32];
    RIGHT(if (threadIdx.x < 32)) s[threadIdx.x] = 1;  // here
    __syncthreads();
    x[threadIdx.x] = s[0];
}""", lambda: (ints(33),), block=33, says="index 32"),
    Planted("shared_neighbour", OUT, """
__global__ void shared_neighbour(int* x) {
    __shared__ int first[32], second[32];
    first[threadIdx.x] = 1; second[threadIdx.x] = 2;
    __syncthreads();
    x[threadIdx.x] = first[threadIdx.x RIGHT(+ 0) WRONG(+ 1)] + second[0];  // here
}""", lambda: (ints(32),)),
    Planted("dynamic_shared", OUT, """
__global__ void dynamic_shared(int* x) {
    extern __shared__ int s[];
    RIGHT(if (threadIdx.x < 16)) s[threadIdx.x] = 1;  // here
    __syncthreads();
    x[threadIdx.x] = s[0];
}""", lambda: (ints(17),), block=17, shared=64, says="dynamic shared memory"),
    Planted("device_variable", OUT, """
__device__ int numbers[16];
__global__ void device_variable(int k) {
    numbers[threadIdx.x + k RIGHT(- 1)] = 1;  // here
}""", lambda: (1,), block=16),
    Planted("other_array", OUT, """
__global__ void other_array(const long long* table, int* x, int k) {
    int* other = reinterpret_cast<int*>(table[0]);
    other[threadIdx.x] = 1;
    x[threadIdx.x RIGHT(- 32) + k] = 1;  // here
}""", lambda: (*table_of_pointers(), ints(32), 32)),
    Planted("count_of_bytes", OUT, """
__global__ void count_of_bytes(unsigned char* x, int n) {
    for (int i = threadIdx.x; i < n RIGHT(/ 4); i += blockDim.x) x[i] = 1;  // here
}""", lambda: (cs.zeros(100, np.uint8), 400)),
    Planted("copied", OUT, """
__global__ void copied(const int* x, int* y, int n) {
    memcpy(y, x, n RIGHT(* 4) WRONG(* 5));  // here
}""", lambda: (ints(40), ints(50), 40), block=1, says="reads 200 bytes from element 0 of the argument 'x'"),
    Planted("moved", OUT, """
__global__ void moved(int* x, int n) {
    memcpy(x + n / 2 WRONG(+ 1), x, n / 2 * 4);  // here
}""", lambda: (ints(40), 40), block=1, says="4 of these bytes lie behind its end"),
    Planted("set", OUT, """
__global__ void set(int* x, int n) {
    memset(x, 0, n RIGHT(* 4) WRONG(* 8));  // here
}""", lambda: (ints(40), 40), block=1, says="160 of these bytes lie behind its end"),
    Planted("structure_argument", OUT, """
struct Rows { int* rows[12]; int n[12]; };
__global__ void structure_argument(Rows all) {
    Rows mine = all;
    for (int i = 0; i < 12; ++i) mine.rows[i][mine.n[i] RIGHT(- 1)] = i;  // here
}""", lambda: (rows(),), block=1, says="element 40 of the argument 'all'"),
    Planted("structure_copy", OUT, """
struct Particle { float place[3], speed[3]; int kind; };
__global__ void structure_copy(const Particle* x, Particle* y, int n) {
    int i = threadIdx.x;
    RIGHT(if (i < n)) y[i] = x[i];  // here
}""", lambda: (cs.zeros(28 * 8, np.uint8), cs.zeros(28 * 32, np.uint8), 8), says="argument 'x'"),
    Planted("empty_array", NEVER, """
__global__ void empty_array(const int* x, int* y) {
    RIGHT(y[threadIdx.x] = 0;) WRONG(y[threadIdx.x] = x[threadIdx.x];)  // here
}""", lambda: (unwritten(32), unwritten(32)), says="cs.zeros"),
    Planted("accumulated", NEVER, """
__global__ void accumulated(int* y) {
    y[threadIdx.x] RIGHT(=) WRONG(+=) 1;  // here
}""", lambda: (unwritten(32),)),
    Planted("counter", NEVER, """
__global__ void counter(int* y) {
    RIGHT(if (threadIdx.x == 0) y[0] = 0; __syncthreads();)
    atomicAdd(y, 1);  // here
}""", lambda: (unwritten(1),)),
    Planted("last_row", NEVER, """
__global__ void last_row(int* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = i;
    y[n + 1] = y[n RIGHT(- 1)];  // here
}""", lambda: (unwritten(10), 5), block=1),
    Planted("shared_unwritten", NEVER, """
__global__ void shared_unwritten(int* x) {
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    RIGHT(s[threadIdx.x + 32] = 2;)
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];  // here
}""", lambda: (ints(32),), says="'s' (256 bytes)"),
    Planted("dynamic_unwritten", NEVER, """
__global__ void dynamic_unwritten(float* x) {
    extern __shared__ float t[];
    RIGHT(t[threadIdx.x] = 0;)
    t[threadIdx.x] += 1;  // here
    x[threadIdx.x] = t[threadIdx.x];
}""", lambda: (floats(32),), shared=128),
    Planted("shared_of_last_block", NEVER, """
__global__ void shared_of_last_block(int* x) {
    __shared__ int total;
    if (threadIdx.x == 0 RIGHT(|| true) WRONG(&& blockIdx.x == 0)) RIGHT(if (threadIdx.x == 0)) total = 5;
    __syncthreads();
    x[blockIdx.x * 32 + threadIdx.x] = total;  // here
}""", lambda: (ints(64),), grid=2),
    Planted("half_written", NEVER, """
__global__ void half_written(int* x, int* y, int n) {
    memset(x, 0, n RIGHT(* 4));
    y[0] = x[n - 1];  // here
}""", lambda: (unwritten(32), ints(1), 32), block=1, says="element 31 of the argument 'x'"),
    Planted("halo", NEVER, """
__global__ void halo(const int* x, int* y, int n) {
    __shared__ int s[34];
    int t = threadIdx.x;
    s[t + 1] = x[t];
    RIGHT(if (t == 0) { s[0] = 0; s[33] = 0; }) WRONG(if (t == 0) s[0] = 0;)
    __syncthreads();
    y[t] = s[t] + s[t + 1] + s[t + 2];  // here
}""", lambda: (ints(32), ints(32), 32), says="byte 132 of the __shared__ variable 's'"),
    Planted("three_of_four", NEVER, """
__global__ void three_of_four(float* x, float* y) {
    for (int i = 0; i < RIGHT(4) WRONG(3); ++i) x[4 * threadIdx.x + i] = i;
    const float4 v = reinterpret_cast<float4*>(x)[threadIdx.x];  // here
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}""", lambda: (cs.empty(128, np.float32), floats(32))),
    Planted("best_of_nothing", NEVER, """
__global__ void best_of_nothing(const int* x, int* best) {
    RIGHT(if (threadIdx.x == 0) *best = 0; __syncthreads();)
    atomicMax(best, x[threadIdx.x]);  // here
}""", lambda: (ints(32), unwritten(1)), says="argument 'best'"),
    Planted("null_pointer", OUT, """
__global__ void null_pointer(int* x, int* y) {
    y[threadIdx.x] = 1;
    RIGHT(if (x != nullptr)) x[threadIdx.x] = 1;  // here
}""", lambda: (None, ints(32)), says="null"),
    Planted("product_of_indices", OUT, """
__global__ void product_of_indices(int* x, int n) {
    RIGHT(long long) WRONG(int) i = RIGHT((long long))n * threadIdx.x;
    if (i < 64) x[i] = 1;  // here
}""", lambda: (ints(64), 1 << 28)),
    Planted("bin_of_the_largest", OUT, """
__global__ void bin_of_the_largest(const int* x, int* out) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[x[threadIdx.x] / RIGHT(17) WRONG(15)], 1);  // here
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}""", lambda: (ints(32, 256), ints(16))),
    Planted("two_arrays_in_dynamic_shared", OUT, """
__global__ void two_arrays_in_dynamic_shared(float* x) {
    extern __shared__ float room[];
    float* first = room;
    double* second = reinterpret_cast<double*>(room + 32);
    first[threadIdx.x] = 1;
    RIGHT(if (threadIdx.x < 16)) second[threadIdx.x] = 2;  // here
    __syncthreads();
    x[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x / 2];
}""", lambda: (floats(32),), shared=256, says="256 bytes of dynamic shared memory"),
    Planted("row_of_a_tile", OUT, """
__global__ void row_of_a_tile(int* x) {
    __shared__ int tile[4][8];
    tile[threadIdx.y][threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.y][RIGHT((threadIdx.x + 1) % 8) WRONG(threadIdx.x + 1)];  // here
}""", lambda: (ints(32),), block=(8, 4), says="index 8"),
    Planted("negative_index", OUT, """
__global__ void negative_index(int* x) {
    int last[4] = {1, 2, 3, 4};
    int k = threadIdx.x - 1;
    x[threadIdx.x] = last[k RIGHT(& 3)];  // here
}""", lambda: (ints(4),), block=4, says="index -1"),
    Planted("array_of_a_structure", OUT, """
struct Point { float at[3]; float weight; };
__global__ void array_of_a_structure(Point* points, float* x, int dimensions) {
    Point point = points[threadIdx.x];
    float s = 0;
    for (int i = 0; i < dimensions RIGHT(- 1); ++i) s += point.at[i];  // here
    x[threadIdx.x] = s * point.weight;
}""", lambda: (cs.zeros(32 * 16, np.uint8), floats(32), 4), says="index 3"),
    Planted("mapped_memory", OUT, """
__global__ void mapped_memory(float* x, int n) {
    if (threadIdx.x RIGHT(<) WRONG(<=) n) x[threadIdx.x] = 1;  // here
}""", lambda: (mapped(), 100), block=128),
    Planted("swapped_sizes", OUT, """
__global__ void swapped_sizes(int* x, int width, int height) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < RIGHT(width) WRONG(height) && r < RIGHT(height) WRONG(width)) x[r * width + c] = 1;  // here
}""", lambda: (cs.zeros((5, 20), np.int32), 20, 5), grid=(4, 4), block=(8, 8)),
    Planted("misaligned", MISALIGNED, """
__global__ void misaligned(float* x) {
    const float4* v = reinterpret_cast<float4*>(x RIGHT(+ 4) WRONG(+ 1));
    x[threadIdx.x] = v->x + v->y + v->z + v->w;  // here
}""", lambda: (floats(16),), block=1, says="multiple of"),
    Planted("int_at_an_odd_byte", MISALIGNED, """
__global__ void int_at_an_odd_byte(const unsigned char* bytes, int* x) {
    x[threadIdx.x] = *reinterpret_cast<const int*>(bytes + threadIdx.x * RIGHT(4) WRONG(5));  // here
}""", lambda: (cs.zeros(160, np.uint8), ints(32)), says="thread (1,0,0)"),
    Planted("double_behind_a_float", MISALIGNED, """
__global__ void double_behind_a_float(float* x) {
    *reinterpret_cast<double*>(x + RIGHT(2) WRONG(1) + 2 * threadIdx.x) = 1;  // here
}""", lambda: (floats(80),)),
    Planted("short_in_shared_bytes", MISALIGNED, """
__global__ void short_in_shared_bytes(int* x) {
    __shared__ alignas(16) unsigned char bytes[80];
    short* s = reinterpret_cast<short*>(bytes RIGHT(+ 2) WRONG(+ 3));
    s[threadIdx.x] = 1;  // here
    x[threadIdx.x] = s[threadIdx.x];
}""", lambda: (ints(32),)),
    Planted("pair_of_a_row", MISALIGNED, """
__global__ void pair_of_a_row(float* x, int width) {
    const float2* v = reinterpret_cast<float2*>(x + threadIdx.y * RIGHT(8) WRONG(width));
    x[threadIdx.y * 8] = v->x + v->y;  // here
}""", lambda: (floats(64), 7), block=(1, 4)),
]  # fmt: skip
