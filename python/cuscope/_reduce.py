"""Sums, products, extremes, means and their like: reductions by a variant that the program chooses."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from . import _core
from ._core import Device, DeviceArray, Stream
from ._matmul import HostArray, Operand, Variant
from ._protocols import CudaStream

__all__ = ["Reduce", "reduce"]

Axis = int | tuple[int, ...] | None


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
        return _core.reduce(x, op, axis, dtype, out, keepdims, variant, stream)

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
        return _core.explain_reduce(x, op, axis, dtype, stream)

    def __repr__(self) -> str:
        return "<cuscope.reduce>"


reduce = Reduce()
