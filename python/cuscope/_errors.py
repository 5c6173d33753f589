"""The exceptions of cuscope: a failed call of the CUDA runtime, with its cause and its fix."""

from __future__ import annotations

__all__ = ["CaptureError", "CompileError", "CudaError", "OutOfMemoryError", "PendingWarning"]


class CudaError(RuntimeError):
    """A call of the CUDA runtime failed.

    The message says which call failed and, if that is known, the cause and the fix.

    Attributes
    ----------
    code : int
        The number of the ``cudaError_t``.
    name : str
        The name of the error: ``'cudaErrorInvalidValue'``.
    call : str
        The call that returned the error: ``'cudaMalloc'``. Work that runs later fails in a later call.
    detail : str or None
        The failed operation, with its values.
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
    """There was not enough memory (``cudaErrorMemoryAllocation``). It is a ``MemoryError`` too.

    It has the attributes of CudaError.

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
    """A stream is being captured and the call cannot be part of a graph; or a capture has failed.

    cuscope itself refuses the calls that it knows to be illegal, and the capture goes on. A call that the runtime refuses
    invalidates the capture: the error at its end names that call, and the line of your program.

    It has the attributes of CudaError. See CUDA C++ Programming Guide, "Prohibited and Unhandled Operations".

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
    """A source did not compile. The message has the compiler's errors, with the line numbers of the source.

    It also has the attributes of CudaError.

    Attributes
    ----------
    log : str
        The compiler's whole output.

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
    """A call has waited for ten seconds in which no work began or ended. The text is the table of cs.pending().

    You get it once for each call that waits, on the line of your program. If you turn it into an error, it ends the wait.
    The environment variable ``CUSCOPE_WAIT_WARNING`` sets another number of seconds; 0 means never.

    See docs/concurrency.md.

    Examples
    --------
    >>> import warnings
    >>> import cuscope as cs
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", cs.PendingWarning)  # a wait in which nothing goes on raises
    ...     cs.synchronize()
    """
