"""The sentences of `Trace.explain`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap

import numpy as np

from .units import time_text

__all__ = ["Finding", "Findings"]

WIDTH = 100  # characters of a line of the text


@dataclass(frozen=True)
class Finding:
    """A sentence about a program, with the line to change and the spans that it is about."""

    rule: str
    """The name of the rule that found it, "pageable copies"."""
    sentence: str
    """The fact and the advice."""
    line: str = ""
    """The line of your program to change, "program.py:12"; empty if there is none."""
    weight: int | None = None
    """The most nanoseconds that the change can save; None if that was not computed."""
    spans: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    """The rows of `Trace.spans` that the sentence is about."""


class Findings:
    """The answer of `Trace.explain`: what bounds the program, then advice, with the largest saving first."""

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = tuple(findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The sentences about the whole program first, then advice by descending weight, then advice without one."""
        return self._findings

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __getitem__(self, i: int) -> Finding:
        return self._findings[i]

    def __str__(self) -> str:
        return "\n".join(
            "\n".join(wrap(_text(finding), WIDTH, initial_indent="- ", subsequent_indent="  "))
            for finding in self._findings
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "<ul>" + "".join(f"<li>{escape(_text(finding))}</li>" for finding in self._findings) + "</ul>"


def _text(finding: Finding) -> str:
    if not finding.weight:
        return finding.sentence
    return f"{finding.sentence} This saves {time_text(finding.weight)} at most."
