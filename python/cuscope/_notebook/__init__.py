"""The IPython extension: the magics and the completion that ``%load_ext cuscope`` adds. docs/notebooks.md shows them."""

from __future__ import annotations

from typing import Any

from . import checking, compiling, completing, profiling, timing, tracing

__all__ = ["load"]

# Name, kind (as IPython's register_magic_function takes it), and the function that makes the magic for a shell.
MAGICS = (
    ("cuda", "cell", compiling.magic),
    ("profile", "cell", profiling.magic),
    ("trace", "cell", tracing.magic),
    ("check", "cell", checking.magic),
    ("gpu_timeit", "line_cell", timing.magic),
)


def load(shell: Any) -> None:
    """Add the magics and the completion to the shell. Adding them again replaces them."""
    for name, kind, magic in MAGICS:
        shell.register_magic_function(magic(shell), magic_kind=kind, magic_name=name)
    completing.add_to(shell)
