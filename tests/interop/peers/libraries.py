"""Libraries that cuscope exchanges arrays with, behind one interface."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

import cuscope as cs

DTYPES = ("?", "i4", "u1", "f2", "f4", "c8")


class Handle:
    """A stream of a library that does not support __cuda_stream__ yet."""

    def __init__(self, stream: object, handle: int) -> None:
        self.stream, self.handle = stream, handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.handle)


class Library:
    """The functions that the tests need of a library. Tests of order use arrays of bytes."""

    dtypes: ClassVar[tuple[str, ...]] = DTYPES
    takes: dict[str, Callable[[cs.DeviceArray], Any]]  # functions that take our array, by protocol
    waits: tuple[str, ...]  # the protocols by which it waits for our stream
    tells_its_stream = True  # its interface names its stream, so that it waits for us too
    strided = True

    def array(self, content: np.ndarray) -> Any:
        """A new array on the device, complete."""
        raise NotImplementedError

    def array_at_once(self, content: np.ndarray) -> Any:
        """A new array on the device, made without waiting for other work."""
        return self.array(content)

    def pointer(self, array: Any) -> int:
        raise NotImplementedError

    def host(self, array: Any, stream: Any = None) -> np.ndarray:
        """The elements, copied in the order of the stream."""
        raise NotImplementedError

    def fill(self, array: Any, value: int, stream: Any) -> None:
        """Sets every byte, asynchronously."""
        raise NotImplementedError

    def stream(self) -> Any:
        raise NotImplementedError

    def current(self, stream: Any) -> contextlib.AbstractContextManager[object]:
        return contextlib.nullcontext()

    def handle(self, stream: Any) -> int:
        raise NotImplementedError

    def for_us(self, stream: Any) -> Any:
        """The stream in a form that cuscope takes."""
        if hasattr(stream, "__cuda_stream__") or hasattr(stream, "cuda_stream"):
            return stream
        return Handle(stream, self.handle(stream))

    def in_stream(self, array: Any, stream: Any) -> Any:
        """The array after the work in the stream, which is the current one."""
        return array

    def transposed(self, array: Any) -> Any:
        return array.T

    def synchronize(self) -> None:
        cs.synchronize()


class CuPy(Library):
    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        cupy.get_default_memory_pool().set_limit(size=1 << 30)
        self.takes = {"interface": cupy.asarray, "dlpack": cupy.from_dlpack}
        self.waits = ("interface", "dlpack")

    def array(self, content: np.ndarray) -> Any:
        array = self.array_at_once(content)
        self.synchronize()
        return array

    def array_at_once(self, content: np.ndarray) -> Any:
        return self.cupy.asarray(content)

    def pointer(self, array: Any) -> int:
        return int(array.data.ptr)

    def host(self, array: Any, stream: Any = None) -> np.ndarray:
        return array.get(stream=stream)

    def fill(self, array: Any, value: int, stream: Any) -> None:
        self.cupy.cuda.runtime.memsetAsync(array.data.ptr, value, array.nbytes, stream.ptr)

    def stream(self) -> Any:
        return self.cupy.cuda.Stream(non_blocking=True)

    def current(self, stream: Any) -> contextlib.AbstractContextManager[object]:
        return stream

    def handle(self, stream: Any) -> int:
        return int(stream.ptr)

    def take_stream(self, stream: cs.Stream) -> Any:
        if hasattr(self.cupy.cuda.Stream, "from_external"):
            return self.cupy.cuda.Stream.from_external(stream)
        return self.cupy.cuda.ExternalStream(stream.handle)


class PyTorch(Library):
    tells_its_stream = False  # its interface is of version 2

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.takes = {
            "interface": lambda ours: torch.as_tensor(ours, device="cuda"),
            "dlpack": torch.from_dlpack,
        }
        self.waits = ("dlpack",)

    def array(self, content: np.ndarray) -> Any:
        array = self.array_at_once(content)
        self.synchronize()
        return array

    def array_at_once(self, content: np.ndarray) -> Any:
        return self.torch.from_numpy(content.copy()).cuda()

    def pointer(self, array: Any) -> int:
        return int(array.data_ptr())

    def host(self, array: Any, stream: Any = None) -> np.ndarray:
        with self.current(stream):
            return array.cpu().numpy()

    def fill(self, array: Any, value: int, stream: Any) -> None:
        with self.current(stream):
            array.fill_(value)

    def stream(self) -> Any:
        return self.torch.cuda.Stream()  # non-blocking

    def current(self, stream: Any) -> contextlib.AbstractContextManager[object]:
        return self.torch.cuda.stream(stream)

    def handle(self, stream: Any) -> int:
        return int(stream.cuda_stream)

    def take_stream(self, stream: cs.Stream) -> Any:
        return self.torch.cuda.ExternalStream(stream.handle)


class Jax(Library):
    """Its streams are invisible to programs, and its arrays are not written."""

    strided = False
    tells_its_stream = False

    def __init__(self) -> None:
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax
        import jax.dlpack

        self.jax = jax
        self.takes = {"dlpack": jax.dlpack.from_dlpack}
        self.waits = ("dlpack",)

    def array(self, content: np.ndarray) -> Any:
        return self.jax.device_put(content, self.jax.devices("cuda")[0]).block_until_ready()

    def pointer(self, array: Any) -> int:
        return int(array.unsafe_buffer_pointer())

    def host(self, array: Any, stream: Any = None) -> np.ndarray:
        return np.asarray(array)


class Numba(Library):
    def __init__(self) -> None:
        from numba import cuda

        self.cuda = cuda
        self.takes = {"interface": cuda.as_cuda_array}
        self.waits = ("interface",)
        self.filled: dict[tuple[int, int], Any] = {}

    def array(self, content: np.ndarray) -> Any:
        array = self.array_at_once(content)
        self.synchronize()
        return array

    def array_at_once(self, content: np.ndarray) -> Any:
        return self.cuda.to_device(content)

    def pointer(self, array: Any) -> int:
        return int(array.__cuda_array_interface__["data"][0])

    def host(self, array: Any, stream: Any = None) -> np.ndarray:
        host = array.copy_to_host(stream=stream or 0)
        (stream or self.cuda.default_stream()).synchronize()
        return host

    def fill(self, array: Any, value: int, stream: Any) -> None:
        key = (array.size, value)
        if key not in self.filled:
            self.filled[key] = self.cuda.to_device(np.full(array.size, value, np.uint8))
            # CUDA may return before a copy of up to 64 KiB of pageable memory has arrived, and `stream` need
            # not wait for the default stream.
            self.synchronize()
        array.copy_to_device(self.filled[key], stream=stream)

    def stream(self) -> Any:
        return self.cuda.stream()

    def handle(self, stream: Any) -> int:
        return int(stream)

    def take_stream(self, stream: cs.Stream) -> Any:
        return self.cuda.external_stream(stream.handle)

    def in_stream(self, array: Any, stream: Any) -> Any:
        return array.bind(stream)  # Numba has no current stream

    def transposed(self, array: Any) -> Any:  # .T is a copy
        kind = self.cuda.cudadrv.devicearray.DeviceNDArray
        return kind(array.shape[::-1], array.strides[::-1], array.dtype, gpu_data=array.gpu_data)


class TheirArray:
    """An array of cuscope with no more protocols than arrays of other libraries have."""

    def __init__(self, library: Itself, array: cs.DeviceArray) -> None:
        self.library, self.array = library, array

    def __getitem__(self, index: Any) -> TheirArray:
        return TheirArray(self.library, self.array[index])

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.pointer, False),
            "strides": self.array.strides,
            "stream": (self.library.now or self.array.stream).handle,
            "version": 3,
        }


class Itself(Library):
    """cuscope in the place of another library: it checks the tests themselves, also without a GPU."""

    def __init__(self) -> None:
        self.now: cs.Stream | None = None
        self.takes = {"dlpack": cs.from_dlpack}
        self.waits = ("dlpack",)

    def array(self, content: np.ndarray) -> Any:
        array = self.array_at_once(content)
        self.synchronize()
        return array

    def array_at_once(self, content: np.ndarray) -> Any:
        return TheirArray(self, cs.to_device(content))

    def pointer(self, array: Any) -> int:
        return getattr(array, "array", array).pointer

    def host(self, array: Any, stream: Any = None) -> np.ndarray:
        return getattr(array, "array", array).to_host(stream=stream)

    def fill(self, array: Any, value: int, stream: Any) -> None:
        getattr(array, "array", array).fill(value, stream=stream)

    def stream(self) -> Any:
        return cs.Stream(non_blocking=True)

    @contextlib.contextmanager
    def current(self, stream: Any) -> Iterator[object]:
        self.now = stream
        with stream:
            yield stream
        self.now = None

    def handle(self, stream: Any) -> int:
        return stream.handle

    def for_us(self, stream: Any) -> Any:
        return Handle(stream, stream.handle)

    def transposed(self, array: Any) -> Any:
        return TheirArray(self, array.array.T)

    def take_stream(self, stream: cs.Stream) -> Any:
        return stream


LIBRARIES = {"cupy": CuPy, "torch": PyTorch, "jax": Jax, "numba": Numba, "itself": Itself}
