"""float8_e4m3fn and float8_e5m2, dtypes of ml_dtypes, in every operation: rounded once, on the host and on the device."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: NumPy has no float8")
E4M3, E5M2, BFLOAT16 = (np.dtype(getattr(ml_dtypes, f)) for f in ("float8_e4m3fn", "float8_e5m2", "bfloat16"))
each_type = pytest.mark.parametrize("dtype", [E4M3, E5M2], ids=str)
ON_HOST = cs.Device("host:0")


def filled(dtype, *shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-4, 4, shape).astype(dtype)


def every(dtype, nan: bool = True) -> np.ndarray:
    """All numbers of the type, in random order."""
    numbers = np.random.default_rng(2).permutation(256).astype(np.uint8).view(dtype)
    return numbers if nan else numbers[~np.isnan(numbers.astype(np.float32))]


def same(result, expected) -> None:
    if isinstance(result, cs.DeviceArray):
        result = result.to_host()
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.astype(np.float64), expected.astype(np.float64))


# Conversions


@each_type
def test_conversions_are_those_of_ml_dtypes(device, dtype):
    """Ties, subnormal numbers and numbers that are too large: these become infinity, and NaN in float8_e4m3fn."""
    exact = np.sort(every(dtype, nan=False).astype(np.float32))
    exact = exact[np.isfinite(exact)]
    middles = (exact[1:] + exact[:-1]) / 2
    near = [np.nextafter(middles, np.float32(to)) for to in (-np.inf, np.inf)]
    numbers = np.concatenate(
        [exact, middles, *near, [464, 464.1, 61439, 61440, 1e9, -1e9, np.inf, -np.inf, np.nan]]
    )
    numbers = numbers.astype(np.float32)
    for wide in (numbers, numbers.astype(np.float64)):
        same(cs.sum(cs.to_device(wide[None]), axis=0, dtype=dtype), wide.astype(dtype))
        same(cs.sum(wide[None], axis=0, dtype=dtype), wide.astype(dtype))


@pytest.mark.parametrize("variant", ["auto", "single_launch"])
def test_sum_of_doubles_is_rounded_once(device, variant):
    array = np.array([8192, 1024, 2**-16], E5M2)  # the sum in float32 is 9216, between 8192 and 10240

    assert float(np.asarray(cs.reduce(array, "sum", variant=variant))) == 10240


@each_type
@pytest.mark.parametrize("to", ["float16", "float64", "int32", "bool", "complex64", E4M3, E5M2], ids=str)
def test_other_dtypes_get_every_number(device, dtype, to):
    numbers = every(dtype, nan=False)
    if to == "int32":
        numbers = numbers[np.isfinite(numbers.astype(float))]

    result = cs.sum(cs.to_device(numbers[None]), axis=0, dtype=to)

    expected = numbers.astype(np.float64).astype(to)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.to_host().astype(complex), expected.astype(complex))


def test_kernels_take_arrays_and_numbers(device):
    mod = cs.Module("""#include <cuda_fp8.h>
        __global__ void k(__nv_fp8_e4m3* to, const __nv_fp8_e5m2* from, __nv_fp8_e4m3 number) {
            to[threadIdx.x] = __nv_fp8_e4m3(float(from[threadIdx.x]) + float(number));
        }""")
    from_, to = cs.to_device(np.array([1, -2], E5M2)), cs.zeros(2, E4M3)

    mod.k[1, 2](to, from_, 0.3)  # rounded to 0.3125

    same(to, np.array([1.3125, -1.6875]).astype(E4M3))
    mod.k[1, 2](to, from_, E4M3.type(2))
    same(to, np.array([3, 0], E4M3))
    for large in (465, np.inf):
        with pytest.raises((ValueError, OverflowError), match="a number that float8_e4m3fn can hold"):
            mod.k[1, 2](to, from_, large)


# Reductions


@each_type
@pytest.mark.parametrize("op", ["min", "max", "argmin", "argmax"])
@pytest.mark.parametrize("variant", ["auto", "single_launch"])
def test_order_is_that_of_numpy(device, dtype, op, variant):
    for numbers in (every(dtype, nan=False), every(dtype), np.r_[every(dtype, nan=False)[:99]]):
        wide = numbers.astype(np.float64)
        result = np.asarray(cs.reduce(numbers, op, variant=variant))
        expected = getattr(np, op)(wide)
        np.testing.assert_array_equal(result.astype(np.float64), expected)
        assert result.dtype == (np.int64 if "arg" in op else dtype)


@each_type
@pytest.mark.parametrize("variant", ["auto", "single_launch"])
def test_sums_are_rounded_once(device, dtype, variant):
    array = (filled(dtype, 40, 33).astype(np.float32) / 4).astype(dtype)
    for axis in (None, 0, 1):
        exact = array.astype(np.float64).sum(axis=axis)
        same(np.asarray(cs.reduce(array, "sum", axis, variant=variant)), np.asarray(exact.astype(dtype)))
        mean = (exact / (array.size // exact.size)).astype(dtype)
        same(cs.reduce(cs.to_device(array), "mean", axis, variant=variant), np.asarray(mean))
    # ml_dtypes rounds after every addition
    assert float(cs.sum(np.ones(300, dtype))) == float(np.float32(300).astype(dtype))


def test_sums_that_are_too_large(device):
    assert np.isnan(float(cs.sum(np.full(9, 400, E4M3))))
    assert float(cs.sum(np.full(9, -5e4, E5M2))) == -np.inf
    for out in (np.empty((), np.float32), np.empty((), np.float16), np.empty((), BFLOAT16)):
        assert float(cs.sum(np.full(9, 416, E4M3), out=out)) == np.array(9 * 416, out.dtype)
    assert float(cs.sum(np.full(9, 416, E4M3), dtype="float64")) == 9 * 416


@each_type
def test_truth_and_products(device, dtype):
    array = np.array([[0, -0.0, 0], [1, -2, 0], [0.5, 8, 3]], dtype)
    for x in (array, cs.to_device(array)):
        results = [f(x, axis=1) for f in (cs.any, cs.all, cs.prod)]
        got = [r if isinstance(r, np.ndarray) else r.to_host() for r in results]
        assert got[0].tolist() == [False, True, True]
        assert got[1].tolist() == [False, False, True]
        assert got[2].astype(float).tolist() == [0, 0, 12]


@pytest.mark.parametrize("variant", [v.name for v in cs.reduce.variants(ON_HOST)])
def test_every_rung_sums_float8(device, variant):
    if variant == "native" and device.kind == "cuda":
        pytest.skip("a GPU has no native variant")
    if variant == "reduce_sync":
        pytest.skip("not of floats")
    array = np.random.default_rng(1).integers(-3, 4, 1003).astype(E4M3)
    array = np.r_[array, np.zeros(1, E4M3)]

    for op in ("sum", "max") if variant != "warp_shuffle" else ("sum",):
        exact = getattr(np, op)(array.astype(np.float64))
        assert float(np.asarray(cs.reduce(array, op, variant=variant))) == float(
            np.asarray(exact).astype(E4M3)
        )


# Products


def check_product(result, a: np.ndarray, b: np.ndarray, dtype) -> None:
    """A product is summed in single precision, and rounded once. Tensor cores of GPUs keep fewer bits of a sum."""
    on_gpu = cs.current_device().kind == "cuda"
    if isinstance(result, cs.DeviceArray):
        result = result.to_host()
    a, b = a.astype(np.float64), b.astype(np.float64)
    exact, magnitude = a @ b, abs(a) @ abs(b)
    assert result.dtype == dtype
    assert result.shape == exact.shape
    limit = (2.0**-8 if on_gpu else a.shape[-1] * 2.0**-24) * magnitude
    low, high = ((exact + s * limit).astype(dtype).astype(np.float64) for s in (-1, 1))
    result = result.astype(np.float64)
    assert np.all((low <= result) & (result <= high))


PAIRS = [(E4M3, E4M3), (E5M2, E5M2), (E4M3, E5M2)]


@pytest.mark.parametrize(("of_a", "of_b"), PAIRS, ids=str)
@pytest.mark.parametrize("out", ["float32", "float16", BFLOAT16, E4M3, E5M2, "float64"], ids=str)
def test_products_of_any_layout(device, of_a, of_b, out):
    a, b = filled(of_a, 2, 17, 70), filled(of_b, 33, 70, seed=3)
    if out in (E4M3, E5M2):
        a = (a.astype(np.float32) / 16).astype(of_a)
    d_a, d_b = cs.to_device(a), cs.to_device(b)
    shape = (2, 17, 33)

    check_product(cs.matmul(a, b.T, out=np.empty(shape, out)), a, b.T, out)
    check_product(cs.matmul(d_a, d_b.T, out=cs.empty(shape, out)), a, b.T, out)
    check_product(cs.matmul(d_a[:, ::-2], d_b.T[:, ::3]), a[:, ::-2], b.T[:, ::3], np.float32)


@pytest.mark.parametrize(("of_a", "of_b"), PAIRS, ids=str)
@pytest.mark.parametrize("variant", ["naive", "coalesced", "shared_tiles", "tensor_cores", "wgmma"])
def test_variants_of_products_take_float8(device, of_a, of_b, variant):
    if variant == "wgmma" and device.kind == "cuda" and device.compute_capability != (9, 0):
        pytest.skip("needs compute capability 9.0")
    a, b = filled(of_a, 67, 129), filled(of_b, 129, 35, seed=4)

    check_product(cs.matmul(a, b, variant=variant), a, b, np.float32)
    if variant != "wgmma":
        check_product(cs.matmul(a[:, :5], b[:5], variant=variant), a[:, :5], b[:5], np.float32)


def test_products_have_numpys_dtype(device):
    for of_a, of_b in (
        *PAIRS,
        (E4M3, "int8"),
        ("bool", E5M2),
        (E4M3, "float16"),
        (BFLOAT16, E5M2),
        (E4M3, "float64"),
    ):
        a, b = filled(E4M3, 3, 5).astype(of_a), filled(E5M2, 5, 2).astype(of_b)
        dtype = np.matmul(a, b).dtype
        check_product(cs.matmul(a, b), a, b, dtype)
        check_product(cs.matmul(cs.to_device(a), cs.to_device(b)), a, b, dtype)
    v = filled(E4M3, 70)
    for x in (v, cs.to_device(v)):  # numpy.dot gives float8_e4m3fn, and NaN here
        for product in (cs.dot(x, x), cs.matmul(x, x)):
            check_product(product, v, v, np.float32)
