"""The plot of a report, drawn by Matplotlib: rates or times over size, or a roofline."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cuscope.bench._report import Report
from cuscope.bench._subject import Row

__all__ = ["CannotPlotError", "require", "save"]


class CannotPlotError(RuntimeError):
    """Matplotlib is missing, or cannot write such a file. The message says how to fix it."""


def require(path: Path) -> None:
    """Raise CannotPlotError, before the measurement, if a plot cannot be saved at this path."""
    formats = _figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        raise CannotPlotError(f"--plot {path}: the name has to end in one of {', '.join(sorted(formats))}")


def save(report: Report, path: Path) -> None:
    """Draw and write the file."""
    figure = _figure()
    axes = figure.add_subplot()
    axes.set_title(f"{report.subject.name}: {report.device.name} ({report.device.model}), {report.clock}")
    axes.grid(alpha=0.3)
    if report.subject.plot == "times":
        _times(report, axes)
    elif report.subject.plot == "roofline":
        _roofline(report, axes)
    else:
        _rates(report, axes)
    axes.legend(fontsize="small")
    figure.savefig(path, bbox_inches="tight")


def _figure() -> Any:
    try:
        return importlib.import_module("matplotlib.figure").Figure(figsize=(9, 5.5), dpi=120)
    except ImportError as error:
        raise CannotPlotError(f"--plot needs Matplotlib: pip install matplotlib ({error})") from error


def _draw(report: Report, axes: Any, place: Callable[[Row], float | None]) -> None:
    """Draw the rates: a colour for each case, a line style for each contender."""
    cases = list(dict.fromkeys(row.case for row in report.rows))
    names = list(dict.fromkeys(name for row in report.rows for name in row.rate))
    for i, case in enumerate(cases):
        for k, name in enumerate(names):
            rows = [row for row in report.rows if row.case == case and name in row.rate]
            axes.plot(
                [place(row) for row in rows],
                [report.rate(row, name) for row in rows],
                color=f"C{i % 10}",
                linestyle=("-", "--", ":", "-.")[k % 4],
                marker="o",
                markersize=4,
                label=f"{case}: {name}",
            )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel(report.subject.unit)


def _rates(report: Report, axes: Any) -> None:
    _draw(report, axes, lambda row: row.size)
    axes.set_xlabel(report.subject.size_kind)


def _times(report: Report, axes: Any) -> None:
    names = list(dict.fromkeys(name for row in report.rows for name in row.microseconds))
    labels = [f"{row.case}\n{row.size} {report.subject.size_kind}" for row in report.rows]
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        places = [
            (k + i * width, row.microseconds[name])
            for k, row in enumerate(report.rows)
            if name in row.microseconds
        ]
        axes.bar([x for x, _ in places], [y for _, y in places], width, label=name)
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(labels))], labels, fontsize="small")
    axes.set_ylabel("microseconds a call")


def _roofline(report: Report, axes: Any) -> None:
    _draw(report, axes, lambda row: row.intensity)
    axes.set_xlabel("operations a byte")
    intensities = [row.intensity for row in report.rows if row.intensity is not None]
    if report.roof is not None and intensities:
        peak, bandwidth = report.roof.peak * report.scale, report.roof.bandwidth * report.scale
        ridge = peak / bandwidth
        places = [min(*intensities, ridge / 4), ridge, max(*intensities, ridge * 4)]
        roof = [min(peak, bandwidth * x) for x in places]
        axes.plot(places, roof, color="black", linewidth=1, label="the most that the device can do")
