"""A card: a title, a state with a coloured mark, and rows of names and values.

All text comes in unescaped, and is escaped here. Colours are those of the page, or have half of their opacity, so that a
card fits into light and dark pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

__all__ = ["Marked", "ask", "byte_text", "card", "code", "text"]

STYLE = (
    "<style>"
    ".csCard{display:inline-block;max-width:100%;overflow-x:auto;box-sizing:border-box;padding:.5em .9em;margin:.2em 0;"
    "border:1px solid rgba(128,128,128,.4);border-radius:6px;font-size:13px;line-height:1.45;text-align:left;"
    "color:var(--jp-ui-font-color1,var(--vscode-editor-foreground,inherit))}"
    ".csCard table{border-collapse:collapse;margin:.3em 0 0;border:0;font-size:inherit}"
    ".csCard tr,.csCard tbody tr:nth-child(odd){background:none}"
    ".csCard td{padding:.05em 1.2em .05em 0;border:0;text-align:left;vertical-align:top;white-space:normal}"
    ".csCard td:first-child{opacity:.7;white-space:nowrap}"
    ".csCard code,.csCard pre{font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:12px;"
    "background:none;color:inherit;padding:0;border:0}"
    ".csCard pre{margin:.5em 0 0;white-space:pre;overflow-x:auto}"
    ".csCard .csDot{display:inline-block;width:.65em;height:.65em;border-radius:50%;margin:0 .4em 0 .9em}"
    ".csCard .csSoft{opacity:.7}"
    "</style>"
)

# Of states; each can be seen on white and on black.
GOOD, BUSY, BAD, QUIET = "#2f9e5b", "#d08a1d", "#d0453f", "#8a8f98"


class Marked(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Marked:
    return value if isinstance(value, Marked) else Marked(escape(str(value)))


def code(value: object) -> Marked:
    return Marked(f"<code>{text(value)}</code>")


def ask(question: Callable[[], Any]) -> Any:
    """The answer; None if the object cannot tell, because it is closed, for example. A row without a value is left out."""
    try:
        return question()
    except Exception:
        return None


def byte_text(count: int) -> str:
    """For example "64 MiB"; exact for fewer than 10,000 bytes."""
    if count < 10_000:
        return f"{count} bytes" if count != 1 else "1 byte"
    value, units = float(count), ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
    step = 0
    while value >= 1024 and step < len(units) - 1:
        value, step = value / 1024, step + 1
    return f"{value:.4g} {units[step]}"


def card(
    title: object,
    rows: Iterable[tuple[object, object]] = (),
    *,
    about: object = "",
    state: tuple[str, object] | None = None,
    below: str = "",
) -> str:
    """`about` stands beside the title, `state` is a colour and its meaning, `below` is HTML."""
    mark = ""
    if state is not None:
        mark = f'<span class="csDot" style="background:{state[0]}"></span>{text(state[1])}'
    beside = f' <span class="csSoft">{text(about)}</span>' if about else ""
    lines = "".join(
        f"<tr><td>{text(name)}</td><td>{text(value)}</td></tr>" for name, value in rows if value is not None
    )
    table = f"<table>{lines}</table>" if lines else ""
    return f'<div class="csCard">{STYLE}<b>{text(title)}</b>{beside}{mark}{table}{below}</div>'
