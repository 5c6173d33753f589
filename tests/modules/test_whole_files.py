"""Whole .cu files as modules: main, launches and other host code are left out, as nvcc does for the device."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

WHOLE = """
#include <cuda_runtime.h>
#include <stdio.h>
#include <iostream>
#include <vector>
#include <chrono>

#define CHECK(call) do { cudaError_t e = call; if (e != cudaSuccess) { fprintf(stderr, "%s", cudaGetErrorString(e)); exit(1); } } while (0)
#define TILE 16
using namespace std;

const int N = 1 << 10;
float *h_a, *h_b;
cudaStream_t streams[4];
std::vector<float> values;
typedef unsigned int counter;

struct Timer {
    cudaEvent_t start, stop;
    Timer() { cudaEventCreate(&start); cudaEventCreate(&stop); }
    ~Timer() { cudaEventDestroy(start); }
    float elapsed() { float ms; cudaEventElapsedTime(&ms, start, stop); return ms; }
};

class Managed {
public:
    void* operator new(size_t size) { void* p; cudaMallocManaged(&p, size); return p; }
    void operator delete(void* p) { cudaFree(p); }
};

struct Element : public Managed {
    float value;
    __host__ __device__ float twice() const { return 2 * value; }
    std::vector<int> history();
};

struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };

template <typename T, int width> __global__ void scale(T* p, T factor, int n) {
    int i = blockIdx.x * width + threadIdx.x;
    if (i < n) p[i] *= factor;
}
template <typename Op> __global__ void fold(float* p, Op op) { p[0] = op(p[0], p[1]); }
template <int n> __global__ void unlaunched(int* p) { *p = n; }

__global__ void twice(Element* e, float* result, counter n) {
    if (threadIdx.x < n) result[threadIdx.x] = e[threadIdx.x].twice() + N;
}

static void fill(float* p, int n) {
    for (int i = 0; i < n; ++i) p[i] = rand() / (float)RAND_MAX;
}

template <typename T> void run(T* p) {
    scale<T, 64><<<1, 64>>>(p, 2, 64);
    CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
    float* d;
    const int block = 2 * TILE;
    CHECK(cudaMalloc(&d, N * sizeof(float)));
    fill(h_a, N);
    dim3 grid(N / block);
    scale<float, block><<<grid, block>>>(d, 2.0f, N);
    scale<double, TILE * TILE><<<grid, block>>>(nullptr, 2.0, N);
    fold<Sum><<<1, 1>>>(d, Sum());
    twice<<<1, 32>>>(nullptr, d, 3);
    Timer timer;
    run(d);
    std::cout << "done in " << timer.elapsed() << std::endl;
    return 0;
}
"""


def test_whole_file_is_a_module_of_its_kernels(device):
    assert set(module(device, WHOLE).kernels) == {
        "twice",
        "scale<float, 32>",
        "scale<double, 256>",
        "fold<Sum>",
    }


def test_kernel_of_a_whole_file_runs(device):
    values = cs.to_device(np.array([1, 2, 3], np.float32))
    result = cs.zeros(3)
    module(device, WHOLE).twice[1, 32](values, result, 3)

    assert result.to_host().tolist() == [1026, 1028, 1030]


def test_instance_that_main_launches_is_found_by_its_arguments(device):
    values = cs.to_device(np.arange(40, dtype=np.float32))
    module(device, WHOLE)["scale<float,32>"][2, 32](values, 2, 40)

    assert np.array_equal(values.to_host(), 2 * np.arange(40, dtype=np.float32))


def test_other_instances_are_named(device):
    mod = module(device, WHOLE, name_expressions=("unlaunched<7>", "scale<int, 64>"))
    value = cs.zeros(1, np.int32)
    mod["unlaunched<7>"][1, 1](value)

    assert value.to_host()[0] == 7
    assert "scale<int, 64>" in mod.kernels


def test_instance_in_a_namespace_is_found(device):
    source = """
namespace math {
template <class T> __global__ void one(T* p) { *p = 1; }
void inside() { one<int><<<1, 1>>>(nullptr); }
}
int main() { math::one<float><<<1, 1>>>(nullptr); }"""

    assert set(module(device, source).kernels) == {"math::one<int>", "math::one<float>"}


def test_constants_of_the_launching_function_are_arguments(device):
    source = """
template <int M, int N, typename T> __global__ void put(T* p) { *p = M * 100 + N; }
void run(float* p) {
    const unsigned M = 8, N = 4 * (M - 2);
    if (p) { constexpr int M = 3; put<M, N, float><<<1, 1>>>(p); }
}"""

    assert module(device, source).kernels == ("put<3, 24, float>",)


def test_launch_that_depends_on_its_function_does_not_break_the_module(device):
    source = """
template <class T> __global__ void one(T* p) { *p = 1; }
template <class T> void run(T* p) { one<T><<<1, 1>>>(p); }
template <class T> struct Runner { static void run(T* p) { using U = T; one<U><<<1, 1>>>(p); } };
__global__ void two(int* p) { *p = 2; }
int main() { run<float>(nullptr); Runner<float>::run(nullptr); }"""

    assert module(device, source).kernels == ("two",)


def test_constant_that_is_defined_by_itself_does_not_spoil_the_module(device):
    # If the constant were replaced again and again, it would fill the memory.
    source = """
template <int n> __global__ void fill(int* p) { *p = n; }
__global__ void put(int* p) { *p = 5; }
int main() {
    const int n = n * n * n * n * n * n * n * n * n * n;
    fill<n><<<1, 1>>>(nullptr);
}"""

    assert module(device, source).kernels == ("put",)


def test_matrices_of_a_whole_file_are_multiplied_by_the_warp(device):
    source = """
#include <mma.h>
using namespace nvcuda;
__global__ void square(const half* a, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, a, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
int main() { square<<<1, 32>>>(nullptr, nullptr); }"""
    a = (np.arange(256).reshape(16, 16) % 7).astype(np.float16)
    result = cs.zeros((16, 16))
    module(device, source).square[1, 32](cs.to_device(a), result)

    assert np.array_equal(result.to_host(), a.astype(np.float32) @ a.astype(np.float32))


def test_threads_of_a_whole_file_meet_in_groups(device):
    source = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void reverse(int* p) {
    extern __shared__ int s[];
    cg::thread_block block = cg::this_thread_block();
    s[block.thread_rank()] = p[block.thread_rank()];
    block.sync();
    p[block.thread_rank()] = s[block.size() - 1 - block.thread_rank()];
}
int main() { reverse<<<1, 64, 256>>>(nullptr); }"""
    values = cs.to_device(np.arange(64, dtype=np.int32))
    module(device, source).reverse[1, 64, None, 256](values)

    assert values.to_host().tolist() == list(range(63, -1, -1))


def test_method_that_calls_a_method_of_the_host_is_left_out(device):
    source = """
class Text {
    int length;
    char* data;
public:
    Text(int n) : length(n), data(nullptr) { grow(n); }
    Text(const Text& other) : length(0), data(nullptr) { resize(other.length); }
    ~Text() { cudaFree(data); }
    void resize(int n) { grow(n); length = n; }
    __device__ int size() const { return length; }
private:
    void grow(int n) { cudaMallocManaged(&data, n); }
};
__global__ void measure(const Text* text, int* out) { *out = text->size(); }
int main() { Text text(3); measure<<<1, 1>>>(&text, nullptr); }"""
    text, out = cs.to_device(np.array([7, 0, 0, 0], np.int32)), cs.zeros(1, np.int32)
    module(device, source).measure[1, 1](text, out)

    assert out.to_host()[0] == 7


def test_functions_that_end_the_process_are_left_out_without_other_host_code(device):
    source = """
#include <cstdlib>
__global__ void put(int* p) { *p = 5; }
void check(int status) { if (status != 0) exit(1); }"""
    value = cs.zeros(1, np.int32)
    module(device, source).put[1, 1](value)

    assert value.to_host()[0] == 5


def test_file_of_host_functions_only_is_a_module_without_kernels(device):
    source = """
#include <cstdio>
#include <cstdlib>
FILE* opened(const char* name) {
    FILE* file = fopen(name, "r");
    if (file == nullptr) { printf("no %s\\n", name); exit(EXIT_FAILURE); }
    return file;
}"""

    assert module(device, source).kernels == ()


@pytest.mark.parametrize("kernel", ["", "__global__ void put(int* p) { *p = 5; }"])
def test_host_functions_may_call_functions_of_another_file(device, kernel):
    source = (
        "void find_force(int n, float* f);\nvoid settle(int n, float* f) { find_force(n, f); }\n" + kernel
    )

    assert module(device, source).kernels == (("put",) if kernel else ())


def test_rvalue_reference_of_a_kernel_is_refused(device):
    with pytest.raises(cs.CompileError, match="cannot have a parameter with rvalue reference type"):
        module(device, "__global__ void put(int&& n) { n = 5; }")


def test_messages_have_the_lines_of_the_file(device):
    source = """#include <vector>
int helper() {
    return std::vector<int>{1}[0];
}
__global__ void wrong(int* p) { *p = missing; }
int main() { wrong<<<1, 1>>>(nullptr); }
"""

    with pytest.raises(cs.CompileError) as caught:
        cs.Module(source, file_name="whole.cu", device=device)

    assert "missing" in caught.value.log
    assert any(f"whole.cu{mark}" in caught.value.log for mark in (":5", "(5)"))


def test_of_a_functions_two_forms_the_devices_is_taken(device):
    source = """
#include <math.h>
float clamped(float x);
static float clip(float x) { return x < 0 ? 0 : x; }
#ifdef __CUDA_ARCH__
__device__ float both(float x) { return x + 1; }
#else
float both(float x) { return x + 2; }
#endif
__global__ void put(float* p) { *p = both(1); }
int main() { float x = clip(both(1)); put<<<1, 1>>>(&x); }"""
    value = cs.zeros(1)
    module(device, source).put[1, 1](value)

    assert value.to_host()[0] == 2


def test_branches_of_the_preprocessor_may_each_open_a_function(device):
    source = """
#define FAST 1
__device__ int number() { return 3; }
#if FAST
void launch(int* p) {
#else
void launch(int* p, int n) {
#endif
    if (p) { }
}
__global__ void put(int* p) { *p = number(); }
int main() { put<<<1, 1>>>(nullptr); return 0; }"""
    value = cs.zeros(1, np.int32)
    module(device, source).put[1, 1](value)

    assert value.to_host()[0] == 3


def test_markers_in_macros_mark(device):
    source = """
#define HD __host__ __device__
#define DEVICE_INLINE __device__ inline
#define KERNEL extern "C" __global__
#define KERNEL_OF(type) __global__ void put_##type(type* p) { *p = number(); }
HD int one() { return 1; }
struct Two { HD Two() : n(2) {} HD int get() const { return n; } int n; };
DEVICE_INLINE int number() { return one() + Two().get(); }
KERNEL_OF(int)
KERNEL void put(int* p) { *p = number(); }
int main() { put<<<1, 1>>>(nullptr); }"""
    value = cs.zeros(1, np.int32)
    mod = module(device, source)
    mod.put[1, 1](value)

    assert value.to_host()[0] == 3
    assert set(mod.kernels) == {"put", "put_int"}


def test_constant_expressions_of_host_functions_are_kept(device):
    source = """
constexpr int square(int x) { return x * x; }
template <class T> constexpr T half(T x) { return x / 2; }
__global__ void put(int* p) { constexpr int n = square(4) + half(6); *p = n; }
int main() { put<<<1, 1>>>(nullptr); }"""
    value = cs.zeros(1, np.int32)
    module(device, source).put[1, 1](value)

    assert value.to_host()[0] == 19


def test_headers_of_the_folder_may_hold_host_code(device, tmp_path):
    (tmp_path / "common.h").write_text(
        """#pragma once
#include <iostream>
#define WIDTH 4
inline void check(cudaError_t error) { if (error != cudaSuccess) std::cerr << cudaGetErrorString(error); }
__device__ inline int twice(int x) { return 2 * x; }
struct Pair { int a, b; Pair(int n) { cudaMalloc((void**)&a, n); } int sum() { return a + b; } };
"""
    )
    path = tmp_path / "whole.cu"
    path.write_text(
        """#include "common.h"
__global__ void put(int* p) { *p = twice(WIDTH); }
int main() { put<<<1, 1>>>(nullptr); check(cudaDeviceSynchronize()); }
"""
    )
    value = cs.zeros(1, np.int32)
    cs.Module.from_file(path, device=device).put[1, 1](value)

    assert value.to_host()[0] == 8


def test_header_may_be_included_by_two_names(device, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "base.h").write_text(
        "#pragma once\nint host() { return 1; }\n__device__ inline int three() { return 3; }\n"
    )
    (folder / "more.h").write_text('#pragma once\n#include "base.h"\n')
    path = tmp_path / "whole.cu"
    path.write_text(
        """#include "parts/base.h"
#include "parts/more.h"
__global__ void put(int* p) { *p = three(); }
int main() { put<<<1, 1>>>(nullptr); return host(); }
"""
    )
    value = cs.zeros(1, np.int32)
    cs.Module.from_file(path, device=device).put[1, 1](value)

    assert value.to_host()[0] == 3


@pytest.mark.host_only("a GPU's device code may launch kernels, which NVRTC tells apart by itself")
def test_launch_in_device_code_is_refused(device):
    with pytest.raises(cs.CompileError, match="in device code"):
        cs.Module("__global__ void a() {} __global__ void b() { a<<<1, 1>>>(); }", device=device)
