"""Completes names within quotes, which IPython cannot know: devices, models and variants of operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from .. import _core
from .._matmul import Matmul, matmul
from .._models import models
from .._reduce import Reduce, reduce

__all__ = ["add_to"]


def _open_call(text: str) -> str:
    """The name of the function whose argument the end of the text is; "" if there is none."""
    closed = 0
    for at in range(len(text) - 1, -1, -1):
        if text[at] == ")":
            closed += 1
        elif text[at] == "(":
            if closed == 0:
                names = re.findall(r"\w+", text[:at])
                return names[-1] if names else ""
            closed -= 1
    return ""


OPERATIONS: dict[str, Matmul | Reduce] = {"matmul": matmul, "reduce": reduce}


def _variants(text: str) -> list[str]:
    name = _open_call(text)
    asked = [OPERATIONS[name]] if name in OPERATIONS else OPERATIONS.values()
    return ["auto", *(variant.name for one in asked for variant in one.variants())]


# The text before the cursor, and the names that can follow it. The group is the part that is written already.
PLACES: tuple[tuple[str, Callable[[str], Iterable[str]]], ...] = (
    (r"""\bvariant\s*=\s*["'](\w*)$""", _variants),
    (r"""\bDevice\s*\(\s*(?:device\s*=\s*)?["']([\w:]*)$""", lambda _: [d.name for d in _core.devices()]),
    (r"""^%%cuda\b.*\s--device[= ]([\w:]*)$""", lambda _: [d.name for d in _core.devices()]),
    (
        r"""\b(?:model|add_host_device)\s*\(\s*(?:model\s*=\s*)?["'](\w*)$""",
        lambda _: [one.name for one in models()],
    ),
)


def names_for(text: str) -> tuple[str, list[str]]:
    """The part of a name that ends the text, and the names that begin with it."""
    for place, names in PLACES:
        if found := re.search(place, text, re.MULTILINE):
            begun = found[1]
            return begun, [name for name in names(text) if name.startswith(begun)]
    return "", []


def _matcher() -> Any:
    from IPython.core import completer

    typed: Any = completer

    def match(context: Any) -> Any:
        begun, names = names_for(context.text_until_cursor)
        return {
            "completions": [typed.SimpleCompletion(name, type="param") for name in names],
            "matched_fragment": begun,
            "suppress": bool(names),
        }

    return typed.context_matcher(identifier="cuscope")(match)


def add_to(shell: Any) -> None:
    """Add the completion to the shell, once."""
    matchers = shell.Completer.custom_matchers
    if not any(getattr(one, "matcher_identifier", "") == "cuscope" for one in matchers):
        matchers.append(_matcher())
