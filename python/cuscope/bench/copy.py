"""Copies between the host and a device, both ways, and within the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import cuscope as cs
from cuscope._check import check_close
from cuscope.bench._measure import rows_of
from cuscope.bench._peers import cupy_on
from cuscope.bench._subject import OURS, Case, Contender, Run, Subject

__all__ = ["SUBJECT"]

Memory = Callable[[int, npt.DTypeLike], Any]


def _pageable(count: int, dtype: npt.DTypeLike) -> Any:
    # written once, because memory that was never written is one shared page of zeros
    return np.ones(count, dtype)


# name -> (function that makes the source, function that makes the destination); on a device these are
# DeviceArrays
_KINDS: dict[str, tuple[Memory, Memory]] = {
    "host to device, pageable": (_pageable, cs.empty),
    "device to host, pageable": (cs.empty, _pageable),
    "host to device, pinned": (cs.pinned_empty, cs.empty),
    "device to host, pinned": (cs.empty, cs.pinned_empty),
    "device to device": (cs.empty, cs.empty),
}


def _cases(run: Run) -> Iterator[Case]:
    cupy = cupy_on(run)
    for name, (origin, target) in _KINDS.items():
        contenders = {OURS: Contender(_copy)}
        if cupy:
            module, stream = cupy
            as_cupy = partial(_as_cupy, module)
            contenders["cupy"] = Contender(partial(_copy_by_cupy, module, stream), as_cupy)
        on_device = (origin is cs.empty) + (target is cs.empty)
        for size in run.sizes:
            yield Case(
                name=name,
                size=size,
                amount=size
                * (2 if on_device == 2 else 1),  # within the device, bytes read and bytes written both count
                contenders=contenders,
                operands=partial(_operands, run, origin, target, size),
                footprint=size * on_device,
                check=_check,
                asynchronous=_pageable not in (origin, target),
            )


def _operands(run: Run, origin: Memory, target: Memory, size: int, sets: int) -> Sequence[Sequence[Any]]:
    """Sets of a source of random bytes and a destination. The sources stand one after the other in one piece of memory,
    and so do the destinations."""
    dtype = np.dtype(np.uint64 if size % 8 == 0 else np.uint8)
    count = size // dtype.itemsize
    with run.stream:
        sources, targets = origin(count * sets, dtype), target(count * sets, dtype)
        data = run.random(count, dtype)
        pairs = [
            (sources[i * count : (i + 1) * count], targets[i * count : (i + 1) * count]) for i in range(sets)
        ]
        for source, _ in pairs:
            if isinstance(source, np.ndarray):
                source[:] = data
            else:
                source.copy_from(data)
    run.stream.synchronize()
    return pairs


def _copy(source: Any, target: Any) -> None:
    if isinstance(target, np.ndarray):
        source.copy_to(target)
    else:
        target.copy_from(source)


def _as_cupy(module: Any, array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else module.asarray(array)


def _copy_by_cupy(module: Any, stream: Any, source: Any, target: Any) -> None:
    if isinstance(target, np.ndarray):
        source.get(stream=stream, out=target, blocking=False)
    elif isinstance(source, np.ndarray):
        target.set(source, stream=stream)
    else:
        module.copyto(target, source)


def _check(operands: Sequence[Any]) -> None:
    source, target = operands
    check_close(target, source if isinstance(source, np.ndarray) else source.to_host())


SUBJECT = Subject(
    name="copy",
    help="copies between host and device, pageable and page-locked, and within the device",
    sizes=tuple(4096 << shift for shift in range(0, 17, 2)),  # 4 KiB to 256 MiB
    size_kind="bytes",
    rows=rows_of(_cases),
    unit="GB/s",
)
