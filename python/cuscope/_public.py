"""The name that tracebacks, help() and pickle show for the public classes and functions of a module."""

from __future__ import annotations

from typing import Any

__all__ = ["show_as_public"]


def show_as_public(*values: Any) -> None:
    """Show the values as cuscope.Name, and not by the module that has them. Call it in that module.

    The extension loads some modules itself, so a program may meet their classes before it asks cuscope for them.
    """
    for value in values:
        value.__module__ = "cuscope"
