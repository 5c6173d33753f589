"""The picture of an object that has only values: a table of them."""

from __future__ import annotations

import inspect
from functools import partial

from .cards import ask, card, code

__all__ = ["fields"]


def fields(thing: object) -> str:
    names = [
        name
        for name in vars(type(thing))
        if not name.startswith("_") and inspect.isdatadescriptor(inspect.getattr_static(type(thing), name))
    ]
    found = {name: ask(partial(getattr, thing, name)) for name in names}
    rows = [(name, None if value is None else _shown(value)) for name, value in found.items()]
    return card(type(thing).__name__, rows)


def _shown(value: object) -> str:
    return code(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value)
