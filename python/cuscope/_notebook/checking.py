"""``%%check``: runs a cell of Python in a cuscope.check, and shows the report below it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._checking import check
from .cells import arguments_of, parser_of, run

__all__ = ["magic"]


def _parser() -> Any:
    parser = parser_of(
        "%%check",
        description="Run the cell in a cuscope.check, and show the report.",
        epilog="Example: %%check report --stop",
    )
    parser.add_argument("name", nargs="?", help="a variable for the cuscope.CheckReport")
    parser.add_argument(
        "--stop",
        action="store_true",
        help="fail if there is an error or a warning, so that later cells do not run",
    )
    parser.add_argument(
        "--no-wait", action="store_true", help="do not wait for the simulated devices at the end of the cell"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="show no report")
    return parser


def magic(shell: Any) -> Callable[[str, str], Any]:
    parser = _parser()

    def check_cell(line: str, cell: str) -> Any:
        __tracebackhide__ = True
        from IPython import display
        from IPython.core.error import UsageError

        show: Any = display.display

        arguments = arguments_of(parser, line)
        report = None
        try:
            with check(wait=not arguments.no_wait) as report:
                value = run(shell, cell)
        finally:  # an error of a kernel ends the cell, and the report explains it
            if report is not None:
                if arguments.name:
                    shell.push({arguments.name: report})
                if not arguments.quiet:
                    show(report)
        if arguments.stop and report:
            found = len(report.errors) + len(report.warnings)
            raise UsageError(f"%%check --stop: {found} mistake{'' if found == 1 else 's'}, see the report")
        return value

    check_cell.__doc__ = parser.format_help()
    return check_cell
