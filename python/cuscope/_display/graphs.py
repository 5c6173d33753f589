"""The pictures of graphs and executables."""

from __future__ import annotations

from .. import _core
from .._drawing import svg
from .cards import GOOD, QUIET, Marked, ask, card, code

__all__ = ["executable", "graph"]


def graph(g: _core.Graph) -> str | None:
    """Inline, because JupyterLab shows an SVG as an image, which does not know the theme of the page."""
    if not _core.may_look():
        return None
    drawing = svg(g)
    if not drawing:
        return None
    return f"<div>{drawing}</div>"


FLAGS = (
    (1, "frees its memory at each launch"),
    (2, "uploaded"),
    (4, "can be launched by the device"),
    (8, "uses the priorities of its nodes"),
)


def executable(e: _core.GraphExec) -> str:
    closed = e.closed
    flags = 0 if closed or not _core.may_look() else ask(lambda: e.flags) or 0
    rows = [
        ("device", code(e.device.name)),
        ("made to", Marked("<br>".join(name for bit, name in FLAGS if flags & bit)) or None),
    ]
    return card("GraphExec", rows, state=(QUIET, "closed") if closed else (GOOD, "ready to launch"))
