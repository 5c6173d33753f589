"""Bars for waits that take longer than a second: compilations, kernels on simulated devices, synchronisations."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from html import escape
from typing import Any, Protocol

from . import _core
from ._cells import current_shell

__all__ = ["show_progress"]

AFTER = 1.0  # seconds
_wish: bool | None = None
_bar: Bar | None = None


def show_progress(on: bool | None = None, *, after: float = AFTER) -> None:
    """Choose whether waits that take long show a bar.

    A bar names the work that your program waits for: the compilation of a source, a kernel of a simulated device with
    the part of its blocks that have begun, a host function, or else the device. It goes away when the wait ends. It is
    drawn by Rich or tqdm, if one of them is installed, and below the cell in a notebook. Only waits of the main thread
    have bars. They change no result and no simulated time.

    Parameters
    ----------
    on
        True: show bars, in a file that standard error is written to, too. False: show none. None: show them in
        notebooks, and if standard error is a terminal; this is the default, unless the environment variable
        CUSCOPE_PROGRESS is 0 or 1.
    after
        The seconds that a wait takes before it gets a bar.

    Raises
    ------
    ValueError
        If ``after`` is below 0.

    Examples
    --------
    >>> import cuscope as cs
    >>> cs.show_progress(False)
    >>> cs.show_progress()
    """
    global _wish
    if on is not None and not isinstance(on, bool):
        raise TypeError(f"on: {on!r}; it is True, False or None")
    if not after >= 0:
        raise ValueError(f"after: {after} seconds; it is 0 or more")
    _wish = on
    _core.set_progress(None if on is False else _show, _end, float(after))


def start() -> None:
    """As the environment says; called when cuscope is imported."""
    value = os.environ.get("CUSCOPE_PROGRESS", "")
    if value not in ("", "0", "1"):
        raise ValueError(f"CUSCOPE_PROGRESS={value!r}: allowed are 1 (show bars) and 0 (show none)")
    show_progress(bool(int(value)) if value else None)


class Bar(Protocol):
    """It is drawn at each update, and close() removes it."""

    def update(self, text: str, done: int, total: int) -> None: ...
    def close(self) -> None: ...


def _show(doing: str, done: int, total: int, seconds: float) -> None:
    global _bar
    if _bar is None:
        _bar = _new_bar()
    parts = f", {done:,} of {total:,} blocks" if total > 1 else ""
    _bar.update(f"{doing}{parts}, {seconds:.0f} s", done, total if total > 1 else 0)


def _end() -> None:
    global _bar
    bar, _bar = _bar, None
    if bar is not None:
        bar.close()


def _new_bar() -> Bar:
    if getattr(current_shell(), "kernel", None) is not None:  # a notebook
        return _NotebookBar()
    if sys.stderr is not None and sys.stderr.isatty():
        for make in (_RichBar, _TqdmBar):
            try:
                return make()
            except Exception:  # not installed, or another bar of it is shown already
                continue
        return _TextBar()
    return _TextBar() if _wish and sys.stderr is not None else _NoBar()


class _NoBar:
    def update(self, text: str, done: int, total: int) -> None:
        pass

    def close(self) -> None:
        pass


class _NotebookBar:
    """An element of HTML below the cell. It is empty after the wait."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html: Callable[[str], Any] = HTML
        self._shown = display(HTML(""), display_id=True)  # type: ignore[no-untyped-call]

    def update(self, text: str, done: int, total: int) -> None:
        value = f' value="{done}" max="{total}"' if total else ""
        self._shown.update(self._html(f"<progress{value}></progress> <small>{escape(text)}</small>"))

    def close(self) -> None:
        self._shown.update(self._html(""))


class _RichBar:
    def __init__(self) -> None:
        rich = importlib.import_module("rich.progress")
        console = importlib.import_module("rich.console").Console(stderr=True)
        columns = (
            rich.SpinnerColumn(),
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(),
        )
        self._bar = rich.Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._bar.start()
        self._task = self._bar.add_task("", total=None)

    def update(self, text: str, done: int, total: int) -> None:
        self._bar.update(self._task, description=text, completed=done, total=total or None, refresh=True)

    def close(self) -> None:
        self._bar.stop()


class _TqdmBar:
    def __init__(self) -> None:
        tqdm = importlib.import_module("tqdm").tqdm
        self._bar = tqdm(total=None, leave=False, file=sys.stderr, bar_format="{desc} {bar}")

    def update(self, text: str, done: int, total: int) -> None:
        self._bar.total, self._bar.n = total or None, done
        self._bar.set_description_str(text)

    def close(self) -> None:
        self._bar.close()


class _TextBar:
    """One line, which each update writes again."""

    def __init__(self) -> None:
        self._width = 0

    def update(self, text: str, done: int, total: int) -> None:
        del done, total  # the text has them
        self._write(text)

    def close(self) -> None:
        self._write("")
        self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)
