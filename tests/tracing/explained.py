"""Rows of spans for the tests of rules, and the findings of one rule."""

from __future__ import annotations

from typing import Any

from cuscope.tracing import Trace
from cuscope.tracing.findings import Finding

Row = dict[str, Any]


def call(name: str, start: int, end: int, **more: Any) -> Row:
    return {"kind": "call", "name": name, "start": start, "end": end, "thread": 0, **more}


def kernel(start: int, end: int, **more: Any) -> Row:
    row = {"kind": "kernel", "name": "add", "engine": "kernels", "device": "cuda:0", "stream": 7}
    return {**row, "start": start, "end": end, **more}


def copy(start: int, end: int, way: str = "to device", **more: Any) -> Row:
    row = {"kind": "copy", "engine": f"copy {way}", "device": "cuda:0", "stream": 7, "line": "p.py:12"}
    return {**row, "start": start, "end": end, **more}


def found(rule: str, rows: list[Row], **attributes: Any) -> list[Finding]:
    """The findings of the rule in a trace of the rows. Facts about the device go into ``device``."""
    attributes.setdefault("devices", {"cuda:0": attributes.pop("device", {})})
    return [one for one in Trace.from_spans(rows, **attributes).explain() if one.rule == rule]


def only(rule: str, rows: list[Row], **attributes: Any) -> Finding:
    findings = found(rule, rows, **attributes)
    assert len(findings) == 1, findings
    return findings[0]
