"""Products of matrices against NumPy's: every variant, dtype, shape and stride."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cuscope as cs
from cuscope import _core

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
SOME = settings(
    max_examples=max(10, round(60 * SCALE)),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
DTYPES = [np.bool_, *INTEGERS, np.float16, np.float32, np.float64, np.complex64, np.complex128]
ALL_DTYPES = ("naive", "coalesced", "shared_tiles")
FLOATS = ("thread_tile_1d", "thread_tile_2d")
VARIANTS = {
    **dict.fromkeys(ALL_DTYPES, DTYPES),
    **{name: [np.float32, np.float64] for name in FLOATS},
    "warp_tiles": [np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64],
    "vectorised": [np.float32],
    "double_buffered": [np.float32],
    "tensor_cores": [np.float16, np.float32, np.float64, np.int8, np.uint8],
    "tma": [np.float16, np.float32],
    "byte_planes": [np.int32, np.uint32, np.int64, np.uint64],
    "wgmma_planes": [np.int32, np.uint32, np.int64, np.uint64],
    "split_floats": [np.float32],
}
CASES = [(name, np.dtype(dtype)) for name, dtypes in VARIANTS.items() for dtype in dtypes]
BOXES = pytest.mark.no_initcheck("it does not see results that are written as boxes")


def operand(shape, dtype, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return random.integers(0, 2 if dtype.kind == "b" else 127, shape).astype(dtype)
    values = random.uniform(-1, 1, shape)
    return (values + 1j * random.uniform(-1, 1, shape) if dtype.kind == "c" else values).astype(dtype)


def check(result, a: np.ndarray, b: np.ndarray, precision: float | None = None) -> None:
    """Equality for integers; otherwise the error may be that of a sum of so many rounded products."""
    reference = np.matmul(a, b)
    assert result.dtype == reference.dtype
    assert result.shape == reference.shape
    if reference.dtype.kind in "biu":
        np.testing.assert_array_equal(result, reference)
        return
    exact = np.matmul(a.astype(np.complex128), b.astype(np.complex128))
    if reference.dtype.kind != "c":
        exact = exact.real
    sizes = np.matmul(np.abs(a).astype(np.float64), np.abs(b).astype(np.float64))
    rounding = float(np.finfo(reference.dtype).eps)
    summed = float(np.finfo(np.float32).eps) if reference.dtype == np.float16 else rounding
    k = a.shape[-1]
    allowed = (precision or 0) * sizes + rounding * np.abs(exact) + (k + 4) * summed * sizes + 1e-30
    if reference.dtype == np.float16:
        allowed += 2.0**-24
    assert np.all(np.abs(np.asarray(result, np.complex128) - exact) <= allowed)


@pytest.mark.parametrize(("variant", "dtype"), CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 5, 33), (64, 64, 64), (67, 129, 130)], ids=str)
def test_every_variant_gives_numpys_product(device, variant, dtype, shape):
    m, k, n = shape
    a, b = operand((m, k), dtype, 1), operand((k, n), dtype, 2)

    result = cs.matmul(cs.to_device(a), cs.to_device(b), variant=variant).to_host()

    check(
        result,
        a,
        b,
        precision=2.0**-10 if variant in ("tensor_cores", "tma") and dtype == np.float32 else None,
    )


@st.composite
def problems(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    signature = draw(
        hnp.mutually_broadcastable_shapes(
            signature="(m?,k),(k,n?)->(m?,n?)", max_dims=3, min_side=0, max_side=5
        )
    )
    a, b = (operand(shape, dtype, seed) for seed, shape in enumerate(signature.input_shapes))
    return strided(draw, a), strided(draw, b)


def strided(draw, array: np.ndarray) -> np.ndarray:
    """The same elements as a view with other strides."""
    way = draw(st.sampled_from(["plain", "transposed", "reversed", "step"]))
    if way == "transposed":
        return np.ascontiguousarray(array.T).T
    if way == "reversed":
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    if way == "step":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    return array


@SOME
@given(problem=problems())
def test_auto_is_numpys_matmul_for_arrays_on_the_host(device, problem):
    a, b = problem

    check(cs.matmul(a, b), a, b)


@SOME
@given(data=st.data())
def test_auto_takes_views_of_device_arrays(device, data):
    dtype = np.dtype(data.draw(st.sampled_from(DTYPES)))
    m, k, n, batch = (data.draw(st.integers(1, 6)) for _ in range(4))
    a, b = operand((batch, 2 * m, 3 * k), dtype, 3), operand((n, k), dtype, 4)
    d_a, d_b = cs.to_device(a), cs.to_device(b)

    result = cs.matmul(d_a[:, ::-2, k : 2 * k], d_b.T)

    check(result.to_host(), a[:, ::-2, k : 2 * k], b.T)


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((3,), (3, 2)), ((4, 3), (3,)), ((2, 4, 3), (3,)), ((3,), (2, 3, 4))]
)
def test_products_of_vectors_are_numpys(device, shapes):
    a, b = (operand(shape, np.float64, 5) for shape in shapes)

    check(cs.matmul(a, b), a, b)


@pytest.mark.parametrize(
    "shapes", [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((0,), (0,)), ((0, 2, 3), (3, 4))]
)
def test_products_of_no_elements_are_numpys(device, shapes):
    a, b = (operand(shape, np.float32, 6) for shape in shapes)

    check(cs.matmul(a, b), a, b)


def test_more_batches_than_a_grid_holds_are_multiplied(device):
    a, b = operand((70_000, 1, 2), np.int32, 7), operand((2, 2), np.int32, 8)

    check(cs.matmul(a, b, variant="naive"), a, b)


def test_batches_without_a_common_stride_are_multiplied(device):
    a, b = operand((3, 1, 2, 4, 5), np.float32, 9), operand((1, 4, 1, 5, 3), np.float32, 10)

    check(cs.matmul(a, b, variant="shared_tiles"), a, b)


@pytest.mark.parametrize(
    ("left", "right"),
    [(np.int8, np.float32), (np.int32, np.uint32), (np.float16, np.float64), (np.float32, np.complex64)],
)
def test_mixed_dtypes_are_those_of_numpy(device, left, right):
    a, b = operand((5, 6), left, 11), operand((6, 7), right, 12)

    check(cs.matmul(a, b), a, b)
    check(cs.matmul(cs.to_device(a), cs.to_device(b)).to_host(), a, b)


def test_nan_stays_where_it_belongs(device):
    a, b = operand((40, 40), np.float32, 13), operand((40, 40), np.float32, 14)
    a[3, 5] = np.nan
    b[7, 9] = np.inf

    for variant, dtypes in VARIANTS.items():
        dtype = next((x for x in (np.float32, np.float16) if x in dtypes), None)
        if dtype is None:
            continue  # integers have no NaN
        result = cs.matmul(a.astype(dtype), b.astype(dtype), variant=variant)
        wrong = np.isnan(result)
        assert wrong[3].all(), variant
        assert wrong.sum() == 40, variant
        assert np.isinf(result[:, 9]).sum() == 39, variant


def test_device_arrays_are_multiplied_in_the_current_stream(device):
    a, b = operand((30, 30), np.float32, 15), operand((30, 30), np.float32, 16)
    with cs.Stream() as stream:
        result = cs.matmul(cs.to_device(a), cs.to_device(b))
        again = cs.matmul(result, cs.to_device(b), stream=stream)
        check(again.to_host(), a @ b, b)


def test_same_bits_on_every_run(device):
    a, b = operand((200, 300), np.float32, 17), operand((300, 100), np.float32, 18)
    d_a, d_b = cs.to_device(a), cs.to_device(b)

    results = {cs.matmul(d_a, d_b, variant="warp_tiles").to_host().tobytes() for _ in range(5)}

    assert len(results) == 1


def test_out_may_have_another_dtype_and_stride(device):
    a, b = operand((4, 5), np.int32, 19), operand((5, 6), np.int32, 20)
    out = np.zeros((4, 12), np.float64)[:, ::2]
    d_out = cs.zeros((6, 4), np.float64).T

    assert cs.matmul(a, b, out=out) is out
    assert cs.matmul(cs.to_device(a), cs.to_device(b), out=d_out) is d_out

    np.testing.assert_array_equal(out, a @ b)
    np.testing.assert_array_equal(d_out.to_host(), a @ b)


def test_out_may_be_an_operand(device):
    a, b = operand((5, 5), np.float32, 21), operand((5, 5), np.float32, 22)
    d_a = cs.to_device(a)

    cs.matmul(d_a, cs.to_device(b), out=d_a)

    check(d_a.to_host(), a, b)


BAD = {
    "shapes": (lambda d: cs.matmul(np.ones((2, 3)), np.ones((2, 3))), ValueError, r"last extent of a, 3"),
    "batches": (
        lambda d: cs.matmul(np.ones((2, 3, 3)), np.ones((4, 3, 3))),
        ValueError,
        "before the last two",
    ),
    "scalar": (lambda d: cs.matmul(np.ones(()), np.ones(3)), ValueError, "no dimensions"),
    "dtype": (lambda d: cs.matmul(np.ones(3, "M8[s]"), np.ones(3)), TypeError, "datetime64"),
    "places": (lambda d: cs.matmul(np.ones(3), cs.zeros(3)), TypeError, r"cuscope\.to_device\(a\)"),
    "out shape": (
        lambda d: cs.matmul(np.ones((2, 2)), np.ones((2, 2)), out=np.ones(3)),
        ValueError,
        r"\(2, 2\)",
    ),
    "out dtype": (
        lambda d: cs.matmul(np.ones((2, 2)), np.ones((2, 2)), out=np.ones((2, 2), int)),
        TypeError,
        "same_kind",
    ),
    "out place": (
        lambda d: cs.matmul(np.ones((2, 2)), np.ones((2, 2)), out=cs.zeros((2, 2))),
        TypeError,
        "DeviceArray",
    ),
    "variant": (
        lambda d: cs.matmul(np.ones((2, 2)), np.ones((2, 2)), variant="fast"),
        ValueError,
        "shared_tiles",
    ),
    "variant's dtype": (
        lambda d: cs.matmul(np.ones((2, 2)), np.ones((2, 2)), variant="vectorised"),
        TypeError,
        "float64",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_wrong_operands_are_refused_with_the_reason(device, what):
    call, error, message = BAD[what]
    with pytest.raises(error, match=message):
        call(device)


def test_explain_names_a_variant_and_a_reason(device):
    name, _, reason = cs.matmul.explain(
        np.ones((300, 200), np.float32), np.ones((200, 100), np.float32)
    ).partition(": ")

    assert name in [variant.name for variant in cs.matmul.variants()]
    assert reason.endswith(".")


@pytest.mark.parametrize("on", ["device", "host"])
def test_explain_knows_whether_copies_of_the_operands_would_pay(device, on):
    make = cs.empty if on == "device" else np.ones

    small, large, aligned = (
        cs.matmul.explain(make((m, k), np.float16), make((k, n), np.float16))
        for m, n, k in [(647, 57, 78), (1111, 2719, 1393), (648, 64, 80)]
    )

    # On GPUs, tensor cores read 16 bytes at a time.
    assert "shared_tiles" in small
    assert "shared_tiles" not in large
    assert "shared_tiles" not in aligned


def test_explain_looks_at_the_place_of_a_view(device):
    array = cs.empty((64, 81), np.float16)

    told = cs.matmul.explain(array[:, 1:], cs.empty((80, 64), np.float16))

    assert "shared_tiles" in told  # rows of 162 bytes, which begin at an odd element


@pytest.mark.host_only("a GPU's times are not predicted")
def test_explain_of_a_simulated_device_has_its_time(device):
    time = _core.predict_matmul(device, "auto", "float32", 300, 100, 200, 2) / 1e3

    told = cs.matmul.explain(np.ones((2, 300, 200), np.float32), np.ones((200, 100), np.float32))

    assert f"It takes {time:.1f} us" in told


def test_explain_of_no_elements_says_that_there_is_nothing_to_compute(device):
    assert cs.matmul.explain(np.ones((3, 0)), np.ones((0, 2))).startswith("auto: there is nothing")


def test_checker_sees_a_wrong_product():
    a, b = operand((9, 9), np.float32, 23), operand((9, 9), np.float32, 24)
    wrong = a @ b
    wrong[8, 8] += 1e-3
    with pytest.raises(AssertionError):
        check(wrong, a, b)
    wrong[8, 8] = np.nan
    with pytest.raises(AssertionError):
        check(wrong, a, b)


def test_out_is_written_in_place(device):
    a, b = operand((40, 30), np.float32, 25), operand((30, 20), np.float32, 26)
    whole = cs.zeros((80, 20), np.float32)
    out = whole[40:]

    assert cs.matmul(cs.to_device(a), cs.to_device(b), out=out) is out

    check(whole[40:].to_host(), a, b)
    assert not whole[:40].to_host().any()


def test_out_that_overlaps_an_operand_is_right(device):
    memory = cs.to_device(operand((60, 30), np.float32, 27))
    a, b = memory[:30].to_host(), memory[20:50].to_host()

    cs.matmul(memory[:30], memory[20:50], out=memory[30:60])

    check(memory[30:60].to_host(), a, b)


@pytest.mark.parametrize("variant", ["tma", "auto"])
@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)])
def test_products_of_transposed_operands_have_the_bits_of_copies(device, variant, transposed):
    numbers = operand((136, 72), np.float16, 3), operand((72, 520), np.float16, 4)
    plain = [cs.to_device(x) for x in numbers]
    views = [
        cs.to_device(np.ascontiguousarray(x.T)).T if is_transposed else cs.to_device(x)
        for x, is_transposed in zip(numbers, transposed, strict=True)
    ]

    result = cs.matmul(*views, variant=variant).to_host()

    check(result, *numbers)
    assert result.tobytes() == cs.matmul(*plain, variant=variant).to_host().tobytes()


@BOXES
@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("k", [72, 75])  # rows of 75 floats are no multiple of 16 bytes
def test_products_of_tf32_read_operands_in_any_order(device, transposed, k):
    numbers = operand((136, k), np.float32, 3), operand((k, 130), np.float32, 4)
    plain = [cs.to_device(x) for x in numbers]
    views = [
        cs.to_device(np.ascontiguousarray(x.T)).T if is_transposed else cs.to_device(x)
        for x, is_transposed in zip(numbers, transposed, strict=True)
    ]

    result = cs.matmul(*views, variant="tma").to_host()

    check(result, *numbers, precision=2.0**-10)
    assert result.tobytes() == cs.matmul(*plain, variant="tma").to_host().tobytes()


@BOXES
def test_a_batch_of_transposed_matrices_and_one_that_is_used_again(device):
    a, b = operand((3, 80, 40), np.float16, 5), operand((40, 72), np.float16, 6)
    views = cs.to_device(np.ascontiguousarray(a.swapaxes(1, 2))).transpose(0, 2, 1), cs.to_device(b)

    check(cs.matmul(*views, variant="tma").to_host(), a, b)


@BOXES
def test_a_batch_in_reverse_is_copied_for_tensor_maps(device):
    a, b = operand((3, 24, 40), np.float16, 7), operand((3, 40, 16), np.float16, 8)

    check(cs.matmul(cs.to_device(a)[::-1], cs.to_device(b)[::-1], variant="tma").to_host(), a[::-1], b[::-1])


@pytest.mark.parametrize(
    ("variant", "dtype", "k"),
    [
        ("tensor_cores", np.float16, 72),
        ("tensor_cores", np.float64, 72),
        ("tensor_cores", np.int8, 80),
        ("warp_tiles", np.float32, 71),
        ("warp_tiles", np.int64, 71),
    ],
)
def test_a_transposed_right_operand_is_read_where_it_lies(device, variant, dtype, k):
    a, b = operand((3, 40, k), dtype, 9), operand((3, 50, k), dtype, 10)
    on_a, on_b = cs.to_device(a), cs.to_device(b).transpose(0, 2, 1)

    with cs.trace() as t:
        result = cs.matmul(on_a, on_b, variant=variant)

    check(result.to_host(), a, b.swapaxes(1, 2))
    assert [f"{variant}_along_k" in name for name in t.spans["name"][t.spans["kind"] == "kernel"]] == [True]


@pytest.mark.parametrize("layout", ["reverse", "broadcast", "columns at odd addresses"])
def test_transposed_right_operands_in_unusual_layouts_are_right(device, layout):
    a, b = operand((3, 40, 72), np.float16, 9), operand((3, 50, 73), np.float16, 10)
    on_b = cs.to_device(b)
    view, expected = {
        "reverse": (on_b[::-1, :, :72], b[::-1, :, :72]),
        "broadcast": (on_b[:1, :, :72], b[:1, :, :72]),
        "columns at odd addresses": (on_b[:, :, 1:], b[:, :, 1:]),
    }[layout]

    result = cs.matmul(cs.to_device(a), view.transpose(0, 2, 1), variant="tensor_cores")

    check(result.to_host(), a, expected.swapaxes(1, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize(("m", "n", "k"), [(7, 1024, 1000), (9000, 1, 800), (9000, 7, 800)])
def test_rows_in_reverse_are_multiplied(device, m, n, k, dtype):
    a, b = operand((m, k), dtype, 9), operand((k, n), dtype, 10)
    on_a, on_b = cs.to_device(a), cs.to_device(b)

    check(cs.matmul(on_a[::-1], on_b).to_host(), a[::-1], b)
    check(cs.matmul(on_a, on_b[::-1]).to_host(), a, b[::-1])


def test_each_variant_launches_its_own_kernel_again(device):
    """The second call of a variant with the same shapes takes the plan of the first one."""
    a, b = operand((40, 50), np.float32, 1), operand((50, 30), np.float32, 2)
    d_a, d_b = cs.to_device(a), cs.to_device(b)
    names = ["naive", "coalesced", "shared_tiles", "thread_tile_1d"]

    def kernels() -> list[str]:
        with cs.trace() as t:
            for name in names:
                check(cs.matmul(d_a, d_b, variant=name).to_host(), a, b)
        return t.spans["name"][t.spans["kind"] == "kernel"].tolist()

    first, second = kernels(), kernels()

    assert second == first
    assert [name in kernel for name, kernel in zip(names, first, strict=True)] == [True] * len(names)


LAYOUTS = {
    "odd rows": lambda m, n: cs.empty((m, n), np.float16),
    "inside a larger array": lambda m, n: cs.empty((m + 1, n + 3), np.float16)[1:, 1 : n + 1],
    "transposed": lambda m, n: cs.empty((n, m), np.float16).T,
    "reversed": lambda m, n: cs.empty((m, n), np.float16)[::-1],
    "every second column": lambda m, n: cs.empty((m, 2 * n), np.float16)[:, ::2],
}


@pytest.mark.parametrize("variant", ["auto", "shared_tiles", "tensor_cores"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_call_copies_the_numbers_that_its_operands_have_then(device, layout, variant):
    # The first call plans the copies, the later ones make them again.
    random = np.random.default_rng(1)
    left, right = LAYOUTS[layout](33, 45), LAYOUTS[layout](45, 21)
    results, expected = [], []
    for _ in range(3):
        a, b = (random.integers(-3, 4, x.shape).astype(np.float16) for x in (left, right))
        left.copy_from(a)
        right.copy_from(b)

        results.append(cs.matmul(left, right, variant=variant).to_host())

        expected.append(a @ b)
    np.testing.assert_array_equal(results, expected)


def test_arrays_of_one_layout_share_a_plan_but_no_numbers(device):
    random = np.random.default_rng(2)
    numbers = [random.integers(-3, 4, (2, 61, 61)).astype(np.float16) for _ in range(4)]
    pairs = [cs.to_device(pair) for pair in numbers]

    products = [cs.matmul(pair[0], pair[1], variant="tensor_cores") for pair in pairs]

    for product, (a, b) in zip(products, numbers, strict=True):
        np.testing.assert_array_equal(product.to_host(), a @ b)


def test_only_the_padding_of_copied_rows_is_cleared(device):
    # Rows of 45 floats are copied into rows of 48. A fill of contiguous memory would leave most of the padding as it was.
    a, b = cs.zeros((33, 45), np.float32), cs.zeros((45, 24), np.float32)
    cs.synchronize()

    with cs.trace() as trace:
        cs.matmul(a, b, variant="vectorised")
        cs.synchronize()

    calls = [str(span["name"]) for span in trace.spans if span["kind"] == "call"]
    assert "cudaMemset2DAsync" in calls
    assert "cudaMemsetAsync" not in calls
