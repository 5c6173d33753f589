"""``python -m cuscope trace``: runs a program as Python itself would, and shows what it did."""

from __future__ import annotations

import argparse
import builtins
import contextlib
import io
import os
import runpy
import sys
import threading
import types
import zipfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from .saving import check_path
from .trace import Trace

__all__ = ["add_arguments", "join_threads", "run", "run_program", "split"]

# Another command that runs programs.
_CHECK = str(Path(__file__).parent.parent / "_check_command.py")
_USAGE = "python -m cuscope trace [--out FILE] (SCRIPT | -m MODULE) [ARGUMENTS]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _USAGE
    parser.add_argument(
        "--out", metavar="FILE", help="save the trace: .json or .json.gz (Perfetto, Chrome), .svg"
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    # The program and its arguments do not go through argparse: split() takes them from the command line.
    parser.set_defaults(program=[])
    parser.epilog = (
        "--out may also follow the arguments of the program, if it does not stand before the program. "
        "Arguments after -- are the program's in any case."
    )


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options of the command, and the program with its arguments."""
    own: list[str] = []
    rest = list(arguments)
    module = False
    while rest and rest[0].startswith("-") and rest[0] != "--" and not module:
        option = rest.pop(0)
        module = option.startswith("-m")
        own.append(option)
        if option in ("--out", "-m") and rest:
            own.append(rest.pop(0))
    place = 0 if module else 1
    if rest and rest[0] == "--":
        return own, rest[1:]
    if any(option.split("=")[0] == "--out" for option in own):
        return own, rest
    while place < len(rest) and rest[place] != "--":
        if rest[place] == "--out" and place + 1 < len(rest):
            own[:0] = ["--out", rest[place + 1]]
            del rest[place : place + 2]
        elif rest[place].startswith("--out="):
            own[:0] = [rest.pop(place)]
        else:
            place += 1
    if place < len(rest):
        del rest[place]  # the "--"
    return own, rest


def run(options: argparse.Namespace, trace: Callable[[], AbstractContextManager[Trace]]) -> int:
    """Run the program, save its trace and print the summary to stderr; the exit code is the program's."""
    program: list[str] = options.program
    if not program and options.module is None:
        return _refuse(f"it needs a script or -m MODULE\nusage: {_USAGE}")
    if options.out is not None:
        try:
            _check_out(options.out)
        except (ValueError, OSError) as error:
            return _refuse(str(error))
    if options.module is None and not Path(program[0]).exists():
        return _refuse(f"can't open file '{program[0]}': there is no such file")
    with trace() as recorded:
        code = run_program(options.module, program, "trace")
        join_threads()
    sys.stdout.flush()
    print(f"\n{recorded}", file=sys.stderr)
    if options.out is not None:
        try:
            recorded.save(options.out)
        except OSError as error:
            print(f"FAILED: the trace could not be saved: {error}", file=sys.stderr)
            return code or 1
        print(f"\nsaved {options.out}", file=sys.stderr)
    return code


def _refuse(message: str) -> int:
    print(f"python -m cuscope trace: {message}", file=sys.stderr)
    return 2


def _check_out(name: str) -> None:
    """A program may run for long: a file that cannot be written is an error before it starts."""
    folder = check_path(name).resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"--out {name}: there is no folder '{folder}'")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"--out {name}: the folder '{folder}' cannot be written to")


def run_program(module: str | None, program: list[str], command: str) -> int:
    """The program's exit code. Its exceptions are shown as Python shows them, without the frames of the command."""
    safe_path = getattr(sys.flags, "safe_path", False)  # Python 3.11: -P
    try:
        if module is not None:
            sys.argv = [module, *program]
            if not safe_path:
                sys.path[0] = str(Path.cwd())
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            sys.argv = list(program)
            path = Path(program[0])
            if path.is_dir() or zipfile.is_zipfile(path):
                runpy.run_path(program[0], run_name="__main__")
            else:
                if not safe_path:
                    sys.path[0] = str(path.resolve().parent)
                _run_script(path.absolute())
        return 0
    except SystemExit as leave:
        return _exit_code(leave.code)
    except BaseException as error:
        return _show(error, module, command)


def _run_script(path: Path) -> None:
    """As runpy.run_path, but sys.argv[0] remains the path that was given, as Python has it."""
    main = types.ModuleType("__main__")
    vars(main).update(__file__=str(path), __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = main
    with io.open_code(str(path)) as file:
        code = compile(file.read(), str(path), "exec", dont_inherit=True)
    exec(code, vars(main))


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    sys.stdout.flush()
    print(code, file=sys.stderr)
    return 1


def _show(error: BaseException, module: str | None, command: str) -> int:
    where = error.__traceback__
    while where is not None and _is_ours(where):
        where = where.tb_next
    sys.stdout.flush()
    if where is None and module is not None and isinstance(error, ImportError):
        print(f"python -m cuscope {command}: {error}", file=sys.stderr)
        return 1
    # A package's __init__ is imported by runpy, so frames of both may alternate no more than this.
    sys.excepthook(type(error), error.with_traceback(where), where)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def _is_ours(where: types.TracebackType) -> bool:
    name = where.tb_frame.f_code.co_filename
    return name in (__file__, _CHECK, runpy.__file__, "<frozen runpy>") or name.startswith(
        "<frozen importlib"
    )


def join_threads() -> None:
    """Python waits for a program's threads before it ends, except for daemons."""
    with contextlib.suppress(KeyboardInterrupt):
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
