"""``%%trace``: runs a cell of Python in a cuscope.trace, and shows the picture below it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tracing.recording import trace
from .cells import arguments_of, parser_of, run

__all__ = ["magic"]


def _parser() -> Any:
    parser = parser_of(
        "%%trace",
        description="Run the cell in a cuscope.trace, and show its picture.",
        epilog="Example: %%trace t --show streams,engines",
    )
    parser.add_argument("name", nargs="?", help="a variable for the cuscope.tracing.Trace")
    parser.add_argument(
        "--show", help="the parts of the picture: ranges, calls, streams, engines, separated by commas"
    )
    parser.add_argument(
        "--no-wait", action="store_true", help="do not wait for the work at the end of the cell"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="show no picture")
    return parser


def _show(display: Any, svg: str) -> None:
    display.display(display.HTML(f"<div>{svg}</div>"))


def magic(shell: Any) -> Callable[[str, str], Any]:
    parser = _parser()

    def trace_cell(line: str, cell: str) -> Any:
        __tracebackhide__ = True
        from IPython import display
        from IPython.core.error import UsageError

        from ..tracing.rows import sections_of

        arguments = arguments_of(parser, line)
        show = arguments.show.split(",") if arguments.show else None
        try:
            sections_of(show)
        except ValueError as error:
            raise UsageError(f"%%trace: --{error}") from None
        made = None
        try:
            with trace(wait=not arguments.no_wait) as made:
                value = run(shell, cell)
        finally:  # the trace of a cell that fails shows where it came to
            if made is not None:
                if arguments.name:
                    shell.push({arguments.name: made})
                if not arguments.quiet:
                    _show(display, made.svg(show))
        return value

    trace_cell.__doc__ = parser.format_help()
    return trace_cell
