"""Reductions against NumPy's: every operation, variant, dtype, shape, stride and axis."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cuscope as cs
from cuscope import _core

try:
    from numpy.exceptions import AxisError
except ModuleNotFoundError:  # NumPy before 1.25
    from numpy import AxisError

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
COMMON = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}
MANY = settings(max_examples=max(20, round(200 * SCALE)), **COMMON)
SOME = settings(max_examples=max(10, round(60 * SCALE)), **COMMON)
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
REALS = [np.bool_, *INTEGERS, np.float16, np.float32, np.float64]
DTYPES = [*REALS, np.complex64, np.complex128]
OPERATIONS = ["sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all"]
ORDERED = {"min", "max", "argmin", "argmax"}
LADDER = [
    v.name for v in cs.reduce.variants(cs.Device("host:0")) if v.name not in ("native", "single_launch")
]
FUNCTIONS = {op: getattr(cs, op) for op in OPERATIONS}


def filled(shape, dtype, seed: int, op: str = "sum") -> np.ndarray:
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype, endpoint=True)
    # Products stay near 1; sums of halves stay finite.
    values = 1 + random.uniform(-1e-4, 1e-4, shape) if op == "prod" else random.uniform(-1, 1, shape)
    return (values * (1 + 0.01j) if dtype.kind == "c" else values).astype(dtype)


def allowed(
    op: str, array: np.ndarray, axis, keepdims: bool, dtype: np.dtype, exact: np.ndarray
) -> np.ndarray:
    """The largest error that a result may have: one rounding, and for double and complex a little more."""
    eps = float(np.finfo(dtype).eps)
    tolerance = eps * np.abs(exact)
    magnitude = np.abs(array).astype(np.float64)
    count = array.size if axis is None else math.prod(array.shape[i] for i in np.atleast_1d(axis))
    if op == "prod":
        return tolerance + 2 * count * (2.0**-52 if eps < 1e-10 or dtype.kind == "c" else eps) * np.abs(exact)
    if op == "mean":
        magnitude = magnitude / max(count, 1)
    return tolerance + 2.0**-50 * np.sum(magnitude, axis=axis, keepdims=keepdims) + 1e-300


def check(op: str, result, array: np.ndarray, axis=None, keepdims: bool = False, dtype=None) -> None:
    arguments = {"axis": axis, "keepdims": keepdims} | ({} if dtype is None else {"dtype": dtype})
    with np.errstate(all="ignore"):
        reference = getattr(np, op)(array, **arguments)
    assert result.dtype == reference.dtype
    assert result.shape == reference.shape
    if op in ORDERED or op in ("any", "all") or reference.dtype.kind in "biu":
        np.testing.assert_array_equal(result, reference)
        return
    wide = np.clongdouble if reference.dtype.kind == "c" else np.longdouble
    exact = getattr(np, op)(array.astype(wide), axis=axis, keepdims=keepdims)
    limit = allowed(op, array, axis, keepdims, reference.dtype, exact)
    assert np.all(np.abs(np.asarray(result).astype(wide) - exact) <= limit), (result, exact)


@st.composite
def cases(draw, dtypes=DTYPES, operations=OPERATIONS):
    op = draw(st.sampled_from(operations))
    dtype = np.dtype(
        draw(st.sampled_from([d for d in dtypes if op not in ORDERED or np.dtype(d).kind != "c"]))
    )
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=9))
    array = filled(shape, dtype, draw(st.integers(0, 9)), op)
    way = draw(st.sampled_from(["plain", "transposed", "reversed", "step"]))
    if way == "transposed":
        array = array.transpose(draw(st.permutations(range(array.ndim))))
    elif way == "reversed":
        array = array[..., ::-1]
    elif way == "step":
        array = array[::2]
    axes = st.integers(-array.ndim, array.ndim - 1)
    if op not in ("argmin", "argmax"):
        axes |= st.sets(st.integers(0, array.ndim - 1), min_size=1).map(lambda s: tuple(sorted(s)))
    return op, array, draw(st.none() | axes), draw(st.booleans())


@MANY
@given(case=cases())
def test_operations_are_numpys(device, case):
    op, array, axis, keepdims = case

    check(op, FUNCTIONS[op](array, axis=axis, keepdims=keepdims), array, axis, keepdims)


@MANY
@given(case=cases())
def test_single_launch_reduces_device_arrays(device, case):
    op, array, axis, keepdims = case
    whole = array.base if array.base is not None and array.base.ndim == array.ndim else array
    d_array = cs.to_device(array) if whole is array else cs.to_device(np.ascontiguousarray(array))

    result = cs.reduce(d_array, op, axis, keepdims=keepdims, variant="single_launch")

    check(op, result.to_host(), array, axis, keepdims)


def takes(variant: str, op: str, dtype: np.dtype) -> bool:
    """Whether the variant can reduce the array, as its needs say."""
    narrow = op in ("any", "all") or (dtype.kind in "biu" and dtype.itemsize <= 4)
    if variant == "warp_shuffle":
        return op == "sum"
    if variant == "reduce_sync":
        return narrow and op not in ("sum", "prod")
    if variant == "vector_loads" and op not in ("any", "all") and dtype.kind != "f":
        return dtype.kind in "bi" and (op == "sum" or (op != "prod" and dtype.itemsize <= 4))
    return True


@SOME
@given(case=cases(REALS, ["sum", "prod", "min", "max", "any", "all"]), variant=st.sampled_from(LADDER))
def test_every_rung_gives_numpys_result(device, case, variant):
    op, array, axis, keepdims = case
    if op == "prod" and array.dtype.kind == "f":
        array = np.ones_like(array)
    if array.dtype.kind == "f" and op == "sum":
        array = np.round(array * 64) / 64  # sums of these are exact in every order
        array = array.astype(np.float32) if array.dtype == np.float16 else array
    if not takes(variant, op, array.dtype):
        with pytest.raises(TypeError, match=f"variant: {variant} does not do"):
            cs.reduce(array, op, axis, variant=variant)
        return

    check(op, cs.reduce(array, op, axis, keepdims=keepdims, variant=variant), array, axis, keepdims)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 255, 256, 257, 511, 513, 4099, 65_537, 300_001])
@pytest.mark.parametrize("variant", [*LADDER, "single_launch", "auto"])
def test_sums_of_every_size(device, variant, n):
    array = np.random.default_rng(n).integers(-100, 100, n).astype(np.int32)
    d_array = cs.to_device(array)

    result = cs.reduce(d_array, "sum", dtype=np.int32, variant=variant)

    assert result.to_host()[()] == array.sum(dtype=np.int32)


@pytest.mark.parametrize("variant", ["native", "single_launch"])
@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("shape", [(100_003,), (3, 70_001), (70_001, 3), (5, 4099, 7), (700, 900)], ids=str)
def test_reductions_of_large_shapes_are_numpys(device, variant, op, shape):
    if variant == "native" and device.kind == "cuda":
        pytest.skip("a GPU has no native variant")
    array = filled(shape, np.float32, 1, op)
    d_array = cs.to_device(array)
    for axis in [None, *range(len(shape))]:
        check(op, cs.reduce(d_array, op, axis, variant=variant).to_host(), array, axis)


@pytest.mark.parametrize("op", ["min", "max", "argmin", "argmax"])
@pytest.mark.parametrize("variant", ["auto", "single_launch"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nan_counts_as_the_extreme_element(device, op, variant, dtype):
    array = filled((5, 1000), dtype, 2)
    array[1, [400, 300]] = np.nan
    array[3, 999] = np.nan

    for axis in (None, 0, 1):
        check(op, cs.reduce(array, op, axis, variant=variant), array, axis)


@pytest.mark.parametrize("op", ["argmin", "argmax"])
@pytest.mark.parametrize("variant", ["auto", "single_launch"])
def test_first_of_equal_elements_is_found(device, op, variant):
    array = np.tile(np.array([3, 1, 3, 1, 2], np.int16), 4000)

    check(op, cs.reduce(array, op, variant=variant), array)


@pytest.mark.parametrize("variant", ["auto", "single_launch", "vector_loads"])
def test_sum_of_negative_zeros_is_numpys(device, variant):
    result = cs.reduce(np.full(1000, -0.0, np.float32), "sum", variant=variant)

    assert np.signbit(result) == np.signbit(np.sum(np.full(1000, -0.0, np.float32)))


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize(
    ("shape", "axis"), [((0,), None), ((3, 0), 1), ((3, 0), 0), ((0, 3), (0, 1)), ((), None)]
)
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_reductions_of_no_elements_and_of_numbers_are_numpys(device, op, shape, axis):
    if op in ("argmin", "argmax") and isinstance(axis, tuple):
        pytest.skip("NumPy has no argmin over two axes")
    array = np.ones(shape, np.float32)
    try:
        getattr(np, op)(array, axis=axis)
    except ValueError:
        with pytest.raises(ValueError, match=f"{op}: the array has no elements"):
            FUNCTIONS[op](array, axis=axis)
        return

    result = FUNCTIONS[op](array, axis=axis)

    reference = getattr(np, op)(array, axis=axis)
    np.testing.assert_array_equal(result, reference)
    assert result.dtype == reference.dtype


def test_mean_of_no_elements_warns(device):
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert np.isnan(cs.mean(np.zeros(0, np.float32)))


@pytest.mark.parametrize("op", ["sum", "prod", "mean"])
@pytest.mark.parametrize(
    ("dtype", "asked"),
    [
        (np.int8, np.int8),
        (np.int32, np.float32),
        (np.float32, np.float64),
        (np.uint8, np.int64),
        (np.bool_, np.uint16),
    ],
)
def test_reduction_is_computed_in_the_dtype_that_is_asked_for(device, op, dtype, asked):
    array = filled((40,), dtype, 3, op)
    if np.dtype(asked).kind in "iu" and op == "mean":
        asked = np.float64
    with np.errstate(all="ignore"):
        reference = getattr(np, op)(array, dtype=asked)

    result = FUNCTIONS[op](array, dtype=asked)

    assert result.dtype == reference.dtype
    np.testing.assert_allclose(result, reference, rtol=1e-5)


def test_same_bits_on_every_run(device):
    d_array = cs.to_device(np.random.default_rng(6).standard_normal(1_000_003).astype(np.float32))

    results = {cs.sum(d_array).to_host().tobytes() for _ in range(10)}

    assert len(results) == 1


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_dot_of_vectors_is_numpys(device, dtype):
    x, y = filled((10_007,), dtype, 7), filled((10_007,), dtype, 8)
    with np.errstate(all="ignore"):
        reference = np.dot(x, y)

    for result in (cs.dot(x, y), cs.dot(cs.to_device(x), cs.to_device(y)).to_host()[()]):
        assert result.dtype == reference.dtype
        if reference.dtype.kind in "biu":
            assert result == reference
        else:
            exact = np.sum(x.astype(np.clongdouble) * y.astype(np.clongdouble))
            assert (
                abs(result - exact)
                <= np.finfo(reference.dtype).eps * abs(exact)
                + 2.0**-50 * np.abs(x * y).sum(dtype=np.float64 if reference.dtype.kind != "c" else None).real
            )


@pytest.mark.parametrize(
    "shapes",
    [((3, 4), (4, 5)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((2, 3, 4), (5, 4, 6)), ((3, 4), (5, 4, 6))],
)
def test_dot_of_matrices_is_numpys(device, shapes):
    x, y = (filled(shape, np.float64, 9) for shape in shapes)

    result, on_device = cs.dot(x, y), cs.dot(cs.to_device(x), cs.to_device(y)).to_host()

    np.testing.assert_allclose(result, np.dot(x, y), rtol=1e-12)
    np.testing.assert_allclose(on_device, np.dot(x, y), rtol=1e-12)


def test_streams_have_workspaces_of_their_own(device):
    arrays = [np.full(400_000, i, np.float32) for i in range(8)]
    streams = [cs.Stream() for _ in arrays]

    results = [
        cs.reduce(cs.to_device(array, stream=stream), "sum", variant="single_launch", stream=stream)
        for _ in range(5)
        for array, stream in zip(arrays, streams, strict=True)
    ]

    assert [float(result.to_host()[()]) for result in results] == [400_000.0 * i for i in range(8)] * 5


def test_result_is_written_to_out(device):
    array = filled((6, 7), np.int16, 10)
    out, d_out = np.empty(7, np.float64), cs.empty((1, 7), np.int64)

    assert cs.sum(array, 0, out=out) is out
    assert cs.sum(cs.to_device(array), 0, None, d_out, True) is d_out

    np.testing.assert_array_equal(out, array.sum(0))
    np.testing.assert_array_equal(d_out.to_host(), array.sum(0, keepdims=True))


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2)])
@pytest.mark.parametrize("way", ["whole", "transposed", "every second"])
def test_explain_names_the_kernel_that_is_launched(device, axis, way):
    whole = cs.to_device(filled((30, 20, 500), np.float32, 12))
    array = {"whole": whole, "transposed": whole.T, "every second": whole[::2]}[way]
    result = cs.empty(cs.max(array, axis).shape, np.float32)
    axes = tuple(range(3)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    variant = "auto" if device.kind == "cuda" else "single_launch"

    told = cs.reduce.explain(array, "max", axis)
    name, reason = _core.launch_reduce("max", array, axes, result, variant, cs.current_stream())

    assert told.partition(": ")[0] == (name if device.kind == "cuda" else "native")
    assert told.endswith(f"{reason[0].lower()}{reason[1:]}")
    np.testing.assert_array_equal(result.to_host(), cs.max(array, axis).to_host())


@pytest.mark.host_only("a GPU's times are not predicted")
def test_explain_of_a_simulated_device_has_its_time(device):
    time = _core.predict_reduction(device, "single_launch", 1 << 24, 4) / 1e3

    assert f"It takes {time:.1f} us" in cs.reduce.explain(np.zeros(1 << 24, np.float32), "sum")
    assert f"It takes {time:.1f} us" in cs.reduce.explain(np.zeros(1 << 24, np.int8), "sum", dtype=np.float32)


def test_explain_of_no_elements_and_of_refused_arguments(device):
    assert cs.reduce.explain(np.ones((3, 0)), "sum", 0).startswith("auto: there is nothing")
    with pytest.raises(ValueError, match="median"):
        cs.reduce.explain(np.ones(3), "median")
    with pytest.raises(AxisError):
        cs.reduce.explain(np.ones(3), "sum", 1)
    with pytest.raises(TypeError, match="complex"):
        cs.reduce.explain(np.ones(3, complex), "max")


BAD = {
    "axis": (lambda: cs.sum(np.ones((2, 3)), axis=2), AxisError, "axis 2 is out of bounds"),
    "axis twice": (lambda: cs.sum(np.ones((2, 3)), axis=(0, -2)), ValueError, "twice"),
    "axis type": (lambda: cs.sum(np.ones(3), axis=1.0), TypeError, "float"),
    "two axes": (lambda: cs.argmax(np.ones((2, 3)), axis=(0, 1)), TypeError, "tuple"),
    "complex": (lambda: cs.max(np.ones(3, complex)), TypeError, "complex"),
    "dtype": (lambda: cs.sum(np.array(["a"])), TypeError, "<U1"),
    "op": (lambda: cs.reduce(np.ones(3), "median"), ValueError, "median"),
    "variant": (lambda: cs.reduce(np.ones(3), "sum", variant="fast"), ValueError, "interleaved_modulo"),
    "variant's operation": (lambda: cs.reduce(np.ones(3), "mean", variant="sequential"), TypeError, "mean"),
    "variant's dtype": (lambda: cs.reduce(np.ones(3), "max", variant="reduce_sync"), TypeError, "float64"),
    "out shape": (lambda: cs.sum(np.ones((2, 3)), 0, out=np.ones(2)), ValueError, r"\(3,\)"),
    "dot shapes": (lambda: cs.dot(np.ones(2), np.ones(3)), ValueError, r"\(2,\)"),
    "dot number": (lambda: cs.dot(np.ones(()), np.ones(3)), ValueError, "no dimensions"),
}


@pytest.mark.parametrize("what", BAD)
def test_wrong_arguments_are_refused_with_the_reason(device, what):
    call, error, message = BAD[what]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("dtype", [">f4", ">i2", ">u8", ">c8"])
def test_bytes_in_the_other_order_are_swapped(device, dtype):
    array = np.arange(1, 5).astype(dtype)
    out = np.empty((), ">f8") if array.dtype.kind != "c" else np.empty((), ">c16")

    assert cs.sum(array) == 10
    assert cs.dot(array, array) == 30
    assert cs.mean(array, out=out) is out
    assert out == 2.5
    assert cs.sum(array.astype(array.dtype.newbyteorder("=")), dtype=dtype) == 10


def test_device_arrays_have_their_bytes_in_the_processors_order(device):
    swapped = cs.to_device(np.ones(4, ">f4"))
    array = cs.to_device(np.ones(4, "=f4"))

    for refused in (
        lambda: cs.sum(swapped),
        lambda: cs.matmul(array, swapped),
        lambda: cs.sum(array, out=cs.zeros((), ">f4")),
    ):
        with pytest.raises(TypeError, match="other order"):
            refused()


@pytest.mark.parametrize("op", ["sum", "mean", "prod"])
def test_floats_go_to_a_wider_out_unrounded(device, op):
    array = filled((500,), np.float32, 11, op)
    out, d_out = np.empty((), np.float64), cs.empty((), np.float64)

    FUNCTIONS[op](array, out=out)
    FUNCTIONS[op](cs.to_device(array), out=d_out)

    exact = getattr(np, op)(array.astype(np.longdouble))
    np.testing.assert_allclose([out, d_out.to_host()], float(exact), rtol=1e-12)


LATE = """
__global__ void late(int* x, int n, int value) {
    long long start = clock64();
    while (clock64() - start < 200000) {}
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = value;
}"""


@pytest.mark.parametrize("n", [1000, 100_000, 3_000_000])
def test_a_reduction_waits_for_the_launch_before_it(device, n):
    """Its launch may overlap the end of the previous one; each sum is of new values, and read before the next one."""
    late = cs.Module(LATE).late
    x = cs.zeros(n, np.int32)
    sums = [cs.zeros((), np.int64) for _ in range(5)]

    for value, out in enumerate(sums):
        late.launch(x, n, value, grid=8, block=128, duration=100e-6)
        cs.sum(x, out=out)
    again = cs.sum(sums[-1])

    assert [int(out.to_host()) for out in sums] == [n * value for value in range(5)]
    assert int(again.to_host()) == n * 4
