"""bfloat16, the dtype of ml_dtypes, in every operation: rounded once, on the host and on the device."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cuscope as cs

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: NumPy has no bfloat16")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# The error of a number that is rounded to bfloat16 by way of a wider type.
HALF_ULP = 2.0**-8 * (1 + 2.0**-12)
LEAST = 2.0**-133  # the least subnormal number
SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
SOME = settings(
    max_examples=max(10, round(80 * SCALE)),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
OPERATIONS = ["sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all"]
ORDERED = {"min", "max", "argmin", "argmax"}
EVERY = np.arange(1 << 16, dtype=np.uint16).view(BFLOAT16)


def filled(shape, seed: int, op: str = "sum") -> np.ndarray:
    random = np.random.default_rng(seed)
    if op in ("any", "all"):
        return random.choice([0.0, -0.0, 1.0], shape).astype(BFLOAT16)
    values = random.uniform(0.5, 2, shape) if op == "prod" else random.uniform(-4, 4, shape)
    return values.astype(BFLOAT16)


def wide(array) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # signalling NaN
        return np.asarray(array).astype(np.float64)


def check(op: str, result, array: np.ndarray, axis=None, keepdims: bool = False) -> None:
    """Results of comparisons and orders are NumPy's; other results are the exact ones, rounded once."""
    exact = getattr(np, op)(wide(array), axis=axis, keepdims=keepdims)
    assert result.dtype == (exact.dtype if op in ("argmin", "argmax", "any", "all") else BFLOAT16)
    assert result.shape == exact.shape
    if op in ORDERED or op in ("any", "all"):
        np.testing.assert_array_equal(wide(result), wide(exact))
        return
    # Products of bfloat16 are made in single precision.
    slack = array.size * 2.0**-24 * abs(exact) if op == "prod" else 2.0**-45 * np.abs(wide(array)).sum()
    assert np.all(abs(wide(result) - exact) <= HALF_ULP * abs(exact) + slack + LEAST), (result, exact)


@st.composite
def cases(draw):
    op = draw(st.sampled_from(OPERATIONS))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=9))
    array = filled(shape, draw(st.integers(0, 9)), op)
    if op in ORDERED and draw(st.booleans()):
        array[tuple(draw(st.integers(0, n - 1)) for n in shape)] = np.nan
    way = draw(st.sampled_from(["plain", "transposed", "reversed", "step"]))
    array = {"plain": array, "transposed": array.T, "reversed": array[..., ::-1], "step": array[::2]}[way]
    axes = st.integers(-array.ndim, array.ndim - 1)
    if op not in ("argmin", "argmax"):
        axes |= st.sets(st.integers(0, array.ndim - 1), min_size=1).map(lambda s: tuple(sorted(s)))
    return op, array, draw(st.none() | axes), draw(st.booleans())


@SOME
@given(case=cases())
def test_reductions_of_arrays_on_the_host(device, case):
    op, array, axis, keepdims = case

    check(op, getattr(cs, op)(array, axis=axis, keepdims=keepdims), array, axis, keepdims)


@SOME
@given(case=cases(), variant=st.sampled_from(["auto", "single_launch"]))
def test_reductions_of_device_arrays(device, case, variant):
    op, array, axis, keepdims = case

    result = cs.reduce(cs.to_device(array), op, axis, keepdims=keepdims, variant=variant)

    assert isinstance(result, cs.DeviceArray)
    check(op, result.to_host(), array, axis, keepdims)


@pytest.mark.parametrize("variant", [v.name for v in cs.reduce.variants(cs.Device("host:0"))])
@pytest.mark.parametrize("op", ["sum", "max"])
def test_every_rung_takes_bfloat16(device, op, variant):
    if variant == "native" and device.kind == "cuda":
        pytest.skip("a GPU has no native variant")
    if variant == "reduce_sync" or (variant == "warp_shuffle" and op == "max"):
        pytest.skip("not of floats")
    array = np.random.default_rng(1).integers(-3, 4, 1003).astype(BFLOAT16)  # sums are exact in every order

    check(op, cs.reduce(array, op, variant=variant), array)


@pytest.mark.parametrize("op", sorted(ORDERED))
@pytest.mark.parametrize("variant", ["auto", "single_launch"])
def test_order_of_all_bfloat16_numbers_is_numpys(device, op, variant):
    numbers = np.random.default_rng(2).permutation(EVERY[~np.isnan(EVERY.astype(np.float32))])
    numbers = np.r_[numbers, numbers]

    check(op, cs.reduce(numbers, op, variant=variant), numbers)
    check(op, cs.reduce(np.r_[numbers, EVERY], op, variant=variant), np.r_[numbers, EVERY])


def test_sums_count_further_than_256(device):
    ones = np.ones(1000, BFLOAT16)

    assert float(ones.sum()) == 256  # rounded after each addition
    assert float(cs.sum(ones)) == 1000
    assert float(cs.mean(ones)) == 1


@pytest.mark.parametrize("op", ["sum", "prod", "mean"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_reduction_is_computed_in_the_dtype_that_is_asked_for(device, op, dtype):
    array = filled((6, 50), 3, "prod")

    results = [getattr(cs, op)(x, axis=1, dtype=dtype) for x in (array, cs.to_device(array))]

    for result in (results[0], results[1].to_host()):
        assert result.dtype == np.dtype(dtype)
        exact = getattr(np, op)(wide(array), axis=1)
        eps = float(np.finfo(dtype).eps)
        assert np.all(abs(result.astype(np.complex128) - exact) <= (60 if op == "prod" else 1) * eps * exact)


@pytest.mark.parametrize("op", ["sum", "prod", "mean"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float16", "float32", "float64"])
def test_other_dtypes_are_reduced_in_bfloat16(device, op, dtype):
    array = np.arange(1, 6).astype(dtype)

    results = [getattr(cs, op)(x, dtype=BFLOAT16) for x in (array, cs.to_device(array))]

    for result in (results[0], results[1].to_host()[()]):
        check(op, result, array.astype(BFLOAT16))


def test_wider_out_gets_the_unrounded_result(device):
    array, exact = filled((4, 100), 4), wide(filled((4, 100), 4)).sum(axis=1)
    out, d_out = np.empty(4, np.float32), cs.empty(4, np.float32)

    assert cs.sum(array, axis=1, out=out) is out
    assert cs.sum(cs.to_device(array), axis=1, out=d_out) is d_out

    np.testing.assert_allclose(out, exact, rtol=1e-6)
    np.testing.assert_allclose(d_out.to_host(), exact, rtol=1e-6)


def test_out_may_be_bfloat16(device):
    array = filled((4, 100), 5)
    out, d_out = np.zeros((4, 2), BFLOAT16)[:, :1], cs.empty(100, BFLOAT16)

    assert cs.sum(array, axis=1, out=out, keepdims=True) is out
    assert cs.mean(cs.to_device(array.astype(np.float32)), axis=0, out=d_out) is d_out

    check("sum", out, array, 1, True)
    check("mean", d_out.to_host(), array, 0)


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_reduction_of_no_elements_is_numpys_or_an_error(device, op):
    array = np.ones((0, 3), BFLOAT16)
    try:
        reference = getattr(np, op)(array, axis=0)
    except ValueError:
        with pytest.raises(ValueError, match=f"{op}: the array has no elements"):
            getattr(cs, op)(array, axis=0)
        return

    result = getattr(cs, op)(array, axis=0)

    assert result.dtype == reference.dtype
    np.testing.assert_array_equal(wide(result), wide(reference))


# Products


def check_product(result, a: np.ndarray, b: np.ndarray, dtype=BFLOAT16) -> None:
    """A product is summed in single precision, and rounded once."""
    exact, magnitude = wide(a) @ wide(b), abs(wide(a)) @ abs(wide(b))
    assert result.dtype == dtype
    assert result.shape == exact.shape
    rounding = HALF_ULP if dtype == BFLOAT16 else 2.0**-24
    limit = rounding * abs(exact) + (a.shape[-1] + 4) * 2.0**-23 * magnitude + LEAST
    assert np.all(abs(wide(result) - exact) <= limit)


@SOME
@given(data=st.data())
def test_products_of_any_shape_are_rounded_once(device, data):
    m, k, n, batch = (data.draw(st.integers(1, 20)) for _ in range(4))
    a, b = filled((batch, m, k), 6), filled((n, k), 7)

    check_product(cs.matmul(a[:, ::-1], b.T), a[:, ::-1], b.T)
    check_product(cs.matmul(cs.to_device(a)[:, ::-1], cs.to_device(b).T).to_host(), a[:, ::-1], b.T)


@pytest.mark.parametrize("variant", ["naive", "coalesced", "shared_tiles", "tensor_cores"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 5, 33), (64, 64, 64), (67, 129, 130)], ids=str)
def test_every_variant_of_products_takes_bfloat16(device, variant, shape):
    m, k, n = shape
    a, b = filled((m, k), 8), filled((k, n), 9)

    check_product(cs.matmul(a, b, variant=variant), a, b)


def test_products_of_vectors_and_of_no_elements_are_right(device):
    a, b = filled((70,), 10), filled((70,), 11)

    check_product(cs.matmul(a, b), a, b)
    check_product(cs.dot(a, b), a, b)
    check_product(cs.dot(cs.to_device(a), cs.to_device(b)).to_host(), a, b)
    check_product(cs.matmul(a[:0], b[:0]), a[:0], b[:0])


def test_product_into_a_wider_out(device):
    a, b = filled((20, 70), 12), filled((70, 30), 13)
    out, d_out = np.empty((20, 30), np.float32), cs.empty((20, 30), np.float32)

    assert cs.matmul(a, b, out=out) is out
    assert cs.matmul(cs.to_device(a), cs.to_device(b), out=d_out) is d_out

    check_product(out, a, b, np.float32)
    check_product(d_out.to_host(), a, b, np.float32)


@pytest.mark.parametrize(
    ("other", "common"),
    [
        ("bool", BFLOAT16),
        ("int8", BFLOAT16),
        ("uint8", BFLOAT16),
        ("int16", "float32"),
        ("int64", "float64"),
        ("float16", "float32"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("complex64", "complex64"),
    ],
)
def test_products_with_other_dtypes_have_numpys_common_dtype(device, other, common):
    a, b = np.arange(1, 7).reshape(2, 3).astype(other), filled((3,), 14)
    assert (a * b).dtype == common

    for product in (cs.matmul(a, b), cs.matmul(cs.to_device(a), cs.to_device(b)).to_host(), cs.dot(a, b)):
        assert product.dtype == common
        exact = a.astype(np.complex128) @ wide(b)
        np.testing.assert_allclose(product.astype(np.complex128), exact, rtol=HALF_ULP * math.sqrt(2))


def test_bytes_in_the_other_order_are_swapped(device):
    array = filled((30,), 15)
    swapped = array.astype(BFLOAT16.newbyteorder())

    check("sum", cs.sum(swapped), array)


@pytest.mark.parametrize("name", ["float8_e5m2fnuz", "float8_e4m3", "int4"])
def test_other_dtypes_of_ml_dtypes_are_refused(device, name):
    array = np.ones(4).astype(getattr(ml_dtypes, name))

    for refused in (
        lambda: cs.sum(array),
        lambda: cs.matmul(array, array),
        lambda: cs.sum(np.ones(4), dtype=name),
    ):
        with pytest.raises(TypeError, match=f"{name} is none that kernels have; allowed are bool"):
            refused()
