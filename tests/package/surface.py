"""The public surface as text: the names of cuscope.__all__ and the members of public classes, with their signatures (names
and defaults of the parameters; the stub has their types) and a hash of the examples in their docstrings.

surface.txt beside this file is the record of it, which test_surface.py compares. After a change of the surface that you
mean to make, write the record again: python tests/package/surface.py
"""

from __future__ import annotations

import doctest
import hashlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cuscope as cs

RECORD = Path(__file__).with_name("surface.txt")
RENEW = "python tests/package/surface.py"
# Attributes that every class has, or that only Python or pybind11 uses.
# Python adds __annotations__ to a class when somebody, for example IPython, asks for them.
INTERNAL = {
    "__annotations__",
    "__annotations_cache__",  # the same on Python 3.14
    "__doc__",
    "__init__",
    "__module__",
    "__new__",
    "__signature__",
    "_pybind11_conduit_v1_",
}


def examples(doc: str | None) -> str:
    """' examples 1a2b3c4d' for a docstring with examples, else ''."""
    parts = [one.source + one.want for one in doctest.DocTestParser().get_examples(doc or "")]
    return f"  examples {hashlib.sha256(''.join(parts).encode()).hexdigest()[:8]}" if parts else ""


def parameters(function: Any) -> str:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return ""  # a class that only cuscope makes objects of
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(inspect.Signature(bare))


def is_extension_type(type_: type) -> bool:
    return type(type_) is not type


def members(type_: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(type_).items():
        special = name.startswith("_")
        if name in INTERNAL or (special and not is_extension_type(type_) and name != "__call__"):
            continue
        if value is not None:
            yield name, value


def described(name: str, value: Any) -> str:
    """One line for a member of a class."""
    function = value.__func__ if isinstance(value, staticmethod) else value
    doc = examples(function.__doc__)
    if isinstance(value, property):
        return f"{name}: property{', settable' if value.fset is not None else ''}{doc}"
    if isinstance(value, staticmethod):
        return f"{name}{parameters(function)}: static{doc}"
    if callable(value) or inspect.isroutine(value):
        return f"{name}{parameters(value)}{doc}"
    return f"{name}: attribute"


def lines() -> Iterator[str]:
    for name in sorted(cs.__all__):
        value = getattr(cs, name)
        if not isinstance(value, type):
            kind = (
                f"{name}{parameters(value)}"
                if inspect.isroutine(value)
                else f"{name}: {type(value).__name__}"
            )
            yield kind + (examples(value.__doc__) if callable(value) else "")
            continue
        bases = ", ".join(base.__name__ for base in value.__bases__ if base.__module__ != "pybind11_builtins")
        yield f"class {name}{f'({bases})' if bases not in ('', 'object') else ''}{examples(value.__doc__)}"
        if constructor := parameters(value):
            yield f"    {name}{constructor}"
        for line in sorted(described(*one) for one in members(value)):
            yield f"    {line}"


def text() -> str:
    return "\n".join([*lines(), ""])


if __name__ == "__main__":
    RECORD.write_text(text())
