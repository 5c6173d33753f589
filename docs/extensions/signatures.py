"""Signatures as the stub and the sources write them: `DTypeLike` instead of the long union that it stands for."""

import ast
import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args, get_origin

from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

import cuscope

STUB = Path(cuscope.__file__).with_name("_core.pyi")


ALIAS = re.compile(r"(?<=: )[A-Z]\w+")


def spelled_out(name: str, names: Mapping[str, object]) -> str:
    """The values of a Literal of the function's module; any other name as it is."""
    value = names.get(name)
    return f"Literal{list(get_args(value))}" if get_origin(value) is Literal else name


def of_function(function: ast.FunctionDef) -> tuple[str, str]:
    arguments = function.args
    for positional in (arguments.posonlyargs, arguments.args):
        if positional and positional[0].arg == "self":
            del positional[0]
    returned = ast.unparse(function.returns) if function.returns else ""
    return f"({ast.unparse(arguments)})", "" if function.name == "__init__" else returned


def of_stub() -> dict[str, tuple[str, str]]:
    """The arguments and the result of each function, method and constructor, by its public name."""
    found = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = of_function(node)
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    name = node.name if method.name == "__init__" else f"{node.name}.{method.name}"
                    found[name] = of_function(method)
    return found


COMPILED = of_stub()


def replace(
    app: Sphinx, kind: str, name: str, value: object, options: object, arguments: str, returned: str
) -> tuple[str, str] | None:
    short = name.removeprefix("cuscope.")
    if kind == "property":
        return None
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        if kind == "method" and not isinstance(
            inspect.getattr_static(owner(name), value.__name__), staticmethod
        ):
            parameters = list(signature.parameters.values())[1:]
            signature = signature.replace(parameters=parameters)
        text = stringify_signature(signature, unqualified_typehints=True).replace("npt.", "")
        arguments, _, returned = text.rpartition(" -> ")
        return ALIAS.sub(lambda found: spelled_out(found[0], value.__globals__), arguments), returned
    if short in COMPILED:
        return COMPILED[short]
    return None


def owner(name: str) -> object:
    value: object = cuscope
    for part in name.split(".")[1:-1]:
        value = getattr(value, part)
    return value


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-signature", replace)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
