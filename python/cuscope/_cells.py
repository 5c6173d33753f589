"""The cells of a notebook behind the names of files that IPython gives them: "Cell In[3]"."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

__all__ = ["cell_of", "current_shell", "with_cells"]

_LINE = re.compile(r"(<ipython-input-[^>\s]+>|[^\s()'\"]+\.py)(?=:\d)")


def current_shell() -> Any:
    """IPython's shell, if the program runs in one; else None."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def cell_of(path: str) -> str | None:
    """The cell whose code has this file name; None if it is a file.

    >>> cell_of("program.py")
    """
    shell = current_shell()
    if shell is None:
        return None
    try:
        kind, name = shell.compile.format_code_name(path)
    except (AttributeError, TypeError, ValueError):
        return None
    return f"{kind} {name}" if kind == "Cell" else None


def with_cells(text: str) -> str:
    """The text with the names of cells in place of those of their files.

    >>> with_cells("made in program.py:3")
    'made in program.py:3'
    """
    if current_shell() is None:
        return text
    # The runtime shortens the names of files below the working directory.
    return _LINE.sub(
        lambda found: cell_of(found[1]) or cell_of(str(Path(found[1]).absolute())) or found[1], text
    )
