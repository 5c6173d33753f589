"""The kernels of CUDA's documents, one by one: additions, walks over pitched memory, averages of chunks, transposes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from cuscope._check import check_close, poison
from support import built_in

KERNELS = Path(__file__).resolve().parents[2] / "cuda_kernels"
TYPES = {"float": np.float32, "double": np.float64, "int": np.int32, "long long": np.int64}
BY_SIZE = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long", 16: "uint4"}


def kernel(device: cs.Device, path: str, element: str) -> cs.Kernel:
    name = Path(path).stem.split("_", 1)[1]
    return built_in(device, path.removesuffix(".cu"))[f"{name}<{element}>"]


def numbers(shape, dtype) -> np.ndarray:
    return np.random.default_rng(7).integers(-1000, 1000, shape).astype(dtype)


def blocks(count: int, block: int) -> int:
    return -(-count // block)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("n", [1, 2, 31, 1000, 100_003])
@pytest.mark.parametrize("path", ["01_vec_add.cu", "02_grid_stride.cu", "03_vectorised.cu"])
def test_additions_are_numpys(device, path, n, element):
    a, b = numbers((2, n), TYPES[element])
    c = cs.empty(n + 1, TYPES[element])
    poison(c[:n])
    c[n:] = 77
    grid = blocks(n, 128) if path.startswith("01") else 5

    add = kernel(device, f"vec_add/{path}", element)
    add[grid, 128](cs.to_device(a), cs.to_device(b), c[:n], n)

    check_close(c[:n], a + b)
    assert c[n:].to_host() == 77


def test_grid_that_is_larger_than_the_arrays_is_no_error(device):
    x, c = cs.full(3, 2.0, np.float32), cs.empty(3, np.float32)
    for path in ("01_vec_add.cu", "02_grid_stride.cu", "03_vectorised.cu"):
        poison(c)
        kernel(device, f"vec_add/{path}", "float")[50, 256](x, x, c, 3)
        check_close(c, np.full(3, 4, np.float32))


@pytest.mark.parametrize("element", ["float", "double", "int"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 100), (70, 33), (257, 2)])
@pytest.mark.parametrize(
    ("path", "grid", "block"),
    [("01_rows.cu", 2, 32), ("02_columns.cu", (2, 3), (32, 4))],
    ids=["rows", "columns"],
)
def test_walks_over_two_axes_multiply_every_element(device, path, grid, block, shape, element):
    host = numbers(shape, TYPES[element])
    x = cs.empty_pitched(shape, TYPES[element])
    x.copy_from(host)

    kernel(device, f"memory_walks/{path}", element)[grid, block](x, x.pitch, shape[1], shape[0], 3)

    check_close(x, host * 3)


@pytest.mark.parametrize("path", ["01_rows.cu", "02_columns.cu"])
def test_walk_leaves_the_bytes_between_the_rows(device, path):
    host = numbers((6, 10), np.float32)
    x = cs.to_device(host)

    kernel(device, f"memory_walks/{path}", "float")[1, 32](x[:, :7], 40, 7, 6, 3)

    host[:, :7] *= 3
    check_close(x, host)


@pytest.mark.parametrize("element", ["float", "double", "int"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 100), (5, 7, 33), (70, 2, 1)])
def test_walk_over_three_axes_multiplies_every_element(device, shape, element):
    depth, height, width = shape
    host = numbers(shape, TYPES[element])
    x = cs.empty_pitched(shape, TYPES[element])
    x.copy_from(host)

    walk = kernel(device, "memory_walks/03_slices.cu", element)
    walk[(2, 2, 3), (32, 2, 2)](x, x.pitch, height, width, height, depth, -2)

    check_close(x, host * TYPES[element](-2))


def test_walk_over_a_part_of_three_axes_leaves_the_rest(device):
    host = numbers((4, 6, 40), np.float32)
    x = cs.empty_pitched(host.shape, np.float32)
    x.copy_from(host)

    walk = kernel(device, "memory_walks/03_slices.cu", "float")
    walk[(1, 1, 1), (32, 2, 2)](x[1:, 2:, 3:], x.pitch, 6, 35, 3, 2, 5)

    host[1:3, 2:5, 3:38] *= 5
    check_close(x, host)


def averaged(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The kernel's result for one chunk, with the same roundings; exact if its floats are exact."""

    def smoothed(x):
        following = (np.arange(x.size)[:, None] + (1, 2)) % 256
        return (x.astype(np.int64) + x[following].sum(1, dtype=np.int64)).astype(np.float32) / np.float32(3)

    mean = (smoothed(a) + smoothed(b)) / np.float32(2)
    return np.minimum(np.trunc(mean.astype(np.float64)), 2**31 - 1).astype(np.int32)


@pytest.mark.parametrize("n", [256, 1000, 4097])
def test_averages_of_any_integers_are_right(device, n):
    info = np.iinfo(np.int32)
    a, b = np.random.default_rng(3).integers(info.min, info.max, (2, n), np.int32, endpoint=True)
    a[:3] = b[:3] = info.max
    a[100:103] = b[100:103] = info.min
    c = cs.empty(n, np.int32)
    poison(c)

    built_in(device, "averaging/01_averaging").averaging[blocks(n, 256), 256](
        cs.to_device(a), cs.to_device(b), c, n
    )

    check_close(c, averaged(a, b))


def test_averages_of_twenty_chunks_on_two_streams_are_right(device):
    chunks, n = 20, 1 << 12
    averaging = built_in(device, "averaging/01_averaging").averaging
    host_a, host_b, host_c = (cs.pinned_empty((chunks, n), np.int32) for _ in range(3))
    host_a[:], host_b[:] = np.random.default_rng(5).integers(0, 2**31, (2, chunks, n), np.int32)
    poison(host_c)
    streams = cs.Stream(), cs.Stream()
    buffers = [[cs.empty(n, np.int32, stream=stream) for _ in range(3)] for stream in streams]

    for i in range(chunks):
        a, b, c = buffers[i % 2]
        with streams[i % 2]:
            a.copy_from(host_a[i])
            b.copy_from(host_b[i])
            averaging[n // 256, 256](a, b, c, n)
            c.copy_to(host_c[i])
    for stream in streams:
        stream.synchronize()

    check_close(host_c, np.stack([averaged(a, b) for a, b in zip(host_a, host_b, strict=True)]))


@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.float16, np.float32, np.int32, np.float64, np.complex64, np.complex128],
    ids=lambda d: d.__name__,
)
@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (33, 31), (32, 64), (100, 7)])
@pytest.mark.parametrize("path", ["01_straight.cu", "02_tiled.cu", "03_padded.cu"])
def test_transposes_are_numpys(device, path, shape, dtype):
    rows, columns = shape
    host = numbers(shape, dtype)
    out = cs.empty((columns, rows), dtype)
    poison(out)

    transpose = kernel(device, f"transpose/{path}", BY_SIZE[np.dtype(dtype).itemsize])
    transpose[(blocks(columns, 32), blocks(rows, 32)), (32, 8)](cs.to_device(host), out, rows, columns)

    check_close(out, host.T)


@pytest.mark.parametrize("path", ["01_straight.cu", "02_tiled.cu", "03_padded.cu"])
def test_transpose_with_fewer_blocks_than_tiles_is_right(device, path):
    host = numbers((150, 40), np.float32)
    out = cs.empty((40, 150), np.float32)
    poison(out)

    kernel(device, f"transpose/{path}", "unsigned int")[(2, 2), (32, 8)](cs.to_device(host), out, 150, 40)

    check_close(out, host.T)
