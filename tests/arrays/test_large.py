"""Arrays of more than 2^31 elements: bytes, so that most machines have the memory, mostly zeros, so that it is quick."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.no_sanitizer("every access of 2 GiB is looked at"),
    pytest.mark.skipif(
        cs.build_config["sanitize"] not in ("", "-"), reason="a sanitizer looks at every access"
    ),
]
N = (1 << 31) + 4097
MARKS = {0: -1, 77: 5, 1 << 31: 7, N - 2: 7, N - 1: -3}  # the elements that are not zero, by position
ANSWERS = {"sum": 15, "argmax": 1 << 31, "any": True}
SLACK = 1 << 29  # bytes for other objects


def host_free() -> int:
    """The bytes that this process may still allocate, according to Linux."""
    free = 1 << 62
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) << 10
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = ((group / name).read_text().strip() for name in ("memory.max", "memory.current"))
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        if limit != "max":
            free = min(free, int(limit) - int(used) + int(stat["inactive_file"]))
    except (OSError, ValueError, KeyError):
        pass  # the process is in no control group of its own
    return free


def need(device: cs.Device, on_device: int, on_host: int) -> None:
    """Skips the test unless so many bytes are free; a simulated device uses the host's memory."""
    free = device.memory_info().free
    if free < on_device + SLACK:
        pytest.skip(f"takes {(on_device + SLACK) / 2**30:.1f} GiB on the device; {free / 2**30:.1f} are free")
    wanted = on_host + SLACK + (on_device if device.simulated else 0)
    free = host_free()
    if free < wanted:
        pytest.skip(f"takes {wanted / 2**30:.1f} GiB of the machine's memory; {free / 2**30:.1f} are free")


@pytest.fixture
def on_host(device) -> Iterator[np.ndarray]:
    need(device, N, N)
    array = np.zeros(N, np.int8)  # pages of zeros, which cost nothing until they are written
    for place, value in MARKS.items():
        array[place] = value
    yield array
    device.synchronize()


@pytest.fixture
def on_device(device) -> Iterator[cs.DeviceArray]:
    need(device, N, 0)
    array = cs.zeros(N, np.int8)
    for place, value in MARKS.items():
        array[place : place + 1].fill(value)
    yield array
    device.synchronize()


@pytest.mark.parametrize("op", ANSWERS)
def test_reduction_of_an_array_on_the_host(device, on_host, op):
    assert cs.reduce(on_host, op) == ANSWERS[op]


@pytest.mark.parametrize("variant", ["auto", "single_launch"])
@pytest.mark.parametrize("op", ANSWERS)
def test_reduction_of_a_device_array(device, on_device, op, variant):
    assert cs.reduce(on_device, op, variant=variant).to_host() == ANSWERS[op]


def test_reduction_along_an_axis(device, on_device):
    """Rows whose length is no multiple of 16 bytes, and columns whose elements lie 2^30 elements apart."""
    rows = on_device[1:].reshape(2, N // 2)

    sums, truth = cs.sum(rows, axis=1), cs.any(rows, axis=0)

    assert np.array_equal(sums.to_host(), [5, 11])
    assert cs.sum(truth).to_host() == len(MARKS) - 1
    assert all(truth[(place - 1) % (N // 2)].to_host() for place in MARKS if place)


@pytest.mark.gpu_only("a processor takes several seconds for so large a product")
def test_product_of_matrices_with_more_than_2_31_elements_is_right(device):
    m, n = 46_341, 46_347
    need(device, 2 * m * n, 0)  # with a copy whose rows are aligned
    random = np.random.default_rng(0)
    a, b = random.integers(-2, 3, (m, 1), np.int8), random.integers(-2, 3, (1, n), np.int8)
    assert m * n > 1 << 31

    product = cs.matmul(cs.to_device(a), cs.to_device(b))
    sums = cs.matmul(product, cs.full(n, 1, np.int8))

    for row in (0, m // 2, m - 1):
        assert np.array_equal(product[row].to_host(), (a[row] * b)[0])
    for column in (0, n // 2, n - 1):
        assert np.array_equal(product[:, column].to_host(), a[:, 0] * b[0, column])
    assert int(cs.sum(product).to_host()) == int(a.sum(dtype=np.int64)) * int(b.sum(dtype=np.int64))
    assert np.array_equal(sums.to_host(), (a[:, 0].astype(np.int64) * b.sum(dtype=np.int64)).astype(np.int8))
