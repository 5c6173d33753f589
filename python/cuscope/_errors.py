"""The exceptions of cuscope: a failed call of the CUDA runtime, with what is known about it."""

from __future__ import annotations

__all__ = ["CaptureError", "CompileError", "CudaError", "OutOfMemoryError", "PendingWarning"]


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


class CaptureError(CudaError):
    """A stream is being captured, and the call has no place in a graph; or a capture came to nothing.

    What cuscope can see to be illegal it refuses before the runtime hears of it, and the capture goes on. What the runtime
    refuses spoils the capture: the error of its end names the call that did, and the line of the program.

    Attributes are those of CudaError. See CUDA C++ Programming Guide, "Prohibited and Unhandled Operations".

    Examples
    --------
    >>> import cuscope as cs
    >>> stream = cs.Stream()
    >>> with stream.capture() as graph:
    ...     try:
    ...         stream.synchronize()
    ...     except cs.CaptureError as error:
    ...         error.name
    'cudaErrorStreamCaptureUnsupported'
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


class PendingWarning(RuntimeWarning):
    """A call has waited for ten seconds during which no work began or ended; the text is the table of cs.pending().

    It is given once for each call that waits, on the line of the program that waits. As an error it ends the wait. The
    environment variable ``CUSCOPE_WAIT_WARNING`` says another number of seconds; 0 stands for never.

    See docs/concurrency.md.

    Examples
    --------
    >>> import warnings
    >>> import cuscope as cs
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", cs.PendingWarning)  # a wait in which nothing goes on raises
    ...     cs.synchronize()
    """
