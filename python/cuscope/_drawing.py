"""Graphs as pictures for notebooks. Small ones are drawn here, as layers of boxes; large ones by Graphviz's dot."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from ._theme import IDENTITY, identified, theme_rules

if TYPE_CHECKING:
    from ._core import Graph

__all__ = ["svg"]

MOST_NODES = 150  # larger graphs drawn in layers would be unreadable
LINE, CHARACTER, PAD = 14, 6.4, 8  # pixels
GAP_X, GAP_Y = 18, 30
KINDS = {"kernel": "csKernel", "copy": "csCopy", "memset": "csCopy", "host": "csHost"}  # the others: csOther
DOT_SECONDS = 20
THEMES = {
    "light": (
        ("csKernel", "fill", "#d7e8fa"),
        ("csCopy", "fill", "#fdebd0"),
        ("csHost", "fill", "#e3f4dd"),
        ("csOther", "fill", "#f2f2f2"),
        ("csBody", "fill", "#ffffff"),
        ("csText", "fill", "#222222"),
        ("csLine", "stroke", "#555555"),
        ("csHead", "fill", "#555555"),
    ),
    "dark": (
        ("csKernel", "fill", "#24456b"),
        ("csCopy", "fill", "#5c4520"),
        ("csHost", "fill", "#2c5030"),
        ("csOther", "fill", "#3a3f46"),
        ("csBody", "fill", "#1a1d21"),
        ("csText", "fill", "#e8eaed"),
        ("csLine", "stroke", "#a3adb8"),
        ("csHead", "fill", "#a3adb8"),
    ),
}
ARROW = (
    f'<defs><marker id="{IDENTITY}a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path class="csHead" d="M0 0 8 4 0 8z"/></marker></defs>'
)


@dataclass
class _Box:
    lines: list[str]
    style: str
    bodies: list[_Layout] = field(default_factory=list)
    width: float = 0
    height: float = 0
    x: float = 0
    y: float = 0


@dataclass
class _Layout:
    boxes: list[_Box]
    edges: list[tuple[int, int, bool]]  # from, to, programmatic
    width: float = 0
    height: float = 0


def svg(graph: Graph) -> str | None:
    """The drawing; None if it cannot be drawn, in which case the notebook shows the repr."""
    try:
        if _count(graph) > MOST_NODES:
            return _by_dot(graph)
        layout = _layout(graph)
    except (ValueError, RuntimeError):
        return None
    size = f"{layout.width:.0f}", f"{layout.height:.0f}"
    shape = f'width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{IDENTITY}" {shape} font-family="monospace" font-size="11">',
        f"<style>{''.join(theme_rules(f'#{IDENTITY}', THEMES))}</style>",
        ARROW,
        *_draw(layout, 0, 0),
        "</svg>",
    ]
    return identified("\n".join(parts), "csg")


def _count(graph: Graph) -> int:
    nodes = graph.nodes
    return len(nodes) + sum(_count(body) for node in nodes for body in node.bodies)


def _by_dot(graph: Graph) -> str | None:
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        drawn = subprocess.run(
            [program, "-Tsvg"],
            input=graph.to_dot(),
            capture_output=True,
            text=True,
            check=True,
            timeout=DOT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return drawn.stdout[drawn.stdout.find("<svg") :]


def _layout(graph: Graph) -> _Layout:
    nodes = graph.nodes
    numbers = {node: i for i, node in enumerate(nodes)}
    dashed = set(graph.programmatic_edges)
    edges = [(numbers[a], numbers[b], (a, b) in dashed) for a, b in graph.edges]
    boxes = []
    for node in nodes:
        bodies = [_layout(body) for body in node.bodies]
        box = _Box(node.label.split("\n"), KINDS.get(node.type, "csOther"), bodies)
        text = max(map(len, box.lines)) * CHARACTER
        inner = sum(body.width for body in bodies) + PAD * max(len(bodies) - 1, 0)
        box.width = max(text, inner) + 2 * PAD
        box.height = len(box.lines) * LINE + PAD
        if bodies:
            box.height += max(body.height for body in bodies) + PAD
        boxes.append(box)
    layout = _Layout(boxes, edges)
    _place(layout)
    return layout


def _place(layout: _Layout) -> None:
    """Puts each box in a layer by its longest path from a root, and near the middle of the boxes that it waits for."""
    before: list[list[int]] = [[] for _ in layout.boxes]
    after: list[list[int]] = [[] for _ in layout.boxes]
    for a, b, _ in layout.edges:
        before[b].append(a)
        after[a].append(b)
    layer = [0] * len(layout.boxes)
    waits = [len(b) for b in before]
    ready = [i for i, count in enumerate(waits) if count == 0]
    for i in ready:
        for j in after[i]:
            layer[j] = max(layer[j], layer[i] + 1)
            waits[j] -= 1
            if waits[j] == 0:
                ready.append(j)
    layers: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for i in range(len(layout.boxes)):
        layers[layer[i]].append(i)
    y = float(PAD)
    for row in layers:
        row.sort(key=lambda i: sum(_middle(layout.boxes[j]) for j in before[i]) / max(len(before[i]), 1))
        x = float(PAD)
        for i in row:
            box = layout.boxes[i]
            box.x, box.y = x, y
            x += box.width + GAP_X
        layout.width = max(layout.width, x - GAP_X + PAD)
        y += max(layout.boxes[i].height for i in row) + GAP_Y
    layout.height = max(y - GAP_Y + PAD, 2 * PAD)
    layout.width = max(layout.width, 2 * PAD)
    for row in layers:
        free = layout.width - sum(layout.boxes[i].width for i in row) - GAP_X * (len(row) - 1) - 2 * PAD
        for i in row:
            layout.boxes[i].x += free / 2


def _middle(box: _Box) -> float:
    return box.x + box.width / 2


def _draw(layout: _Layout, left: float, top: float) -> Iterator[str]:
    for a, b, programmatic in layout.edges:
        begin, end = layout.boxes[a], layout.boxes[b]
        x1, y1 = left + _middle(begin), top + begin.y + begin.height
        x2, y2 = left + _middle(end), top + end.y
        bend = max((y2 - y1) / 2, GAP_Y / 2)
        dash = ' stroke-dasharray="4 3"' if programmatic else ""
        yield (
            f'<path d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}" '
            f'class="csLine" fill="none"{dash} marker-end="url(#{IDENTITY}a)"/>'
        )
    for box in layout.boxes:
        x, y = left + box.x, top + box.y
        yield (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="4" '
            f'class="{box.style} csLine"/>'
        )
        for i, line in enumerate(box.lines):
            yield (
                f'<text x="{x + box.width / 2:.1f}" y="{y + PAD / 2 + (i + 0.8) * LINE:.1f}" '
                f'text-anchor="middle" class="csText">{escape(line)}</text>'
            )
        inner = x + PAD
        for body in box.bodies:
            y_body = y + len(box.lines) * LINE + PAD
            yield (
                f'<rect x="{inner:.1f}" y="{y_body:.1f}" width="{body.width:.1f}" height="{body.height:.1f}" '
                f'rx="4" class="csBody csLine" stroke-dasharray="2 2"/>'
            )
            yield from _draw(body, inner, y_body)
            inner += body.width + PAD
