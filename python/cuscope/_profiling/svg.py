"""Common parts of the drawings: their size, their style sheet for light and dark pages, and text."""

from __future__ import annotations

import hashlib
from html import escape

from .._theme import theme_rules

__all__ = ["finished", "label"]

FONT = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif"
IDENTITY = "\x00"  # stands for the picture's id until its content is known

THEMES = {
    "light": (
        ("csPaper", "fill", "#ffffff"),
        ("csInk", "fill", "#1f2328"),
        ("csSoft", "fill", "#59636e"),
        ("csEmpty", "fill", "#f3f5f7"),
        ("csMoved", "fill", "#f6cf9e"),
        ("csGrid", "stroke", "#dfe3e8"),
        ("csRoof", "stroke", "#59636e"),
    ),
    "dark": (
        ("csPaper", "fill", "#1a1d21"),
        ("csInk", "fill", "#e8eaed"),
        ("csSoft", "fill", "#a3adb8"),
        ("csEmpty", "fill", "#23272d"),
        ("csMoved", "fill", "#6b4a1f"),
        ("csGrid", "stroke", "#353b43"),
        ("csRoof", "stroke", "#a3adb8"),
    ),
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
    """The whole picture. Its id comes from its content, so the rules of two pictures of a page do not meet."""
    size = f"{width:.0f}", f"{height:.0f}"
    root = f"#{IDENTITY}"
    rules = [
        f"{root} text{{font:11px {FONT}}}",
        *(f"{root} {rule}" for rule in RULES),
        *theme_rules(root, THEMES),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{IDENTITY}" role="img" aria-label="{escape(about)}" '
        f'width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" style="max-width:100%;height:auto">'
    )
    paper = f'<rect class="csPaper" width="{size[0]}" height="{size[1]}" rx="6"/>'
    text = "\n".join([head, f"<style>{chr(10).join(rules)}</style>", paper, *body, "</svg>"])
    identity = "csp" + hashlib.blake2s(text.encode(), digest_size=6).hexdigest()
    return text.replace(IDENTITY, identity)
