"""Small kernels with one mistake each, and the same kernels without it.

Each kernel has the two forms in one text: WRONG(...) stands for its content in the first form, RIGHT(...) in the second.
The comment `// here` marks the line that the finding names, `// other` the other line of a race.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import cuscope as cs

OUT, NEVER, RACE, BARRIER = "out of bounds", "never written", "race", "barrier"
MISALIGNED, ABSENT = "misaligned address", "absent lane"

# Declarations that kernels share. They stand before every choice of kernels, so each of them compiles alone.
SHARED = """\
#include <cooperative_groups.h>
__device__ float sum_of_warp(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}
"""


@dataclass(frozen=True)
class Planted:
    kernel: str
    kind: str
    source: str
    arguments: Callable[[], Sequence[Any]]
    grid: Any = 1
    block: Any = 32
    shared: int = 0
    severity: str = "error"
    cooperative: bool = False
    says: str = ""
    """A part of the text, the advice or the memory of the finding."""

    def line(self, comment: str) -> int | None:
        lines = self.source.splitlines()
        return next((n for n, text in enumerate(lines, 1) if f"// {comment}" in text), None)


def form(source: str, *, mended: bool) -> str:
    """The source in one of its forms, with the same lines."""
    kept, dropped = ("RIGHT", "WRONG") if mended else ("WRONG", "RIGHT")
    for word, keep in ((kept, True), (dropped, False)):
        while (found := re.search(rf"\b{word}\(", source)) is not None:
            depth, end = 1, found.end()
            while depth:
                depth += {"(": 1, ")": -1}.get(source[end], 0)
                end += 1
            source = source[: found.start()] + (source[found.end() : end - 1] if keep else "") + source[end:]
    return source


class Sources:
    """All kernels of a table in one source, which is compiled once for each form."""

    def __init__(self, table: Sequence[Planted]) -> None:
        self.begins: dict[str, int] = {}
        self.modules: dict[tuple[str, bool], cs.Module] = {}
        self.text = SHARED
        for case in table:
            self.begins[case.kernel] = self.text.count("\n")
            self.text += case.source.rstrip() + "\n"

    def module(self, *, mended: bool) -> cs.Module:
        device = cs.current_device()
        if (device.name, mended) not in self.modules:
            source = form(self.text, mended=mended)
            # With -lineinfo, compute-sanitizer names the lines. With -G, a simulated device optimises only the image
            # that checks: no other image runs here.
            options = ["-G"] if device.simulated else ["-lineinfo"]
            self.modules[device.name, mended] = cs.Module(source, file_name="planted.cu", options=options)
        return self.modules[device.name, mended]

    def kernel_at(self, line: int) -> str | None:
        """The kernel whose source has this line of the file."""
        begun = [kernel for kernel, begin in self.begins.items() if begin < line <= self.text.count("\n")]
        return begun[-1] if begun else None

    def line(self, case: Planted, comment: str) -> str:
        line = case.line(comment)
        return "" if line is None else f"planted.cu:{self.begins[case.kernel] + line}"

    def launch(self, case: Planted, *, mended: bool) -> None:
        self.module(mended=mended)[case.kernel].launch(
            *case.arguments(),
            grid=case.grid,
            block=case.block,
            shared=case.shared,
            cooperative=case.cooperative,
        )

    def run(self, case: Planted, *, mended: bool) -> cs.CheckReport:
        with cs.check() as report:
            self.launch(case, mended=mended)
        return report


def ints(n: int, value: int = 0) -> cs.DeviceArray:
    return cs.full(n, value, np.int32)


def floats(n: int) -> cs.DeviceArray:
    return cs.zeros(n, np.float32)


def numbers(*shape: int) -> cs.DeviceArray:
    """Different floats: stores of the same value would be a note."""
    return cs.to_device(np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape))


def unwritten(n: int) -> cs.DeviceArray:
    return cs.empty(n, np.int32)
