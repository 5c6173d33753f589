"""Reductions of float32: sums, argmax and dot products of all elements, and sums along either axis."""

from __future__ import annotations

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

Reduction = Callable[[Any, Sequence[Any], Any], None]  # by a module, of operands, into a result


def _sum(axis: int | None, module: Any, operands: Sequence[Any], out: Any) -> None:
    module.sum(operands[0], axis=axis, out=out)


def _argmax(module: Any, operands: Sequence[Any], out: Any) -> None:
    module.argmax(operands[0], out=out)


def _dot(module: Any, operands: Sequence[Any], out: Any) -> None:
    module.dot(operands[0], operands[1], out=out)


# name -> (the reduction, how many operands, are they square, the result's dtype)
_KINDS: dict[str, tuple[Reduction, int, bool, type]] = {
    "sum": (partial(_sum, None), 1, False, np.float32),
    "argmax": (_argmax, 1, False, np.int64),
    "dot": (_dot, 2, False, np.float32),
    "sum of rows": (partial(_sum, 1), 1, True, np.float32),
    "sum of columns": (partial(_sum, 0), 1, True, np.float32),
}


def _cases(run: Run) -> Iterator[Case]:
    cupy = cupy_on(run)
    for name, (reduction, count, square, dtype) in _KINDS.items():
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
                check=partial(_check, reduction),
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


def _check(reduction: Reduction, operands: Sequence[Any]) -> None:
    *given, out = operands
    wide = [array.to_host().astype(np.float64) for array in given]
    expected = np.empty(out.shape, np.int64 if out.dtype == np.int64 else np.float64)
    reduction(np, wide, expected)
    magnitude = np.empty_like(expected)
    reduction(np, [np.abs(array) for array in wide], magnitude)
    # CuPy adds in single precision.
    relative = 0.0 if out.dtype == np.int64 else 2.0**-20
    check_close(out, expected, relative=relative, magnitude=magnitude, dtype=out.dtype)


SUBJECT = Subject(
    name="reduce",
    help="sums, argmax and dot products of float32, and sums along either axis, beside CuPy",
    sizes=tuple(1 << shift for shift in range(10, 29, 3)),
    size_kind="elements",
    rows=rows_of(_cases),
    unit="GB/s",
)
