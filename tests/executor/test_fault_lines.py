"""The message of a kernel's fault names the line of the user's source, the thread and the block."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.host_only("a GPU does not say which line of a kernel was at fault"),
    pytest.mark.subprocess,
]

# {statement} runs in the thread that fails: HERE marks the line that the message has to name.
KERNEL = """__device__ __noinline__ int apart(const int* p, long long i) {{
    return 1 +
        p[i];  // APART
}}
__device__ int inlined(const int* p, long long i) {{
    int one = 1;
    return p[i] + one;  // INLINED
}}
__global__ void f(int* x, long long far, long long no_code) {{
    if (blockIdx.x == 1 && threadIdx.x == 5)
        {statement};  // HERE
    __syncthreads();
    x[threadIdx.x] = 1;
}}
"""

COMPILERS = ["g++", "clang++"]


def line_of(source: str, mark: str) -> str:
    """The line with `mark`, as messages name it."""
    return f"kernel.cu:{1 + source[: source.index('// ' + mark)].count(chr(10))}"


def message_of(source: str, headers: Mapping[str, str] | None = None, shared: int = 0) -> str:
    """The message of the wait for a launch of `f`, on a device of its own, because the fault loses the device."""
    with cs.add_host_device("h200"):
        x = cs.zeros(256, np.int32)
        cs.Module(source, headers=headers or {}).f[3, 32, None, shared](x, 1 << 28, 0x1234)
        with pytest.raises(cs.CudaError) as caught:
            cs.synchronize()
    return str(caught.value)


@pytest.fixture(params=COMPILERS)
def compiler(request, monkeypatch) -> str:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    monkeypatch.setenv("CUSCOPE_CXX", request.param)
    return request.param


@pytest.mark.parametrize(
    ("statement", "mark"),
    [
        ("*(volatile int*)16 = 1", "HERE"),
        ("x[0] = x[far << 14]", "HERE"),
        ("x[0] = *(volatile char*)0x7123456789abcdefLL", "HERE"),
        ("x[0] = apart(x, far << 14)", "APART"),
        ("x[0] = inlined(x, far << 14)", "INLINED"),
        ("atomicAdd(x + (far << 14), 1)", "HERE"),
        ("x[0] = __ldg(x + (far << 14))", "HERE"),
        ("memcpy(x, (void*)64, (unsigned)far)", "HERE"),
        ("__builtin_trap()", "HERE"),
        ("__trap()", "HERE"),
        ("*(int*)((char*)x + 1) = 1", "HERE"),
        ("atomicAdd((int*)((char*)x + 1), 1)", "HERE"),
        ("((void (*)())no_code)()", "HERE"),
        ("free(x)", "HERE"),
    ],
    ids=[
        "null",
        "wild",
        "no-such-address",
        "function",
        "inlined",
        "atomic",
        "intrinsic",
        "memcpy",
        "illegal-instruction",
        "trap",
        "misaligned",
        "misaligned-atomic",
        "jump",
        "free",
    ],
)
def test_fault_names_thread_block_and_line(device, compiler, statement, mark):
    source = KERNEL.format(statement=statement)

    said = message_of(source)

    assert "block (1,0,0), thread (5,0,0)" in said
    assert f"in {line_of(source, mark)}" in said


@pytest.mark.usefixtures("times_from_counts")
@pytest.mark.parametrize("statement", ["atomicAdd(x + (far << 14), 1)", "atomicCAS(x + (far << 14), 1, 2)"])
def test_fault_of_an_atomic_function_names_its_line_in_a_launch_that_is_timed(device, compiler, statement):
    source = KERNEL.format(statement=statement)

    assert f"in {line_of(source, 'HERE')}" in message_of(source)


def test_assertion_names_the_line_once(device):
    source = KERNEL.format(statement="assert(x == nullptr)")

    assert message_of(source).count("kernel.cu:") == 1


@pytest.mark.parametrize("array", ["__shared__ int s[8]", "extern __shared__ int s[]", "int s[8]"])
def test_overrun_that_meets_a_guard_names_the_line(device, compiler, array):
    source = f"""__global__ void f(int* x, long long, long long) {{
        {array};
        if (blockIdx.x == 1 && threadIdx.x == 5)
            for (int i = 0; i < 200000; ++i)
                ((volatile int*)s)[i] = 1;  // HERE
        x[threadIdx.x] = s[1];
    }}"""

    said = message_of(source, shared=64)

    assert "block (1,0,0), thread (5,0,0)" in said
    assert f"in {line_of(source, 'HERE')}" in said


def test_shared_overrun_found_at_the_end_of_the_block_names_the_block(device):
    source = """
    __global__ void f(int* x, long long, long long) {  // HERE
        extern __shared__ int s[];
        if (blockIdx.x == 1) ((volatile int*)s)[16] = 1;
        x[threadIdx.x] = s[0];
    }"""

    said = message_of(source, shared=64)

    assert "block (1,0,0)" in said
    assert f"the kernel in {line_of(source, 'HERE')}" in said


@pytest.mark.parametrize("call", ["", "free(malloc(16));"], ids=["by-itself", "by-a-call"])
def test_full_stack_names_the_line_that_needed_more(device, compiler, call):
    # On one line, because the first access below the stack may be any access of the function.
    source = f"""
    __device__ __noinline__ int deep(int* x, int n) {{ volatile char a[64]; a[n % 64] = 1; {call} return deep(x, n + 1) + a[3]; }}  // HERE
    __global__ void f(int* x, long long, long long) {{
        if (blockIdx.x == 1 && threadIdx.x == 5) x[0] = deep(x, 1);
    }}"""

    said = message_of(source)

    assert said.startswith("cudaDeviceSynchronize: cudaErrorHardwareStackError")
    assert "block (1,0,0), thread (5,0,0)" in said
    assert f"in {line_of(source, 'HERE')}" in said


SMASHED = """
__device__ __noinline__ int g(int* x, int k) {
    int a[4] = {1, 2, 3, 4};
    for (int i = 0; i < k; ++i) ((volatile int*)a)[i] = i;
    return a[x[0] & 3];  // RETURN
}  // END
__global__ void f(int* x, long long, long long) {  // KERNEL
    int a[4] = {1, 2, 3, 4};
    if (blockIdx.x == 1 && threadIdx.x == 5) {
        IN_KERNEL
        x[1] = g(x, IN_FUNCTION);
    }
    x[threadIdx.x] = a[1];
}
"""


def test_overrun_of_a_function_names_the_line_where_the_function_ends(device, compiler):
    source = SMASHED.replace("IN_KERNEL", "").replace("IN_FUNCTION", "20")

    said = message_of(source)

    assert "block (1,0,0), thread (5,0,0)" in said
    if compiler == "clang++":  # clang++ does not know the line of the check at the end of a function
        assert f"the kernel in {line_of(source, 'KERNEL')}, or of a function" in said
    else:
        assert any(f"function that ends in {line_of(source, mark)}" in said for mark in ("RETURN", "END"))


def test_overrun_of_the_kernel_names_the_kernel(device):
    source = SMASHED.replace(
        "IN_KERNEL", "for (int i = 0; i < 24; ++i) ((volatile int*)a)[i] = 0x4141;"
    ).replace("IN_FUNCTION", "4")

    said = message_of(source)

    assert "block (1,0,0)" in said
    assert f"the kernel in {line_of(source, 'KERNEL')}" in said


def test_initialiser_that_fails_names_its_line(device, compiler):
    source = """int first() {
        return *(volatile int*)16;  // HERE
    }
    __device__ int d = first();
    __global__ void f(int* x) { x[0] = d; }"""

    with pytest.raises(cs.CudaError) as caught:
        cs.Module(source)

    assert f"in {line_of(source, 'HERE')}" in str(caught.value)


def test_line_of_a_users_header_is_named(device, compiler):
    header = "\n#pragma once\n__device__ int get(const int* x) {\n    return x[1LL << 42];\n}\n"

    said = message_of(
        KERNEL.format(statement="x[0] = get(x)").replace("__device__", '#include "mine.h"\n__device__', 1),
        {"mine.h": header},
    )

    assert "in mine.h:4" in said


def test_line_behind_headers_of_cuda_is_named(device, compiler):
    source = "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n" + KERNEL.format(
        statement="x[0] = x[far << 14]"
    )

    said = message_of(source)

    assert f"in {line_of(source, 'HERE')}" in said


@pytest.mark.usefixtures("times_from_counts")
def test_line_of_a_users_header_is_named_in_a_launch_that_is_timed(device, compiler):
    header = "__device__ int get(const int* x) {\n    return x[1LL << 42];\n}\n"

    said = message_of('#include "mine.h"\n' + KERNEL.format(statement="x[0] = get(x)"), {"mine.h": header})

    assert "in mine.h:2" in said


def test_line_of_a_header_that_cuscope_writes_is_not_named(device, compiler):
    source = KERNEL.format(statement="x[0] = thrust::plus<int>()(x[0], x[far << 14])")

    said = message_of("#include <thrust/functional.h>\n" + source)

    assert "block (1,0,0), thread (5,0,0)" in said
    assert "thrust" not in said


def test_line_is_named_where_the_image_comes_from_the_cache(device, compiler, monkeypatch, tmp_path):
    monkeypatch.setenv("CUSCOPE_CACHE_DIR", str(tmp_path))
    source = KERNEL.format(statement="x[0] = inlined(x, far << 14)")
    first = cs.Module(source)

    said = message_of(source)

    assert not first.cached
    assert cs.Module(source).cached
    assert f"in {line_of(source, 'INLINED')}" in said


def test_line_follows_a_line_directive_and_the_file_name(device):
    source = KERNEL.format(statement="*(volatile int*)16 = 1").replace(
        "__global__", '#line 70 "other.cu"\n__global__'
    )

    assert "in other.cu:72" in message_of(source)


@pytest.mark.parametrize("change", ["-g0", "-gdwarf-5 -g1"], ids=["none", "of-another-kind"])
def test_fault_in_an_image_without_readable_lines_names_block_and_thread(
    device, monkeypatch, tmp_path: Path, change
):
    wrapper = tmp_path / "compiler"
    wrapper.write_text(f'#!/bin/sh\ncase "$*" in *-gz=none*) set -- "$@" {change};; esac\nexec g++ "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CUSCOPE_CXX", str(wrapper))

    said = message_of(KERNEL.format(statement="*(volatile int*)16 = 1"))

    assert "block (1,0,0), thread (5,0,0): a write to the address 0x10, where there is no memory" in said
    assert "kernel.cu:" not in said


@pytest.mark.usefixtures("compiler")
def test_of_two_equal_long_kernels_each_has_its_own_lines():
    steps = "\n".join(f"    v = (v ^ {0x5BD1E995 + i}u) * 3 + (v >> 7);" for i in range(40))
    body = f"{{\n    unsigned v = threadIdx.x + 1;\n{steps}\n    x[1LL << 40] = v;\n}}\n"
    first = f"__global__ void first(unsigned* x) {body}"
    source = f"{first}__global__ void second(unsigned* x) {body}"

    for name, line in (("first", first.count("\n") - 1), ("second", source.count("\n") - 1)):
        with cs.add_host_device("h200"):
            cs.Module(source)[name][1, 1](cs.zeros(4, np.uint32))
            with pytest.raises(cs.CudaError, match=rf"kernel '{name}'.* in kernel.cu:{line}, "):
                cs.synchronize()


def test_two_compilations_give_the_same_image(device):
    images = [cs.Module(KERNEL.format(statement="x[0] = inlined(x, 1)"), cache=False).image for _ in range(2)]

    assert images[0] == images[1]
