"""Products of integers by the tensor cores, which multiply their bytes: to_planes, the rungs that use it and cs.matmul."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import built_in

INTEGERS = [np.int32, np.uint32, np.int64, np.uint64]


def random(shape, dtype, seed: int) -> np.ndarray:
    """Numbers of the whole range: their products wrap around."""
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


def by_bytes(a: np.ndarray, b: np.ndarray, variant: str) -> np.ndarray:
    return cs.matmul(cs.to_device(a), cs.to_device(b), variant=variant).to_host()


by_each_variant = pytest.mark.parametrize("variant", ["byte_planes", "wgmma_planes"])


@pytest.mark.parametrize("kind", ["int", "long long"])
@pytest.mark.parametrize(("rows", "columns", "width"), [(1, 1, 16), (3, 17, 32), (70, 1100, 1104)])
def test_planes_have_the_bytes_of_every_number(device, kind, rows, columns, width):
    host = random((rows, columns + 3), np.int32 if kind == "int" else np.int64, 1)
    planes = cs.to_device(np.full((host.itemsize, rows, width), 0xEE, np.uint8))
    kernel = built_in(device, "matmul/to_planes")[f"to_planes<{kind}>"]

    kernel[(-(-width // 1024), 2), 256](
        cs.to_device(host), planes, np.int32(rows), np.int32(columns), np.int64(columns + 3), np.int32(width)
    )

    assert_planes_of(planes.to_host(), host[:, :columns])


@pytest.mark.parametrize("kind", ["int", "long long"])
@pytest.mark.parametrize(("rows", "columns", "width"), [(1, 1, 16), (17, 3, 32), (400, 70, 400)])
def test_transposed_planes_have_the_bytes_of_every_number(device, kind, rows, columns, width):
    host = random((rows, columns + 3), np.int32 if kind == "int" else np.int64, 1)
    planes = cs.to_device(np.full((host.itemsize, columns, width), 0xEE, np.uint8))
    kernel = built_in(device, "matmul/to_planes")[f"to_transposed_planes<{kind}>"]

    kernel[(-(-columns // 32), 2), 256](
        cs.to_device(host), planes, np.int32(rows), np.int32(columns), np.int64(columns + 3), np.int32(width)
    )

    assert_planes_of(planes.to_host(), host[:, :columns].T)


def assert_planes_of(planes: np.ndarray, matrix: np.ndarray) -> None:
    rows, columns = matrix.shape
    of_numbers = matrix.copy().view(np.uint8).reshape(rows, columns, matrix.itemsize)
    np.testing.assert_array_equal(planes[..., :columns], np.moveaxis(of_numbers, 2, 0))
    assert (planes[..., columns:] == 0).all()


@by_each_variant
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (65, 128, 129), (130, 300, 70), (200, 129, 260)], ids=str)
def test_products_wrap_around_as_numpys(device, variant, dtype, shape):
    m, k, n = shape
    a, b = random((m, k), dtype, 1), random((k, n), dtype, 2)

    np.testing.assert_array_equal(by_bytes(a, b, variant), a @ b)


@by_each_variant
@pytest.mark.gpu_only("a simulated device takes minutes")
@pytest.mark.no_racecheck("one block multiplies 66,100 numbers, which takes minutes")
def test_sums_of_many_products_of_the_largest_bytes_are_exact(device, variant):
    k = 66_100  # 255 * 255 * k does not fit into 32 bits
    a, b = np.full((1, k), -1, np.int64), np.full((k, 1), -1, np.int64)

    assert by_bytes(a, b, variant)[0, 0] == k


@by_each_variant
@pytest.mark.parametrize("dtype", [np.int32, np.uint64])
def test_matrices_of_a_batch_may_be_repeated(device, variant, dtype):
    a, b = random((3, 1, 20, 40), dtype, 1), random((2, 40, 30), dtype, 2)

    np.testing.assert_array_equal(by_bytes(a, b, variant), a @ b)


@by_each_variant
def test_operands_may_have_any_strides(device, variant):
    a, b = random((60, 90), np.int32, 1), random((70, 80), np.int32, 2)
    d_a, d_b = cs.to_device(a), cs.to_device(b)

    result = cs.matmul(d_a[::2, 5:75], d_b[:, ::-1], variant=variant).to_host()

    np.testing.assert_array_equal(result, a[::2, 5:75] @ b[:, ::-1])


@by_each_variant
def test_result_may_be_written_into_rows_of_a_larger_array(device, variant):
    a, b = random((33, 20), np.int64, 1), random((20, 35), np.int64, 2)
    out = cs.zeros((33, 40), np.int64)

    cs.matmul(cs.to_device(a), cs.to_device(b), out=out[:, :35], variant=variant)

    np.testing.assert_array_equal(out.to_host()[:, :35], a @ b)
    assert (out.to_host()[:, 35:] == 0).all()


@pytest.mark.gpu_only("auto on a simulated device is the processor's own way")
@pytest.mark.no_initcheck("each product takes minutes under it")
@pytest.mark.parametrize(("dtype", "n"), [(np.int32, 1024), (np.uint64, 832)])
def test_auto_takes_the_bytes_of_large_products(device, dtype, n):
    a, b = random((n, n), dtype, 1), random((n, n), dtype, 2)
    d_a, d_b = cs.to_device(a), cs.to_device(b)

    expected = "wgmma_planes: " if device.compute_capability == (9, 0) else "byte_planes: "
    assert cs.matmul.explain(d_a, d_b).startswith(expected)
    for _ in range(2):  # the second call has a plan
        np.testing.assert_array_equal(cs.matmul(d_a, d_b).to_host(), a @ b)
