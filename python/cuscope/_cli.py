"""The command line: ``demo``, ``info``, ``doctor``, ``bench``, ``calibrate``, ``trace``, ``check`` and ``notebooks``.

This module parses and prints; others do the work.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import cuscope as cs
from cuscope import _check_command, _demo, _doctor, _info
from cuscope._calibration import command_line as calibration
from cuscope._check import Mismatch
from cuscope.bench import _command, _plot
from cuscope.course import command_line as course
from cuscope.tracing import command_line

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when all is well, 1 when something is wrong, 2 for a wrong command line."""
    parser = _parser()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    program: list[str] = []
    if arguments[:1] == ["trace"]:
        own, program = command_line.split(arguments[1:])
        arguments = ["trace", *own]
    elif arguments[:1] == ["check"]:
        own, program = _check_command.split(arguments[1:])
        arguments = ["check", *own]
    options = parser.parse_args(arguments)
    try:
        if options.command == "demo":
            code = _run_demo(options.device, as_json=options.json)
        elif options.command == "info":
            print(_json(_info.info()) if options.json else _info.info())
            code = 0
        elif options.command == "bench":
            code = _run_bench(options)
        elif options.command == "calibrate":
            code = calibration.run(options, cs.calibrate)
        elif options.command == "trace":
            options.program = program
            code = command_line.run(options, cs.trace)
        elif options.command == "check":
            options.program = program
            code = _check_command.run(options)
        elif options.command == "notebooks":
            code = course.run(options)
        else:
            code = _run_doctor(as_json=options.json)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of the output is gone: write nothing more, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m cuscope",
        description="The CUDA runtime from Python: on a GPU, or simulated where there is none.",
    )
    parser.add_argument("--version", action="version", version=f"cuscope {cs.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="compile a kernel, run it, check every element")
    demo.add_argument("--device", metavar="D", help="cuda:0, host:0, ... (default: the current device)")
    info = commands.add_parser("info", help="the build, the runtimes, the devices, the libraries found")
    doctor = commands.add_parser("doctor", help="check the installation, in order, with a fix for what fails")
    for command in (demo, info, doctor):
        command.add_argument("--json", action="store_true", help="print JSON")
    bench = commands.add_parser("bench", help="measure, beside other packages where they are installed")
    _command.add_arguments(bench)
    calibration.add_arguments(
        commands.add_parser("calibrate", help="measure a device into a model that can be simulated")
    )
    command_line.add_arguments(
        commands.add_parser("trace", help="run a Python program, and show what its devices did when")
    )
    _check_command.add_arguments(
        commands.add_parser("check", help="run a Python program, and report the mistakes of its kernels")
    )
    course.add_arguments(
        commands.add_parser("notebooks", help="copy the notebooks of the course to a folder")
    )
    return parser


def _run_demo(device_name: str | None, *, as_json: bool) -> int:
    try:
        device = cs.current_device() if device_name is None else cs.Device(device_name)
        report = _demo.run(device)
    except (ValueError, cs.CudaError) as error:
        if as_json:
            print(_json({"passed": False, "error": str(error)}))
        else:
            print(f"FAILED: {error}", file=sys.stderr)
        return 1
    print(_json(report.as_dict()) if as_json else report)
    return 0 if report.passed else 1


def _run_doctor(*, as_json: bool) -> int:
    checks: list[_doctor.Check] = []
    for check in _doctor.run():
        checks.append(check)
        if not as_json:
            print(check, flush=True)
    failed = sum(check.status == "failed" for check in checks)
    if as_json:
        print(_json({"ok": failed == 0, "checks": [check.as_dict() for check in checks]}))
    else:
        print(f"\n{failed} of {len(checks)} checks failed" if failed else "\nAll is well.")
    return 1 if failed else 0


def _run_bench(options: argparse.Namespace) -> int:
    try:
        report = _command.run(options)
        if options.json == "-":
            print(_json(report.as_dict()))
            return 0
        print(report)
        if options.json:
            Path(options.json).write_text(_json(report.as_dict()) + "\n")
    except (_plot.CannotPlotError, Mismatch, OSError, RuntimeError, MemoryError) as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    return 0


def _json(value: object) -> str:
    return json.dumps(value, indent=2)
