"""The rules about memory: each with a kernel that makes it true and one that makes it false."""

from __future__ import annotations

import numpy as np
import pytest
from profiled_kernels import found, number_of

import cuscope as cs

pytestmark = pytest.mark.host_only("a real GPU does not count")


@pytest.fixture
def strided(kernels):
    def profile(stride, offset=0):
        x, y = cs.zeros(1024 * stride + 8, np.float32), cs.zeros(1024, np.float32)
        return kernels.strided.profile(x[offset:], y, stride, grid=8, block=128)

    return profile


def test_a_stride_is_told_with_its_sectors(strided):
    (finding,) = found(strided(2), "uncoalesced")

    assert finding.line == number_of("y[i] = x[i * stride]")
    assert finding.numbers == {
        "sectors_per_request": 8,
        "ideal_sectors_per_request": 4,
        "requests": 32,
        "stride": 8,
    }
    assert str(finding).startswith(
        f"line {finding.line}: 8.0 sectors a request where 4.0 would do: neighbouring lanes read x 8 bytes apart, a "
        "stride of 2 elements. "
    )


def test_neighbours_are_not_uncoalesced(strided):
    assert found(strided(1), "uncoalesced") == []


def test_a_large_stride_advises_to_turn_the_threads(strided):
    (finding,) = found(strided(32), "uncoalesced")

    assert finding.numbers["sectors_per_request"] == 32
    assert "threadIdx.x" in finding.advice


def test_addresses_without_a_stride_are_far_apart(kernels):
    at = cs.to_device(np.random.default_rng(1).permutation(4096)[:256].astype(np.int32))
    x, y = cs.zeros(4096, np.float32), cs.zeros(256, np.float32)

    (finding,) = found(kernels.gather.profile(at, x, y, grid=1, block=256), "uncoalesced")

    assert "the lanes read x at addresses far apart" in finding.text
    assert "stride" not in finding.numbers


def test_lanes_that_read_one_address_are_not_uncoalesced(kernels):
    n = 32
    x, y, z = (cs.zeros((n, n), np.float32) for _ in range(3))

    profile = kernels.matmul.profile(x, y, z, n, grid=(2, 2), block=(16, 16))

    assert found(profile, "uncoalesced") == []


def test_a_misaligned_begin_costs_a_sector(strided):
    profile = strided(1, offset=3)

    (finding,) = found(profile, "misaligned")
    assert finding.numbers["sectors_per_request"] == 5
    assert finding.numbers["distance"] == 12
    assert found(profile, "uncoalesced") == []


def test_an_aligned_begin_is_not_misaligned(strided):
    assert found(strided(1, offset=8), "misaligned") == []


def test_a_column_of_a_tile_is_a_bank_conflict(kernels):
    x, y = cs.zeros(1024, np.float32), cs.zeros(1024, np.float32)

    (finding,) = found(kernels.column.profile(x, y, grid=1, block=(32, 32)), "bank conflict")

    assert finding.line == number_of("= tile[threadIdx.x][threadIdx.y]")
    assert finding.text == (
        "32-way bank conflict: 32.0 wavefronts a request where 1.0 would do: neighbouring lanes read tile 128 bytes "
        "apart, in the same bank"
    )
    assert "Pad each row by one element" in finding.advice


def test_a_padded_tile_has_no_bank_conflict(padded):
    x, y = cs.zeros(1024, np.float32), cs.zeros(1024, np.float32)

    assert found(padded.column.profile(x, y, grid=1, block=(32, 32)), "bank conflict") == []


def test_a_naive_product_reads_its_arguments_again_and_again(kernels):
    n = 64
    x, y, z = (cs.zeros((n, n), np.float32) for _ in range(3))

    findings = found(kernels.matmul.profile(x, y, z, n, grid=(4, 4), block=(16, 16)), "repeated reads")

    # A warp has two rows of 16 columns: 2 of the 8 sectors of a row of B, and each sector of A in 8 steps.
    assert [finding.numbers["times"] for finding in findings] == [32, 32]
    assert (
        "A is read 32.0 times from global memory: 16384 sectors are requested, of which 512"
        in findings[0].text
    )


def test_data_that_are_read_once_are_not_repeated(strided):
    assert found(strided(1), "repeated reads") == []


def test_bytes_are_narrow(kernels):
    x, y = cs.zeros(1024, np.uint8), cs.zeros(1024, np.uint8)

    findings = found(kernels.bytes.profile(x, y, grid=8, block=128), "narrow")

    assert {finding.line for finding in findings} == {number_of("y[i] = x[i];")}
    assert all(finding.numbers["bytes"] == 1 for finding in findings)


def test_floats_are_not_narrow(strided):
    assert found(strided(1), "narrow") == []


def test_many_atomic_operations_on_few_words(kernels):
    n = 1 << 16
    x = cs.to_device(np.random.default_rng(0).integers(0, 256, n, dtype=np.int32))
    counts = cs.zeros(256, np.int32)

    profile = kernels.histogram.profile(x, counts, n, grid=n // 256, block=256)

    (finding,) = found(profile, "atomics")
    assert finding.line == number_of("atomicAdd(&counts")
    assert finding.numbers["threads"] == n
    assert 25 < finding.numbers["addresses_per_request"] < 32
    assert profile.time.bound == "atomics"


def test_few_atomic_operations_take_no_time(kernels):
    x, counts = cs.zeros(64, np.int32), cs.zeros(4, np.int32)

    assert found(kernels.histogram.profile(x, counts, 64, grid=1, block=64), "atomics") == []


def test_a_kernel_with_atomic_operations_alone_has_no_sectors():
    kernel = cs.Module("__global__ void add(int* x) { atomicAdd(x, 1); }").add

    profile = kernel.profile(cs.zeros(1, np.int32), grid=4, block=64)

    assert {finding.rule for finding in profile.findings} == {"small grid"}
    assert profile.counters["global_load_sectors"] == 0
