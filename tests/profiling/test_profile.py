"""Kernel.profile(): its form, what it leaves as it is, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from profiled_kernels import number_of

import cuscope as cs

pytestmark = pytest.mark.host_only("a real GPU does not count")


def test_the_launch_does_its_work_once(kernels):
    x = cs.to_device(np.arange(256, dtype=np.float32))

    kernels.twice.profile(x, grid=2, block=128)

    assert np.array_equal(x.to_host(), 2 * np.arange(256, dtype=np.float32))


def test_variables_of_the_module_keep_what_the_launch_did(variable):
    total = variable.symbol("total", np.int32)
    total.fill(0)
    x = cs.to_device(np.arange(64, dtype=np.int32))

    variable.add_up.profile(x, grid=1, block=64)

    assert total.to_host() == 64 * 63 // 2


@pytest.mark.parametrize("blocks", [1, 5, 31])
def test_some_blocks_are_counted_and_all_run(kernels, blocks):
    x = cs.to_device(np.ones(32 * 100, np.float32))

    profile = kernels.twice.profile(x, grid=100, block=32, blocks=blocks)

    assert np.array_equal(x.to_host(), np.full(3200, 2, np.float32))
    assert (profile.blocks, profile.counted_blocks) == (100, blocks)
    line = profile.line(number_of("*= 2"))
    assert (line.load_requests, line.store_sectors) == (blocks, 4 * blocks)
    assert profile.counts.global_load_requests == blocks


def test_more_blocks_than_there_are_counts_all(kernels):
    profile = kernels.twice.profile(cs.zeros(64, np.float32), grid=2, block=32, blocks=99)

    assert (profile.blocks, profile.counted_blocks) == (2, 2)


@pytest.mark.usefixtures("times_from_counts")
def test_the_time_is_about_that_of_explain_time():
    kernel = cs.Module(
        "__global__ void twice(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }"
    ).twice
    x = cs.zeros(1 << 20, np.float32)
    shape = {"grid": 1 << 12, "block": 256}

    profile = kernel.profile(x, **shape, blocks=50)

    assert profile.time.seconds == pytest.approx(kernel.explain_time(x, **shape).seconds, rel=0.1)


def test_a_kernel_without_source_is_refused(kernels, tmp_path):
    path = tmp_path / "kernels.image"
    path.write_bytes(kernels.image)
    kernel = cs.Module.from_file(path).twice

    with pytest.raises(ValueError, match=r"takes its source.*cs\.Module\(source\)"):
        kernel.profile(cs.zeros(32, np.float32), grid=1, block=32)


@pytest.mark.parametrize("blocks", [0, -1])
def test_fewer_than_one_block_is_refused(kernels, blocks):
    x = cs.to_device(np.ones(32, np.float32))

    with pytest.raises(ValueError, match=f"blocks={blocks}: at least 1"):
        kernels.twice.profile(x, grid=1, block=32, blocks=blocks)
    assert x.to_host().sum() == 32


def test_blocks_is_a_whole_number(kernels):
    with pytest.raises(TypeError, match="float"):
        kernels.twice.profile(cs.zeros(32, np.float32), grid=1, block=32, blocks=1.5)


def test_some_blocks_of_a_kernel_with_variables_are_refused(variable):
    x = cs.zeros(64, np.int32)

    # The kernel itself may use none of the variables.
    with pytest.raises(cs.CudaError, match=r"the module has __device__ variables.*leave out blocks="):
        variable.add_up.profile(x, grid=2, block=32, blocks=1)


def test_a_line_that_did_not_run_is_named_with_the_lines_that_ran(kernels):
    profile = kernels.twice.profile(cs.zeros(32, np.float32), grid=1, block=32)

    with pytest.raises(ValueError, match=rf"no code of line 3 of kernel.cu ran.* {number_of('*= 2')}"):
        profile.line(3)


def test_a_line_without_accesses_has_no_drawing(kernels):
    profile = kernels.one_in.profile(cs.zeros(32, np.float32), 1, grid=1, block=32)

    with pytest.raises(ValueError, match="does not access memory; these lines do"):
        profile.accesses(number_of("if (threadIdx.x % step == 0)"))


def test_an_instruction_that_the_line_does_not_have(kernels):
    profile = kernels.twice.profile(cs.zeros(32, np.float32), grid=1, block=32)

    with pytest.raises(ValueError, match="its instructions are 0 to 1"):
        profile.accesses(number_of("*= 2"), 2)


def test_a_failing_kernel_fails_as_in_a_launch():
    with cs.add_host_device("h200"):
        kernel = cs.Module("__global__ void f(int* x) { x[1 << 28] = 1; }").f
        with pytest.raises(cs.CudaError, match="illegal"):
            kernel.profile(cs.zeros(4, np.int32), grid=1, block=32)


def test_the_text_has_a_row_for_each_line_and_the_findings(kernels):
    x, y = cs.zeros(2048, np.float32), cs.zeros(1024, np.float32)

    profile = kernels.strided.profile(x, y, 2, grid=8, block=128)
    text = str(profile)

    assert text == profile.explain()
    assert text.startswith("strided: grid 8, block 128, 8 of 8 blocks counted; ")
    number = number_of("y[i] = x[i * stride]")
    assert any(
        row.split()[0] == str(number) and "6.0 (4.0)" in row for row in text.splitlines() if row.split()
    )
    assert f"* line {number}: 8.0 sectors a request" in text


def test_a_kernel_of_another_device_is_simulated_with_copies():
    """The way of GPUs, with a second simulated device in the place of the GPU."""
    from cuscope._profiling import profile_elsewhere

    text = "__global__ void twice(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }"
    with cs.add_host_device("h200") as device:
        kernel = cs.Module(text).twice
        x = cs.to_device(np.ones(64, np.float32))
        source = {
            "text": text,
            "file_name": "kernel.cu",
            "options": [],
            "include_paths": [],
            "headers": [],
            "name_expressions": [],
        }

        profile = profile_elsewhere(kernel, source, kernel[1, 64], (x, 64), (1, 1, 1), (64, 1, 1), 0, None)

        assert np.array_equal(x.to_host(), np.full(64, 2, np.float32))
    assert profile.counts.global_load_requests == 2
    assert f"ran on {device.name}" in profile.note
    assert "not measured" in str(profile)
