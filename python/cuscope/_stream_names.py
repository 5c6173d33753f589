"""What a program calls its streams, from the lines that made them."""

from __future__ import annotations

import ast
import linecache
import textwrap

__all__ = ["name_of_stream"]

_MOST_LINES = 12


def name_of_stream(made_at: str, nth: int) -> str:
    """The name of the stream that this line was the ``nth`` to make: 'copies', 'streams[2]'; empty if it is not clear."""
    file, _, number = made_at.rpartition(":")
    if not file or not number.isdecimal():
        return ""
    statement = _statement(file, int(number))
    if statement is None:
        return ""
    names = _names(statement)
    if isinstance(names, list):
        return names[nth % len(names)] if names else ""
    return f"{names}[{nth}]"


def _statement(file: str, line: int) -> ast.stmt | None:
    text = ""
    for number in range(line, line + _MOST_LINES):
        text += linecache.getline(file, number)
        source = textwrap.dedent(text)
        if source.rstrip().endswith(":"):
            source = source.rstrip() + " pass"
        try:
            body = ast.parse(source).body
        except SyntaxError:
            continue
        return body[0] if body else None
    return None


def _names(statement: ast.stmt) -> list[str] | str:
    """The names of the streams in the order in which they are made; or that of a list of them."""
    if isinstance(statement, ast.With):
        return [ast.unparse(item.optional_vars) for item in statement.items if item.optional_vars is not None]
    target: ast.expr
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    elif isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
    else:
        return []
    if isinstance(target, ast.Tuple | ast.List):
        if isinstance(value, ast.Tuple | ast.List):
            pairs = zip(target.elts, value.elts, strict=False)
            return [ast.unparse(name) for name, made in pairs if _makes_stream(made)]
        return [ast.unparse(name) for name in target.elts]
    if isinstance(value, ast.Call):
        return [ast.unparse(target)]
    return ast.unparse(target)


def _makes_stream(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and "Stream" in ast.unparse(value.func)
