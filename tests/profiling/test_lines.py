"""Kernel.profile(): the counters of each line, which together are those of Kernel.count()."""

from __future__ import annotations

import numpy as np
import pytest
from profiled_kernels import number_of

import cuscope as cs

pytestmark = pytest.mark.host_only("a real GPU does not count")

SUMS = {
    "global_load_requests": "load_requests",
    "global_store_requests": "store_requests",
    "global_load_sectors": "load_sectors",
    "global_store_sectors": "store_sectors",
    "bank_conflicts": "bank_conflicts",
}


# A launch of each kernel: its arguments, and its grid and block. x and y are floats, i indices below 256.
LAUNCHES = {
    "strided": (lambda x, y, i: (x, y, 2), {"grid": 4, "block": 128}),
    "gather": (lambda x, y, i: (i, x, y), {"grid": 1, "block": 256}),
    "column": (lambda x, y, i: (x, y), {"grid": 1, "block": (32, 32)}),
    "matmul": (lambda x, y, i: (x, x, y, 32), {"grid": (2, 2), "block": (16, 16)}),
    "histogram": (lambda x, y, i: (i, cs.zeros(256, np.int32), 1000), {"grid": 4, "block": 256}),
    "branch": (lambda x, y, i: (x, 1), {"grid": 1, "block": 64}),
    "one_in": (lambda x, y, i: (x, 8), {"grid": 1, "block": 96}),
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_lines_add_up_to_the_counts_of_the_kernel(kernels, name):
    x, y = cs.to_device(np.arange(4096, dtype=np.float32)), cs.zeros(4096, np.float32)
    i = cs.to_device(np.random.default_rng(3).integers(0, 256, 1024, dtype=np.int32))
    make, shape = LAUNCHES[name]
    arguments = make(x, y, i)

    profile = kernels[name].profile(*arguments, **shape)
    counts = kernels[name].count(*arguments, **shape)

    sums = {of: sum(getattr(line, by) for line in profile.lines) for of, by in SUMS.items()}
    assert sums == {of: getattr(counts, of) for of in SUMS}
    assert sum(line.wavefronts for line in profile.lines) == (
        counts.shared_load_wavefronts + counts.shared_store_wavefronts
    )
    assert sum(line.atomics for line in profile.lines) == counts.global_atomics + counts.shared_atomics
    assert repr(profile.counts) == repr(counts)


def test_accesses_belong_to_their_lines(kernels):
    x, y = cs.zeros(1024, np.float32), cs.zeros(1024, np.float32)

    profile = kernels.column.profile(x, y, grid=1, block=(32, 32))

    load, store = number_of("tile[threadIdx.y][threadIdx.x] ="), number_of("= tile[threadIdx.x][threadIdx.y]")
    assert [(one.kind, one.space, one.memory) for one in profile.line(load).accesses] == [
        ("load", "global", "x"),
        ("store", "shared", "tile"),
    ]
    assert [(one.kind, one.space, one.memory) for one in profile.line(store).accesses] == [
        ("load", "shared", "tile"),
        ("store", "global", "y"),
    ]
    assert profile.line(store).bank_conflicts == 32 * 31
    assert profile.line(load).bank_conflicts == 0
    assert profile.line(load).text.startswith("tile[threadIdx.y]")


def test_executions_and_active_threads_of_a_branch(kernels):
    profile = kernels.one_in.profile(cs.zeros(96, np.float32), 8, grid=1, block=96)

    inside = profile.line(number_of("for (int i = 0; i < 50; ++i)"))
    assert inside.active_threads == pytest.approx(4, abs=0.2)
    assert inside.executions >= 50 * 3
    branch = profile.line(number_of("if (threadIdx.x % step == 0)"))
    assert (branch.executions, branch.thread_executions) == (3, 96)
    assert (branch.branches, branch.divergent_branches) == (3, 3)


def test_branches_that_whole_warps_take_do_not_diverge(kernels):
    x = cs.zeros(128, np.float32)
    line = number_of("if (threadIdx.x / period % 2)")

    lanes = kernels.branch.profile(x, 1, grid=1, block=128).line(line)
    warps = kernels.branch.profile(x, 32, grid=1, block=128).line(line)

    assert (lanes.branches, lanes.divergent_branches) == (4, 4)
    assert (warps.branches, warps.divergent_branches) == (4, 0)


def test_divergence_behind_a_barrier_is_seen():
    kernel = cs.Module("""
__global__ void halve(float* x) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        if (t % (2 * d) == 0)
            s[t] += s[t + d];
        __syncthreads();
    }
    x[t] = s[0];
}""").halve

    profile = kernel.profile(cs.zeros(256, np.float32), grid=1, block=256)

    # d = 1, 2, 4, 8, 16: all 8 warps; later, only the lane 0 of some warps works.
    assert profile.line(8).divergent_branches == 5 * 8 + 4 + 2 + 1


def test_operations_are_those_of_the_source(kernels):
    n = 32
    x, y = cs.zeros((n, n), np.float32), cs.zeros((n, n), np.float32)

    profile = kernels.matmul.profile(x, x, y, n, grid=(2, 2), block=(16, 16))

    assert profile.counters["operations"] == 2 * n**3
    assert profile.line(number_of("sum += A[row")).operations == 2 * n**3


def test_instructions_of_lines_add_up(kernels):
    x = cs.zeros(96, np.float32)

    profile = kernels.one_in.profile(x, 8, grid=1, block=96)

    assert profile.counters["instructions"] == pytest.approx(sum(one.instructions for one in profile.lines))
    assert profile.counters["active_threads"] == pytest.approx(
        profile.counters["thread_instructions"] / profile.counters["instructions"]
    )
    assert 0 < profile.counters["active_threads"] < 32


def test_instructions_are_those_behind_the_time_of_the_launch(kernels):
    n = 64
    x, y, z = (cs.zeros((n, n), np.float32) for _ in range(3))

    profile = kernels.matmul.profile(x, y, z, n, grid=(4, 4), block=(16, 16))

    assert profile.counters["instructions"] == pytest.approx(profile.time.instructions, rel=0.02)


def test_sectors_that_were_loaded_are_counted_once(kernels):
    n = 32
    x, y, z = (cs.zeros((n, n), np.float32) for _ in range(3))

    profile = kernels.matmul.profile(x, y, z, n, grid=(2, 2), block=(16, 16))

    assert dict(profile.different_load_sectors) == {"A": n * n * 4 // 32, "B": n * n * 4 // 32, "C": 0}


@pytest.mark.parametrize("seed", range(3))
def test_sectors_of_random_addresses_are_those_that_numpy_finds(kernels, seed):
    at = np.random.default_rng(seed).integers(0, 4096, 256, dtype=np.int32)
    x, y = cs.zeros(4096, np.float32), cs.zeros(256, np.float32)

    profile = kernels.gather.profile(cs.to_device(at), x, y, grid=1, block=256)

    (access,) = (one for line in profile.lines for one in line.accesses if one.memory == "x")
    sectors = [len(np.unique(warp * 4 // 32)) for warp in at.reshape(8, 32)]
    worst = int(np.argmax(sectors))
    assert access.sectors == sum(sectors)
    assert access.ideal_sectors == sum(min(one, 4) for one in sectors)
    assert (access.example_warp, access.example_cost) == (worst, sectors[worst])
    assert access.example == tuple((at.reshape(8, 32)[worst] * 4).tolist())


@pytest.mark.parametrize("seed", range(3))
def test_wavefronts_of_random_addresses_are_those_that_numpy_finds(kernels, seed):
    at = np.random.default_rng(seed).integers(0, 1024, 1024, dtype=np.int32)

    profile = kernels.shuffled.profile(cs.to_device(at), cs.zeros(1024, np.float32), grid=1, block=1024)

    line = profile.line(number_of("y[threadIdx.x] = s[at[threadIdx.x]]"))
    expected = [max(np.bincount(np.unique(warp) % 32)) for warp in at.reshape(32, 32)]
    assert line.wavefronts == sum(expected)
    assert line.bank_conflicts == sum(expected) - 32


def test_the_same_launch_has_the_same_profile(kernels):
    rng = np.random.default_rng(5)
    at = cs.to_device(rng.integers(0, 4096, 256, dtype=np.int32))
    x, y = cs.zeros(4096, np.float32), cs.zeros(256, np.float32)

    texts = {str(kernels.gather.profile(at, x, y, grid=1, block=256)) for _ in range(3)}

    assert len(texts) == 1


def test_lines_of_headers_come_last_and_have_their_text():
    header = "__device__ float scaled(float v) {\n    return v * 3.0f;\n}\n"
    source = (
        '#include "scale.h"\n__global__ void f(float* x) {\n    x[threadIdx.x] = scaled(x[threadIdx.x]);\n}'
    )
    kernel = cs.Module(source, headers={"scale.h": header}).f

    profile = kernel.profile(cs.zeros(32, np.float32), grid=1, block=32)

    assert profile.lines[-1].file.endswith("scale.h")
    assert profile.line(2, "scale.h").text == "return v * 3.0f;"
    assert profile.line(3).load_requests == 1


def test_lines_of_headers_in_a_folder_have_their_text(tmp_path):
    (tmp_path / "scale.cuh").write_text("__device__ float scaled(float v) {\n    return v * 3.0f;\n}\n")
    (tmp_path / "kernel.cu").write_text(
        '#include "scale.cuh"\n__global__ void f(float* x) {\n    x[threadIdx.x] = scaled(x[threadIdx.x]);\n}\n'
    )
    kernel = cs.Module.from_file(tmp_path / "kernel.cu").f

    profile = kernel.profile(cs.zeros(32, np.float32), grid=1, block=32)

    assert profile.line(2, "scale.cuh").text == "return v * 3.0f;"
    assert profile.line(3).text == "x[threadIdx.x] = scaled(x[threadIdx.x]);"


def test_functions_behind_the_kernel_in_its_image_are_no_part_of_it():
    kernel = cs.Module("__global__ void twice(int* p) { int i = threadIdx.x;\np[i] = i * 2;\n}").twice

    profile = kernel.profile(cs.zeros(64, np.int32), grid=1, block=32)

    assert {line.number for line in profile.lines} <= {1, 2, 3}
