"""``cs.check()``: mistakes of kernels, on simulated devices, and mistakes in the order of commands, on all devices."""

from __future__ import annotations

import dataclasses
import os
from types import TracebackType
from typing import Any

from . import _core
from ._cells import with_cells
from ._public import show_as_public
from ._stream_names import name_of_stream

__all__ = ["Check", "CheckReport", "Finding", "check"]


_GPU_NOTE = (
    "Only the order of commands is checked on a real GPU. To check the kernels, run the program on a simulated device (CUSCOPE_DEVICE=host:0), or under "
    "compute-sanitizer: compute-sanitizer --tool memcheck python program.py (also racecheck, initcheck, synccheck)."
)


@dataclasses.dataclass(frozen=True)
class Finding:
    """One mistake, from `CheckReport.findings`: in a kernel, or in the order of two calls.

    The same mistake at the same lines is one finding: `count` says how often it was seen, the other attributes describe
    the first time. For a mistake in the order of calls, `line` is the line of your program with the later call,
    `other_line` that of the earlier one, and `kernel` is empty.

    CUDA has no such class; compute-sanitizer prints similar reports.

    >>> import cuscope as cs
    >>> with cs.Device("host:0"), cs.check() as report:
    ...     kernel = cs.Module("__global__ void late(int* x) { x[threadIdx.x] = 1; }").late
    ...     kernel[1, 33](cs.empty(32, "int32"))
    >>> finding = report.findings[0]
    >>> finding.kind, finding.line, finding.thread
    ('out of bounds', 'kernel.cu:1', (32, 0, 0))
    """

    kind: str
    """'out of bounds', 'never written', 'race', 'barrier', 'absent lane', 'misaligned address', 'illegal address',
    'stack overflow', 'assertion' or 'failure'; in the order of calls 'race between streams', 'race in a graph',
    'read too early', 'written too early', 'freed while in use', 'freed memory', 'event never recorded' or
    'stale pointer'."""
    severity: str
    """'error'; 'warning' for a result that is undefined but perhaps not used; 'note' for threads that store the same value."""
    kernel: str
    """The name of the kernel; empty for a mistake in the order of calls."""
    line: str
    """The line of the kernel's source, 'kernel.cu:12', or of your program; empty if it is not known."""
    block: tuple[int, int, int] | None
    """The block of the thread, (x, y, z); None if it is not known."""
    thread: tuple[int, int, int] | None
    """The thread in its block, (x, y, z); None if it is not known."""
    other_line: str
    """The line of the other access of a race, of the other barrier, or of the earlier call; else empty."""
    other_block: tuple[int, int, int] | None
    """The block of the other thread; None if there is none."""
    other_thread: tuple[int, int, int] | None
    """The other thread in its block; None if there is none, or if it is not known."""
    text: str
    """What happened, in a sentence with the values."""
    advice: str
    """What to do."""
    memory: str
    """The array that was accessed, its size, and the line of your program that made it; empty for other memory."""
    count: int
    """How often it was seen."""
    streams: tuple[str, ...] = ()
    """The streams of the earlier and the later call, as your program names them; the host is 'the host'. Else empty."""
    calls: tuple[str, ...] = ()
    """What the earlier and the later call do: "kernel 'add'", 'the copy to the host'. Else empty."""
    code: str = ""
    """The line that is missing, 's2.wait(s1)'; empty if there is none."""
    code_before: str = ""
    """The line of your program before which `code` belongs; or empty."""
    drawing: str = ""
    """Both calls on their timelines; or empty."""

    def __str__(self) -> str:
        times = "" if self.count == 1 else f" ({self.count} times)"
        if not self.calls:
            return f"{self.severity}: {self.kind} in kernel '{self.kernel}'{times}\n  {self.text}\n  {self.advice}"
        lines = [self.text, *self.drawing.splitlines(), self.advice]
        if self.code:
            lines.append(f"missing before {self.code_before or 'the later call'}:  {self.code}")
        return f"{self.severity}: {self.kind}{times}" + "".join(f"\n  {line}" for line in lines)


def _finding(fields: dict[str, Any]) -> Finding:
    fields = dict(fields)
    calls = fields.pop("calls")
    for key in ("line", "other_line", "text", "advice", "memory", "code_before"):
        fields[key] = with_cells(fields[key])
    if not calls:
        del fields["code"], fields["code_before"]
        return Finding(**fields)
    names, in_code = [], []
    for (_, _, stream, made_at, nth, _, is_default), word in zip(calls, ("earlier", "later"), strict=True):
        name = name_of_stream(made_at, nth)
        names.append(name or stream or "no stream")
        in_code.append(name or ("device.default_stream" if is_default else f"{word}_stream"))
    for key in ("text", "advice"):
        fields[key] = _filled(fields[key], names if key == "text" else in_code)
    fields["code"] = _filled(fields["code"], in_code)
    whats = tuple(call[0] for call in calls)
    return Finding(
        **fields,
        streams=tuple(names),
        calls=whats,
        drawing=_drawing(names, [(call[0], with_cells(call[1])) for call in calls]),
    )


def _filled(text: str, streams: list[str]) -> str:
    """The text with the streams' names in place of {0} and {1}."""
    for place, name in enumerate(streams):
        text = text.replace("{" + str(place) + "}", name)
    return text


def _drawing(names: list[str], calls: list[tuple[str, str]]) -> str:
    """One line for each call, the later one further to the right."""
    width = max(map(len, names))
    boxes = [f"[{what}, {line}]" if line else f"[{what}]" for what, line in calls]
    starts = [2, 2 + max(4, min(12, len(boxes[0]) // 2))]
    end = max(start + len(box) for start, box in zip(starts, boxes, strict=True)) + 2
    return "\n".join(
        f"{name:<{width}}  {'-' * start}{box}{'-' * (end - start - len(box))}>"
        for name, start, box in zip(names, starts, boxes, strict=True)
    )


class CheckReport:
    """The findings of a check; `check` makes it. ``print(report)`` shows all of them.

    It is true if there is an error or a warning: ``assert not report``.

    CUDA has no such class.

    >>> import cuscope as cs
    >>> with cs.Device("host:0"), cs.check() as report:
    ...     kernel = cs.Module("__global__ void right(int* x) { x[threadIdx.x] = 1; }").right
    ...     kernel[1, 32](cs.empty(32, "int32"))
    >>> print(report)
    no mistake found in 1 launch
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._ended: dict[str, Any] | None = None
        self._notes: list[str] = []

    def _state(self) -> dict[str, Any]:
        return _core.findings_of_check(self._number) if self._ended is None else self._ended

    def _end(self) -> None:
        self._ended = _core.end_check(self._number)

    @property
    def findings(self) -> list[Finding]:
        """All findings, in the order in which the kernels ran. Inside the block, those of the kernels that have ended."""
        return [_finding(fields) for fields in self._state()["findings"]]

    @property
    def errors(self) -> list[Finding]:
        """The findings that are errors."""
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """The findings that are warnings."""
        return [finding for finding in self.findings if finding.severity == "warning"]

    @property
    def launches(self) -> int:
        """The number of launches that were checked."""
        return int(self._state()["launches"])

    @property
    def commands(self) -> int:
        """The number of commands in streams whose order was checked."""
        return int(self._state()["commands"])

    @property
    def unchecked(self) -> list[str]:
        """The kernels that were launched but not checked, each with the reason."""
        return list(self._state()["unchecked_kernels"])

    def __bool__(self) -> bool:
        return any(finding.severity != "note" for finding in self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        state = self._state()
        findings = self.findings
        launches = f"{state['launches']} launch" + ("" if state["launches"] == 1 else "es")
        if not state["launches"] and state["commands"]:
            launches = f"{state['commands']} command" + ("" if state["commands"] == 1 else "s")
        if findings:
            number = f"{len(findings)} finding" + ("" if len(findings) == 1 else "s")
            lines = [f"{number} in {launches}", *map(str, findings)]
        else:
            lines = [f"no mistake found in {launches}"]
        if state["left_out"]:
            lines.append(f"{state['left_out']} more findings were left out: correct these first")
        lines += [f"not checked: {kernel}" for kernel in state["unchecked_kernels"]]
        return "\n".join(lines + self._notes)

    def _repr_html_(self) -> str | None:
        """The report as notebooks show it. None, for which they show the repr, while the interpreter ends."""
        try:
            from ._display.checks import report
        except ImportError:
            return None
        return report(self)

    def __repr__(self) -> str:
        findings = self.findings
        return f"<CheckReport: {len(findings)} finding{'' if len(findings) == 1 else 's'} in {self.launches} launches>"


class Check:
    """The context manager that `check` returns."""

    def __init__(self, *, wait: bool) -> None:
        if not isinstance(wait, bool):
            raise TypeError(f"wait: is True or False, not {wait!r} ({type(wait).__name__})")
        self._wait = wait
        self._report: CheckReport | None = None

    def __enter__(self) -> CheckReport:
        if self._report is not None:
            raise RuntimeError("this check has begun already: call cs.check() again for another one")
        self._report = CheckReport(_core.begin_check())
        if not _core.current_device().simulated:
            self._report._notes.append(_GPU_NOTE)
        return self._report

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._report is not None
        try:
            if self._wait:
                _core.wait_for_simulated_devices()
        finally:
            self._report._end()


def check(*, wait: bool = True) -> Check:
    """Check kernels and the order of commands: ``with cs.check() as report:``.

    Inside the block, kernels on simulated devices run in a build of the same source that watches every access to
    memory. The report names accesses out of bounds, reads of memory that was never written, races, barriers that not
    all threads reach, and exchanges with lanes that are not there, each with block, thread and line of the source.

    On all devices, GPUs too, the report names pairs of calls that use the same memory although nothing orders them: in
    two streams, in a graph, or in a stream and in your program, which reads page-locked memory too early. It also names
    memory that is freed while a stream uses it, waits for events that were not recorded, and graphs whose memory was
    freed. Each has both lines of your program, and the line that is missing.

    At the end of the block, the simulated devices are waited for. Arrays that were made before the block count as
    written.

    With CUSCOPE_CHECK=1 a whole program is checked, and the report is printed to stderr when it ends; so does
    ``python -m cuscope check program.py``, which also ends with exit code 1 if there is a finding. Kernels of a real
    GPU are not checked: use compute-sanitizer there. Kernels take up to 10 times as long, and their first launch
    compiles them once more.

    Parameters
    ----------
    wait : bool
        Wait for the simulated devices at the end of the block, unless a stream is being captured. Without the wait,
        kernels that have not run yet are not in the report.

    Returns
    -------
    Check
        The context manager. Its value is a `CheckReport`.

    See docs/checking.md. CUDA has no such function; compute-sanitizer checks programs on a GPU.

    >>> import numpy as np, cuscope as cs
    >>> with cs.Device("host:0"), cs.check() as report:
    ...     kernel = cs.Module("__global__ void sums(int* x) { x[0] += threadIdx.x; }").sums
    ...     kernel[1, 64](cs.to_device(np.zeros(1, np.int32)))
    >>> report.errors[0].kind
    'race'
    >>> with cs.Device("host:0"), cs.check() as report:
    ...     one, two = cs.Stream(), cs.Stream()
    ...     x = cs.zeros(64, np.float32, stream=one)
    ...     y = cs.empty_like(x, stream=two)
    ...     y.copy_from(x, stream=two)
    >>> report.errors[0].kind, report.errors[0].calls
    ('race between streams', ('the memset', 'the copy on the device'))
    """
    return Check(wait=wait)


show_as_public(CheckReport, Finding, check)


def start_from_environment() -> None:
    """Check the whole program if CUSCOPE_CHECK asks for it; called when cuscope is imported."""
    value = os.environ.get("CUSCOPE_CHECK", "")
    if value in ("", "0"):
        return
    if value != "1":
        raise ValueError(f"CUSCOPE_CHECK={value!r}: allowed are 1 (check all kernels) and 0")
    import atexit
    import sys

    whole = check()
    report = whole.__enter__()

    def end() -> None:
        whole.__exit__(None, None, None)
        print(f"cuscope check: {report}", file=sys.stderr)

    atexit.register(end)
