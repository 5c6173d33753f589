"""Wrong kernels: none ends or hangs the process, or changes Python's memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from support import IS_CLANG

TOOL = Path(__file__).resolve().parents[2] / "tools" / "wrong_kernels.py"

pytestmark = [
    pytest.mark.host_only("a GPU keeps its kernels' mistakes from the process by itself"),
    # A sanitizer's own operator new replaces the kernels' operator.
    pytest.mark.subprocess,
]


def outcome_of(run_python, kernel: str, launch: str) -> str:
    """The error of the wait for a launch of `kernel`, or "no error"; `launch` may use m and x."""
    done = run_python(
        f"""
        import numpy as np
        import cuscope as cs
        m = cs.Module({kernel!r})
        x = cs.zeros(256, np.int32)
        {launch}
        try:
            cs.synchronize()
            print("no error")
        except cs.CudaError as error:
            print(error.name, error)
        with cs.add_host_device("h200"):
            y = cs.to_device(np.arange(4, dtype=np.int32))
            cs.Module("__global__ void twice(int* p) {{ p[threadIdx.x] *= 2; }}").twice[1, 4](y)
            assert y.to_host().tolist() == [0, 2, 4, 6]
        """
    )

    assert done.returncode == 0, done.stderr
    return done.stdout


LOCAL = """__global__ void f(int* x, int k) {
    int a[4] = {1, 2, 3, 4};
    if (threadIdx.x == 5) for (int i = 0; i < k; ++i) ((volatile int*)a)[i] = 0x41414141;
    x[threadIdx.x] = a[1];
}"""


@pytest.mark.parametrize("written", [8, 16, 40, 128, 1000, 100000])
def test_local_array_overrun_is_an_error_that_names_the_thread(device, run_python, written):
    said = outcome_of(run_python, LOCAL, f"m.f[3, 32](x, {written})")

    assert said.startswith("cudaErrorIllegalAddress")
    assert "block (0,0,0)" in said
    # Clang does not say which array is the outermost one, so the damage is found when the block's threads have ended.
    assert "thread (5,0,0)" in said or (IS_CLANG and "one of its threads" in said)


def test_local_array_overrun_in_a_function_is_an_error(device, run_python):
    kernel = """__device__ __attribute__((noinline)) int g(int* x, int k) {
        int a[4] = {1, 2, 3, 4};
        for (int i = 0; i < k; ++i) ((volatile int*)a)[i] = i;
        return a[x[0]];
    }
    __global__ void f(int* x, int k) { if (threadIdx.x == 3) x[1] = g(x, k); }"""

    said = outcome_of(run_python, kernel, "m.f[1, 32](x, 20)")

    assert said.startswith("cudaErrorIllegalAddress")
    assert "thread (3,0,0)" in said


@pytest.mark.parametrize("index", [32, 35, 5000, -1, -5000])
def test_shared_array_overrun_is_an_error_that_names_the_block(device, run_python, index):
    if IS_CLANG and index == -1:
        pytest.skip("with clang++, the pointer to the thread's state lies before the array")
    kernel = """__global__ void f(int* x, int at) {
        __shared__ int values[32];
        values[threadIdx.x] = 1;
        __syncthreads();
        if (blockIdx.x == 1 && threadIdx.x == 0) ((volatile int*)values)[at] = 7;
        __syncthreads();
        x[threadIdx.x] = values[threadIdx.x];
    }"""

    said = outcome_of(run_python, kernel, f"m.f[2, 32](x, {index})")

    assert said.startswith("cudaErrorIllegalAddress")
    assert "block (1,0,0)" in said


def test_dynamic_shared_memory_overrun_is_an_error(device, run_python):
    kernel = """__global__ void f(int* x, int at) {
        extern __shared__ int values[];
        ((volatile int*)values)[at] = 7;
        x[0] = values[0];
    }"""

    said = outcome_of(run_python, kernel, "m.f[1, 1, None, 64](x, 16)")

    assert said.startswith("cudaErrorIllegalAddress")
    assert "64 bytes of dynamic shared memory" in said


@pytest.mark.parametrize(
    ("allocate", "release"), [("(char*)malloc(64)", "free(p)"), ("new char[64]", "delete[] p")]
)
def test_heap_overrun_changes_blocks_of_the_heap_only(device, run_python, allocate, release):
    kernel = f"""__global__ void f(int* x, int k) {{
        char* p = {allocate};
        for (int i = 0; i < k; ++i) ((volatile char*)p)[i] = 'A';
        {release};
    }}"""

    assert outcome_of(run_python, kernel, "m.f[1, 1](x, 4096)") == "no error\n"


@pytest.mark.parametrize(
    "source", ["__device__ int v[8];", "__constant__ int v[8];", "__device__ int v[8] = {1};"]
)
@pytest.mark.parametrize("at", [1 << 18, -(1 << 18)])
def test_write_far_beside_a_variable_is_an_error(device, run_python, source, at):
    kernel = source + "__global__ void f(int* x, int at) { ((volatile int*)v)[at] = 7; }"

    assert outcome_of(run_python, kernel, f"m.f[1, 1](x, {at})").startswith("cudaErrorIllegalAddress")


def test_jump_to_no_code_is_an_error(device, run_python):
    kernel = "__global__ void f(int* x, long long to) { if (threadIdx.x == 2) ((void (*)())to)(); }"

    said = outcome_of(run_python, kernel, "m.f[1, 32](x, 0x1234)")

    assert said.startswith("cudaErrorIllegalAddress")
    assert "thread (2,0,0)" in said
    assert "jump" in said


def test_recursion_that_calls_the_runtime_fills_the_stack(device, run_python):
    kernel = r"""__device__ __attribute__((noinline)) int deep(int* x, int n) {
        volatile char frame[64];
        frame[n % 64] = 1;
        free(malloc(16));
        __syncwarp(1u);
        return deep(x, n + 1) + frame[3];
    }
    __global__ void f(int* x) { x[0] = deep(x, 0); }"""

    assert outcome_of(run_python, kernel, "m.f[1, 1](x)").startswith("cudaErrorHardwareStackError")


@pytest.mark.parametrize(
    "initialiser",
    [
        "__device__ int d = *(volatile int*)16;",
        "int f() { volatile int a[4]; for (int i = 0; i < 50000; ++i) a[i] = i; return a[1]; } __device__ int d = f();",
        "__attribute__((noinline)) int f(volatile int n) { volatile char a[64]; a[n % 64] = 1; return f(n + 1) + a[3]; } __device__ int d = f(1);",
    ],
    ids=["null", "overrun", "recursion"],
)
def test_initialiser_that_fails_is_an_error_of_its_module(device, initialiser):
    with pytest.raises(cs.CudaError, match="initialiser") as caught:
        cs.Module(initialiser + "__global__ void k(int* x) { x[0] = d; }")

    assert caught.value.name == "cudaErrorInvalidKernelImage"
    assert cs.zeros(2).to_host().tolist() == [0, 0]


def test_initialiser_that_is_right_runs_before_the_first_kernel(device):
    module = cs.Module(
        "int f(int n) { return n * n; } __device__ int d = f(7);"
        "struct S { int v; S() : v(5) {} ~S() { v = *(int*)16; } }; __device__ S s;"
        "__global__ void k(int* x) { x[0] = d + s.v; }"
    )
    x = cs.zeros(1, np.int32)

    module.k[1, 1](x)

    assert x.to_host().tolist() == [54]


@pytest.mark.subprocess
def test_interrupt_ends_an_initialiser_that_never_ends(device, run_python):
    done = run_python(
        """
        import os, signal, threading
        import cuscope as cs
        source = "int f() { volatile int n = 1; while (n) {} return 1; } __device__ int d = f(); __global__ void k() {}"
        other = threading.Thread(target=lambda: [cs.zeros(2).to_host() for _ in range(3)])
        threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT)).start()
        threading.Timer(2, other.start).start()
        try:
            cs.Module(source)
        except KeyboardInterrupt:
            print("interrupted", not other.is_alive())
        print(cs.zeros(2).to_host().tolist())
        """
    )

    assert done.stdout.split("\n")[:2] == ["interrupted True", "[0.0, 0.0]"], done.stderr


@pytest.mark.subprocess
def test_random_wrong_kernels_leave_the_process_and_devices_well():
    done = subprocess.run(
        [sys.executable, str(TOOL), "--count", "60", "--seed", "7"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
