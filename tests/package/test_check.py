"""The checker of results: the arrays that it accepts, the arrays that it rejects, and its messages."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from cuscope._check import Mismatch, check_close, poison, ulps

DTYPES = (
    np.bool_,
    np.int8,
    np.uint16,
    np.int32,
    np.int64,
    np.uint64,
    np.float16,
    np.float32,
    np.float64,
    np.complex64,
)


def example(dtype, size: int = 100) -> np.ndarray:
    return (np.arange(size) % 7).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_arrays_pass(dtype):
    check_close(example(dtype), example(dtype))
    check_close(example(dtype)[:0], example(dtype)[:0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", [0, 50, -1])
def test_one_wrong_element_is_named(dtype, index):
    result = example(dtype)
    result[index] = not result[index]

    with pytest.raises(Mismatch) as caught:
        check_close(result, example(dtype))

    where = index % 100
    right, wrong = example(dtype)[index].item(), result[index].item()
    assert (
        str(caught.value) == f"1 of 100 elements is wrong; the first is ({where},): {wrong!r}, not {right!r}"
    )


def test_message_names_the_first_of_many_in_two_axes():
    reference = np.zeros((3, 4))
    result = reference.copy()
    result[1, 2] = result[2, 0] = 5

    with pytest.raises(Mismatch, match=r"2 of 12 elements are wrong; the first is \(1, 2\): 5.0, not 0.0"):
        check_close(result, reference)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("tolerance", [0, 1e300, np.inf])
def test_infinity_or_nan_on_one_side_only_is_wrong(wrong, tolerance):
    finite, other = np.zeros(3), np.array([0, 0, wrong])

    check_close(other, other)
    for result, reference in ((finite, other), (other, finite)):
        with pytest.raises(Mismatch, match=r"1 of 3 elements is wrong; the first is \(2,\)"):
            check_close(result, reference, tolerance=tolerance)


def test_infinities_of_two_signs_differ():
    with pytest.raises(Mismatch, match="1 of 1"):
        check_close(np.array([np.inf]), np.array([-np.inf]), tolerance=np.inf, relative=np.inf)


def test_nan_in_either_part_of_a_complex_number_is_a_nan():
    number = np.array([complex(1, np.nan), complex(np.nan, 1)])

    check_close(number, number)
    with pytest.raises(Mismatch, match="2 of 2"):
        check_close(number, np.ones(2, np.complex128), tolerance=9)


def test_nan_tolerance_allows_nothing():
    with pytest.raises(Mismatch):
        check_close(np.ones(1), np.zeros(1), tolerance=np.nan)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (np.zeros(4), r"shape is \(4,\), not \(3,\)"),
        (np.zeros((3, 1)), r"shape is \(3, 1\), not \(3,\)"),
        (np.zeros(3, np.float32), "dtype is float32, not float64"),
        (np.zeros(3, np.int64), "dtype is int64, not float64"),
    ],
)
def test_another_shape_or_dtype_is_wrong(result, said):
    with pytest.raises(Mismatch, match=said):
        check_close(result, np.zeros(3))


def test_reference_may_have_more_precision_than_the_result():
    check_close(np.full(3, 0.1, np.float32), np.full(3, 0.1), dtype=np.float32, tolerance=1e-8)
    with pytest.raises(Mismatch):
        check_close(np.full(3, 0.1, np.float32), np.full(3, 0.1), dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_one_unit_in_the_last_place_is_within_one_and_not_within_a_half(dtype):
    reference = np.array([1.5, -3.25, 1000.0, 0.0], dtype)
    result = np.nextafter(reference, dtype(np.inf))

    check_close(result, reference, tolerance=ulps(reference, dtype))
    with pytest.raises(Mismatch, match="4 of 4"):
        check_close(result, reference, tolerance=ulps(reference, dtype, 0.5))
    with pytest.raises(Mismatch, match="4 of 4"):
        check_close(result, reference)


def test_tolerance_of_each_element_and_of_a_magnitude():
    reference, result = np.zeros(3), np.array([1.0, 1.0, 1.0])

    check_close(result, reference, tolerance=[1, 2, 3])
    check_close(result, reference, relative=0.1, magnitude=[10, 20, 30])
    with pytest.raises(Mismatch, match=r"1 of 3 elements is wrong; the first is \(1,\)"):
        check_close(result, reference, tolerance=[1, 0.5, 3])
    with pytest.raises(Mismatch, match=r"1 of 3 elements is wrong; the first is \(2,\)"):
        check_close(result, reference, relative=0.1, magnitude=[10, 20, 5])
    with pytest.raises(Mismatch):
        check_close(result, reference, relative=0.5)  # of a reference that is zero


def test_differences_of_large_integers_are_exact():
    reference = np.array([2**60, -(2**62)])

    check_close(reference + 1, reference, tolerance=1)
    with pytest.raises(Mismatch, match="2 of 2"):
        check_close(reference + 1, reference, tolerance=0.5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_untouched_output_is_wrong(dtype):
    result = np.zeros(100, dtype)
    poison(result)

    with pytest.raises(Mismatch, match="100 of 100 elements are wrong, 100 of them were never written"):
        check_close(result, example(dtype), tolerance=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_untouched_output_on_a_device_is_wrong(device, dtype):
    result = cs.zeros((4, 25), dtype)
    poison(result)
    result[:3] = dtype(0)
    result[3, :24] = dtype(0)

    with pytest.raises(Mismatch, match=r"wrong, 1 of them was never written; the first is \(3, 24\)"):
        check_close(result, np.zeros((4, 25), dtype))
    result[3, 24:] = dtype(0)
    check_close(result, np.zeros((4, 25), dtype))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
def test_untouched_element_is_wrong_even_where_a_nan_is_right(dtype):
    reference = np.full(3, np.nan, dtype)
    result = reference.copy()
    check_close(result, reference)
    poison(result[2:])

    with pytest.raises(
        Mismatch, match=r"1 of 3 elements is wrong, 1 of them was never written; the first is \(2,\)"
    ):
        check_close(result, reference)


def test_integer_that_happens_to_be_the_pattern_is_right():
    result = np.zeros(4, np.uint8)
    poison(result)

    check_close(result, result.copy())


def test_arrays_without_axes_and_with_strides(device):
    check_close(cs.full((), 3.0), np.array(3.0))
    check_close(np.arange(10)[::-2], np.array([9, 7, 5, 3, 1]))
    with pytest.raises(Mismatch, match=r"1 of 1 elements is wrong; the first is \(\): 3.0, not 4.0"):
        check_close(cs.full((), 3.0), np.array(4.0))
