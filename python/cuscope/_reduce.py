"""Reductions: sums, products, extremes, means and their like."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from numpy.exceptions import AxisError
except ImportError:  # before NumPy 1.25
    from numpy import AxisError  # type: ignore[attr-defined, no-redef]

from . import _core, _operands
from ._core import Device, DeviceArray, Stream
from ._matmul import Variant, matmul
from ._operands import HostArray, Operand
from ._protocols import CudaStream

__all__ = ["Reduce", "all", "any", "argmax", "argmin", "dot", "max", "mean", "min", "prod", "reduce", "sum"]

Axis = int | tuple[int, ...] | None


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


def _dtype_of_sum(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind in "bi":
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def _result_dtype(op: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """As the kernels give it."""
    if op in ("sum", "prod"):
        return _dtype_of_sum(dtype)
    if op in ("argmin", "argmax"):
        return np.dtype(np.int64)
    if op in ("any", "all"):
        return np.dtype(np.bool_)
    if op == "mean" and dtype.kind in "biu":
        return np.dtype(np.float64)
    return dtype


def _empty_result(op: str, shape: tuple[int, ...], dtype: np.dtype[Any], stream: Stream) -> DeviceArray:
    """What is the result where nothing is reduced."""
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


def _reduce(
    op: str,
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    variant: str = "auto",
    stream: Stream | CudaStream | None = None,
) -> Any:
    (array,), on, on_host = _operands.operands(stream, x=x)
    _operands.check_dtype(array.dtype, op)
    if op in ("min", "max", "argmin", "argmax") and array.dtype.kind == "c":
        raise TypeError(
            f"{op}: complex numbers have no order here; allowed are real dtypes: pass abs(x), or x.real"
        )
    shape = tuple(array.shape)
    if op in ("argmin", "argmax") and isinstance(axis, tuple):
        raise TypeError(f"{op}: axis: takes an int or None, not a tuple")
    axes = _axes(axis, len(shape), op)
    computed = array.dtype
    final = _result_dtype(op, computed)
    if dtype is None and op in ("sum", "prod", "mean") and computed.kind not in "biu":
        dtype = _operands.wider(final, out)
    if dtype is not None:
        final = _operands.native(np.dtype(dtype))
        _operands.check_dtype(final, op)
        # Sums of narrow integers wrap as those of wide ones do, cut off.
        computed = final if final.kind != array.dtype.kind or final.kind not in "iu" else array.dtype
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
            made = final  # rungs with integers of 32 bits compute in those
        result = _operands.result_array(kept, made, on, out, [device_array])
        if math.prod(kept):
            _core.launch_reduce(op, device_array, axes, result, variant, on)
        if made != final:
            result = _core.convert(result, final, on)
    return _operands.deliver(result.reshape(result_shape), out, on, on_host)


def sum(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """The sum, as numpy.sum has it.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        Over which axes; all unless given.
    dtype : dtype, optional
        What is computed in, and the result's; int64 or uint64 for integers, else that of x unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to. Floats are computed in
        it where it is wider.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    TypeError
        A dtype that the operation does not have.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    Sums of float16, bfloat16 and float32 are made in double precision and rounded once; all sums have the same bits on
    every run.

    >>> import numpy as np, cuscope as cs
    >>> cs.sum(np.ones((2, 3), np.float32), axis=0)
    array([2., 2., 2.], dtype=float32)
    """
    return _reduce("sum", x, axis, dtype, out, keepdims, "auto", stream)


def prod(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """The product, as numpy.prod has it.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        Over which axes; all unless given.
    dtype : dtype, optional
        What is computed in, and the result's; int64 or uint64 for integers, else that of x unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to. Floats are computed in
        it where it is wider.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    TypeError
        A dtype that the operation does not have.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    >>> import numpy as np, cuscope as cs
    >>> int(cs.prod(np.array([2, 3, 4])))
    24
    """
    return _reduce("prod", x, axis, dtype, out, keepdims, "auto", stream)


def min(
    x: Operand,
    axis: Axis = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """The smallest element, as numpy.min has it: NaN if there is one.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        Over which axes; all unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    ValueError
        There is nothing to reduce.
    TypeError
        A dtype that the operation does not have, or complex numbers, which have no order.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    >>> import numpy as np, cuscope as cs
    >>> int(cs.min(np.array([3, 1, 2])))
    1
    """
    return _reduce("min", x, axis, None, out, keepdims, "auto", stream)


def max(
    x: Operand,
    axis: Axis = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """The largest element, as numpy.max has it: NaN if there is one.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        Over which axes; all unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    ValueError
        There is nothing to reduce.
    TypeError
        A dtype that the operation does not have, or complex numbers, which have no order.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    >>> import numpy as np, cuscope as cs
    >>> cs.max(np.array([[3, 1], [2, 5]]), axis=1)
    array([3, 5])
    """
    return _reduce("max", x, axis, None, out, keepdims, "auto", stream)


def mean(
    x: Operand,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """The arithmetic mean, as numpy.mean has it.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        Over which axes; all unless given.
    dtype : dtype, optional
        What is computed in, and the result's; float64 for integers, else that of x unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to. Floats are computed in
        it where it is wider.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    TypeError
        A dtype that the operation does not have.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    The mean of nothing is NaN, with a RuntimeWarning.

    >>> import numpy as np, cuscope as cs
    >>> float(cs.mean(np.array([1, 2, 6])))
    3.0
    """
    return _reduce("mean", x, axis, dtype, out, keepdims, "auto", stream)


def argmin(
    x: Operand,
    axis: int | None = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """Where the smallest element is, as numpy.argmin has it: the first of equal ones, the first NaN if there is one.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int, optional
        Over which axes; all unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    ValueError
        There is nothing to reduce.
    TypeError
        A dtype that the operation does not have, or complex numbers, which have no order.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    Without an axis the index counts in C order.

    >>> import numpy as np, cuscope as cs
    >>> int(cs.argmin(np.array([3, 1, 2, 1])))
    1
    """
    return _reduce("argmin", x, axis, None, out, keepdims, "auto", stream)


def argmax(
    x: Operand,
    axis: int | None = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """Where the largest element is, as numpy.argmax has it: the first of equal ones, the first NaN if there is one.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int, optional
        Over which axes; all unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    ValueError
        There is nothing to reduce.
    TypeError
        A dtype that the operation does not have, or complex numbers, which have no order.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    Without an axis the index counts in C order.

    >>> import numpy as np, cuscope as cs
    >>> int(cs.argmax(np.array([3.0, np.nan, 5.0])))
    1
    """
    return _reduce("argmax", x, axis, None, out, keepdims, "auto", stream)


def any(
    x: Operand,
    axis: Axis = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """Is any element not 0? As numpy.any has it.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        Over which axes; all unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    TypeError
        A dtype that the operation does not have.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    >>> import numpy as np, cuscope as cs
    >>> bool(cs.any(np.array([0, 0, 2])))
    True
    """
    return _reduce("any", x, axis, None, out, keepdims, "auto", stream)


def all(
    x: Operand,
    axis: Axis = None,
    out: DeviceArray | HostArray | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """Is no element 0? As numpy.all has it.

    Parameters
    ----------
    x : array
        NumPy's, or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        Over which axes; all unless given.
    out : array, optional
        Where the result goes: of its shape, and of a dtype that its own casts to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        Where the work is enqueued; the current stream unless given.

    Returns
    -------
    NumPy's scalar or array for NumPy's arrays, once it is there; for a device array another one, at once.

    Raises
    ------
    TypeError
        A dtype that the operation does not have.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    >>> import numpy as np, cuscope as cs
    >>> bool(cs.all(np.array([1, 0, 2])))
    False
    """
    return _reduce("all", x, axis, None, out, keepdims, "auto", stream)


def dot(
    x: Operand,
    y: Operand,
    out: DeviceArray | HostArray | None = None,
    *,
    stream: Stream | CudaStream | None = None,
) -> Any:
    """The dot product, as numpy.dot has it: of two vectors the sum of their products, else that of x's last axis and y's
    last but one.

    Arrays are given, and the result comes, as for matmul(); a vector's products are summed as sum() does it, without a
    temporary array. Raises ValueError for shapes that do not fit and for numbers without dimensions, TypeError for
    dtypes that kernels do not have.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions".

    >>> import numpy as np, cuscope as cs
    >>> float(cs.dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    11.0
    """
    (left, right), on, on_host = _operands.operands(stream, x=x, y=y)
    if len(left.shape) != 1 or len(right.shape) != 1:
        return _dot_of_matrices(left, right, out, on, on_host)
    for name, operand in (("x", left), ("y", right)):
        _operands.check_dtype(operand.dtype, f"dot: {name}")
    if left.shape != right.shape:
        raise ValueError(f"dot: x has shape {tuple(left.shape)}, y {tuple(right.shape)}: they must be equal")
    dtype = _operands.common_dtype(left.dtype, right.dtype)
    if out is not None:
        _operands.check_out(out, (), dtype, on_host)
    if left.shape == (0,):
        result = _core.zeros((), dtype, stream=on)
    else:
        pair = [_operands.upload(operand, dtype, on) for operand in (left, right)]
        pair = [array if array.dtype == dtype else _core.convert(array, dtype, on) for array in pair]
        result = _operands.result_array((), dtype, on, out, pair)
        _core.launch_dot(pair[0], pair[1], result, on)
    return _operands.deliver(result, out, on, on_host)


def _dot_of_matrices(
    left: DeviceArray | HostArray,
    right: DeviceArray | HostArray,
    out: DeviceArray | HostArray | None,
    stream: Stream,
    on_host: bool,
) -> Any:
    for name, operand in (("x", left), ("y", right)):
        if len(operand.shape) == 0:
            raise ValueError(
                f"dot: {name} has no dimensions; allowed are one or more: use * for a product with a number"
            )
    if len(right.shape) <= 2 or len(left.shape) == 1:
        return matmul(left, right, out, stream=stream)
    # Each row of x with each matrix of y: broadcast, and the axes of x brought before those of y.
    rows = tuple(left.shape[:-1])
    before, columns = tuple(right.shape[:-2]), right.shape[-1]
    apart = left.reshape((*rows[:-1], *(1 for _ in before), *left.shape[-2:]))
    product = matmul(apart, right, stream=stream)
    axes = [
        *range(len(rows) - 1),
        product.ndim - 2,
        *range(len(rows) - 1, product.ndim - 2),
        product.ndim - 1,
    ]
    result = product.transpose(*axes)
    assert tuple(result.shape) == (*rows, *before, columns)
    if out is None:
        return result
    _operands.check_out(out, tuple(result.shape), result.dtype, on_host)
    if isinstance(out, np.ndarray):
        np.copyto(out, result, casting="same_kind")
    else:
        same = result if out.dtype == result.dtype else _core.convert(result, out.dtype, stream)
        out.copy_from(same, stream=stream)
    return out


class Reduce:
    """A reduction by a variant of one's choice: ``cs.reduce(x, "sum", variant="interleaved_modulo")``.

    Parameters
    ----------
    x : array
        As for sum().
    op : str
        "sum", "prod", "min", "max", "mean", "argmin", "argmax", "any" or "all".
    axis, dtype, out, keepdims, stream
        As for sum().
    variant : str
        One of `variants()`, or "auto", which takes one by operation, shape, dtype and device.

    Raises
    ------
    ValueError
        An operation or a variant that there is not, and what the operation itself refuses.
    TypeError
        A variant for other dtypes, operations or axes, and what the operation itself refuses.

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> int(cs.reduce(np.arange(5), "max"))
    4
    """

    def __call__(
        self,
        x: Operand,
        op: str,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: DeviceArray | HostArray | None = None,
        keepdims: bool = False,
        *,
        variant: str = "auto",
        stream: Stream | CudaStream | None = None,
    ) -> Any:
        if op not in OPERATIONS:
            raise ValueError(f"op: there is no operation {op!r}; allowed are {', '.join(OPERATIONS)}")
        return _reduce(op, x, axis, dtype, out, keepdims, variant, stream)

    def variants(self, device: Device | None = None) -> tuple[Variant, ...]:
        """The ways to reduce on a device (the current one unless given), with what each needs and does.

        >>> import cuscope as cs
        >>> cs.reduce.variants()[0].name
        'interleaved_modulo'
        """
        on = _core.current_device() if device is None else device
        return tuple(Variant(*known) for known in _core.reduce_variants(on))

    def __repr__(self) -> str:
        return "<cuscope.reduce>"


OPERATIONS = ("sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all")
reduce = Reduce()
