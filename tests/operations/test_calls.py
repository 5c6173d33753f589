"""Calls in a row: each has the result of its own arguments, whatever the calls before it were."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuscope as cs

SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
SOME = settings(
    max_examples=max(10, round(60 * SCALE)),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
OPERATIONS = ["sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all"]
INDEX = st.sampled_from(
    [
        np.s_[:],
        np.s_[1:],  # another alignment
        np.s_[::2],
        np.s_[::-1],
        np.s_[:, 1:],
        np.s_[..., 0],
        np.s_[3:4],
        np.s_[:2, :, 1:3],
    ]
)
ORDER = st.sampled_from([None, (2, 1, 0), (0, 2, 1)])
DTYPE = st.sampled_from([np.int8, np.uint16, np.int32, np.int64, np.float32])


@st.composite
def calls(draw):
    """A call of an operation: its name, the view of the memory that it reads, and its arguments."""
    order = draw(ORDER)
    view = (draw(DTYPE), order, draw(INDEX))
    axis = draw(st.sampled_from([None, 0, -1, 1]))
    return draw(st.sampled_from(OPERATIONS)), view, axis, draw(st.booleans()), draw(st.booleans())


def view_of(array, view):
    _, order, index = view
    moved = array if order is None else array.transpose(*order)
    return moved[index]


@SOME
@given(row=st.lists(calls(), min_size=2, max_size=6), again=st.integers(0, 5))
def test_each_call_has_its_own_result(device, row, again):
    random = np.random.default_rng(len(row))
    memory = {dtype: random.integers(0, 3, (4, 5, 6)).astype(dtype) for _, (dtype, *_), *_ in row}
    on_device = {dtype: cs.to_device(array) for dtype, array in memory.items()}

    for name, view, axis, keepdims, with_out in [*row, row[again % len(row)]]:
        array, d_array = (view_of(arrays[view[0]], view) for arrays in (memory, on_device))
        if axis is not None and not -array.ndim <= axis < array.ndim:
            axis = 0
        reference = getattr(np, name)(array, axis=axis, keepdims=keepdims)
        out = cs.empty(reference.shape, reference.dtype) if with_out else None
        result = getattr(cs, name)(d_array, axis=axis, keepdims=keepdims, out=out)

        assert out is None or result is out
        assert result.dtype == reference.dtype
        np.testing.assert_allclose(result.to_host(), reference, rtol=1e-6)


@SOME
@given(data=st.data())
def test_each_product_has_its_own_result(device, data):
    memory = np.random.default_rng(1).integers(-3, 4, 200).astype(np.float32)
    on_device = cs.to_device(memory)

    for _ in range(4):
        m, k, n = (data.draw(st.integers(1, 5)) for _ in range(3))
        starts = [data.draw(st.integers(0, 7)) for _ in range(2)]
        a, d_a = (x[starts[0] : starts[0] + m * k].reshape(m, k) for x in (memory, on_device))
        b, d_b = (x[starts[1] : starts[1] + k * n].reshape(k, n) for x in (memory, on_device))
        if data.draw(st.booleans()):
            b, d_b = (x[starts[1] : starts[1] + k * n].reshape(n, k).T for x in (memory, on_device))

        # The elements are whole numbers. NumPy's product of floats may warn of an invalid value, although all are finite.
        expected = a.astype(np.int64) @ b.astype(np.int64)
        np.testing.assert_array_equal(cs.matmul(d_a, d_b).to_host(), expected)
        np.testing.assert_array_equal(cs.dot(d_a[0], d_b[:, 0]).to_host(), expected[0, 0])


@pytest.mark.parametrize("overlap", [False, True])
def test_out_may_overlap_the_operand_in_one_call_and_not_in_the_next(device, overlap):
    for first in (0, 4, 0, 4):
        memory = cs.to_device(np.arange(24, dtype=np.float32).reshape(6, 4))
        x, out = memory[:4], memory[3 if overlap else 4]

        assert cs.sum(x, axis=0, out=out) is out

        np.testing.assert_array_equal(out.to_host(), [24, 28, 32, 36])
        np.testing.assert_array_equal(memory[:3].to_host(), np.arange(12).reshape(3, 4))
        assert cs.max(memory[:1, first // 4 :]).to_host() == 3


def test_more_shapes_than_are_remembered(device):
    whole = np.arange(2000, dtype=np.int64)
    d_whole = cs.to_device(whole)

    sums = [cs.sum(d_whole[:n]) for n in [*range(1, 1200), 1, 600, 1199]]

    assert [int(one.to_host()) for one in sums] == [
        int(whole[:n].sum()) for n in [*range(1, 1200), 1, 600, 1199]
    ]


@pytest.mark.host_only("a machine may have one GPU alone")
def test_devices_have_plans_of_their_own(device):
    other = cs.add_host_device("h200")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)

    for on in (device, other, device, other):
        with on:
            x = cs.to_device(array)
            result = cs.sum(x, axis=0)
            assert result.device == on
            np.testing.assert_array_equal(result.to_host(), array.sum(0))
            np.testing.assert_array_equal(cs.matmul(x, x.T).to_host(), array @ array.T)


@pytest.mark.no_initcheck("it does not see the writes of copies between strided arrays")
def test_threads_call_at_once(device):
    arrays = [np.full((7, 5 + i), i, np.float32) for i in range(4)]
    wrong: list[object] = []

    def work(array: np.ndarray) -> None:
        with device, cs.Stream():
            x = cs.to_device(array)
            for n in range(30):
                part, reference = x[: 1 + n % 7], array[: 1 + n % 7]
                results = [
                    (cs.sum(part), reference.sum()),
                    (cs.max(part, axis=1), reference.max(1)),
                    (cs.matmul(part, part.T), reference @ reference.T),
                    (cs.dot(part[0], part[0]), reference[0] @ reference[0]),
                ]
                wrong.extend(
                    (array, n) for made, known in results if not np.array_equal(made.to_host(), known)
                )

    threads = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


@pytest.mark.parametrize("name", ["sum", "argmax", "dot", "matmul"])
def test_a_call_that_was_made_before_is_captured(device, name):
    stream = cs.Stream()
    x = cs.to_device(np.arange(4, dtype=np.float32), stream=stream)
    arguments = (x, x) if name in ("dot", "matmul") else (x,)
    call = getattr(cs, name)
    out = cs.empty((), np.int64 if name == "argmax" else np.float32, stream=stream)
    call(*arguments, out=out, stream=stream)
    stream.synchronize()

    with stream.capture() as graph:
        call(*arguments, out=out, stream=stream)
    exe = graph.instantiate()
    for values in ([1, 2, 3, 4], [9, 5, 0, 1]):
        array = np.array(values, np.float32)
        x.copy_from(array, stream=stream)
        exe.launch(stream)
        expected = getattr(np, name)(*([array] * len(arguments)))
        assert out.to_host(stream=stream) == expected


REFUSED = {
    "shape": lambda x, out: cs.sum(x, axis=0, out=out),
    "axis": lambda x, out: cs.sum(x, axis=2, out=out[0]),
    "dtype": lambda x, out: cs.sum(x, dtype="U1", out=out[0]),
    "variant": lambda x, out: cs.reduce(x, "sum", out=out[0], variant="fast"),
    "variant of the operation": lambda x, out: cs.reduce(x, "mean", out=out[0], variant="sequential"),
    "stream": lambda x, out: cs.sum(x, out=out[0], stream=5),
    "axis of a maximum": lambda x, out: cs.max(x, axis=1.0, out=out[0]),
    "inner extents": lambda x, out: cs.matmul(x, x, out=out),
    "variant of a product": lambda x, out: cs.matmul(x, x.T, out=out, variant="fast"),
    "keyword": lambda x, out: cs.sum(x, out=out[0], axes=0),
    "twice": lambda x, out: cs.sum(x, None, axis=0, out=out[0]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refused_call_leaves_out_untouched(device, what):
    x, out = cs.full((2, 3), 2, np.float32), cs.full((2, 2), 7, np.float32)

    with pytest.raises((TypeError, ValueError)):
        REFUSED[what](x, out)

    assert (out.to_host() == 7).all()


def test_a_read_only_or_closed_out_is_refused(device):
    x, out = cs.full(3, 2, np.float32), cs.empty((), np.float32)
    out.close()

    with pytest.raises(ValueError, match="closed"):
        cs.sum(x, out=out)
    x.close()
    with pytest.raises(ValueError, match="closed"):
        cs.sum(x)


def test_arguments_with_and_without_names_mean_the_same(device):
    x = cs.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = cs.empty((1, 3), np.float32)
    stream = cs.current_stream()

    by_name = cs.sum(x=x, axis=0, dtype=None, out=out, keepdims=True, stream=stream)
    by_place = cs.sum(x, 0, None, out, True, stream=stream)

    assert by_name is out
    assert by_place is out
    assert out.to_host().tolist() == [[3, 5, 7]]
    assert cs.max(x, 1, None, True).shape == (2, 1)
    assert cs.argmax(x, axis=np.int64(-1)).to_host().tolist() == [2, 2]
