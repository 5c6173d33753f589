"""``python -m cuscope check``: runs a program as Python itself would, and reports the mistakes of its kernels."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import _checking
from .tracing import command_line as programs

__all__ = ["add_arguments", "run", "split"]

_USAGE = "python -m cuscope check (SCRIPT | -m MODULE) [ARGUMENTS]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _USAGE
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    # The program and its arguments do not go through argparse: split() takes them from the command line.
    parser.set_defaults(program=[])
    parser.epilog = (
        "The exit code is the program's, and 1 if the program ends with 0 but has an error or a warning. "
        "Kernels of simulated devices are checked: without a GPU, all; with one, set CUSCOPE_DEVICE=host:0."
    )


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The options of the command, and the program with its arguments."""
    if arguments[:1] == ["-m"]:
        return arguments[:2], arguments[2:]
    if arguments[:1] and arguments[0].startswith("-"):
        return list(arguments), []  # argparse shows the help, or refuses the option
    return [], arguments


def run(options: argparse.Namespace) -> int:
    """Run the program and print the report to stderr."""
    program: list[str] = options.program
    if not program and options.module is None:
        return _refuse(f"it needs a script or -m MODULE\nusage: {_USAGE}")
    if options.module is None and not Path(program[0]).exists():
        return _refuse(f"can't open file '{program[0]}': there is no such file")
    with _checking.check() as report:
        code = programs.run_program(options.module, program, "check")
        programs.join_threads()
    sys.stdout.flush()
    print(f"\ncuscope check: {report}", file=sys.stderr)
    return code or int(bool(report))


def _refuse(message: str) -> int:
    print(f"python -m cuscope check: {message}", file=sys.stderr)
    return 2
