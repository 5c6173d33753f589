"""Runs the Python of a cell as IPython would: the value of the last expression is the value of the cell."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["arguments_of", "line_of_body", "parser_of", "run"]


def parser_of(name: str, **about: Any) -> Any:
    """A parser of a magic's line. A wrong line is IPython's UsageError, which is shown without a traceback."""
    from IPython.core import magic_arguments

    made: Any = magic_arguments
    return made.MagicArgumentParser(prog=name, **about)


def arguments_of(parser: Any, line: str) -> Any:
    """The arguments of a magic's line. A name that no variable can have is refused."""
    from IPython.core.error import UsageError

    arguments = parser.parse_argstring(line)
    if arguments.name is not None and not arguments.name.isidentifier():
        raise UsageError(f"{parser.prog}: {arguments.name!r} cannot be the name of a variable")
    return arguments


def _history(shell: Any) -> list[str]:
    """The cells that have been run, as you wrote them. The last one is running."""
    return getattr(shell.history_manager, "input_hist_raw", None) or [""]


def line_of_body(shell: Any, body: str) -> int:
    """The number of the line of the cell, counted from 1, where the text below the magic's line begins.

    Blank lines may stand above the magic, but IPython does not pass them on.
    """
    above, found, _ = _history(shell)[-1].rpartition(body.rstrip())
    return above.count("\n") + 1 if found and above.lstrip().startswith("%%") else 2


def run(shell: Any, body: str) -> Any:
    """Run the cell, and return the value of its last expression; None if there is none.

    IPython leaves functions with __tracebackhide__ out of tracebacks.
    """
    __tracebackhide__ = True
    # transform_cell() drops the blank lines at the beginning.
    blank = body[: len(body) - len(body.lstrip())].count("\n")
    text = "\n" * (line_of_body(shell, body) - 1 + blank) + shell.transform_cell(body)
    name = shell.compile.cache(text, len(_history(shell)) - 1, raw_code=text)
    tree = shell.transform_ast(ast.parse(text, name))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(shell.compile(tree, name, "exec"), shell.user_ns)
    if last is None:
        return None
    return eval(shell.compile(ast.Expression(last.value), name, "eval"), shell.user_ns)
