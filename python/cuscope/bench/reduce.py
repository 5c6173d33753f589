"""Reductions of float32: sums, argmax and dot products of all elements, and sums along either axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import cuscope as cs
from cuscope._check import check_close
from cuscope.bench._measure import rows_of
from cuscope.bench._peers import cupy_on
from cuscope.bench._subject import OURS, Case, Contender, Run, Subject

__all__ = ["SUBJECT"]

# arguments: a module, operands, the array for the result
Reduction = Callable[[Any, Sequence[Any], Any], None]
_WIDENED = 1 << 22  # elements that are converted to double at once


def _sum(axis: int | None, module: Any, operands: Sequence[Any], out: Any) -> None:
    module.sum(operands[0], axis=axis, out=out)


def _argmax(module: Any, operands: Sequence[Any], out: Any) -> None:
    module.argmax(operands[0], out=out)


def _dot(module: Any, operands: Sequence[Any], out: Any) -> None:
    module.dot(operands[0], operands[1], out=out)


def _check_argmax(operands: Sequence[Any]) -> None:
    array, out = operands
    check_close(out, np.argmax(array.to_host()))


def _check_sum(axis: int | None, operands: Sequence[Any]) -> None:
    """Sums in double precision, a part at a time, because all elements at once would need too much memory."""
    *given, out = operands
    arrays = [array.to_host() for array in given]
    exact, magnitude = np.zeros((2, *out.shape))
    step = max(1, _WIDENED * len(arrays[0]) // arrays[0].size)
    for i in range(0, len(arrays[0]), step):
        numbers = math.prod(array[i : i + step].astype(np.float64) for array in arrays)
        if axis == 1:
            exact[i : i + step] = np.sum(numbers, axis)
            magnitude[i : i + step] = np.sum(np.abs(numbers), axis)
        else:
            exact += np.sum(numbers, axis)
            magnitude += np.sum(np.abs(numbers), axis)
    # CuPy adds in single precision.
    check_close(out, exact, relative=2.0**-20, magnitude=magnitude, dtype=np.float32)


# name -> (the reduction, number of operands, whether they are square, the result's dtype, the check of the
# result)
_KINDS: dict[str, tuple[Reduction, int, bool, type, Callable[[Sequence[Any]], None]]] = {
    "sum": (partial(_sum, None), 1, False, np.float32, partial(_check_sum, None)),
    "argmax": (_argmax, 1, False, np.int64, _check_argmax),
    "dot": (_dot, 2, False, np.float32, partial(_check_sum, None)),
    "sum of rows": (partial(_sum, 1), 1, True, np.float32, partial(_check_sum, 1)),
    "sum of columns": (partial(_sum, 0), 1, True, np.float32, partial(_check_sum, 0)),
}


def _cases(run: Run) -> Iterator[Case]:
    cupy = cupy_on(run)
    for name, (reduction, count, square, dtype, check) in _KINDS.items():
        contenders = {OURS: Contender(partial(_call, reduction, cs))}
        if cupy:
            module, _ = cupy
            contenders["cupy"] = Contender(partial(_call, reduction, module), module.asarray)
        for size in run.sizes:
            elements = round(size**0.5) ** 2 if square else size
            yield Case(
                name=name,
                size=elements,
                amount=4 * elements * count,
                contenders=contenders,
                operands=partial(_operands, run, elements, count, square, dtype),
                footprint=4 * elements * count,
                check=check,
            )


def _operands(
    run: Run, elements: int, count: int, square: bool, dtype: type, sets: int
) -> Sequence[Sequence[Any]]:
    side = round(elements**0.5)
    shape, result = ((side, side), (side,)) if square else ((elements,), ())
    made = []
    with run.stream:
        data = [run.random(elements + i, np.float32)[i:].reshape(shape) for i in range(count)]
        for _ in range(sets):
            made.append((*(cs.to_device(array) for array in data), cs.empty(result, dtype)))
    run.stream.synchronize()
    return made


def _call(reduction: Reduction, module: Any, *operands: Any) -> None:
    reduction(module, operands[:-1], operands[-1])


SUBJECT = Subject(
    name="reduce",
    help="sums, argmax and dot products of float32, and sums along either axis, beside CuPy",
    sizes=tuple(1 << shift for shift in range(10, 29, 3)),
    size_kind="elements",
    rows=rows_of(_cases),
    unit="GB/s",
)
