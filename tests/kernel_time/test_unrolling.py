"""`#pragma unroll` decides how many instructions and rounds of loads the simulated time counts, as in nvcc's code."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.host_only("a real GPU measures times"),
    pytest.mark.usefixtures("device", "times_from_counts"),
]

SIDE, STEPS = 16, 256  # a thread's square is too large for the compiler to unroll its loops unasked

SUMS = r"""
template <int side>
__global__ void sums(const float* a, const float* b, float* c, int steps) {
    float sums[side][side] = {};
    for (int i = 0; i < steps; ++i) {
        float from_a[side], from_b[side];
        UNROLL
        for (int j = 0; j < side; ++j) from_a[j] = a[i * side + j], from_b[j] = b[i * side + j];
        UNROLL
        for (int r = 0; r < side; ++r)
            UNROLL
            for (int s = 0; s < side; ++s) sums[r][s] += from_a[r] * from_b[s];
    }
    UNROLL
    for (int r = 0; r < side; ++r)
        UNROLL
        for (int s = 0; s < side; ++s) c[(r * side + s) * 32 + threadIdx.x] = sums[r][s];
}
template __global__ void sums<16>(const float*, const float*, float*, int);
"""


def instructions(unroll: str) -> float:
    """The instructions of a warp for one multiplication and addition."""
    kernel = cs.Module(SUMS.replace("UNROLL", unroll))["sums<16>"]
    a, b = (cs.zeros(STEPS * SIDE, np.float32) for _ in range(2))
    c = cs.zeros(SIDE * SIDE * 32, np.float32)
    told = kernel.explain_time(a, b, c, STEPS, grid=1, block=32)
    assert not c.to_host().any()
    return told.instructions / (STEPS * SIDE * SIDE)


@pytest.mark.parametrize(
    "unroll", ["\n#pragma unroll\n", "\n#pragma unroll 16\n", "\n#  pragma unroll(16)\n", '_Pragma("unroll")']
)
def test_unrolled_loops_over_registers_are_nearly_all_arithmetic(unroll):
    assert instructions(unroll) < 1.5


def test_loops_that_stay_loops_have_more_instructions():
    assert instructions("\n#pragma unroll 1\n") > 1.1 * instructions("\n#pragma unroll\n")


def test_number_of_copies_may_be_an_argument_of_a_template():
    assert instructions("\n#pragma unroll side\n") < 1.5


LOADS = r"""
__global__ void loads(const float* x, float* y, int n) {
    float sum = 0;
    STATEMENT
    y[threadIdx.x] = sum;
}
"""
LOOP = "for (int i = threadIdx.x; i < n; i += STEP) "


def latency(pragma: str, body: str, step: int = 32) -> float:
    """The waits of a warp for 64 loads of each thread."""
    statement = "\n" + pragma + "\n" + LOOP.replace("STEP", str(step)) + body
    kernel = cs.Module(LOADS.replace("STATEMENT", statement)).loads
    x, y = cs.zeros(64 * 32, np.float32), cs.zeros(32, np.float32)
    return kernel.explain_time(x, y, x.size, grid=1, block=32).parts["latency"]


@pytest.mark.parametrize("body", ["sum += x[i];", "if (i >= 0) { sum += x[i]; } else sum += 1;"])
def test_loads_of_so_many_iterations_are_one_round(body):
    two, all_ = (latency(f"#pragma unroll {number}", body) for number in (2, 16))

    # 32 rounds instead of 4. They hit the L2 cache.
    assert two > 1.7 * all_
    assert all_ < 1.2 * latency("", body)


def test_inner_loop_that_is_unrolled_belongs_to_the_iteration():
    inner = "{\n#pragma unroll\nfor (int j = 0; j < 4; ++j) sum += x[i + 32 * j];\n}"

    # One iteration has 4 loads, or one, of 64.
    assert 2 * latency("#pragma unroll 1", inner, step=128) < latency("#pragma unroll 1", "sum += x[i];")


def test_inner_loop_without_a_number_is_unrolled_as_ever():
    inner = "\nfor (int j = i % 32; j < n; j += 128) sum += x[j];"

    assert latency("#pragma unroll 1", inner, step=512) < 1.2 * latency("#pragma unroll 16", "sum += x[i];")


@pytest.mark.parametrize(
    "statement",
    [
        "#pragma unroll 4\n x[0] = 1;",  # no loop follows: nvcc warns
        "#pragma unroll\n { for (int i = 0; i < n; ++i) x[0] = 1; }",
        "#pragma unroll 100000\n for (int i = 0; i < n; ++i) x[0] = 1;",
        "#pragma unroll 0\n for (int i = 0; i < n; ++i) x[0] = 1;",
        "#pragma unroll\n\n // a comment\n for (int i = 0; i < n; ++i) x[0] = 1;",
        "int i = 0;\n#pragma unroll 2\n while (i < n) x[i++ * 0] = 1;",
        "int i = 0;\n#pragma unroll 2\n do x[0] = 1; while (++i < n);",
        "int format = 0;\n#pragma unroll\n format += n, x[0] = format;",  # `for` begins another word
    ],
)
def test_any_place_of_the_pragma_compiles(statement):
    kernel = cs.Module("__global__ void kernel(int* x, int n) {\n" + statement + "\n}").kernel
    x = cs.zeros(4, np.int32)
    assert kernel.explain_time(x, 1, grid=1, block=1).instructions > 0
    assert x.to_host()[0] == 1


def test_text_that_only_looks_like_the_pragma_stays():
    source = r"""
__global__ void kernel(int* x) {
    const char* text = R"(
#pragma unroll
for)";
    int length = 0;
    while (text[length] != 0) ++length;
    *x = length;
}"""
    x = cs.zeros(1, np.int32)
    cs.Module(source).kernel.explain_time(x, grid=1, block=1)
    assert x.to_host()[0] == len("\n#pragma unroll\nfor")
