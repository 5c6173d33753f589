"""Matrix products."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

from . import _core
from ._core import Device, DeviceArray, Stream
from ._protocols import CudaArrayInterface, CudaStream, DLPackArray

__all__ = ["Matmul", "Variant", "matmul"]

Operand = DeviceArray | CudaArrayInterface | DLPackArray | npt.ArrayLike
HostArray = npt.NDArray[Any]


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


class Matmul:
    """The product of matrices, like numpy.matmul: ``cs.matmul(a, b)``.

    Parameters
    ----------
    a, b : array
        NumPy arrays, or arrays on one device (also of other libraries), with one dimension or more and any strides. The
        last two dimensions are multiplied, the ones before are broadcast. The dtypes are bool, integers, float8_e4m3fn,
        float8_e5m2, float16, bfloat16, float32, float64, complex64 and complex128. The result has NumPy's dtype, which
        is float32 for float8, except that the product of two bfloat16 arrays is bfloat16 (numpy.matmul cannot multiply
        bfloat16 and returns float32).
    out : array, optional
        The array for the result. It must have the result's shape, and a dtype that the result can be cast to. Products
        of bfloat16 are computed in its dtype if that is wider. Products of float8 are summed in float32, and rounded
        once to the dtype of out.
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

    Products of float32 are summed in float32, in the same order on every run. Of float8, Hopper's tensor cores sum 128
    products at a time with about 14 bits, and these sums are added in float32. See CUDA C++ Programming Guide, "Shared
    Memory".

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
        return _core.matmul(a, b, out, variant, stream)

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

        It looks at the place and the strides of the arrays: "auto" copies operands that cannot be read 16 bytes at a time
        only if the copies pay. For a simulated device it also says how long the product takes there. The kernel few_rows,
        for up to 16 rows, is taken by "auto" alone. Raises the errors of the product itself.

        >>> import numpy as np, cuscope as cs
        >>> name, _, reason = cs.matmul.explain(np.ones((64, 64)), np.ones((64, 64))).partition(": ")
        >>> name in [variant.name for variant in cs.matmul.variants()]
        True
        """
        return _core.explain_matmul(a, b, stream)

    def __repr__(self) -> str:
        return "<cuscope.matmul>"


matmul = Matmul()
