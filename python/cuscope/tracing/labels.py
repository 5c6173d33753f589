"""The names that bars show: the whole name where it fits, else a shorter one."""

from __future__ import annotations

import numpy as np

from .colours import Colour
from .hover import clean, short_name
from .units import bytes_text

__all__ = ["is_code", "labels_of"]

_COPIES = {"in": "H2D", "out": "D2H", "on": "D2D"}


def labels_of(span: np.void | None, colour: Colour) -> list[str]:
    """Labels of a span from long to short; of no span, the names that its colour has in a legend."""
    if span is None:
        if colour.key in _COPIES:
            return [f"{colour.label} ({_COPIES[colour.key]})"]
        return [short_name(colour.label) if colour.key.startswith("k") else colour.label]
    name = clean(span["name"] or span["kind"], 60)
    if colour.kernel:
        return [name, short_name(name)]
    if span["kind"] == "copy":
        short = _COPIES.get(colour.key, "copy")
        if span["bytes"] > 0:
            return [f"{name}, {bytes_text(int(span['bytes']))}", name, short]
        return [name, short]
    if span["kind"] == "call" and name.startswith("cuda"):
        return [name, name[4:]]
    return [name]


def is_code(label: str) -> bool:
    """The label is an abbreviation: it does not explain the colour of its bar."""
    return label == "copy" or label in _COPIES.values()
