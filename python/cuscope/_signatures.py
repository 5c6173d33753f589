"""The signatures of the extension's functions, which it makes from text when a program asks for them.

The text is for example ``(n: int, *, stream: Stream | None = None) -> None``. ``tools/stubs.py`` writes the stub from the
same signatures.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from . import _core

__all__ = ["annotations_of", "names_of_types", "signature"]


class Annotation(str):
    """The text of a type, which a signature shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _annotation(node: ast.expr | None) -> Any:
    return inspect.Parameter.empty if node is None else Annotation(ast.unparse(node))


def _default(node: ast.expr | None) -> Any:
    if node is None:
        return inspect.Parameter.empty
    if isinstance(node, ast.Attribute):  # numpy.float32
        return node.attr
    return ast.literal_eval(node)


def signature(text: str, with_self: bool) -> inspect.Signature:
    """The signature of a function of the extension."""
    (function,) = ast.parse(f"def function{text}: ...").body
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    kinds = inspect.Parameter
    parameters = [kinds("self", kinds.POSITIONAL_ONLY)] if with_self else []

    def add(one: ast.arg, kind: Any, default: ast.expr | None = None) -> None:
        parameters.append(
            kinds(one.arg, kind, default=_default(default), annotation=_annotation(one.annotation))
        )

    positional = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(positional) - len(arguments.defaults))
    for at, (one, default) in enumerate(zip(positional, [*missing, *arguments.defaults], strict=True)):
        only = at < len(arguments.posonlyargs)
        add(one, kinds.POSITIONAL_ONLY if only else kinds.POSITIONAL_OR_KEYWORD, default)
    if arguments.vararg is not None:
        add(arguments.vararg, kinds.VAR_POSITIONAL)
    for one, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        add(one, kinds.KEYWORD_ONLY, keyword_default)
    if arguments.kwarg is not None:
        add(arguments.kwarg, kinds.VAR_KEYWORD)
    return inspect.Signature(parameters, return_annotation=_annotation(function.returns))


def annotations_of(known: inspect.Signature) -> dict[str, str]:
    """The ``__annotations__`` of a function with this signature."""
    types = {one.name: one.annotation for one in known.parameters.values()}
    types["return"] = known.return_annotation
    return {name: str(text) for name, text in types.items() if text is not inspect.Parameter.empty}


def names_of_types() -> dict[str, Any]:
    """The names in annotations: ``typing.get_type_hints`` evaluates them in this namespace."""
    import collections.abc
    import os
    import types
    import typing

    import numpy as np
    import numpy.typing as npt

    from . import _profiling, _protocols

    names: dict[str, Any] = {"numpy": np, "PathLike": os.PathLike}
    for module in (collections.abc, typing, types, npt, _profiling, _protocols, _core):
        names |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return names
