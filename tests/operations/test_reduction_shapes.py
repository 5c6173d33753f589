"""Reductions of shapes with a short side, of odd sizes, at any alignment and with any strides, as a GPU does them."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

# Inner sizes and lengths around the borders between the kernels, and sizes that are no multiple of a vector.
SHAPES = [
    *[(70, length) for length in (1, 2, 3, 5, 8, 16, 31, 32, 33, 63, 64, 65, 130)],
    *[(600, inner) for inner in (2, 3, 5, 7, 33, 64, 129, 257)],
    (2, 6, 5003),
    (3, 300, 9),
    (2, 33, 1100),
    (1, 9, 4099),
    (300, 2, 3, 5),
]
STEPS = [
    ((130, 190), np.s_[::2, 1::3], None),
    ((130, 190), np.s_[::-2, ::-1], None),
    ((9001,), np.s_[5::2], None),
    ((9001,), np.s_[::-1], None),
    ((3, 90, 300), np.s_[:, ::2, 1::2], (1, 2)),
    ((3, 2, 50, 120), np.s_[:, :, :, ::2], (2, 3)),
    ((60, 5, 90), np.s_[:, :, :], (0, 2)),
    ((5, 3000, 4), np.s_[::2, :, ::3], 1),
    ((3000, 7), np.s_[:, ::3], 0),
    ((100, 100, 6), np.s_[::2, 1:, ::5], (0, 1)),
]
OPERATIONS = [("sum", "float32"), ("max", "int16"), ("argmax", "int16"), ("sum", "uint8")]


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    if np.dtype(dtype).kind == "f":
        return random.integers(-50, 50, shape).astype(dtype)
    return random.integers(0, 100, shape, dtype=dtype)


@pytest.mark.parametrize(("op", "dtype"), OPERATIONS)
def test_every_axis_of_a_shape_with_a_short_side_is_right(device: cs.Device, op: str, dtype: str) -> None:
    for begin, shape in enumerate(SHAPES):
        begin %= 4
        flat = values((int(np.prod(shape)) + begin,), dtype)
        x, d_x = flat[begin:].reshape(shape), cs.to_device(flat)[begin:].reshape(shape)
        for axis in range(len(shape)):
            result = cs.reduce(d_x, op, axis, variant="single_launch").to_host()
            assert np.array_equal(result, getattr(np, op)(x, axis=axis)), (shape, axis)


@pytest.mark.parametrize(("op", "dtype"), OPERATIONS)
def test_elements_at_any_distances_are_reduced(device: cs.Device, op: str, dtype: str) -> None:
    for shape, part, axis in STEPS:
        if op == "argmax" and isinstance(axis, tuple):
            continue
        x = values(shape, dtype)
        result = cs.reduce(cs.to_device(x)[part], op, axis, variant="single_launch")
        assert np.array_equal(np.asarray(result.to_host()), getattr(np, op)(x[part], axis=axis)), (
            shape,
            part,
        )


def test_the_explanation_names_the_kernel_of_each_shape(device: cs.Device) -> None:
    short, few, wide = cs.zeros((5000, 3), np.float32), cs.zeros((4096, 3), np.float32), cs.zeros((300, 4096))

    def reason(x: cs.DeviceArray, axis: int | None) -> str:
        return cs.reduce.explain(x, op="sum", axis=axis)

    assert "launch of slices," in reason(short, 1)
    assert "launch of narrow," in reason(few, 0)
    assert "launch of columns," in reason(wide, 0)
    assert "launch of rows," in reason(wide, 1)
    assert "launch of strided," in reason(wide[::2, ::2], None)
    assert "after a copy in C order" in reason(wide[::2, ::2], 0)


@pytest.mark.parametrize(
    ("op", "dtype"), [*OPERATIONS, ("max", "uint8"), ("argmax", "uint8"), ("argmin", "float64")]
)
def test_rows_that_are_not_aligned_to_each_other_are_right(device: cs.Device, op: str, dtype: str) -> None:
    for begin, shape in enumerate(((1, 300, 1101), (2, 101, 1027), (3, 70, 1030), (1, 41, 515))):
        flat = values((int(np.prod(shape)) + begin,), dtype)
        result = cs.reduce(cs.to_device(flat)[begin:].reshape(shape), op, 1, variant="single_launch")
        assert np.array_equal(result.to_host(), getattr(np, op)(flat[begin:].reshape(shape), axis=1)), shape
