"""Loops that wait until another thread of the device stores a number. On simulated devices they give up their turn."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

# Each waits until p[0] is not 0.
LOOPS = {
    "braces": "while (p[0] == 0) { n++; }",
    "no body": "while (p[0] == 0);",
    "no braces": "while (p[0] == 0) p[1] = 1;",
    "an if": "while (p[0] == 0) if (n) { n++; }",
    "an if and an else": "while (p[0] == 0) if (n) n++; else n--;",
    "a switch": "while (p[0] == 0) switch (n) { case 1: n = 2; }",
    "a loop in a loop": "while (p[0] == 0) while (n > 4) n--;",
    "for with a break": "for (;;) if (p[0]) break;",
    "for": "for (int i = 0; p[0] == 0; i++) n += i;",
    "a pragma": "for (;;)\n#pragma unroll 1\nfor (int i = 0; i < 2; i++) if (p[0]) goto end;\nend:;",
    "do": "do n++; while (p[0] == 0);",
    "do with 0 in front": "do { n++; } while (0 == p[0]);",
    "do with false in front": "do {} while (false == p[0]);",
    "do with an if": "do if (n) n = 0; else n = 1; while (p[0] == 0);",
    "do with a loop": "do while (n > 5) n--; while (p[0] == 0);",
    "do with a do": "do do n++; while (n < 3); while (p[0] == 0);",
    "goto": "again: if (p[0] == 0) goto again;",
}
SOURCE = "__device__ volatile int sink;" + "".join(
    f"""
__global__ void wait_{number}(volatile int* p) {{
    int n = 0;
    if (threadIdx.x / 32 != 1) {{
        {loop}
    }} else if (threadIdx.x == 40) {{
        p[0] = 1;
    }}
    sink = n;
}}"""
    for number, loop in enumerate(LOOPS.values())
)
VOTES = """__global__ void meet(volatile int* arrived) {
    if (threadIdx.x == 0) { __threadfence(); arrived[blockIdx.x] = 1; }
    int there;
    do {
        there = threadIdx.x >= gridDim.x || arrived[threadIdx.x] == 1;
    } while (!__all_sync(~0u, there));
}"""


@pytest.mark.parametrize("number", range(len(LOOPS)), ids=LOOPS)
def test_a_loop_lets_the_thread_run_that_it_waits_for(device, number):
    p = cs.zeros(2, np.int32)
    kernel = module(device, SOURCE)[f"wait_{number}"]

    for _ in range(3):  # the first launch of a shape runs another image
        p.fill(0)
        kernel[1, 96](p)
        device.synchronize()

    assert p.to_host()[0] == 1


@pytest.mark.host_only("a GPU has no profile")
@pytest.mark.parametrize(
    "loop",
    ["int i = 0; i < n; i++", "int i = 0; i < static_cast<int>(sizeof(int) + 60); ++i", "int i : numbers"],
)
def test_a_loop_without_braces_that_only_counts_does_not_poll(device, loop):
    source = f"""__device__ QUALIFIER int value;
    __global__ void add(int* x, int n) {{
        const int numbers[] = {{1, 2, 3}};
        int sum = value + numbers[n & 1];
        for ({loop}) sum += x[i] * sum;
        x[0] = sum;
    }}"""
    x = cs.zeros(64, np.int32)

    plain, volatile = (
        module(device, source.replace("QUALIFIER", qualifier)).add.profile(x, 64, grid=1, block=1)
        for qualifier in ("", "volatile")
    )

    assert sum(line.instructions for line in volatile.lines) == sum(line.instructions for line in plain.lines)


def test_an_else_belongs_to_its_if_beside_loops_that_wait(device):
    source = """__global__ void choose(volatile int* p) {
        if (p[0]) for (int i = 0; i < 2; i++) if (p[1]) p[2] = 1; else p[2] = 2;
        if (p[1]) while (p[3] == 0) p[3] = 1; else p[3] = 2;
        if (p[1]) goto end; else p[4] = 3;
        end:;
    }"""
    p = cs.to_device(np.array([1, 0, 0, 0, 0], np.int32))

    module(device, source).choose[1, 1](p)

    assert p.to_host().tolist() == [1, 0, 2, 2, 3]


def test_a_function_for_the_compiler_may_have_loops_beside_loops_that_wait(device):
    source = """constexpr __host__ __device__ int product(int n) {
        int result = 1;
        for (int i = 1; i <= n; ++i) result *= i;
        while (result < 0) { ++result; }
        return result;
    }
    static_assert(product(4) == 24, "");
    __global__ void put(volatile int* p) { while (p[0] == 0) p[0] = product(3); }"""
    p = cs.zeros(1, np.int32)

    module(device, source).put[1, 1](p)

    assert p.to_host().tolist() == [6]


@pytest.mark.subprocess
def test_a_warp_that_waits_by_votes_lets_other_blocks_run(device, run_python):
    program = """
        import os, sys, numpy as np, cuscope as cs
        with cs.Device(os.environ["CUSCOPE_DEVICE"]):
            meet = cs.Module(sys.argv[1]).meet
            for _ in range(30):  # each took 3 s
                meet[4, 32](cs.zeros(32, np.int32))
                cs.synchronize()
            print("met")
    """

    done = run_python(program, VOTES, timeout=60)

    assert done.stdout == "met\n", done.stderr
