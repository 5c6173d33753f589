"""New device arrays with the shape and dtype of another array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import DeviceArray, Stream, asarray, empty, zeros
from ._protocols import CudaArrayInterface, CudaStream, DLPackArray

__all__ = ["empty_like", "zeros_like"]

CPU = 1  # the number of the CPU in DLPack


def _pattern(array: object) -> DeviceArray | npt.NDArray[Any]:
    """The array that has the shape and dtype. NumPy may not be able to read an array of another library."""
    if isinstance(array, DeviceArray | np.ndarray):
        return array
    device = getattr(array, "__dlpack_device__", None)
    if device()[0] != CPU if device else hasattr(array, "__cuda_array_interface__"):
        return asarray(array)
    made = np.asarray(array)
    if made.dtype == object and not isinstance(array, list | tuple):
        raise TypeError(
            f"array: takes an array, or numbers that NumPy makes one of, not {type(array).__name__}"
        )
    return made


def empty_like(
    array: DeviceArray | npt.ArrayLike | CudaArrayInterface | DLPackArray,
    *,
    stream: Stream | CudaStream | None = None,
) -> DeviceArray:
    """A new array with the shape and dtype of another (a DeviceArray or NumPy array). Its elements are not initialised.

    It is on the current device, or on the stream's. Raises the errors of empty(). See cudaMallocAsync.

    >>> import cuscope as cs
    >>> cs.empty_like(cs.zeros((2, 3))).shape
    (2, 3)
    """
    pattern = _pattern(array)
    return empty(pattern.shape, pattern.dtype, stream=stream)


def zeros_like(
    array: DeviceArray | npt.ArrayLike | CudaArrayInterface | DLPackArray,
    *,
    stream: Stream | CudaStream | None = None,
) -> DeviceArray:
    """A new array of zeros with the shape and dtype of another (a DeviceArray or NumPy array).

    It is on the current device, or on the stream's. Raises the errors of empty(). See cudaMemsetAsync.

    >>> import numpy as np, cuscope as cs
    >>> cs.zeros_like(np.ones(2, np.int32)).to_host()
    array([0, 0], dtype=int32)
    """
    pattern = _pattern(array)
    return zeros(pattern.shape, pattern.dtype, stream=stream)
