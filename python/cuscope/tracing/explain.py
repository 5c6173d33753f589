"""What bounds a program, and which line to change, in words with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .facts import Facts
from .findings import Finding, Findings
from .rules import ADVICE, HEADLINES

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["explain"]

_NO_WORK = Finding("no work", "The trace has no kernel, copy or memset.")


def explain(trace: Trace) -> Findings:
    """See `Trace.explain`."""
    facts = Facts(trace)
    about = [finding for rule in HEADLINES for finding in rule(facts)]
    if not facts.work.any():
        return Findings([*about, _NO_WORK])
    advice = [finding for rule in ADVICE for finding in rule(facts)]
    advice.sort(key=lambda finding: -1 if finding.weight is None else finding.weight, reverse=True)
    return Findings(about + advice)
