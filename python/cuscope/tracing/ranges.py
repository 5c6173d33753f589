"""``cs.range``: names for the parts of a program, which traces and NVTX show."""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Protocol, TypeVar, cast

__all__ = ["Recorder", "innermost_range", "range", "set_recorder"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Recorder(Protocol):
    """Notes the ranges of the traces that run. The calling thread is the thread of the range."""

    def range_begin(self, text: str) -> int:
        """Note the time, and return a token other than 0."""

    def range_end(self, token: int) -> None:
        """Note the time, if the trace still runs."""


# The recorder of the traces that run; None if there are none.
active: Recorder | None = None
# The functions start_range and end_range of the package nvtx; None if it is missing, False before the first range.
_nvtx: tuple[Callable[..., Any], Callable[[Any], None]] | bool | None = False


class _Entry:
    """One pass through a range."""

    __slots__ = ("mark", "outer", "owner", "recorder", "thread", "token")

    def __init__(self, owner: range, outer: _Entry | None) -> None:
        self.owner = owner
        self.outer = outer
        self.recorder = active
        self.thread = threading.get_ident()
        self.token = 0
        self.mark: Any = None


# The ranges that the running code is in. Each asyncio task has its own value, as well as each thread.
innermost_range: ContextVar[_Entry | None] = ContextVar("cuscope_range", default=None)


def set_recorder(recorder: Recorder | None) -> None:
    """Let ``recorder`` note the ranges that begin from now on; None: nobody."""
    global active
    active = recorder


class range:
    """A name for a part of the program: a block, or a function that it decorates.

    Traces show it as a span around the calls of the block, and `Trace.spans` tells the innermost range of each call.
    NVIDIA's tools show it, too, if the package nvtx is installed. Ranges nest; each thread and each asyncio task has
    its own. On free-threaded Python a thread begins in the range in which it was started, because there a thread
    inherits the context (sys.flags.thread_inherit_context). Without a trace, a range costs less than a microsecond. Raises TypeError if ``text`` is not a string.

    CUDA: nvtxRangeStartA, nvtxRangeEnd.

    >>> import cuscope as cs
    >>> with cs.range("step 3"):
    ...     x = cs.zeros(100)
    >>> @cs.range("solve")
    ... def solve(): ...
    """

    # The passes through this range that have not ended; in a block that a trace does not record, there are none.
    _entries: list[_Entry] | None = None

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"the name of a range must be a string, not {type(text).__name__}: {text!r}")
        self.text = text

    def __repr__(self) -> str:
        return f"cuscope.range({self.text!r})"

    def __enter__(self) -> range:
        if active is None and _nvtx is None:
            return self
        entry = _Entry(self, innermost_range.get())
        if entry.recorder is not None:
            entry.token = entry.recorder.range_begin(self.text)
        functions = _nvtx_functions()
        if functions is not None:
            entry.mark = functions[0](self.text)
        if entry.recorder is not None or functions is not None:
            # Not a test and an assignment: two threads may enter the same range for the first time at once.
            entries = self.__dict__.setdefault("_entries", [])
            entries.append(entry)
            innermost_range.set(entry)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if not self._entries:
            return
        # Of this thread: another one may be in the same range, and the context may be inherited from another one.
        thread = threading.get_ident()
        own = [one for one in self._entries.copy() if one.thread == thread]
        if not own:  # the block began without a trace
            return
        entry = innermost_range.get()
        while entry is not None and entry not in own:
            entry = entry.outer
        if entry is None:  # the block began in another context, as in asynchronous generators
            entry = own[-1]
        else:
            innermost_range.set(entry.outer)
        self._entries.remove(entry)
        if entry.recorder is not None:
            entry.recorder.range_end(entry.token)
        functions = _nvtx_functions()
        if functions is not None and entry.mark is not None:
            functions[1](entry.mark)

    def __call__(self, function: Function) -> Function:
        """Decorate a function, a coroutine function or a generator function: each run of it is a range."""
        text = self.text
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_coroutine(*arguments: Any, **options: Any) -> Any:
                with range(text):
                    return await function(*arguments, **options)

            return cast(Function, run_coroutine)
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def run_generator(*arguments: Any, **options: Any) -> Any:
                with range(text):
                    return (yield from function(*arguments, **options))

            return cast(Function, run_generator)

        @functools.wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            with range(text):
                return function(*arguments, **options)

        return cast(Function, run)


def _nvtx_functions() -> tuple[Callable[..., Any], Callable[[Any], None]] | None:
    global _nvtx
    if isinstance(_nvtx, bool):
        try:
            nvtx = importlib.import_module("nvtx")
            # Unlike push_range and pop_range, they may overlap on a thread, as the ranges of asyncio tasks do.
            _nvtx = (nvtx.start_range, nvtx.end_range)
        except (ImportError, AttributeError):
            _nvtx = None
    return _nvtx
