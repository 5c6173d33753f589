"""Matrix products."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core, _operands
from ._core import Device, DeviceArray, Stream
from ._operands import HostArray, Operand
from ._protocols import CudaStream

__all__ = ["Matmul", "Variant", "matmul"]


class Variant(NamedTuple):
    """One way to compute an operation: its name, its requirements, and its method.

    >>> import cuscope as cs
    >>> cs.matmul.variants()[2]._asdict()
    {'name': 'shared_tiles', 'needs': 'any dtype', 'does': '16 x 16 tiles in shared memory: a sixteenth of the loads'}
    """

    name: str
    needs: str
    does: str


# Without this, inspect.signature shows ForwardRef('str').
Variant.__new__.__annotations__ = Variant.__annotations__ = dict.fromkeys(Variant._fields, str)


class _Plan(NamedTuple):
    """A product for the kernels: the shapes and the dtype of the operands and of the result."""

    left: tuple[int, ...]  # at least two dimensions
    right: tuple[int, ...]
    product: tuple[int, ...]  # with the dimensions of both
    result: tuple[int, ...]  # without the dimensions that were added to one-dimensional operands
    dtype: np.dtype[Any]


def _plan(a: DeviceArray | HostArray, b: DeviceArray | HostArray) -> _Plan:
    for name, operand in (("a", a), ("b", b)):
        _operands.check_dtype(operand.dtype, f"matmul: {name}")
        if len(operand.shape) == 0:
            raise ValueError(
                f"matmul: {name} has no dimensions; allowed are one or more: use * for a product with a number"
            )
    left = (1, *a.shape) if len(a.shape) == 1 else tuple(a.shape)
    right = (*b.shape, 1) if len(b.shape) == 1 else tuple(b.shape)
    if left[-1] != right[-2]:
        raise ValueError(
            f"matmul: a has shape {tuple(a.shape)}, b {tuple(b.shape)}: the last extent of a, {left[-1]}, must be "
            f"the last but one of b, {right[-2]}" + (" (its only one)" if len(b.shape) == 1 else "")
        )
    try:
        batch = np.broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        raise ValueError(
            f"matmul: a has shape {tuple(a.shape)}, b {tuple(b.shape)}: the extents before the last two must be "
            f"equal, or 1, or not there"
        ) from None
    result = (*batch, *(() if len(a.shape) == 1 else left[-2:-1]), *(() if len(b.shape) == 1 else right[-1:]))
    return _Plan(left, right, (*batch, left[-2], right[-1]), result, _operands.common_dtype(a.dtype, b.dtype))


class Matmul:
    """The product of matrices, like numpy.matmul: ``cs.matmul(a, b)``.

    Parameters
    ----------
    a, b : array
        NumPy arrays, or arrays on one device (also of other libraries), with one dimension or more and any strides. The
        last two dimensions are multiplied, the ones before are broadcast. The dtypes are bool, integers, float16,
        bfloat16, float32, float64, complex64 and complex128. The result has NumPy's dtype, except that the product of
        two bfloat16 arrays is bfloat16 (numpy.matmul cannot multiply bfloat16 and returns float32).
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to. Products
        of bfloat16 are computed in its dtype if that is wider.
    variant : str
        One of `variants()`, or "auto", which chooses by shape, dtype and device.
    stream : Stream, optional
        The stream for the work. Default: the current stream.

    Returns
    -------
    numpy.ndarray or DeviceArray
        For NumPy arrays a NumPy array, when the result is there; for device arrays a device array, at once, before the
        device is done. The product of two vectors has no dimensions.

    Raises
    ------
    ValueError
        Shapes that do not match, or an unknown variant.
    TypeError
        A dtype that kernels do not support, operands on the host and on a device, or a variant for other dtypes.

    Products of float32 are summed in float32, in the same order on every run. See CUDA C++ Programming
    Guide, "Shared Memory".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> cs.matmul(np.array([[1, 2], [3, 4]]), np.array([10, 1]))
    array([12, 34])
    """

    def __call__(
        self,
        a: Operand,
        b: Operand,
        out: DeviceArray | HostArray | None = None,
        *,
        variant: str = "auto",
        stream: Stream | CudaStream | None = None,
    ) -> Any:
        (left, right), on, on_host = _operands.operands(stream, a=a, b=b)
        plan = _plan(left, right)
        if not _operands.is_of_numpy(plan.dtype):
            plan = plan._replace(dtype=_operands.wider(plan.dtype, out))
        if out is not None:
            _operands.check_out(out, plan.result, plan.dtype, on_host)
        d_left, d_right = _operands.upload(left, plan.dtype, on), _operands.upload(right, plan.dtype, on)
        d_left = d_left[None, :] if len(left.shape) == 1 else d_left
        d_right = d_right[:, None] if len(right.shape) == 1 else d_right
        product = _operands.result_array(plan.product, plan.dtype, on, out, [d_left, d_right])
        _core.launch_matmul(d_left, d_right, product, variant, on)
        return _operands.deliver(product.reshape(plan.result), out, on, on_host)

    def variants(self, device: Device | None = None) -> tuple[Variant, ...]:
        """The variants for a device (default: the current one), with the requirements and the method of each.

        >>> import cuscope as cs
        >>> cs.matmul.variants()[0].name
        'naive'
        """
        on = _core.current_device() if device is None else device
        return tuple(Variant(*known) for known in _core.matmul_variants(on))

    def explain(self, a: Operand, b: Operand, *, stream: Stream | CudaStream | None = None) -> str:
        """The variant that "auto" takes for these operands, and the reason. Computes nothing.

        For a simulated device it also says how long the product takes there. Raises the errors of the product itself.

        >>> import numpy as np, cuscope as cs
        >>> name, _, reason = cs.matmul.explain(np.ones((64, 64)), np.ones((64, 64))).partition(": ")
        >>> name in [variant.name for variant in cs.matmul.variants()]
        True
        """
        (left, right), on, _ = _operands.operands(stream, a=a, b=b)
        plan = _plan(left, right)
        if 0 in plan.product or plan.left[-1] == 0:
            return "auto: there is nothing to multiply, so that no product is launched."
        batch = int(np.prod(plan.product[:-2], dtype=np.int64))
        name, reason = _core.explain_matmul(
            on.device, plan.dtype.name, plan.left[-2], plan.right[-1], plan.left[-1], batch
        )
        return f"{name}: {reason}"

    def __repr__(self) -> str:
        return "<cuscope.matmul>"


matmul = Matmul()
