"""The bench command: its arguments, and one run of a subject."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path

import cuscope as cs
from cuscope.bench import _plot, copy, graph, launch, matmul, operations, reduce
from cuscope.bench._clocks import clocks
from cuscope.bench._progress import progress
from cuscope.bench._report import Report
from cuscope.bench._subject import Run, Subject

__all__ = ["SUBJECTS", "add_arguments", "run"]

SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in (
        matmul.SUBJECT,
        reduce.SUBJECT,
        copy.SUBJECT,
        launch.SUBJECT,
        operations.SUBJECT,
        graph.SUBJECT,
    )
}
_POWERS = {"": 0, "K": 10, "M": 20, "G": 30}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One command for each subject."""
    commands = parser.add_subparsers(dest="subject", required=True, metavar="SUBJECT")
    for subject in SUBJECTS.values():
        one = commands.add_parser(subject.name, help=subject.help, description=subject.help)
        one.add_argument(
            "--device", type=_device, metavar="D", help="cuda:0, host:0, ... (default: the current device)"
        )
        one.add_argument(
            "--sizes",
            type=_sizes,
            default=subject.sizes,
            metavar="N,N,...",
            help=f"{subject.size_kind}, such as 4K,1M (default: {','.join(map(_short, subject.sizes))})",
        )
        one.add_argument(
            "--seconds", type=_seconds, default=20.0, metavar="S", help="for all of it (default: 20)"
        )
        one.add_argument("--json", type=_output, metavar="FILE", help="write JSON; - for standard output")
        one.add_argument(
            "--plot", type=_output, metavar="FILE", help="draw it, by Matplotlib: .png, .svg, .pdf"
        )


def run(options: argparse.Namespace) -> Report:
    """Measure. Raises CannotPlotError at once, before the measurement, if the requested plot cannot be drawn."""
    if options.plot:
        _plot.require(Path(options.plot))
    subject = SUBJECTS[options.subject]
    device: cs.Device = options.device or cs.current_device()
    with device, progress(subject.name) as told:
        before = clocks(device)
        work = Run(device, options.sizes, options.seconds, cs.Stream(), told)
        rows = list(subject.rows(work))
        report = Report(
            subject=subject,
            device=device,
            rows=rows,
            missing=work.missing,
            clocks={"before": before, "after": clocks(device)},
            roof=subject.roof(device) if subject.roof else None,
        )
    if options.plot:
        _plot.save(report, Path(options.plot))
    return report


def _device(text: str) -> cs.Device:
    try:
        return cs.Device(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _sizes(text: str) -> tuple[int, ...]:
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+) ?(?:([KMG])(?:iB|i|B)?|B)?", part.strip(), re.IGNORECASE)
        size = int(match[1]) << _POWERS[(match[2] or "").upper()] if match else 0
        if size == 0:
            raise argparse.ArgumentTypeError(
                f"{part!r} is no size: write 4096, 4K, 1MiB, with commas between several"
            )
        sizes.append(size)
    return tuple(sizes)


def _short(size: int) -> str:
    name, power = next(x for x in reversed(_POWERS.items()) if size % (1 << x[1]) == 0)
    return f"{size >> power}{name}"


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not (seconds > 0 and math.isfinite(seconds)):
        raise argparse.ArgumentTypeError(f"{text!r} is no time: a number of seconds above 0")
    return seconds


def _output(text: str) -> str:
    """The path of an output file, checked before the measurement: can it be written?"""
    if text != "-" and not Path(text).resolve().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder for {text}")
    if text != "-" and Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder")
    return text
