"""Checked kernels as each compiler builds them: clocks, and the copies that newer versions of clang call."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import cuscope as cs

CLOCKS = """
__global__ void three_waits(int* x, long long cycles) {
    for (int k = 0; k < 3; ++k) {
        const long long begin = clock64();
        while (clock64() - begin < cycles) {}
    }
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}"""

# Clang 15 and newer call these functions where others call memcpy and its like. Older compilers leave the names free.
COPIES = """
#ifdef CUSCOPE_CHECKED
#pragma GCC visibility push(hidden)
extern "C" void* __tsan_memcpy(void*, const void*, unsigned long);
extern "C" void* __tsan_memmove(void*, const void*, unsigned long);
extern "C" void* __tsan_memset(void*, int, unsigned long);
#pragma GCC visibility pop
#else
#define __tsan_memcpy memcpy
#define __tsan_memmove memmove
#define __tsan_memset memset
#endif
__global__ void copies(int* x, const int* y, int n) {
    __tsan_memset(x, 1, n);
    __tsan_memcpy(x, y, n);
    __tsan_memmove(x, x + 1, n);
}"""


@pytest.fixture(params=["g++", "clang++"])
def compiler(request, monkeypatch):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not on this machine")
    monkeypatch.setenv("CUSCOPE_CXX", request.param)


def time_of_waits() -> float:
    with cs.add_host_device("h200") as device:
        kernel = cs.Module(CLOCKS).three_waits
        x = cs.zeros(512, np.int32)
        device.synchronize()
        begin, end = cs.Event(), cs.Event()
        device.default_stream.record(begin)
        kernel[2, 256](x, 100_000)
        device.default_stream.record(end)
        device.synchronize()
        return end - begin


def test_a_checked_kernel_that_waits_for_its_clock_takes_as_long_as_an_unchecked_one(compiler):
    plain = time_of_waits()
    with cs.check() as report:
        checked = time_of_waits()
    assert report.findings == [], str(report)
    assert checked == plain < 0.5  # milliseconds


def test_copies_are_checked_at_the_line_of_their_call(compiler):
    with cs.Device("host:0"):
        module = cs.Module(COPIES, file_name="copies.cu")
        with cs.check() as report:
            x, y = cs.zeros(16, np.int32), cs.zeros(16, np.int32)
            module.copies[1, 1](x, y, 80)
    found = {(f.kind, f.line, f.text.partition(") in copies.cu")[2].split()[1]) for f in report.findings}
    assert found == {
        ("out of bounds", "copies.cu:14", "writes"),
        ("out of bounds", "copies.cu:15", "reads"),
        ("out of bounds", "copies.cu:16", "reads"),
    }, str(report)
