"""Checks of results, for tests and benchmarks. They find every wrong element, and elements that were never written."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import cuscope as cs

__all__ = ["Mismatch", "check_close", "poison", "ulps"]

# NaN bit patterns that no arithmetic produces, by the size of a number. `poison` fills floats with them.
_NAN_BITS = {2: 0x7FE5, 4: 0x7FE5A5A5, 8: 0x7FFCA5A5A5A5A5A5}
_BYTE = 0xA5  # for all other dtypes; no kernel writes it to a bool

Array = npt.NDArray[Any]


class Mismatch(AssertionError):  # noqa: N818 - the name is clear without "Error"
    """A result is not as expected. The message names the first wrong element."""


def poison(array: cs.DeviceArray | Array) -> None:
    """Fill an output before a run with a pattern, so that `check_close` finds elements that the run did not write.

    Floats get a special NaN, which counts as wrong even where a NaN is expected. Other dtypes get a pattern that a result
    may contain, too: there an element that was not written is only found if another value is expected.

    >>> x = cs.zeros(3)
    >>> poison(x)
    >>> check_close(x, np.zeros(3, np.float32))
    Traceback (most recent call last):
      ...
    cuscope._check.Mismatch: 3 of 3 elements are wrong, 3 of them were never written; the first is (0,): nan, not 0.0
    """
    one = _pattern(array.dtype).view(array.dtype)
    if array.dtype == np.bool_:  # as a number it would be written as True
        if isinstance(array, np.ndarray):
            array.view(np.uint8)[...] = _BYTE
        else:
            array.copy_from(np.full(array.shape, _BYTE, np.uint8).view(np.bool_))
    elif isinstance(array, np.ndarray):
        array[...] = one[0]
    else:
        array.fill(one[0])


def check_close(
    result: cs.DeviceArray | Array,
    reference: npt.ArrayLike,
    *,
    tolerance: npt.ArrayLike = 0.0,
    relative: float = 0.0,
    magnitude: npt.ArrayLike | None = None,
    dtype: npt.DTypeLike | None = None,
) -> None:
    """Raise Mismatch unless every element of a result is close enough to its reference.

    Parameters
    ----------
    result : DeviceArray or numpy.ndarray
        The result of a computation.
    reference : array
        The expected values, of the same shape: exact, or more precise than the result.
    tolerance : array
        The largest allowed difference: one for all elements, or one for each.
    relative : float
        Allows a further difference of ``relative * magnitude``.
    magnitude : array, optional
        The size that rounding errors are relative to, such as ``abs(a) @ abs(b)`` for a product of matrices and the sum
        of the absolute values for a sum. Default: the absolute value of the reference.
    dtype : dtype, optional
        The expected dtype of the result. Default: the reference's.

    Raises
    ------
    Mismatch
        Another shape or dtype; a difference that is too large; a NaN or an infinity on one side only; an element that
        still has the pattern of `poison`.
    """
    got = result if isinstance(result, np.ndarray) else result.to_host()
    expected = np.asarray(reference)
    if got.dtype != np.dtype(expected.dtype if dtype is None else dtype):
        raise Mismatch(
            f"the dtype is {got.dtype}, not {np.dtype(expected.dtype if dtype is None else dtype)}"
        )
    if got.shape != expected.shape:
        raise Mismatch(f"the shape is {got.shape}, not {expected.shape}")

    untouched = _untouched(got)
    # Most elements are equal: only the others are compared in higher precision.
    with np.errstate(all="ignore"):
        places = np.flatnonzero(~(got == expected).reshape(-1) | untouched)
        found, right = got.reshape(-1)[places], expected.reshape(-1)[places]
        allowed = _at(tolerance, got.shape, places)
        if relative:
            allowed = allowed + relative * (
                np.abs(_widened(right)) if magnitude is None else _at(magnitude, got.shape, places)
            )
        wrong = _differ(found, right, allowed)
    # For integers the pattern may be a correct value, so an element that is close to its reference counts as
    # right.
    if got.dtype.kind in "bfcV":
        wrong |= untouched[places]
    if not wrong.any():
        return

    first = int(np.argmax(wrong))
    index = tuple(int(i) for i in np.unravel_index(places[first], got.shape))
    count, unwritten = int(wrong.sum()), int((untouched[places] & wrong).sum())
    never = f", {unwritten} of them {'was' if unwritten == 1 else 'were'} never written" if unwritten else ""
    raise Mismatch(
        f"{count} of {got.size} elements {'is' if count == 1 else 'are'} wrong{never}; "
        f"the first is {index}: {found[first].item()!r}, not {right[first].item()!r}"
    )


def ulps(reference: npt.ArrayLike, dtype: npt.DTypeLike, count: float = 1) -> Array:
    """A tolerance of ``count`` units in the last place of each element, for a result of that dtype.

    >>> ulps([1.0, 2.0], np.float32) == 2.0 ** np.array([-23, -22])
    array([ True,  True])
    """
    with np.errstate(all="ignore"):
        rounded = np.abs(np.asarray(reference)).astype(dtype)
        return np.asarray(np.spacing(rounded).astype(np.float64) * count)


def _differ(got: Array, expected: Array, allowed: Array) -> Array:
    """Which of these elements are too far apart?"""
    got, expected = _widened(got), _widened(expected)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    # A NaN in any of the three arrays counts as a difference, and so does an infinity, whatever is allowed.
    near = (np.abs(got - expected) <= allowed) & np.isfinite(got) & np.isfinite(expected)
    return np.asarray(~(same | near))


def _widened(values: Array) -> Array:
    """Converts to 64 bits of mantissa, so that differences of large integers are exact."""
    if values.dtype.kind == "c":
        return values.astype(np.clongdouble)
    if values.dtype.kind == "V":  # bfloat16, for example, converts to double but not to long double
        values = values.astype(np.float64)
    return values.astype(np.longdouble)


def _at(values: npt.ArrayLike, shape: tuple[int, ...], places: Array) -> Array:
    array = np.asarray(values, np.longdouble)
    return array if array.ndim == 0 else np.broadcast_to(array, shape)[np.unravel_index(places, shape)]


def _parts(dtype: np.dtype[Any]) -> int:
    return 2 if dtype.kind == "c" else 1


def _pattern(dtype: np.dtype[Any]) -> Array:
    """The bytes of one poisoned element."""
    size = dtype.itemsize // _parts(dtype)
    if dtype.kind in "fcV" and size in _NAN_BITS:
        return np.full(_parts(dtype), _NAN_BITS[size], np.dtype(f"u{size}")).view(np.uint8)
    return np.full(dtype.itemsize, _BYTE, np.uint8)


def _untouched(values: Array) -> Array:
    """Which elements, along one axis, have the pattern in any of their parts?"""
    parts = _parts(values.dtype)
    words = np.dtype(f"V{values.dtype.itemsize // parts}")
    if words.itemsize in (1, 2, 4, 8):
        words = np.dtype(f"u{words.itemsize}")
    elements = np.ascontiguousarray(values).view(words).reshape(values.size, parts)
    return np.asarray((elements == _pattern(values.dtype).view(words)[0]).any(axis=1))
