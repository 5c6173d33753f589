"""``cs.check()``: mistakes of kernels, found on simulated devices."""

from __future__ import annotations

import dataclasses
import os
from types import TracebackType
from typing import Any

from . import _core

__all__ = ["Check", "CheckReport", "Finding", "check"]

_Index = tuple[int, int, int]

_GPU_NOTE = (
    "Kernels of a real GPU are not checked: run the program on a simulated device (CUSCOPE_DEVICE=host:0), or under "
    "compute-sanitizer: compute-sanitizer --tool memcheck python program.py (also racecheck, initcheck, synccheck)."
)


@dataclasses.dataclass(frozen=True)
class Finding:
    """One mistake of a kernel, from `CheckReport.findings`.

    The same mistake at the same lines is one finding: `count` says how often it was seen, the other attributes describe
    the first time.

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
    'stack overflow', 'assertion' or 'failure'."""
    severity: str
    """'error'; 'warning' for a result that is undefined but perhaps not used; 'note' for threads that store the same value."""
    kernel: str
    """The name of the kernel."""
    line: str
    """The line of the kernel's source, 'kernel.cu:12'; empty if it is not known."""
    block: _Index | None
    """The block of the thread, (x, y, z); None if it is not known."""
    thread: _Index | None
    """The thread in its block, (x, y, z); None if it is not known."""
    other_line: str
    """The line of the other access of a race, or of the other barrier; else empty."""
    other_block: _Index | None
    """The block of the other thread; None if there is none."""
    other_thread: _Index | None
    """The other thread in its block; None if there is none, or if it is not known."""
    text: str
    """What happened, in a sentence with the values."""
    advice: str
    """What to do."""
    memory: str
    """The array that was accessed, its size, and the line of your program that made it; empty for other memory."""
    count: int
    """How often it was seen."""

    def __str__(self) -> str:
        times = "" if self.count == 1 else f" ({self.count} times)"
        return (
            f"{self.severity}: {self.kind} in kernel '{self.kernel}'{times}\n  {self.text}\n  {self.advice}"
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
        return [Finding(**fields) for fields in self._state()["findings"]]

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
        if findings:
            number = f"{len(findings)} finding" + ("" if len(findings) == 1 else "s")
            lines = [f"{number} in {launches}", *map(str, findings)]
        else:
            lines = [f"no mistake found in {launches}"]
        if state["left_out"]:
            lines.append(f"{state['left_out']} more findings were left out: correct these first")
        lines += [f"not checked: {kernel}" for kernel in state["unchecked_kernels"]]
        return "\n".join(lines + self._notes)

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
    """Check the kernels that run on simulated devices: ``with cs.check() as report:``.

    Inside the block, kernels run in a build of the same source that watches every access to memory. The report names
    accesses out of bounds, reads of memory that was never written, races, barriers that not all threads reach, and
    exchanges with lanes that are not there, each with block, thread and line of the source. At the end of the block,
    the simulated devices are waited for. Arrays that were made before the block count as written.

    With CUSCOPE_CHECK=1 a whole program is checked, and the report is printed to stderr when it ends; so does
    ``python -m cuscope check program.py``, which also ends with exit code 1 if there is a finding. Kernels of a real
    GPU are not checked: use compute-sanitizer there. Kernels take 2 to 20 times as long, and their first launch
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
    """
    return Check(wait=wait)


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
