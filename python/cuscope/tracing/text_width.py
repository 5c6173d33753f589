"""How wide text is: a picture without a script cannot ask the browser."""

from __future__ import annotations

import unicodedata

__all__ = ["fitted", "text_width"]

# Hundredths of the size of the font, for DejaVu Sans: of the usual fonts without serifs it is the widest.
_WIDTHS = {
    27: "'",
    28: "ijl",
    29: "IJ",
    32: " ,.",
    34: "/:;\\|",
    36: "-f",
    39: "()[]t",
    41: "!r",
    46: '"',
    50: "*_`",
    53: "sz?",
    56: "cL",
    59: "Fkvxy",
    61: "PTYao",
    62: "e",
    64: "ESbdghnpqu$0123456789{}",
    69: "KAVBRXZ",
    75: "CUHN",
    79: "DG&OQ",
    82: "w",
    84: "#+<=>^~\u00d7\u00b7",
    86: "M",
    97: "m%",
    100: "W@\u2026",
}
_WIDTH = {c: width / 100 for width, some in _WIDTHS.items() for c in some}


def text_width(text: str, size: float) -> float:
    """At most so many pixels wide is the text in a font of ``size`` pixels."""
    return size * sum(_WIDTH.get(c) or _width_of_other(c) for c in text)


def _width_of_other(character: str) -> float:
    if unicodedata.combining(character):
        return 0.1
    return 1.4 if unicodedata.east_asian_width(character) in "WF" else 1.0


def fitted(candidates: list[str], size: float, room: float) -> str:
    """The first of the candidates that fits; else the beginning of the last one; else nothing."""
    for text in candidates:
        if text_width(text, size) <= room:
            return text
    if not candidates or room < 4.5 * size:
        return ""
    text = candidates[-1]
    while text and text_width(text + "\u2026", size) > room:
        text = text[:-1]
    return text.rstrip() + "\u2026" if len(text) >= 4 else ""
