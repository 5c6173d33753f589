"""How many loads of a loop are under way at once depends on its form, as in nvcc's code: beside an H200's times."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import IS_CLANG

pytestmark = [
    pytest.mark.host_only("a real GPU measures times"),
    pytest.mark.usefixtures("times_from_counts"),
]

# The model was made with the instructions of GCC. Clang's code has more of them in short loops.
WITHIN = 0.45 if IS_CLANG else 0.25

# A loop of one warp over data in the L2 cache, and the nanoseconds that an iteration took: the difference between 24,576
# and 8,192 iterations, divided by 16,384. x, y and z are global arrays, n and s are int, m is size_t, l is long long.
SUMS = {
    # 16 iterations at a time.
    "for (int i = threadIdx.x; i < n * 32; i += 32) sum += x[i];": 13.1,
    # 4, because `i * 32 + threadIdx.x` is an unsigned number of 32 bits.
    "for (int i = 0; i < n; ++i) sum += x[i * 32 + threadIdx.x];": 42.4,
    "for (unsigned i = 0; i < n; ++i) sum += x[i * 32 + threadIdx.x];": 42.4,
    "for (int r = 0; r < n; ++r) sum += x[r * s + threadIdx.x];": 41.5,
    "int i = 0; while (i < n) { sum += x[i * 32 + threadIdx.x]; ++i; }": 42.3,
    "for (int i = 0; i < n; ++i) sum += x[i * 32 + threadIdx.x] * z[i * 32 + threadIdx.x];": 46.0,
    "for (int i = 0; i < n; ++i) if (i & s) sum += x[i * 32 + threadIdx.x];": 30.7,
    # 4, because the step is a variable.
    "int step = blockDim.x; for (int i = threadIdx.x; i < n * 32; i += step) sum += x[i];": 44.7,
    "int step = blockDim.x; for (int i = threadIdx.x; i < n * 32; i += step) sum += x[i] * z[i];": 49.6,
    # One by one, because the number of iterations cannot be computed.
    "for (int i = threadIdx.x; i < n * 32; i += blockDim.x) sum += x[i];": 160.5,
    "size_t step = blockDim.x; for (size_t i = threadIdx.x; i < m * 32; i += step) sum += x[i];": 161.0,
    "for (long long i = threadIdx.x; i < l * 32; i += blockDim.x) sum += x[i];": 161.0,
    "for (int i = threadIdx.x; i < n * 32; i += blockDim.x) sum += x[i] * z[i];": 168.3,
    "for (int i = threadIdx.x; i < n * 32; i += blockDim.x) sum += x[i] * z[i] * x[i + 32] * z[i + 32];": 179.5,
    "int i = threadIdx.x; while (i < n * 32) { sum += x[i]; i += blockDim.x; }": 160.5,
    "for (int i = 0; i < n && sum < 4; ++i) sum += x[i * 32 + threadIdx.x];": 167.0,
    "for (int i = 0; i < n; ++i) { if (x[i * 32 + threadIdx.x] > 3) break; sum += i; }": 176.7,
}
COPIES = {
    # One by one: x[i] may be the number that the iteration before has stored.
    "for (int i = 0; i < n; ++i) y[i * 32 + threadIdx.x] = 2 * x[i * 32 + threadIdx.x];": 155.5,
    "for (int i = threadIdx.x; i < n * 32; i += 32) y[i] = 2 * x[i];": 153.6,
    "for (int i = threadIdx.x; i < n * 32; i += 32) y[i] += 2 * x[i];": 154.1,
    "int step = blockDim.x; for (int i = threadIdx.x; i < n * 32; i += step) y[i] = 2 * x[i];": 154.7,
    "for (int i = threadIdx.x; i < n * 32; i += blockDim.x) y[i] = 2 * x[i];": 160.3,
}
RESTRICTED_COPIES = {
    "for (int i = threadIdx.x; i < n * 32; i += 32) y[i] = 2 * x[i];": 15.3,
    "for (int i = threadIdx.x; i < n * 32; i += 32) y[i] += 2 * x[i];": 25.3,
    "int step = blockDim.x; for (int i = threadIdx.x; i < n * 32; i += step) y[i] = 2 * x[i];": 43.2,
    "for (int i = threadIdx.x; i < n * 32; i += blockDim.x) y[i] = 2 * x[i];": 160.3,
}


def source(bodies: list[str], restrict: str = "") -> str:
    parameters = f"const float* {restrict} x, float* {restrict} y, int n, size_t m, int s, long long l"
    return "\n".join(
        f"__global__ void loop_{number}({parameters}) {{\n"
        f"    float sum = 0; const float* z = x + n * 32;\n    {body}\n"
        f"    if (sum != 0) y[threadIdx.x] = sum;\n}}"
        for number, body in enumerate(bodies)
    )


def nanoseconds(kernel: cs.Kernel, first: int = 1024, last: int = 4096) -> float:
    """The simulated time of one iteration."""
    with kernel.device:
        x, y = (cs.zeros(64 * (last + 1), np.float32) for _ in range(2))

        def seconds(n: int) -> float:
            return kernel.explain_time(x, y, n, n, 32, n, grid=1, block=32).seconds

        return (seconds(last) - seconds(first)) * 1e9 / (last - first)


@pytest.fixture(scope="module")
def kernels():
    with cs.add_host_device("h200"):
        yield {
            (body, restrict): cs.Module(source(list(bodies), restrict))[f"loop_{number}"]
            for bodies, restrict in ((SUMS, ""), (COPIES, ""), (RESTRICTED_COPIES, "__restrict__"))
            for number, body in enumerate(bodies)
        }


@pytest.mark.parametrize(("body", "measured"), SUMS.items())
def test_iterations_of_a_sum_take_as_long_as_on_an_h200(kernels, body, measured):
    assert nanoseconds(kernels[body, ""]) == pytest.approx(measured, rel=WITHIN)


@pytest.mark.parametrize(("body", "measured"), COPIES.items())
def test_loads_wait_for_a_store_that_they_may_depend_on(kernels, body, measured):
    assert nanoseconds(kernels[body, ""]) == pytest.approx(measured, rel=WITHIN)


@pytest.mark.parametrize(("body", "measured"), RESTRICTED_COPIES.items())
def test_loads_do_not_wait_for_stores_through_restrict_pointers(kernels, body, measured):
    assert nanoseconds(kernels[body, "__restrict__"]) == pytest.approx(measured, rel=WITHIN)


def rounds(body: str, n: int, least: int = 0) -> float:
    """The waits of one warp for `n` iterations less those for `least` iterations, in loads from the L2 cache."""
    kernel = cs.Module(source([body])).loop_0
    x, y = (cs.zeros(1 << 16, np.float32) for _ in range(2))

    def latency(n: int) -> float:
        return kernel.explain_time(x, y, n, n, 32, n, grid=1, block=32).parts["latency"] / 150e-9

    return latency(n) - latency(least)


@pytest.mark.skipif(IS_CLANG, reason="instructions of the loop would count as further rounds")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # 16, then four, then one by one.
        ("for (int i = 0; i < n; ++i) sum += x[i * 32];", {16: 1, 20: 2, 23: 5}),
        # 16, then one by one.
        ("for (int i = n - n; i < n; i += 1) sum += x[i * 32];", {16: 1, 17: 2, 20: 5}),
        ("for (int i = n * 32; i > 0; i -= 32) sum += x[i];", {16: 1, 17: 2, 20: 5}),
        # Four, then one by one.
        ("int step = s; for (int i = 0; i < n * 32; i += step) sum += x[i];", {4: 1, 7: 4, 8: 2}),
        ("for (unsigned i = 0; i < n * 32; i += 32) sum += x[i];", {4: 1, 7: 4, 8: 2}),
        ("for (const float* p = x; p < x + n * 32; p += 32) sum += *p;", {4: 1, 7: 4, 8: 2}),
    ],
)
def test_iterations_that_are_left_over_are_done_in_smaller_steps(device, body, expected):
    assert {n: round(1 + rounds(body, n, least=1)) for n in expected} == expected


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < 16; ++i) sum += x[i * 32 + n];",
        "{ constexpr int many = 16; for (int i = 0; i != many; i++) sum += x[i * 32 + n]; }",
        "for (int k = 0; k < n; k += 16) for (int i = 0; i < 16; ++i) sum += x[(k + i) * 32];",
    ],
)
def test_loop_with_a_known_number_of_iterations_is_unrolled(device, body):
    assert rounds("if (n > 0) " + body, 16) < 2


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 1; i < 1 << n; i *= 2) sum += x[i * 16];",
        "for (int i = 0; i < n; ++i) { float row = x[i * 32]; for (int k = 0; k < s; ++k) sum += row * k; }",
        "for (int i = 0; i < n; ++i) atomicAdd(&y[i], x[i * 32]);",
        "for (int i = n; i-- > 0;) { if (x[i * 32] == 7) return; }",
        "for (int i = 0; i < n; i += 1) { if (x[i * 32] == 7) i += 2; }",
        "for (float* p = y; p < y + n * 32; p += 32) *p = x[p - y];",
    ],
)
def test_loop_that_nvcc_does_not_unroll_waits_for_each_load(device, body):
    assert rounds(body, 11) > 9


HELPERS = """
__device__ float at(const float* x, int i) { return x[i]; }
struct Sum {
    const float* x;
    __device__ float operator()(int begin, int end, int step) const {
        float sum = 0;
        for (int i = begin; i < end; i += step) sum += x[i];
        return sum;
    }
    __device__ float all(int begin, int end) const {
        float sum = 0;
        for (int i = begin; i < end; i += blockDim.x) sum += x[i];
        return sum;
    }
};
"""


@pytest.mark.parametrize(
    ("body", "like"),
    [
        (
            "for (int i = threadIdx.x; i < n * 32; i += blockDim.x) sum += at(x, i);",
            "for (int i = threadIdx.x; i < n * 32; i += blockDim.x) sum += x[i];",
        ),
        (
            "for (int i = threadIdx.x; i < n * 32; i += 32) sum += at(x, i) * at(z, i);",
            "for (int i = threadIdx.x; i < n * 32; i += 32) sum += x[i] * z[i];",
        ),
        (
            "sum = Sum{x}(threadIdx.x, n * 32, blockDim.x);",
            "int step = blockDim.x; for (int i = threadIdx.x; i < n * 32; i += step) sum += x[i];",
        ),
        (
            "sum = Sum{x}.all(threadIdx.x, n * 32);",
            "for (int i = threadIdx.x; i < n * 32; i += blockDim.x) sum += x[i];",
        ),
    ],
)
def test_functions_that_are_inlined_change_nothing(device, body, like):
    expected = nanoseconds(cs.Module(source([like])).loop_0)
    assert nanoseconds(cs.Module(HELPERS + source([body])).loop_0) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0;;) { sum += x[i * 32]; if (i++ >= n) break; }",
        "for (auto value : {1, 2, 3}) if (value < n) sum += value * x[value];",
        "for (int i = 0, k = n; i < k; ++i, --k) sum += x[i];",
        "int i = 0; for (; i < n;) sum += x[i++];",
        "int i = n; while (i --> 0) sum += x[i];",
        "int i = 0; do sum += x[i]; while (++i < n);",
        "for (long i = 0; i < static_cast<long>(n); i += sizeof(int)) sum += x[i];",
        "auto add = [&](int i) { for (; i < n; ++i) sum += x[i]; }; add(0);",
        "for (int i = 0; i < n; ++i) switch (i & 3) { case 0: sum += x[i]; break; default: break; }",
        "for (unsigned char c = 0; c < 3; ++c) for (short k{0}; k < n; k = k + 1) sum += x[k];",
        "for (int i[1] = {0}; i[0] < n; ++i[0]) sum += x[i[0]];",
    ],
)
def test_any_form_of_loop_has_a_time(device, body):
    assert rounds(body, 12) > 0
