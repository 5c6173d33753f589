"""The style sheet of a picture: its rules for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable

from .._theme import theme_rules
from .colours import Colour

__all__ = ["FONT", "THEMES", "style_sheet"]

FONT = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif"

# Of each theme: (class, property, value). Colours that carry a meaning are the same in both themes.
THEMES = {
    "light": (
        ("csPaper", "fill", "#ffffff"),
        ("csInk", "fill", "#1f2328"),
        ("csSoft", "fill", "#59636e"),
        ("csBand", "fill", "#f3f5f7"),
        ("csGrid", "stroke", "#dfe3e8"),
        ("csCall,csHatchA", "fill", "#d3dae1"),
        ("csHatchB", "fill", "#eef1f4"),
        ("csRange", "fill", "#d6e4f7"),
        ("csGraph", "fill", "#e6dff5"),
        ("csMark", "fill", "#1f2328"),
    ),
    "dark": (
        ("csPaper", "fill", "#1a1d21"),
        ("csInk", "fill", "#e8eaed"),
        ("csSoft", "fill", "#a3adb8"),
        ("csBand", "fill", "#23272d"),
        ("csGrid", "stroke", "#353b43"),
        ("csCall,csHatchA", "fill", "#47515c"),
        ("csHatchB", "fill", "#2d333a"),
        ("csRange", "fill", "#2c4364"),
        ("csGraph", "fill", "#453967"),
        ("csMark", "fill", "#e8eaed"),
    ),
}


def style_sheet(identity: str, colours: Iterable[Colour]) -> str:
    """The rules of the picture ``identity``; they concern no other picture of the page."""
    root = f"#{identity}"
    rules = [
        f"{root} text{{font:11px {FONT};pointer-events:none}}",
        f"{root} .csM{{text-anchor:middle}}{root} .csSmall text{{font-size:9.5px}}",
        f"{root} .csBold{{font-weight:600;font-size:12px}}{root} .csLabel{{pointer-events:auto}}",
        f"{root} .csCaption{{font-size:9px;letter-spacing:.06em}}",
        f"{root} .csW{{fill:#fff}}{root} .csD{{fill:#111}}",
        f"{root} .csHatch{{fill:url(#{identity}h)}}{root} .csMany{{fill:url(#{identity}m)}}",
        *(f"{root} .cs-{colour.key}{{fill:{colour.fill}}}" for colour in colours if colour.fill),
        *theme_rules(root, THEMES),
        f"{root} .csRow g:hover rect{{opacity:.75}}",
    ]
    return "<style>" + "\n".join(rules) + "</style>"
