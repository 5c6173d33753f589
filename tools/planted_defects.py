"""Runs the kernels with planted mistakes under cs.check() and compute-sanitizer, and prints where the two agree.

    python tools/planted_defects.py                    # cs.check() alone, on a simulated device
    python tools/planted_defects.py --device cuda:0    # compute-sanitizer as well, on this GPU
    python tools/planted_defects.py --device cuda:0 --only behind neighbour --seconds 60

The table is that of tests/checking/planted_kernels.py. cs.check() runs each kernel in its wrong and its mended form.
On a GPU, `compute-sanitizer` of the CUDA toolkit has to be on the PATH. There each form runs in a process of its own,
since a mistake may end the work on the device. The tool is the one for the kind of the mistake: memcheck for accesses
out of bounds and misaligned ones, initcheck for memory that was never written, racecheck for races, synccheck for
barriers and shuffles. That takes some seconds for each kernel. racecheck sees shared memory alone, and memcheck sees no
access that reaches another allocation, so only cs.check() finds such mistakes.

A line of the output has the kernel, its kind, and the answers of both. "found": at the right line; "elsewhere": at
another line, or at a line that is not known; "nothing": no finding; "no end": the kernel ran for longer than --seconds.
An answer ends with "!" if the mended form is not clean. The exit status is 0 if cs.check() finds all mistakes and no
others.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "checking"))

from planted import ABSENT, BARRIER, NEVER, RACE, Planted, Sources
from planted_kernels import CASES

import cuscope as cs

SOURCES = Sources(CASES)
TOOLS = {NEVER: "initcheck", RACE: "racecheck", BARRIER: "synccheck", ABSENT: "synccheck"}  # others: memcheck
COMPILED = "planted.cu is compiled"
ERRORS = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)")


def answer(found: bool, lines: set[str], case: Planted, clean: bool) -> str:
    wanted = {line for comment in ("here", "other") if (line := SOURCES.line(case, comment))}
    text = "nothing" if not found else "found" if not wanted or lines & wanted else "elsewhere"
    return text + ("" if clean else "!")


def checked(case: Planted) -> str:
    """The answer of cs.check(), on a new simulated device for each form, because a mistake may end the work on it."""
    reports = []
    for mended in (False, True):
        with cs.add_host_device("h200"):
            reports.append(SOURCES.run(case, mended=mended))
    findings = [finding for finding in reports[0].findings if finding.kind == case.kind]
    lines = {line for finding in findings for line in (finding.line, finding.other_line)}
    return answer(bool(findings), lines, case, not reports[1].findings)


def sanitized(case: Planted, device: str, seconds: float) -> str:
    """The answer of compute-sanitizer, on a GPU."""
    tool = TOOLS.get(case.kind, "memcheck")
    outputs: list[str | None] = []  # None: no end
    for form in ("wrong", "mended"):
        command = [
            *("compute-sanitizer", "--tool", tool, "--target-processes", "application-only"),
            # Calls of the driver that the runtime asks and that fail are no mistakes of the kernel.
            *(("--report-api-errors", "no") if tool == "memcheck" else ()),
            *(sys.executable, __file__, "--run", case.kernel, "--form", form),
        ]
        environment = {**os.environ, "CUSCOPE_DEVICE": device}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            outputs.append(None)
            continue
        outputs.append(done.stdout + done.stderr)
    wrong, mended = outputs
    clean = mended is not None and errors_in(mended) == 0
    if wrong is None:
        return "no end" if clean else "no end!"
    return answer(errors_in(wrong) > 0, set(re.findall(r"planted\.cu:\d+", wrong)), case, clean)


def errors_in(output: str) -> int:
    found = ERRORS.search(output)
    if found is None or COMPILED not in output:
        raise SystemExit(f"the kernel was not launched, or compute-sanitizer has no summary:\n{output}")
    return int(found[1])


def run(name: str, form: str) -> int:
    """Launch one kernel on the current device, for compute-sanitizer."""
    case = next(case for case in CASES if case.kernel == name)
    SOURCES.module(mended=form == "mended")
    print(COMPILED, flush=True)
    try:
        SOURCES.launch(case, mended=form == "mended")
        cs.synchronize()
    except cs.CudaError as error:
        print(error)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="host:0", help="cuda:0: ask compute-sanitizer on this GPU, too")
    parser.add_argument("--only", nargs="*", metavar="KERNEL", help="these kernels of the table")
    parser.add_argument(
        "--seconds", type=float, default=120, help="the longest that a kernel may run on a GPU"
    )
    parser.add_argument("--run", metavar="KERNEL", help=argparse.SUPPRESS)
    parser.add_argument("--form", choices=("wrong", "mended"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        return run(given.run, given.form)
    names = {case.kernel for case in CASES}
    if unknown := set(given.only or ()) - names:
        parser.error(f"--only: no such kernel: {', '.join(sorted(unknown))}")
    on_gpu = not cs.Device(given.device).simulated
    if on_gpu and shutil.which("compute-sanitizer") is None:
        parser.error("compute-sanitizer is not on the PATH: it comes with the CUDA toolkit")

    pairs: collections.Counter[tuple[str, str]] = collections.Counter()
    width = max(map(len, names))
    for case in CASES:
        if given.only and case.kernel not in given.only:
            continue
        ours = checked(case)
        theirs = sanitized(case, given.device, given.seconds) if on_gpu else "-"
        pairs[ours, theirs] += 1
        print(f"{case.kernel:<{width}}  {case.kind:<18}  {ours:<10}  {theirs}", flush=True)
    print("\ncs.check()  compute-sanitizer  kernels")
    for (ours, theirs), count in sorted(pairs.items()):
        print(f"{ours:<10}  {theirs:<17}  {count}")
    return int(any(ours != "found" for ours, _ in pairs))


if __name__ == "__main__":
    sys.exit(main())
