"""Notebooks as pages: their text, and their code without results. Nothing runs."""

import json
import re

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

MAGIC = re.compile(r"^\s*[%!]|\?$", re.MULTILINE)
NOTE = """
```{note}
This page shows the notebook without its results. To run it, open `PATH` in JupyterLab: [Notebooks](/docs/notebooks.md).
```
"""


def longest_fence(text: str) -> str:
    """A fence that the text does not contain."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence


def language_of(code: str) -> str:
    """The language for Pygments, which knows no magics."""
    if code.startswith("%%cuda"):
        return "cuda"
    return "text" if MAGIC.search(code) else "python"


def as_markdown(notebook: dict, path: str) -> str:
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            fence = longest_fence(text)
            parts.append(f"{fence}{language_of(text)}\n{text}\n{fence}")
        elif cell["cell_type"] == "markdown":
            parts.append(text)
    first, *others = parts
    return "\n\n".join([first, NOTE.replace("PATH", path), *others])


class NotebookParser(MystParser):
    """Parses the Markdown that a notebook amounts to."""

    supported = ("ipynb",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        environment = document.settings.env
        path = environment.doc2path(environment.docname, base=False)
        super().parse(as_markdown(json.loads(inputstring), str(path)), document)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
