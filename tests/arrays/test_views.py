"""Views of device arrays, and copies and fills of any strides, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cuscope as cs
from support import spin

FEW = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
DTYPES = st.sampled_from(
    [np.uint8, np.int16, np.float32, np.int64, np.complex128, np.dtype([("a", "u1"), ("b", "<i2")])]
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)


@st.composite
def views(draw, shapes=SHAPES):
    """An array, and an operation that makes a view of it."""
    shape = draw(shapes)
    index = draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    index = index if isinstance(index, tuple) else (index,)
    if Ellipsis not in index:
        index = (*index, Ellipsis)  # an array in NumPy too, where it has no axes
    axes = draw(st.permutations(range(np.zeros(shape)[index].ndim)))
    return shape, draw(DTYPES), index, axes


def filled(shape, dtype, start: int = 1) -> np.ndarray:
    """Elements that all differ, as far as their dtype allows."""
    dtype = np.dtype(dtype)
    bytes_ = np.arange(start, start + int(np.prod(shape)) * dtype.itemsize, dtype=np.int64) * 7 % 251
    return bytes_.astype(np.uint8).view(dtype).reshape(shape)


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


@FEW
@given(case=views())
def test_view_has_shape_strides_and_elements_of_numpys_view(device, case):
    shape, dtype, index, axes = case
    host = filled(shape, dtype)
    expected = host[index].transpose(axes)

    seen = cs.to_device(host)[index].transpose(*axes)

    assert seen.shape == expected.shape
    assert equal(seen.to_host(), expected)
    assert equal(seen.copy().to_host(), expected)
    assert equal(seen.ravel().to_host(), expected.ravel())
    if expected.size:
        assert all(
            a == b for a, b, n in zip(seen.strides, expected.strides, seen.shape, strict=True) if n > 1
        )


@FEW
@given(case=views(), other=st.randoms(use_true_random=False))
def test_assignment_to_a_view(device, case, other):
    shape, dtype, index, axes = case
    host = filled(shape, dtype)
    x = cs.to_device(host)
    target = host[index].transpose(axes)
    # A source with other strides: every second row of an array with twice as many, or transposed, or reversed.
    source = filled((*target.shape, 2), dtype, 3)[..., other.randrange(2)]
    if other.randrange(2):
        source = np.array(source, order="F")
    if source.ndim and other.randrange(2):
        source = source[::-1]
    before = host.copy()

    x[index].transpose(*axes).copy_from(source)
    before[index].transpose(axes)[...] = source

    assert equal(x.to_host(), before)
    out = np.zeros((*target.shape, 3), dtype)[..., 1]
    assert x[index].transpose(*axes).to_host(out=out) is out
    assert equal(
        np.ascontiguousarray(out).reshape(source.shape), np.ascontiguousarray(source).reshape(source.shape)
    )


@FEW
@given(case=views(), value=st.integers(0, 250))
def test_a_view_is_filled_and_nothing_else(device, case, value):
    shape, dtype, index, axes = case
    host = filled(shape, dtype)
    x = cs.to_device(host)
    element = (value, value + 259) if np.dtype(dtype).names else np.dtype(dtype).type(value)

    x[index].transpose(*axes).fill(element)
    host[index].transpose(axes)[...] = element if not np.dtype(dtype).names else np.array(element, dtype)

    assert equal(x.to_host(), host)


@FEW
@given(case=views(), again=st.data())
def test_views_are_copied_to_each_other(device, case, again):
    shape, dtype, index, axes = case
    host = filled(shape, dtype)
    x, y = cs.to_device(host), cs.zeros(shape, dtype) if not np.dtype(dtype).names else cs.empty(shape, dtype)
    target = np.zeros(shape, dtype)
    y.copy_from(target)

    y[index].transpose(*axes).copy_from(x[index].transpose(*axes))
    target[index] = host[index]

    assert equal(y.to_host(), target)


def test_a_copy_within_an_array_sees_the_old_elements(device):
    host = np.arange(1000, dtype=np.int32)
    x = cs.to_device(host)

    x[1:] = x[:-1]

    assert x.to_host().tolist() == [0, *range(999)]
    x[::-1].copy_from(x)
    assert x.to_host().tolist() == [0, *range(999)][::-1]


@pytest.mark.parametrize("view", [np.s_[:, ::3], np.s_[::2, ::2], np.s_[5:900:7, 100:101]])
def test_large_views_of_page_locked_memory(device, view):
    host = cs.pinned_empty((1000, 300), np.float32)
    host[:] = np.arange(300000, dtype=np.float32).reshape(1000, 300)
    x = cs.zeros(host[view].shape)

    x.copy_from(host[view])
    assert np.array_equal(x.to_host(), host[view])
    back = cs.pinned_empty((1000, 300), np.float32)
    back[:] = 0
    x.copy_to(back[view])
    cs.synchronize()
    assert np.array_equal(back[view], host[view])
    assert np.count_nonzero(back) == np.count_nonzero(host[view])


VIEWS = {
    "rows of a part": ((500, 300), np.s_[:, 3:200]),
    "every second element": ((500, 300), np.s_[:, ::2]),
    "every third of both": ((600, 300), np.s_[::3, ::3]),
    "a box of a volume": ((40, 50, 60), np.s_[5:30, 10:40, 20:50]),
    "steps of a volume": ((40, 50, 60), np.s_[::2, ::2, 10:50]),
    "steps of all axes": ((20, 30, 60), np.s_[::2, ::3, ::2]),
    "transposed axes": ((30, 40, 50), np.s_[:, :, 5:45]),
}


@pytest.mark.no_initcheck("it waits for every kernel")
@pytest.mark.parametrize("what", VIEWS)
def test_views_of_page_locked_memory_are_copied_from_where_they_lie(device, what):
    """There is no copy on the host: the call does not wait, and changes before the stream gets there are copied."""
    shape, index = VIEWS[what]
    locked = cs.pinned_empty(shape, np.float32)
    locked[:] = 0
    view = locked[index]
    if what == "transposed axes":
        view = view.transpose(1, 0, 2)
    x = cs.empty(view.shape)
    back = cs.pinned_empty(shape, np.float32)[index]
    if what == "transposed axes":
        back = back.transpose(1, 0, 2)
    back[:] = -1
    stream = cs.Stream(non_blocking=True)
    cs.synchronize()
    spin(device, 20e-3, stream)
    x.copy_from(view, stream=stream)
    x.copy_to(back, stream=stream)
    assert not stream.query()
    locked[:] = np.arange(locked.size).reshape(shape)
    stream.synchronize()

    assert np.array_equal(x.to_host(), view)
    assert np.array_equal(back, view)


def test_a_transposed_matrix_goes_both_ways(device):
    host = np.arange(70000, dtype=np.float64).reshape(200, 350)

    x = cs.to_device(host.T)
    assert equal(x.to_host(), np.ascontiguousarray(host.T))
    assert equal(x.T.to_host(), host)
    assert equal(x.T.copy().to_host(), host)


def test_reshape_gives_numpys_shape_and_elements(device):
    x = cs.to_device(np.arange(24))

    assert x.reshape(2, 3, 4).shape == x.reshape((2, 3, 4)).shape == (2, 3, 4)
    assert x.reshape(-1, 6).pointer == x.pointer
    assert x.reshape(4, 6).T.reshape(24).to_host().tolist() == np.arange(24).reshape(4, 6).T.ravel().tolist()
    with pytest.raises(ValueError, match=r"\(5, 5\)"):
        x.reshape(5, 5)
    with pytest.raises(ValueError, match="-1"):
        x.reshape(-1, -1)
    with pytest.raises(TypeError):
        x.reshape("a")
    with pytest.raises(ValueError, match="once"):
        x.transpose(1)


KERNEL = """
__global__ void rows(const float* x, long long pitch, int width, int height, float* sums) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height) return;
    const float* row = (const float*)((const char*)x + y * pitch);
    float sum = 0;
    for (int i = 0; i < width; i++) sum += row[i];
    sums[y] = sum;
}"""


def test_kernels_take_rows_but_no_steps(device):
    host = np.arange(200, dtype=np.float32).reshape(10, 20)
    x = cs.to_device(host)
    rows = cs.Module(KERNEL).rows
    sums = cs.zeros(10)

    part = x[:, 3:9]
    rows[1, 32](part, part.pitch, 6, 10, sums)
    assert np.array_equal(sums.to_host(), host[:, 3:9].sum(axis=1))
    for view in (x.T, x[:, ::2], x[::-1]):
        with pytest.raises(ValueError, match=r"copy\(\)"):
            rows[1, 32](view, 80, 1, 1, sums)


def test_errors_of_views_name_the_fix(device):
    x = cs.zeros(3)

    for convert in (float, int, bool, complex, np.asarray, np.array, np.sum):
        with pytest.raises(TypeError, match="to_host"):
            convert(x)
    with pytest.raises(TypeError, match="astype"):
        x.copy_from(np.zeros(3))
    with pytest.raises(ValueError, match="writeable"):
        x.to_host(out=np.broadcast_to(np.float32(0), 3))
    with pytest.raises(TypeError, match="to_host"):
        x[np.array([1, 2])]
