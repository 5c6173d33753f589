"""Sums, products, extremes, means and their like: the public functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _operands
from ._core import Device, DeviceArray, Stream
from ._matmul import Variant, matmul
from ._operands import HostArray, Operand
from ._protocols import CudaStream
from ._reduction import Axis, plan_of
from ._reduction import reduce as _reduce

__all__ = ["Reduce", "all", "any", "argmax", "argmin", "dot", "max", "mean", "min", "prod", "reduce", "sum"]


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
        A NumPy array or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        The axes to reduce. Default: all.
    dtype : dtype, optional
        The dtype of the computation and the result. Default: int64 or uint64 for integers, else the dtype of x.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
        Floats are computed in its dtype if that is wider.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    TypeError
        The operation does not support the dtype.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    Sums of float16, bfloat16 and float32 are computed in double precision and rounded once. All sums have the same bits
    on every run.

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
        A NumPy array or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        The axes to reduce. Default: all.
    dtype : dtype, optional
        The dtype of the computation and the result. Default: int64 or uint64 for integers, else the dtype of x.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
        Floats are computed in its dtype if that is wider.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    TypeError
        The operation does not support the dtype.

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
        A NumPy array or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        The axes to reduce. Default: all.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    ValueError
        The array has no elements to reduce.
    TypeError
        The operation does not support the dtype. Complex numbers have no order.

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
        A NumPy array or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        The axes to reduce. Default: all.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    ValueError
        The array has no elements to reduce.
    TypeError
        The operation does not support the dtype. Complex numbers have no order.

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
        A NumPy array or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        The axes to reduce. Default: all.
    dtype : dtype, optional
        The dtype of the computation and the result. Default: float64 for integers, else the dtype of x.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
        Floats are computed in its dtype if that is wider.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    TypeError
        The operation does not support the dtype.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    The mean of an empty array is NaN, with a RuntimeWarning.

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
    """The index of the smallest element, as numpy.argmin has it: of the first of equal ones; of the first NaN, if any.

    Parameters
    ----------
    x : array
        A NumPy array or a device array (also of another library), of any strides.
    axis : int, optional
        The axis to search. Default: all elements as one axis.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    ValueError
        The array has no elements to reduce.
    TypeError
        The operation does not support the dtype. Complex numbers have no order.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    Without an axis, the index counts the elements in C order.

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
    """The index of the largest element, as numpy.argmax has it: of the first of equal ones; of the first NaN, if any.

    Parameters
    ----------
    x : array
        A NumPy array or a device array (also of another library), of any strides.
    axis : int, optional
        The axis to search. Default: all elements as one axis.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    ValueError
        The array has no elements to reduce.
    TypeError
        The operation does not support the dtype. Complex numbers have no order.

    See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

    Without an axis, the index counts the elements in C order.

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
        A NumPy array or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        The axes to reduce. Default: all.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    TypeError
        The operation does not support the dtype.

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
        A NumPy array or a device array (also of another library), of any strides.
    axis : int or tuple of int, optional
        The axes to reduce. Default: all.
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
    keepdims : bool
        Keep the reduced axes, with an extent of 1.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

    Raises
    ------
    TypeError
        The operation does not support the dtype.

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
    """The dot product, as numpy.dot has it: for two vectors the sum of their products; else for the last axis of x and the
    second last of y.

    Takes and returns arrays as matmul() does. Products of vectors are summed as by sum(), without a temporary array.
    Raises ValueError for shapes that do not match and for numbers without dimensions, TypeError for dtypes that kernels
    do not support.

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
    # Multiplies each row of x with each matrix of y by broadcasting, then moves the axes of x before those of
    # y.
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
    """A reduction by a variant that you choose: ``cs.reduce(x, "sum", variant="interleaved_modulo")``.

    Parameters
    ----------
    x : array
        The same as for sum().
    op : str
        "sum", "prod", "min", "max", "mean", "argmin", "argmax", "any" or "all".
    axis, dtype, out, keepdims, stream
        The same as for sum().
    variant : str
        One of `variants()`, or "auto", which chooses by operation, shape, dtype and device.

    Raises
    ------
    ValueError
        An unknown operation or variant, and the ValueErrors of the operation.
    TypeError
        A variant for other dtypes, operations or axes, and the TypeErrors of the operation.

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
        _check_operation(op)
        return _reduce(op, x, axis, dtype, out, keepdims, variant, stream)

    def variants(self, device: Device | None = None) -> tuple[Variant, ...]:
        """The variants for a device (default: the current one), with the requirements and the method of each.

        >>> import cuscope as cs
        >>> cs.reduce.variants()[0].name
        'interleaved_modulo'
        """
        on = _core.current_device() if device is None else device
        return tuple(Variant(*known) for known in _core.reduce_variants(on))

    def explain(
        self,
        x: Operand,
        op: str,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        *,
        stream: Stream | CudaStream | None = None,
    ) -> str:
        """The variant that "auto" takes, with kernel, grid and block, and the reason. Computes nothing.

        For a simulated device it also says how long the reduction takes there. Raises the errors of the operation itself.

        >>> import numpy as np, cuscope as cs
        >>> name, _, reason = cs.reduce.explain(np.ones((64, 64)), "sum", axis=1).partition(": ")
        >>> name in [variant.name for variant in cs.reduce.variants()]
        True
        """
        _check_operation(op)
        (array,), on, _ = _operands.operands(stream, x=x)
        plan = plan_of(op, array, axis, dtype)
        shape = tuple(array.shape)
        if 0 in shape:
            return "auto: there is nothing to reduce, so that nothing is launched."
        as_it_lies = isinstance(array, DeviceArray) and array.dtype == plan.computed
        strides = tuple(array.strides) if as_it_lies else np.empty(shape, plan.computed).strides
        name, reason = _core.explain_reduce(on.device, op, plan.computed.name, shape, strides, plan.axes)
        return f"{name}: {reason}"

    def __repr__(self) -> str:
        return "<cuscope.reduce>"


def _check_operation(op: object) -> None:
    if not isinstance(op, str) or op not in OPERATIONS:
        raise ValueError(f"op: there is no operation {op!r}; allowed are {', '.join(OPERATIONS)}")


OPERATIONS = ("sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all")
reduce = Reduce()
