"""The contract's device limits, answer by answer on both runtimes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

import pytest


def compare(lines: list[str], expected: str) -> None:
    wanted = [line.strip() for line in expected.strip().splitlines()]
    if lines != wanted:
        difference = difflib.ndiff(wanted, lines)
        pytest.fail("\n".join(line for line in difference if line[0] in "+-"), pytrace=False)


@pytest.mark.subprocess
def test_limits_are_answered_as_by_a_gpu(run_python, device):
    """In a process of its own, because limits cannot be reset."""
    done = run_python(
        """
        import sys
        from cuscope import _core
        import os
        c = _core.contract(os.environ["CUSCOPE_DEVICE"])

        def get(limit):
            status, value = c.device_get_limit(limit)
            c.get_last_error()
            return value if status == "cudaSuccess" else status

        def put(limit, value):
            status = c.device_set_limit(limit, value)
            c.get_last_error()
            return f"{status} {get(limit)}"

        for limit in range(-1, 8):
            print("limit", limit, get(limit))
        for value in (0, 1, 1000, 1030, 5000, 20_000, 1 << 30, 1024):
            print("stack", value, put(0, value))
        for value in (0, 1, 1 << 20, 10_000_000, 10_000_001, 1 << 50):
            print("fifo", value, put(1, value))
        for value in (0, 1, 1 << 20, 5_000_000, 16_000_001):
            print("heap", value, put(2, value))
        for value in (0, 1, 5):
            print("depth", value, put(3, value))
        for value in (0, 1, 100, 4096):
            print("pending", value, put(4, value))
        for value in (0, 32, 33, 100, 128, 129, 1 << 20):
            print("granularity", value, put(5, value))
        print("persisting_most", c.device_get_attribute(108, 0))
        print("window_most", c.device_get_attribute(109, 0))
        print("domains", c.device_get_attribute(126, 0))
        for value in (0, 1, 1 << 20, 10_000_001, 1 << 25, 1 << 26, 1 << 40):
            print("persisting", value, put(6, value))
        print("unknown", put(7, 1), put(-1, 1))

        def load(name, source):
            status, image, names, log = c.compile(source)
            assert status == "cudaSuccess", log
            _, library = c.library_load_data(image)
            return c.library_get_kernel(library, dict(names)[name])[1]

        print("fifo_before", put(1, 2 << 20))
        kernel = load("prints", '__global__ void prints() { printf("x\\\\n"); }')
        print("fifo_loaded", put(1, 3 << 20))
        print("launch", c.launch_kernel(kernel, 1, 1), c.device_synchronize())
        print("fifo_after", put(1, 4 << 20))
        _, out = c.malloc(8)
        kernel = load(
            "allocates",
            "__global__ void allocates(int** out) { *out = (int*)malloc(16); **out = 7; free(*out); }",
        )
        print("heap_loaded", put(2, 32 << 20))
        print("launch", c.launch_kernel(kernel, 1, 1, [out.to_bytes(8, "little")]), c.device_synchronize())
        print("heap_after", put(2, 64 << 20))
        print("stack_after", put(0, 2048))
        """
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line != "x"]
    # A sixteenth of the second-level cache: 3,932,160 bytes on an H200, 3,276,800 on an H100.
    unit = 3_932_160 if device.simulated else device.properties.l2_cache_size // 16
    answers = LIMITS.format(usual=3 * unit, most=10 * unit, persisting="\n".join(persisting_limits(unit)))
    compare(lines, answers)


def persisting_limits(unit: int) -> Iterator[str]:
    """The answer after the limit is set to each number: it is rounded up to units, of which there are ten."""
    now = 0
    for value in (0, 1, 1 << 20, 10_000_001, 1 << 25, 1 << 26, 1 << 40):
        fits = value <= 10 * unit
        now = -(-value // unit) * unit if fits else now
        yield f"persisting {value} {'cudaSuccess' if fits else 'cudaErrorInvalidValue'} {now}"


LIMITS = """
limit -1 cudaErrorInvalidValue
limit 0 1024
limit 1 8650752
limit 2 8388608
limit 3 cudaErrorUnsupportedLimit
limit 4 2048
limit 5 64
limit 6 {usual}
limit 7 232448
stack 0 cudaSuccess 0
stack 1 cudaSuccess 16
stack 1000 cudaSuccess 1008
stack 1030 cudaSuccess 1040
stack 5000 cudaSuccess 5008
stack 20000 cudaSuccess 20000
stack 1073741824 cudaErrorInvalidValue 20000
stack 1024 cudaSuccess 1024
fifo 0 cudaSuccess 524288
fifo 1 cudaSuccess 524288
fifo 1048576 cudaSuccess 1048576
fifo 10000000 cudaSuccess 10000128
fifo 10000001 cudaSuccess 10000128
fifo 1125899906842624 cudaSuccess 2147483648
heap 0 cudaSuccess 4194304
heap 1 cudaSuccess 4194304
heap 1048576 cudaSuccess 4194304
heap 5000000 cudaSuccess 5046272
heap 16000001 cudaSuccess 16056320
depth 0 cudaErrorUnsupportedLimit cudaErrorUnsupportedLimit
depth 1 cudaErrorUnsupportedLimit cudaErrorUnsupportedLimit
depth 5 cudaErrorUnsupportedLimit cudaErrorUnsupportedLimit
pending 0 cudaSuccess 32
pending 1 cudaSuccess 32
pending 100 cudaSuccess 100
pending 4096 cudaSuccess 4096
granularity 0 cudaSuccess 0
granularity 32 cudaSuccess 32
granularity 33 cudaSuccess 33
granularity 100 cudaSuccess 100
granularity 128 cudaSuccess 128
granularity 129 cudaErrorInvalidValue 128
granularity 1048576 cudaErrorInvalidValue 128
persisting_most ('cudaSuccess', {most})
window_most ('cudaSuccess', 134217728)
domains ('cudaSuccess', 4)
{persisting}
unknown cudaErrorNotPermitted 232448 cudaErrorInvalidValue cudaErrorInvalidValue
fifo_before cudaSuccess 2097152
fifo_loaded cudaSuccess 3145728
launch cudaSuccess cudaSuccess
fifo_after cudaErrorInvalidValue 3145728
heap_loaded cudaSuccess 33554432
launch cudaSuccess cudaSuccess
heap_after cudaErrorInvalidValue 33554432
stack_after cudaSuccess 2048
"""
