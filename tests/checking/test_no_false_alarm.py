"""Right programs: the kernels of the package, and kernels of tests/cuda that check themselves."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cuscope as cs
from support import TESTS

KERNELS = TESTS / "cuda"

# Files that order their threads in many ways. The others are alike, and would take as long again.
FILES = [
    "barrier_objects", "barriers", "cooperative_groups", "cuda_std", "grid_sync", "histogram_scan", "inline_ptx",
    "reduction", "shared", "warp", "wmma",
]  # fmt: skip


@pytest.fixture(autouse=True)
def on_a_simulated_device():
    with cs.Device("host:0"):
        yield


# byte_planes makes the accesses of tensor_cores ten times over, which takes half a minute.
@pytest.mark.parametrize("variant", [v.name for v in cs.matmul.variants() if v.name != "byte_planes"])
def test_matrix_products_of_the_package(variant):
    float8 = pytest.importorskip("ml_dtypes").float8_e4m3fn if variant == "float8" else None
    dtypes = {"float8": float8, "wgmma": np.float16, "tma": np.float16, "wgmma_planes": np.int32}
    dtype = dtypes.get(variant, np.float32)
    x = (10 * np.random.default_rng(0).random((40, 24), dtype=np.float32)).astype(dtype)
    with cs.check() as report:
        a, b = cs.to_device(x), cs.to_device(np.ascontiguousarray(x.T))
        product = cs.matmul(a, b, variant=variant).to_host()
    exact = x.astype(np.float32)
    assert np.allclose(product, exact @ exact.T, rtol=0.02)
    assert report.findings == [], str(report)
    assert report.launches + len(report.unchecked) >= 1


@pytest.mark.parametrize("variant", ["sequential", "warp_shuffle", "last_block", "single_launch"])
def test_reductions_of_the_package(variant):
    x = np.random.default_rng(0).integers(0, 9, 5000, dtype=np.int32)
    with cs.check() as report:
        total = cs.reduce(cs.to_device(x), "sum", variant=variant)
        assert int(total.to_host()) == x.sum()
    assert report.findings == [], str(report)
    assert report.launches >= 1


@pytest.mark.parametrize("name", FILES)
def test_kernels_that_check_themselves(name):
    path = KERNELS / f"{name}.cu"
    text = path.read_text()

    def notes(word: str) -> list[str]:
        return re.findall(rf"^// {word} ?(.*)$", text, re.MULTILINE)

    parts = re.compile(r"(?:([A-Za-z_].*?) )?([\d,]+) ([\d,]+)(?: (\d+))?( cooperative)?")
    try:
        module = cs.Module(
            text, name_expressions=notes("instance"), options=notes("option"), file_name=path.name
        )
    except cs.CompileError as error:
        if "which is not on this machine" in error.log:
            pytest.skip("the toolkit's C++ library is not on this machine")
        raise
    with cs.check() as report:
        failures = cs.zeros(64, np.uint32)
        for launch in filter(None, map(parts.fullmatch, notes("launch"))):
            if launch[1] not in module.kernels or len(module[launch[1]].parameters) != 1:
                continue
            module[launch[1]].launch(
                failures,
                grid=tuple(map(int, launch[2].split(","))),
                block=tuple(map(int, launch[3].split(","))),
                shared=int(launch[4] or 0),
                cooperative=launch[5] is not None,
            )
    wrong = [f for f in report.findings if f.severity != "note"]
    assert wrong == [], str(report)
    assert report.launches >= 1


ADD_BY_SWAPS = r"""
__device__ double add(double* address, double value) {
  unsigned long long* bits = (unsigned long long*)address;
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void count(double* total) { add(total, 1.0); }
__global__ void count_in_block(double* total) {
  __shared__ double sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  add(&sum, 1.0);
  __syncthreads();
  if (threadIdx.x == 0) total[blockIdx.x] = sum;
}
"""


@pytest.mark.parametrize(("kernel", "total"), [("count", [128.0, 0, 0, 0]), ("count_in_block", [32.0] * 4)])
def test_the_loop_with_atomic_cas_of_the_programming_guide_gets_notes(kernel, total):
    x = cs.zeros(4, np.float64)

    with cs.check() as report:
        getattr(cs.Module(ADD_BY_SWAPS), kernel)[4, 32](x)
        result = x.to_host()

    assert result.tolist() == total
    assert not report, str(report)
    assert {finding.severity for finding in report.findings} == {"note"}
    assert all("atomicCAS" in finding.advice for finding in report.findings)


READS_BESIDE_SWAPS = {
    "a thread that does not swap": "if (threadIdx.x == 0) atomicCAS(x, 0, 5); if (threadIdx.x == 32) out[0] = *x;",
    "a thread that has swapped before": "if (threadIdx.x % 32 == 0) { atomicCAS(x, 0, 5); out[0] = *x; }",
    "beside an atomicAdd, too": (
        "if (threadIdx.x == 0) atomicAdd(x, 1); if (threadIdx.x == 32) { atomicCAS(x, 100, 7); out[0] = *x; }"
    ),
}


@pytest.mark.parametrize("body", READS_BESIDE_SWAPS.values(), ids=READS_BESIDE_SWAPS)
def test_a_plain_read_that_no_atomic_cas_follows_is_an_error(body):
    mod = cs.Module(f"__global__ void read(int* x, int* out) {{ {body} }}")
    x, out = cs.zeros(1, np.int32), cs.zeros(1, np.int32)

    with cs.check() as report:
        mod.read[1, 64](x, out)

    assert {finding.kind for finding in report.errors} == {"race"}, str(report)
    assert not any("atomicCAS" in finding.advice for finding in report.errors)


@pytest.mark.parametrize(
    "unlock", ["*lock = 0;", "__threadfence(); *lock = 0;"], ids=["without a fence", "behind a fence"]
)
def test_a_plain_store_beside_atomic_cas_is_an_error(unlock):
    mod = cs.Module(
        "__global__ void count(int* lock, int* total) {"
        f"  while (atomicCAS(lock, 0, 1) != 0) {{ }} *total += 1; {unlock} }}"
    )
    lock, total = cs.zeros(1, np.int32), cs.zeros(1, np.int32)

    with cs.check() as report:
        mod.count[3, 1](lock, total)

    assert {finding.kind for finding in report.errors} == {"race"}
