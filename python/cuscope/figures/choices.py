"""The check of arguments that name one of a few variants of a figure."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["check"]


def check(argument: str, value: object, allowed: Sequence[str]) -> None:
    """Raise ValueError with the allowed values if ``value`` is not one of them."""
    if value not in allowed:
        raise ValueError(f"{argument}: {value!r} is not allowed; allowed are {', '.join(map(repr, allowed))}")
