"""Common parts of the drawings: their size, their style sheet for light and dark pages, and text."""

from __future__ import annotations

from html import escape

from .._theme import IDENTITY, identified, theme_rules
from ..tracing import style as timeline

__all__ = ["finished", "label"]

OWN = {"light": ("#f6cf9e", "#59636e"), "dark": ("#6b4a1f", "#a3adb8")}
THEMES = {
    name: (*timeline.THEMES[name], ("csMoved", "fill", moved), ("csRoof", "stroke", roof))
    for name, (moved, roof) in OWN.items()
}
# Colours with a meaning are the same on both pages: wanted, and banks that serve 1, 2, 4, ... words.
RULES = (
    ".csWant{fill:#2f7ed8}",
    ".csBank1{fill:#2f9e5b}",
    ".csBank2{fill:#b8a01d}",
    ".csBank4{fill:#d08a1d}",
    ".csBank8{fill:#d0643f}",
    ".csBank16{fill:#b8302a}",
    ".csIn{fill:#fff;font-size:9px;text-anchor:middle}",
    ".csM{text-anchor:middle}",
    ".csE{text-anchor:end}",
    ".csBold{font-weight:600;font-size:12px}",
    ".csGrid,.csRoof{fill:none}",
)


def label(x: float, y: float, text: str, style: str = "csInk") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text, quote=False)}</text>'


def finished(body: list[str], width: float, height: float, about: str) -> str:
    """The whole picture."""
    size = f"{width:.0f}", f"{height:.0f}"
    root = f"#{IDENTITY}"
    rules = [
        f"{root} text{{font:11px {timeline.FONT}}}",
        *(f"{root} {rule}" for rule in RULES),
        *theme_rules(root, THEMES),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{IDENTITY}" role="img" aria-label="{escape(about)}" '
        f'width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" style="max-width:100%;height:auto">'
    )
    paper = f'<rect class="csPaper" width="{size[0]}" height="{size[1]}" rx="6"/>'
    return identified(
        "\n".join([head, f"<style>{chr(10).join(rules)}</style>", paper, *body, "</svg>"]), "csp"
    )
