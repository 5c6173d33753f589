"""The pages of the documents, and the Python programs in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCUMENTS.rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
BEGINS = re.compile(r"^(import|from) cuscope\b", re.MULTILINE)


def name_of(page: Path) -> str:
    """'memory' or 'how-to/overlap-copies'; 'README' outside of docs/."""
    inside = page.relative_to(DOCUMENTS) if page.is_relative_to(DOCUMENTS) else page.relative_to(ROOT)
    return inside.with_suffix("").as_posix()


def programs(page: Path) -> Iterator[str]:
    """A block that imports cuscope begins a program; a block without the import goes on with the one before it.

    Blank lines stand for the text between the blocks, so that an error names the line of the page.
    """
    text = page.read_text()
    program = ""
    for block in BLOCK.finditer(text):
        if BEGINS.search(block[1]) and program:
            yield program
            program = ""
        above = text.count("\n", 0, block.start(1)) - program.count("\n")
        program += "\n" * above + block[1]
    if program:
        yield program


def prepare(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the program's times those that a reader sees; skips the test if this NumPy is too old for the program."""
    if "NumPy 2.1" in program and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("needs NumPy 2.1")
    if "explain_time" in program:
        monkeypatch.delenv("CUSCOPE_KERNEL_TIME", raising=False)


def prose(page: Path) -> str:
    """The text without its blocks of code."""
    return FENCED.sub("", page.read_text())
