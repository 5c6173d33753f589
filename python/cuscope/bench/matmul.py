"""Matrix products: the variant that auto takes, and others of the ladder, beside cuBLAS through CuPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import cuscope as cs
from cuscope._check import check_close
from cuscope.bench._measure import rows_of
from cuscope.bench._peers import cupy_on
from cuscope.bench._subject import OURS, Case, Contender, Roof, Run, Subject

__all__ = ["SUBJECT"]

# The variants that are fast enough to be measured at every size.
_VARIANTS = ("auto", "shared_tiles", "vectorised", "double_buffered", "warp_tiles")
# A simulated device runs a variant thread by thread, which takes minutes beyond this n.
_MOST_SIMULATED = 512
_CHECKED = 16  # rows of a result that are compared, with all their columns, in double precision


def _cases(run: Run) -> Iterator[Case]:
    cupy = cupy_on(run)
    for variant in _VARIANTS:
        contenders = {OURS: Contender(partial(_multiply, variant))}
        if cupy:
            module, _ = cupy
            contenders["cupy"] = Contender(partial(_multiply_by_cupy, module), module.asarray)
        for n in run.sizes:
            if run.device.simulated and variant != "auto" and n > _MOST_SIMULATED:
                run.missing[f"rungs beyond n = {_MOST_SIMULATED}"] = (
                    "a simulated device runs their threads one by one"
                )
                continue
            yield Case(
                name=f"float32, {variant}",
                size=n,
                amount=2 * n**3,
                contenders=contenders,
                operands=partial(_operands, run, n),
                footprint=12 * n * n,
                check=_check,
                intensity=n / 6,
            )


def _operands(run: Run, n: int, sets: int) -> Sequence[Sequence[Any]]:
    """Sets of two random matrices and a place for the product."""
    made = []
    with run.stream:
        a, b = (run.random(n * n + i, np.float32)[i:].reshape(n, n) for i in range(2))
        for _ in range(sets):
            made.append((cs.to_device(a), cs.to_device(b), cs.empty((n, n), np.float32)))
    run.stream.synchronize()
    return made


def _multiply(variant: str, a: Any, b: Any, c: Any) -> None:
    cs.matmul(a, b, out=c, variant=variant)


def _multiply_by_cupy(module: Any, a: Any, b: Any, c: Any) -> None:
    module.matmul(a, b, out=c)


def _check(operands: Sequence[Any]) -> None:
    a, b, c = operands
    rows = np.unique(np.linspace(0, a.shape[0] - 1, _CHECKED).astype(int))
    left, right, result = a.to_host()[rows].astype(np.float64), b.to_host(), c.to_host()[rows]
    magnitude = np.abs(left) @ np.abs(right)
    check_close(result, left @ right, relative=a.shape[1] * 2.0**-24, magnitude=magnitude, dtype=np.float32)


def _roof(device: cs.Device) -> Roof:
    """The peak of float32 (two operations per clock for each of the 128 lanes of a multiprocessor) and the bandwidth.

    Large products on Hopper go through the tensor cores, and beyond this peak.
    """
    properties = device.properties
    peak = properties.multiprocessor_count * 128 * 2 * properties.clock_rate * 1e3
    return Roof(peak, 2.0 * properties.memory_clock_rate * 1e3 * properties.memory_bus_width / 8)


SUBJECT = Subject(
    name="matmul",
    help="products of float32 matrices, by what auto takes and by rungs of the ladder, beside cuBLAS (through CuPy)",
    sizes=(512, 1024, 2048, 4096),
    size_kind="n",
    rows=rows_of(_cases),
    unit="TFLOP/s",
    plot="roofline",
    roof=_roof,
)
