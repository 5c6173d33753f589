"""The operands of operations: NumPy arrays, which are copied to the device and back, or arrays on one device."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import DeviceArray, Stream, as_stream, asarray, current_stream, empty, to_device
from ._protocols import CudaArrayInterface, CudaStream, DLPackArray

Operand = DeviceArray | CudaArrayInterface | DLPackArray | npt.ArrayLike
HostArray = npt.NDArray[Any]

# The kind of each dtype that kernels have, as in NumPy; another character if NumPy itself lacks the dtype.
_KINDS = dict(_core.element_types())


def _list_of_dtypes() -> str:
    def some(wanted: str) -> list[str]:
        return [name for name, kind in _KINDS.items() if (kind if kind in "biuc" else "f") == wanted]

    signed, unsigned = some("i"), some("u")
    parts = [
        *some("b"),
        f"{signed[0]} to {signed[-1]}",
        f"{unsigned[0]} to {unsigned[-1]}",
        *some("f"),
        *some("c"),
    ]
    return ", ".join(parts[:-1]) + " or " + parts[-1]


DTYPES = _list_of_dtypes()
CPU = 1  # the number of the CPU in DLPack


class Operands(NamedTuple):
    """Operands that are all on the host, or all on the stream's device."""

    arrays: tuple[DeviceArray | HostArray, ...]
    stream: Stream
    on_host: bool


def _is_on_device(array: object) -> bool:
    if isinstance(array, DeviceArray):
        return True
    if isinstance(array, np.ndarray | np.generic):
        return False
    if hasattr(array, "__cuda_array_interface__"):
        return True
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and device()[0] != CPU


def _stream(stream: Stream | CudaStream | None, arrays: tuple[DeviceArray, ...]) -> Stream:
    if stream is not None:
        return stream if isinstance(stream, Stream) else as_stream(stream)
    if not arrays:
        return current_stream()
    device = arrays[0].device
    current = current_stream()
    return current if current.device == device else device.default_stream


def operands(stream: Stream | CudaStream | None, **named: Operand) -> Operands:
    """The operands, by the names of their arguments. Raises TypeError if only some of them are on the host."""
    where = {name: _is_on_device(array) for name, array in named.items()}
    if not any(where.values()):
        hosts = tuple(_in_native_order(host_array(array, name)) for name, array in named.items())
        return Operands(hosts, _stream(stream, ()), True)
    if not all(where.values()):
        here = next(name for name, on_device in where.items() if not on_device)
        there = next(name for name, on_device in where.items() if on_device)
        raise TypeError(
            f"{here}: is on the host, {there} on a device; allowed are arrays of one place: "
            f"pass cuscope.to_device({here})"
        )
    arrays = tuple(asarray(array) for array in named.values())
    on = _stream(stream, arrays)
    for name, array in zip(named, arrays, strict=True):
        if array.device != on.device:
            raise ValueError(
                f"{name}: is on {array.device.name}, the stream on {on.device.name}; allowed are arrays of the "
                f"stream's device: copy it there, or pass stream= of its own"
            )
    return Operands(arrays, on, False)


def host_array(array: object, name: str) -> HostArray:
    """The operand `name` as a NumPy array. Raises TypeError for an object that NumPy does not know."""
    made = np.asarray(array)
    if made.dtype == object and not isinstance(array, np.ndarray | list | tuple):
        raise TypeError(
            f"{name}: takes an array, or numbers that NumPy makes one of, not {type(array).__name__}"
        )
    return made


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same kind of number in the CPU's byte order."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def _in_native_order(array: HostArray) -> HostArray:
    return array if array.dtype.isnative else array.astype(native(array.dtype))


def check_dtype(dtype: np.dtype[Any], operation: str) -> None:
    if dtype.name not in _KINDS:
        raise TypeError(f"{operation}: dtype {dtype} is none that kernels have; allowed are {DTYPES}")
    if not dtype.isnative:
        raise TypeError(
            f"{operation}: dtype {dtype} has its bytes in the other order; allowed is the processor's: "
            f"convert it with array.astype(array.dtype.newbyteorder('=')) before it goes to the device"
        )


def is_of_numpy(dtype: np.dtype[Any]) -> bool:
    """Does NumPy itself have the dtype? It does not have bfloat16, for example."""
    return _KINDS[dtype.name] in "biufc"


def common_dtype(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which NumPy multiplies these dtypes."""
    try:
        return native(np.result_type(a, b))
    except TypeError:  # bfloat16 with float16, or with integers that it cannot hold: NumPy widens both
        return np.multiply(np.empty(0, a), np.empty(0, b)).dtype


def wider(dtype: np.dtype[Any], out: DeviceArray | HostArray | None) -> np.dtype[Any]:
    """The dtype to compute in: a wider float dtype of `out`, so that nothing is rounded on the way, else `dtype`."""
    if out is None or _KINDS[dtype.name] in "biu":
        return dtype
    floating = out.dtype.kind in "fc" and out.dtype.name in _KINDS
    return native(out.dtype) if floating and np.can_cast(dtype, out.dtype, "safe") else dtype


def upload(array: DeviceArray | HostArray, dtype: np.dtype[Any] | None, stream: Stream) -> DeviceArray:
    """A device array. An array on the host is converted there, and copied."""
    if isinstance(array, DeviceArray):
        return array
    return to_device(array if dtype is None else array.astype(dtype, copy=False), stream=stream)


def check_out(
    out: DeviceArray | HostArray, shape: tuple[int, ...], dtype: np.dtype[Any], on_host: bool
) -> None:
    wanted = np.ndarray if on_host else DeviceArray
    if not isinstance(out, wanted):
        raise TypeError(
            f"out: takes a {'numpy.ndarray' if on_host else 'DeviceArray'}, as the operands are, not "
            f"{type(out).__name__}"
        )
    if tuple(out.shape) != shape:
        raise ValueError(f"out: has shape {tuple(out.shape)}; the result has {shape}")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"out: has dtype {out.dtype}, which the result's {dtype} does not cast to (same_kind)"
        )
    if not on_host:
        check_dtype(out.dtype, "out")


def result_array(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    stream: Stream,
    out: DeviceArray | HostArray | None,
    operands: list[DeviceArray],
) -> DeviceArray:
    """The array for the kernels to write: `out` itself if they can write it, else a new array."""
    if (
        isinstance(out, DeviceArray)
        and out.dtype == dtype
        and out.device == stream.device
        and _core.can_hold_result(out, operands)
    ):
        return out.reshape(shape)
    return empty(shape, dtype, stream=stream)


def deliver(
    result: DeviceArray, out: DeviceArray | HostArray | None, stream: Stream, on_host: bool
) -> DeviceArray | HostArray | np.generic:
    """The result in `out`, or where the operands are. On the host, a result without dimensions is a NumPy scalar."""
    if on_host:
        host = result.to_host(stream=stream)
        if out is None:
            return host if host.ndim else host[()]
        assert isinstance(out, np.ndarray)
        np.copyto(out, host, casting="same_kind")
        return out
    if out is None:
        return result
    assert isinstance(out, DeviceArray)
    if result.pointer == out.pointer and result.dtype == out.dtype:
        return out
    if out.dtype != result.dtype:
        result = _core.convert(result, out.dtype, stream)
    out.copy_from(result, stream=stream)
    return out
