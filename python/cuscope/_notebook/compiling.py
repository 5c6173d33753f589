"""``%%cuda``: compiles a cell of CUDA C++, and puts its kernels into the notebook's names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .. import _core
from .._errors import CompileError
from .cells import arguments_of, line_of_body, parser_of

__all__ = ["magic"]


def _parser() -> Any:
    parser = parser_of(
        "%%cuda",
        description="Compile the cell as CUDA C++. Its kernels become variables of the notebook.",
        epilog="Example: %%cuda mod -D N=4 --std c++17",
    )
    add = parser.add_argument
    add("name", nargs="?", help="a variable for the cuscope.Module, for templates and symbols")
    add("--device", help="where the kernels run: host:0, cuda:0, ...; default: the current device")
    add("--std", help="the C++ standard, such as c++17")
    add("-D", "--define", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro")
    add("-I", "--include", action="append", default=[], metavar="FOLDER", help="search it for #include")
    add(
        "-i",
        "--instance",
        action="append",
        default=[],
        metavar="EXPRESSION",
        help="an instance of a template to compile, such as 'scale<float>'",
    )
    add(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="OPTION",
        help="an option for the compiler: --option=-O3",
    )
    add("--no-cache", action="store_true", help="compile even if the cache has the kernels")
    return parser


def magic(shell: Any) -> Callable[[str, str], None]:
    parser = _parser()

    def cuda(line: str, cell: str) -> None:
        arguments = arguments_of(parser, line)
        name = arguments.name
        # The compiler counts the lines of the cell, so that its messages name them.
        above = line_of_body(shell, cell) - 1
        try:
            module = _core.Module(
                "\n" * above + cell,
                name_expressions=[_unquoted(one) for one in arguments.instance],
                options=[
                    *([f"-std={arguments.std}"] if arguments.std else []),
                    *(f"-D{_unquoted(one)}" for one in arguments.define),
                    *map(_unquoted, arguments.option),
                ],
                include_paths=list(map(_unquoted, arguments.include)),
                file_name=f"cell {name}" if name else "cell",
                cache=not arguments.no_cache,
                device=_core.Device(arguments.device) if arguments.device else None,
            )
        except CompileError as error:
            shown = _message(error)
            # IPython shows these lines in place of the traceback, which would be that of this package.
            error._render_traceback_ = lambda: shown  # type: ignore[attr-defined]
            raise
        if module.log.strip():
            print(module.log.rstrip(), file=sys.stderr)  # noqa: T201 - warnings, below the cell
        made = {one: module[one] for one in module.kernels if one.isidentifier()}
        shell.push({**made, **({name: module} if name else {})})

    cuda.__doc__ = parser.format_help()
    return cuda


def _unquoted(text: str) -> str:
    """IPython leaves the quotes around an argument."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _message(error: CompileError) -> list[str]:
    where = str(error.detail or error).partition("\n")[0]
    return [f"CompileError: {where}", error.log.rstrip()]
