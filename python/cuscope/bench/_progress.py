"""The progress of a run in a terminal: a bar if Rich is installed, else a line for each case."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]


@contextmanager
def progress(subject: str) -> Iterator[Callable[[str, int, int], None]]:
    """A function to call for each case with its name, its number from 0, and the number of cases. Shows nothing unless
    standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _name, _number, _count: None
        return
    try:
        rich = importlib.import_module("rich.progress")
        console = importlib.import_module("rich.console").Console(stderr=True)
    except ImportError:
        yield lambda name, number, count: _line(f"{subject}: {number + 1} of {count}: {name}")
        return
    with rich.Progress(*rich.Progress.get_default_columns(), console=console, transient=True) as bar:
        task = bar.add_task(subject, total=None)
        yield lambda name, number, count: bar.update(
            task, description=f"{subject}: {name}", completed=number, total=count
        )


def _line(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
