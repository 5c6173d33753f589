"""The protocols of streams and arrays of other libraries that cuscope accepts."""

from __future__ import annotations

from typing import Any, Protocol


class CudaStream(Protocol):
    """A stream of another library."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


class CudaArrayInterface(Protocol):
    """An array of another library in a device's memory."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class DLPackArray(Protocol):
    """An array of another library that speaks DLPack."""

    def __dlpack__(self, *, stream: int | None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...
