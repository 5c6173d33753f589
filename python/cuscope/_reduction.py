"""The plan of a reduction (its axes and dtypes) and its launch."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

try:
    from numpy.exceptions import AxisError
except ImportError:  # before NumPy 1.25
    from numpy import AxisError  # type: ignore[attr-defined, no-redef]

from . import _core, _operands
from ._core import DeviceArray, Stream
from ._operands import HostArray, Operand
from ._protocols import CudaStream

Axis = int | tuple[int, ...] | None
Out = DeviceArray | HostArray | None


def _axes(axis: Axis, dimensions: int, name: str) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(dimensions))
    given = axis if isinstance(axis, tuple) else (axis,)
    result = []
    for number in given:
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise TypeError(
                f"{name}: axis: takes an int, a tuple of ints or None, not {type(number).__name__}"
            )
        if not -dimensions <= number < dimensions:
            raise AxisError(int(number), dimensions)
        result.append(int(number) % dimensions)
    if len(set(result)) != len(result):
        raise ValueError(f"{name}: axis: {axis} names an axis twice")
    return tuple(sorted(result))


@functools.cache  # a call for each pair of an operation and a dtype
def _result_dtype(op: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which the kernels return the result."""
    return _core.result_dtype(op, dtype)


def _empty_result(op: str, shape: tuple[int, ...], dtype: np.dtype[Any], stream: Stream) -> DeviceArray:
    """The result of a reduction without elements."""
    if 0 in shape and op not in ("argmin", "argmax"):
        return _core.empty(shape, dtype, stream=stream)
    if op in ("sum", "any"):
        return _core.zeros(shape, dtype, stream=stream)
    if op in ("prod", "all"):
        return _core.full(shape, dtype.type(1), dtype, stream=stream)
    if op == "mean":
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=5)
        return _core.full(shape, math.nan, dtype, stream=stream)
    raise ValueError(
        f"{op}: the array has no elements along the reduced axes, and {op} of nothing is not defined"
    )


class Plan(NamedTuple):
    """The axes of a reduction, the dtype that it is computed in, and the dtype of the result."""

    axes: tuple[int, ...]
    computed: np.dtype[Any]
    final: np.dtype[Any]


def plan_of(
    op: str, array: DeviceArray | HostArray, axis: Axis, dtype: npt.DTypeLike | None, out: Out = None
) -> Plan:
    computed = array.dtype
    _operands.check_dtype(computed, op)
    if op in ("min", "max", "argmin", "argmax") and computed.kind == "c":
        raise TypeError(
            f"{op}: complex numbers have no order here; allowed are real dtypes: pass abs(x), or x.real"
        )
    if op in ("argmin", "argmax") and isinstance(axis, tuple):
        raise TypeError(f"{op}: axis: takes an int or None, not a tuple")
    axes = _axes(axis, len(array.shape), op)
    final = _result_dtype(op, computed)
    if dtype is None and op in ("sum", "prod", "mean") and computed.kind not in "biu":
        dtype = _operands.wider(final, out)
    if dtype is not None:
        final = _operands.native(np.dtype(dtype))
        _operands.check_dtype(final, op)
        # Sums of narrow integers are computed in wide ones and cut off, which wraps around in the same way.
        computed = final if final.kind != computed.kind or final.kind not in "iu" else computed
    return Plan(axes, computed, final)


def reduce(
    op: str,
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: Out = None,
    keepdims: bool = False,
    variant: str = "auto",
    stream: Stream | CudaStream | None = None,
) -> Any:
    (array,), on, on_host = _operands.operands(stream, x=x)
    axes, computed, final = plan_of(op, array, axis, dtype, out)
    shape = tuple(array.shape)
    kept = tuple(extent for i, extent in enumerate(shape) if i not in axes)
    result_shape = tuple(1 if i in axes else extent for i, extent in enumerate(shape)) if keepdims else kept
    if out is not None:
        _operands.check_out(out, result_shape, final, on_host)
    device_array = _operands.upload(array, computed, on)
    if device_array.dtype != computed:
        device_array = _core.convert(device_array, computed, on)
    if math.prod(shape[i] for i in axes) == 0:
        result = _empty_result(op, kept, final, on)
    else:
        made = _result_dtype(op, computed)
        if op in ("sum", "prod") and final.kind in "iu" and final.itemsize == 4:
            made = final  # variants with 32-bit integers compute in this dtype
        result = _operands.result_array(kept, made, on, out, [device_array])
        if math.prod(kept):
            _core.launch_reduce(op, device_array, axes, result, variant, on)
        if made != final:
            result = _core.convert(result, final, on)
    return _operands.deliver(result.reshape(result_shape), out, on, on_host)
