"""Docstrings in NumPy's format as reStructuredText, by Napoleon.

cuscope's docstrings have paragraphs and examples behind the last parameter or error. Napoleon would read them as further
parameters; two blank lines tell it that the section has ended. It would also read `The state: ...` of a property as
a type and a description.

The package says that its classes are made in `cuscope` itself, so Sphinx would look there for the docstrings of fields.
"""

import re
from itertools import pairwise

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.pycode import ModuleAnalyzer

HEADER = re.compile(r"-{3,}")
CODE = re.compile(r"(`+[^`]*`+)")
MARK = re.compile(r"(?<=\()\*(?=\w)|(?<=\w)_(?!\w)")  # (*args) and add_... are no markup
MODULES = ("_checking", "_errors", "_matmul", "_models", "_profiling.records", "_reduce")
# The signature has the types, and links to them.
CONFIG = Config(napoleon_use_param=False, napoleon_use_rtype=False, napoleon_use_ivar=True)


def end_sections(lines: list[str]) -> list[str]:
    inside = False
    result: list[str] = []
    for line, following in pairwise([*lines, ""]):
        if HEADER.fullmatch(line):
            inside = True
        has_description = following.startswith(" ")
        header = HEADER.fullmatch(following) is not None
        if inside and line and line[0] != " " and not result[-1] and not has_description and not header:
            result.append("")
            inside = False
        result.append(line)
    return result


def escaped(line: str) -> str:
    if line.lstrip().startswith((">>>", "...")):
        return line
    return "".join(part if part[:1] == "`" else MARK.sub(r"\\\g<0>", part) for part in CODE.split(line))


def convert(app: Sphinx, kind: str, name: str, value: object, options: object, lines: list[str]) -> None:
    known = "method" if kind in ("property", "attribute") else kind
    lines[:] = [escaped(line) for line in lines]
    lines[:] = NumpyDocstring(end_sections(lines), CONFIG, app, known, name, value, options).lines()


def find_fields(app: Sphinx) -> None:
    package = ModuleAnalyzer.for_module("cuscope")  # Sphinx keeps it
    package.analyze()
    for name in MODULES:
        module = ModuleAnalyzer.for_module(f"cuscope.{name}")
        module.analyze()
        package.attr_docs.update(module.attr_docs)
        package.annotations.update(module.annotations)
        package.tagorder.update(module.tagorder)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", find_fields)
    app.connect("autodoc-process-docstring", convert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
