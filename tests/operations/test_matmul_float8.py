"""Products of float8 by the tensor cores, which take it as it is: rung 15, and rung 11 by name."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from matmul_instances import make_problem
from support import one_instance

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: NumPy has no float8")
E4M3, E5M2, BFLOAT16 = (np.dtype(getattr(ml_dtypes, f)) for f in ("float8_e4m3fn", "float8_e5m2", "bfloat16"))


@pytest.fixture(autouse=True)
def with_wgmma(device):
    if device.kind == "cuda" and device.compute_capability != (9, 0):
        pytest.skip("needs compute capability 9.0")


def numbers(dtype, *shape: int, seed: int = 1) -> np.ndarray:
    """Small multiples of 1/2, whose products and sums are exact in every order, also in 14 bits."""
    return (np.random.default_rng(seed).integers(-3, 4, shape) / 2).astype(dtype)


def wide(array) -> np.ndarray:
    return (array.to_host() if isinstance(array, cs.DeviceArray) else array).astype(np.float64)


@pytest.mark.parametrize("variant", ["float8", "tma"])
@pytest.mark.parametrize("dtype", [E4M3, E5M2], ids=str)
@pytest.mark.parametrize("out", ["float32", "float16", BFLOAT16], ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 1), (130, 200, 300), (300, 130, 128), (64, 520, 17)], ids=str)
def test_product_is_exact(device, variant, dtype, out, shape):
    m, n, k = shape
    a, b = numbers(dtype, m, k), numbers(dtype, n, k, seed=2)
    result = cs.empty((m, n), out)

    cs.matmul(cs.to_device(a), cs.to_device(b).T, out=result, variant=variant)

    np.testing.assert_array_equal(wide(result), (wide(a) @ wide(b).T).astype(out).astype(np.float64))


@pytest.mark.parametrize("out", ["float32", BFLOAT16], ids=str)
def test_tiles_of_192_columns_give_the_same(device, out):
    m, n, k = 140, 400, 400  # one cluster computes three tiles
    a, b = numbers(E4M3, m, k), numbers(E4M3, n, k, seed=2)
    arrays = cs.to_device(a), cs.to_device(b), cs.empty((m, n), out)
    boxes = (128, 128), (96, 128), (16, 128 // np.dtype(out).itemsize)
    maps = [
        cs.TensorMap(array.reshape((1, *array.shape)), box=(1, *box), swizzle="128B")
        for array, box in zip(arrays, boxes, strict=True)
    ]
    room = 227 << 10
    kind = "float" if out == "float32" else "__nv_bfloat16"
    kernel = one_instance(
        device, "matmul/15_float8", f"float8<__nv_fp8_e4m3, {kind}, 192, 4, 2, false, true>"
    )
    kernel.max_dynamic_shared = room
    problem = make_problem(m=m, n=n, k=k, a_row=k, b_row=k, c_row=n)

    kernel[2, 384, None, room](*maps, arrays[2], problem, np.int32(1), np.int32(8))

    np.testing.assert_array_equal(wide(arrays[2]), (wide(a) @ wide(b).T).astype(out).astype(np.float64))


@pytest.mark.parametrize("depth", [70, 144])  # rows of 70 bytes cannot be read 16 bytes at a time
def test_operands_that_the_kernel_cannot_read_are_copied(device, depth):
    a, b = numbers(E4M3, 2, 150, depth), numbers(E4M3, 3, 1, depth, 140, seed=2)
    d_a, d_b = cs.to_device(a), cs.to_device(b)
    rows_of_a = cs.to_device(a.transpose(0, 2, 1).copy()).transpose(0, 2, 1)
    columns_of_b = cs.to_device(b.transpose(0, 1, 3, 2).copy()).transpose(0, 1, 3, 2)
    exact = wide(a) @ wide(b)

    for x in (d_a, rows_of_a):
        for y in (d_b, columns_of_b):
            np.testing.assert_array_equal(wide(cs.matmul(x, y, variant="float8")), exact)
    reversed_ = cs.matmul(d_a[::-1, ::3, 3:], d_b[1, 0, 3:, ::-2], variant="float8")
    np.testing.assert_array_equal(wide(reversed_), wide(a)[::-1, ::3, 3:] @ wide(b)[1, 0, 3:, ::-2])


def test_result_may_be_written_into_rows_of_a_larger_array(device):
    a, b = numbers(E5M2, 33, 48), numbers(E5M2, 35, 48, seed=2)
    for dtype in (np.float32, BFLOAT16):
        out = cs.zeros((33, 41), dtype)

        cs.matmul(cs.to_device(a), cs.to_device(b).T, out=out[:, :35], variant="float8")

        np.testing.assert_array_equal(wide(out)[:, :35], wide(a) @ wide(b).T)
        assert (wide(out)[:, 35:] == 0).all()


def test_sums_of_float8_keep_the_bits_of_float32(device):
    """A sum of 14 bits, above 4096, loses every eighth that is added."""
    a, b = np.full((3, 4096), 1.125, np.float32).astype(E4M3), np.ones((5, 4096), E4M3)

    product = wide(cs.matmul(cs.to_device(a), cs.to_device(b).T, variant="float8"))

    np.testing.assert_array_equal(product, 4096 * 1.125)


def test_infinity_and_nan_reach_the_elements_that_they_reach_in_floats(device):
    a, b = numbers(E5M2, 40, 160), numbers(E5M2, 50, 160, seed=2)
    a[3, 5], a[7, 7], a[11, 2], a[2, 150] = np.inf, np.nan, -np.inf, np.inf
    b[10, 5], b[20, 5], b[8, 2] = 0, 1, np.inf
    with np.errstate(all="ignore"):
        expected = a.astype(np.float32) @ b.astype(np.float32).T

    product = cs.matmul(cs.to_device(a), cs.to_device(b).T, variant="float8").to_host()

    np.testing.assert_array_equal(product, expected)


def test_float8_of_two_types_is_multiplied_as_float16(device):
    a, b = numbers(E4M3, 70, 90), numbers(E5M2, 90, 40, seed=2)

    with pytest.raises(TypeError, match="float8 does not multiply float16 into float32"):
        cs.matmul(a, b, variant="float8")
    np.testing.assert_array_equal(cs.matmul(a, b, variant="tensor_cores"), wide(a) @ wide(b))


def test_auto_takes_float8_as_it_is(device):
    a, b = cs.zeros((300, 512), E4M3), cs.zeros((512, 600), E4M3)

    explanation = cs.matmul.explain(a, b)

    assert (
        ("as float8 on a GPU" in explanation) if device.kind == "host" else explanation.startswith("float8: ")
    )
