"""Products of floats by the tensor cores, which multiply their bfloat16 parts: to_parts, split_floats and cs.matmul."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import built_in

LARGEST = float(np.finfo(np.float32).max)


def random(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def split(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return cs.matmul(cs.to_device(a), cs.to_device(b), variant="split_floats").to_host()


def parts_of(device: cs.Device, host: np.ndarray, columns: int, width: int) -> np.ndarray:
    """The four parts of the first columns, as floats."""
    rows, row = host.shape
    parts = cs.to_device(np.full((4, rows, width), 0x7FC0, np.uint16))
    kernel = built_in(device, "matmul/to_parts").to_parts
    kernel[(-(-width // 2048), 2), 256](
        cs.to_device(host), parts, np.int32(rows), np.int32(columns), np.int64(row), np.int32(width)
    )
    return (parts.to_host().astype(np.uint32) << 16).view(np.float32)


def error(product: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """The largest error, in units of 2^-24 of the sum of the products' magnitudes."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float((np.abs(product - a @ b) / (np.abs(a) @ np.abs(b))).max() * 2**24)


@pytest.mark.parametrize(
    ("rows", "columns", "row", "width"), [(1, 1, 1, 8), (3, 17, 17, 24), (5, 2100, 2104, 2104)]
)
def test_three_parts_are_the_number(device, rows, columns, row, width):
    host = random((rows, row), 1) * 10.0 ** np.random.default_rng(2).integers(-30, 30, (rows, row)).astype(
        np.float32
    )

    first, second, third, finite = parts_of(device, host, columns, width)

    np.testing.assert_array_equal(((first + second) + third)[:, :columns], host[:, :columns])
    np.testing.assert_array_equal(finite, first)
    for part in (first, second, third):
        assert (part[:, columns:] == 0).all()


def test_parts_of_extreme_numbers(device):
    numbers = np.array([[LARGEST, -LARGEST, np.inf, -np.inf, np.nan, 1e-30, 1e-45, -0.0]], np.float32)

    first, second, third, finite = parts_of(device, numbers, 8, 8)

    special = [2, 3, 4]
    np.testing.assert_array_equal(first[0, special], numbers[0, special])
    assert (finite[0, special] == 0).all()
    assert (second[0, special] == 0).all()
    assert (third[0, special] == 0).all()
    rest = [0, 1, 5, 7]
    # From the smallest: with the second part, the first of the largest float is rounded up to infinity.
    np.testing.assert_array_equal((third + second + first)[0, rest], numbers[0, rest])
    assert abs(first[0, 6] + second[0, 6] + third[0, 6] - numbers[0, 6]) <= 2.0**-134


@pytest.mark.parametrize("shape", [(1, 1, 1), (65, 128, 129), (130, 300, 70), (257, 64, 200)], ids=str)
def test_products_are_as_precise_as_sums_of_floats(device, shape):
    m, k, n = shape
    a, b = random((m, k), 1), random((k, n), 2)

    assert error(split(a, b), a, b) <= max(2, 0.25 * k)


@pytest.mark.gpu_only("a simulated device takes minutes")
@pytest.mark.parametrize("k", [256, 1024, 8192])
@pytest.mark.parametrize(("m", "n"), [(300, 200), (1500, 1600)])  # with tiles of 128 and of 192 columns
def test_error_of_long_sums_is_small(device, m, n, k):
    a, b = random((m, k), 1), random((k, n), 2)

    assert error(split(a, b), a, b) <= 5
    # The last bits that tensor cores cut off have the same sign here. cuBLAS has errors of 60 at k = 2048.
    assert error(split(abs(a), abs(b)), abs(a), abs(b)) <= 24


@pytest.mark.parametrize("stored_a", [False, True])
@pytest.mark.parametrize("stored_b", [False, True])
def test_transposed_operands_give_the_bits_of_copies(device, stored_a, stored_b):
    a, b = random((70, 90), 1), random((90, 130), 2)

    def stored(x: np.ndarray, transposed: bool) -> cs.Array:
        return cs.to_device(np.ascontiguousarray(x.T)).T if transposed else cs.to_device(x)

    product = cs.matmul(stored(a, stored_a), stored(b, stored_b), variant="split_floats").to_host()

    np.testing.assert_array_equal(product, split(a, b))


def test_operands_may_have_any_strides(device):
    a, b = random((60, 90), 1), random((70, 80), 2)
    d_a, d_b = cs.to_device(a), cs.to_device(b)

    product = cs.matmul(d_a[::2, 5:75], d_b[:, ::-1], variant="split_floats").to_host()

    np.testing.assert_array_equal(product, split(a[::2, 5:75].copy(), b[:, ::-1].copy()))


def test_matrices_of_a_batch_may_be_repeated(device):
    a, b = random((3, 1, 20, 40), 1), random((2, 40, 30), 2)

    product = split(a, b)

    for i in range(3):
        for j in range(2):
            np.testing.assert_array_equal(product[i, j], split(a[i, 0], b[j]))


def test_result_may_be_written_into_rows_of_a_larger_array(device):
    a, b = random((33, 20), 1), random((20, 35), 2)
    out = cs.zeros((33, 40), np.float32)

    cs.matmul(cs.to_device(a), cs.to_device(b), out=out[:, :35], variant="split_floats")

    np.testing.assert_array_equal(out.to_host()[:, :35], split(a, b))
    assert (out.to_host()[:, 35:] == 0).all()


def test_infinity_and_nan_reach_the_elements_that_they_reach_in_floats(device):
    a, b = random((40, 30), 1), random((30, 50), 2)
    a[3, 5], a[7, 7], a[9, 1], a[11, 2] = np.inf, np.nan, LARGEST, -np.inf
    b[5, 10], b[5, 20], b[4, 4], b[2, 8] = 0, 1, -np.inf, np.inf  # 1 has a second part of zero
    b[1, :] = 0.25
    with np.errstate(all="ignore"):
        expected = a @ b

    product = split(a, b)

    special = ~np.isfinite(expected)
    np.testing.assert_array_equal(product[special], expected[special])
    assert np.isfinite(product[~special]).all()


@pytest.mark.gpu_only("auto on a simulated device is the processor's own way")
def test_auto_takes_the_parts_of_large_products(device):
    a, b = cs.to_device(random((2048, 2048), 1)), cs.to_device(random((2048, 2048), 2))

    assert cs.matmul.explain(a, b).startswith("split_floats: ")
    assert cs.matmul.explain(a[:300], b).startswith("warp_tiles: ")
