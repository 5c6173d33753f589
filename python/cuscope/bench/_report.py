"""The results of a run, as a table to read and as values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import cuscope as cs
from cuscope.bench._subject import OURS, Roof, Row, Subject

__all__ = ["Report", "size_text"]

_UNITS = {"GB/s": 1e-9, "TB/s": 1e-12, "GFLOP/s": 1e-9, "TFLOP/s": 1e-12}


@dataclass(frozen=True)
class Report:
    """All rows of one run; ``str()`` of it is the table."""

    subject: Subject
    device: cs.Device
    rows: Sequence[Row]
    missing: dict[str, str]
    clocks: dict[str, dict[str, float]]
    roof: Roof | None = None

    @property
    def clock(self) -> str:
        """The kind of times: simulated or measured."""
        return "simulated" if self.device.simulated else "measured"

    @property
    def scale(self) -> float:
        """The factor from a rate per second to the subject's unit."""
        return _UNITS[self.subject.unit]

    def rate(self, row: Row, name: str) -> float | None:
        """The rate in the subject's unit; None if the subject has no rates or the contender was not measured."""
        return row.rate[name] * self.scale if self.subject.unit and name in row.rate else None

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values. Rates are in the unit that is named beside them."""
        rows = []
        for row in self.rows:
            values = asdict(row)
            values["rate"] = {name: self.rate(row, name) for name in row.rate}
            rows.append(values)
        return {
            "subject": self.subject.name,
            "cuscope": cs.__version__,
            "device": self.device.name,
            "model": self.device.model,
            "simulated": self.device.simulated,
            "time": self.clock,
            "size": self.subject.size_kind,
            "unit": self.subject.unit or None,
            "rows": rows,
            "missing": self.missing,
            "clocks": self.clocks,
        }

    def __str__(self) -> str:
        names = list(dict.fromkeys(name for row in self.rows for name in row.microseconds))
        peers = [name for name in names if name != OURS]
        unit = self.subject.unit
        heads = [self.subject.name, self.subject.size_kind]
        for name in names:
            heads += [f"{name} us", f"{name} {unit}"] if unit else [f"{name} us"]
        heads += [f"x {name}" for name in peers]
        lines = [heads]
        for row in self.rows:
            cells = [row.case, size_text(row.size, self.subject)]
            for name in names:
                cells.append(_number(row.microseconds.get(name)))
                if unit:
                    cells.append(_number(self.rate(row, name)))
            cells += [f"{row.ratio[name]:.2f}" if name in row.ratio else "" for name in peers]
            lines.append(cells)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()
            for cells in lines
        ]
        return "\n".join(
            [f"{self.device.name} ({self.device.model}), {self.clock} times", "", *table, *self._notes()]
        )

    def _notes(self) -> list[str]:
        notes = []
        if any(row.ratio for row in self.rows):
            notes += [
                "",
                "x NAME: how many times as long as cuscope NAME takes, the median of rounds in turn",
            ]
        for name, reason in self.missing.items():
            notes += [f"{name}: not measured: {reason}"]
        for when, values in self.clocks.items():
            if values:
                notes += [f"{when}: " + ", ".join(f"{name} {value:g}" for name, value in values.items())]
        return notes


def size_text(size: int, subject: Subject) -> str:
    """The size as text: 4 KiB."""
    if subject.size_kind == "bytes":
        for name, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
            if size >= 1 << power and size % (1 << power) == 0:
                return f"{size >> power} {name}"
        return f"{size} B"
    return str(size)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if 0 < value < 0.01:
        return f"{value:.2g}"
    return f"{value:.3f}" if value < 10 else f"{value:.2f}" if value < 100 else f"{value:.1f}"
