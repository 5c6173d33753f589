"""Makes the notebooks of the course from their sources: python tools/notebooks.py

Each notebooks/sources/NN_name.py, a Python file in jupytext's percent format, gives notebooks/NN_name.ipynb, without
outputs. With ``--check`` nothing is written: the script lists the notebooks that are not the ones of their sources, and
ends with 1 if there are any.

A cell of C++ behind the magic `%%cuda` is a comment in the source, each line behind "# ", so that the source is Python
for ruff and for editors.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import jupytext

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
SOURCES = NOTEBOOKS / "sources"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
OTHER_LANGUAGE = re.compile(r"%%cuda\b")
KEPT_METADATA = ("jupyter", "tags")  # of a cell: jupytext adds others of its own


def uncommented(text: str) -> str:
    """The cell of a magic for another language, without the comment signs that make its source Python."""
    if not OTHER_LANGUAGE.match(text):
        return text
    first, *rest = text.split("\n")
    if all(line == "#" or line.startswith("# ") for line in rest):
        rest = [line[2:] for line in rest]
    return "\n".join([first, *rest])


def cell_of(number: int, read: Any) -> dict[str, Any]:
    """A cell as a notebook has it, with an id that is the same in every run."""
    cell = {
        "cell_type": read.cell_type,
        "id": f"cell-{number:02d}",
        "metadata": {key: read.metadata[key] for key in KEPT_METADATA if key in read.metadata},
    }
    text = read.source
    if read.cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
        text = uncommented(text)
    cell["source"] = text.splitlines(keepends=True)
    return dict(sorted(cell.items()))


def notebook_of(source: Path) -> str:
    """The text of the notebook that a source gives."""
    read = jupytext.reads(source.read_text(), "py:percent")
    cells = [cell_of(number, cell) for number, cell in enumerate(read.cells)]
    notebook = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; end with 1 if a notebook differs"
    )
    check = parser.parse_args().check
    made = {
        NOTEBOOKS / f"{source.stem}.ipynb": notebook_of(source) for source in sorted(SOURCES.glob("*.py"))
    }
    there = set(NOTEBOOKS.glob("*.ipynb"))
    orphans = sorted(there - set(made))
    changed = [path for path, text in made.items() if path not in there or path.read_text() != text]
    for path in orphans:
        print(
            f"{path.relative_to(ROOT)} has no source in {SOURCES.relative_to(ROOT)}: remove it, or add its source"
        )
    for path in changed:
        if check:
            print(f"{path.relative_to(ROOT)} is not the one of its source: run python tools/notebooks.py")
        else:
            path.write_text(made[path])
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if orphans or (check and changed) else 0


if __name__ == "__main__":
    sys.exit(main())
