"""Copies between device arrays and NumPy arrays whose elements lie in any order, bit by bit as NumPy's."""

from __future__ import annotations

import gc
import os
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuscope as cs

pytestmark = pytest.mark.no_initcheck("it does not see the writes of copies between strided arrays")
SCALE = float(os.environ.get("CUSCOPE_TEST_SCALE", "1"))
MANY = settings(
    max_examples=max(10, round(150 * SCALE)),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
DTYPES = [
    np.dtype(np.uint8),
    np.dtype(np.float16),
    np.dtype(np.int32),
    np.dtype(np.float64),
    np.dtype(np.complex128),
    np.dtype([("rgb", "u1", 3)]),
    np.dtype([("a", "u1"), ("b", "<i4"), ("c", "u1")]),
    np.dtype([("x", "<f4", 3)]),
    np.dtype([("m", "<f8", 5)]),
    np.dtype([("text", "u1", 70)]),
]


def random_bytes(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


@st.composite
def layouts(draw):
    """A shape, a dtype, and for each axis its step in a larger array, which may be negative; an order of axes."""
    dimensions = draw(st.integers(1, 5))
    side = {1: 9000, 2: 150, 3: 30, 4: 12, 5: 7}[dimensions]
    shape = tuple(draw(st.integers(1, side)) for _ in range(dimensions))
    steps = tuple(draw(st.sampled_from([1, 1, 1, -1, 2, -3])) for _ in range(dimensions))
    return shape, steps, tuple(draw(st.permutations(range(dimensions)))), draw(st.integers(0, 3))


def laid_out(shape, steps, order, offset, dtype, seed) -> np.ndarray:
    """An array of the shape in memory that has the axes in this order, with these steps, behind an offset."""
    room = tuple(shape[i] * abs(steps[i]) for i in order)
    count = int(np.prod(room))
    memory = random_bytes(count * dtype.itemsize + offset, seed)[offset:].view(dtype).reshape(room)
    return memory.transpose(np.argsort(order))[tuple(np.s_[::step] for step in steps)]


@MANY
@given(layout=layouts(), dtype=st.sampled_from(DTYPES), there=layouts(), data=st.data())
def test_elements_in_any_order_go_both_ways(device, layout, dtype, there, data):
    shape, steps, order, offset = layout
    host = laid_out(shape, steps, order, offset, dtype, 1)
    there_order = data.draw(st.permutations(range(len(shape))))

    x = cs.to_device(host)
    y = cs.empty([shape[i] for i in there_order], dtype).transpose(*np.argsort(there_order))
    y.copy_from(host)
    back = laid_out(shape, steps, order, offset, dtype, 2)
    x.copy_to(back)
    again = laid_out(shape, steps, order, offset, dtype, 3)
    y.to_host(out=again)

    assert same(x.to_host(), np.array(host))
    assert same(y.to_host(), np.array(host))
    assert same(np.array(back), np.array(host))
    assert same(np.array(again), np.array(host))


def test_memory_between_the_elements_stays(device):
    memory = random_bytes(400 * 300, 1).reshape(400, 300)
    want = memory.copy()
    new = random_bytes(100 * 200, 2).reshape(100, 200)

    cs.to_device(new).copy_to(memory[::2, ::-3].T)
    want[::2, ::-3].T[...] = new

    assert same(memory, want)


LARGE = {
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-1],
    "every second column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "columns of a row": lambda a: a.reshape(2, -1).T,
    "rows of a column": lambda a: a.reshape(-1, 3).T,
    "middle axes": lambda a: a.reshape(3, -1, 32, 5).swapaxes(1, 2),
    "broadcast": lambda a: np.broadcast_to(a[:, None, :7], (a.shape[0], 400, 7)),
}


@pytest.mark.parametrize("itemsize", [1, 4, 12])
@pytest.mark.parametrize("what", LARGE)
def test_large_arrays_go_both_ways(device, what, itemsize):
    dtype = np.dtype([("x", "u1", (itemsize,))])
    rows, columns = {1: (3 * 640, 5 * 640), 4: (960, 1600), 12: (960, 800)}[itemsize]
    host = LARGE[what](random_bytes(rows * columns * itemsize, 1).view(dtype).reshape(rows, columns))

    x = cs.to_device(host)
    back = np.zeros(host.shape[::-1], dtype).T
    x.copy_to(back)

    assert same(x.to_host(), np.array(host))
    assert same(np.array(back), np.array(host))


@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 8, 16])
def test_views_with_gaps_on_the_device_are_copied(device, itemsize):
    dtype = np.dtype([("x", "u1", (itemsize,))])
    host = random_bytes(240 * 700 * itemsize, 1).view(dtype).reshape(240, 700)
    x = cs.to_device(host)
    for index in (np.s_[:, ::2], np.s_[::3, 1::5], np.s_[::-2, ::-2]):
        assert same(x[index].to_host(), np.array(host[index]))
        assert same(x[index].copy().to_host(), np.array(host[index]))
        assert same(x[index].T.copy().to_host(), np.array(host[index].T))


def test_a_broadcast_destination_has_the_last_elements(device):
    rows = 5000  # each row of the device goes to one place
    source = np.arange(rows * 2, dtype=np.int32).reshape(rows, 2)
    memory = np.zeros(2, np.int32)
    view = np.lib.stride_tricks.as_strided(memory, (rows, 2), (0, 4))

    cs.to_device(source)[:, ::-1].copy_to(view)

    assert memory.tolist() == [rows * 2 - 1, rows * 2 - 2]


def test_threads_copy_transposed_arrays_at_once(device):
    failed = []

    def work(seed: int) -> None:
        host = random_bytes(1500 * 1000 * 4, seed).view(np.uint32).reshape(1500, 1000)
        for _ in range(3):
            x = cs.to_device(host.T)
            if not same(x.to_host(), np.array(host.T)) or not same(x.T.to_host(), host):
                failed.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failed


def test_large_results_are_ordinary_arrays(device):
    count = (12 << 20) // 4
    x = cs.to_device(np.arange(count, dtype=np.int32))

    first = x.to_host()
    second = x.to_host()
    second[:] = 7

    assert first.flags.owndata
    assert first.flags.writeable
    assert first.flags.c_contiguous
    assert first.base is None
    assert np.array_equal(first, np.arange(count, dtype=np.int32))
    first.resize(2 * count, refcheck=False)
    assert np.array_equal(first[:count], np.arange(count, dtype=np.int32))
    assert not first[count:].any()
    del second
    gc.collect()
    third = x.to_host()  # in memory that the second result may have had
    assert np.array_equal(third, np.arange(count, dtype=np.int32))


def test_large_results_of_many_sizes_do_not_share_memory(device):
    sizes = [(9 << 20) + 4096 * i for i in range(9)]
    arrays = [cs.full(size, i, np.uint8) for i, size in enumerate(sizes)]

    for _ in range(2):
        results = [x.to_host() for x in arrays]
        assert all((result == i).all() for i, result in enumerate(results))
        del results[::2]
        more = [x.to_host() for x in arrays]
        assert all((result == i).all() for i, result in enumerate(more))
        assert all((result == 2 * i + 1).all() for i, result in enumerate(results))
