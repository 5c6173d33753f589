"""The exceptions of cuscope: a failed call of the CUDA runtime, with what is known about it."""

from __future__ import annotations

__all__ = ["CompileError", "CudaError", "OutOfMemoryError"]


class CudaError(RuntimeError):
    """A call of the CUDA runtime failed.

    The message says what failed, why, and what to do about it, where that is known.

    Attributes
    ----------
    code : int
        The number of the ``cudaError_t``.
    name : str
        Its name: ``'cudaErrorInvalidValue'``.
    call : str
        The call that said so: ``'cudaMalloc'``. Work that runs later fails in a later call.
    detail : str or None
        What failed, with its values.
    hint : str or None
        The cause and the fix.

    See CUDA Runtime API, "Error Handling", and docs/errors.md.

    Examples
    --------
    >>> import cuscope as cs
    >>> try:
    ...     cs.Event() - cs.Event()
    ... except cs.CudaError as error:
    ...     print(error.name, error.call)
    cudaErrorInvalidResourceHandle cudaEventElapsedTime
    """

    def __init__(
        self,
        message: str,
        code: int = 999,
        name: str = "cudaErrorUnknown",
        call: str = "",
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, code, name, call, detail, hint)
        self.code = code
        self.name = name
        self.call = call
        self.detail = detail
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


class OutOfMemoryError(CudaError, MemoryError):
    """There was not enough memory (``cudaErrorMemoryAllocation``); a ``MemoryError`` too.

    Attributes are those of CudaError.

    Examples
    --------
    >>> import cuscope as cs
    >>> try:
    ...     cs.empty(1 << 50)
    ... except MemoryError as error:
    ...     error.name
    'cudaErrorMemoryAllocation'
    """


class CompileError(CudaError):
    """A source did not compile. The message shows the compiler's, at the source's own lines.

    Other attributes are those of CudaError.

    Attributes
    ----------
    log : str
        All that the compiler said.

    Examples
    --------
    >>> import cuscope as cs
    >>> try:
    ...     cs.Module("__global__ void k() { nonsense; }")
    ... except cs.CompileError as error:
    ...     "nonsense" in error.log
    True
    """

    def __init__(
        self,
        message: str,
        code: int = 300,
        name: str = "cudaErrorInvalidSource",
        call: str = "",
        detail: str | None = None,
        hint: str | None = None,
        log: str = "",
    ) -> None:
        super().__init__(message, code, name, call, detail, hint)
        self.args = (*self.args, log)
        self.log = log
