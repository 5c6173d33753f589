"""Runs the kernels with planted mistakes under cs.check() and compute-sanitizer, and prints where the two agree.

    python tools/planted_defects.py --jobs 2           # cs.check() alone, on a simulated device
    python tools/planted_defects.py --device cuda:0 --jobs 14 --json FILE  # compute-sanitizer as well, on this GPU
    python tools/planted_defects.py --device cuda:0 --only behind neighbour --seconds 60

The table is that of tests/checking/planted_kernels.py. cs.check() runs each kernel in its wrong and its mended form.
On a GPU, `compute-sanitizer` of the CUDA toolkit has to be on the PATH. There some kernels share a process: see
sanitizer_runs.py. The tool is the one for the kind of the mistake: memcheck for accesses out of bounds and misaligned
ones, initcheck for memory that was never written, racecheck for races, synccheck for barriers and shuffles. racecheck
sees shared memory alone, and initcheck of older toolkits global memory alone.

A line of the output has the kernel, its kind, and the answers of both. "found": at the right line; "elsewhere": at
another line, or at a line that is not known; "nothing": no finding; "no end": the kernel ran for longer than --seconds,
and there is no finding; "not launched": its process failed before. An answer ends with "!" if the mended form is not
clean. The exit status is 0 if cs.check() finds all mistakes and no others, and compute-sanitizer ran all kernels.

--json FILE writes all answers, with the first finding of compute-sanitizer for each kernel. --checked FILE takes the
answers of cs.check() from such a file: they are the same on all machines. --outputs FOLDER keeps the outputs of
compute-sanitizer; with --read as well, nothing is run, and the outputs in the folder are read. So a run on a GPU with
--run-only can be read on a machine without one.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "checking"))

import sanitizer_runs
from planted import Planted, Sources
from planted_kernels import CASES
from sanitizer_runs import Answers, Seen

import cuscope as cs

TABLE = {case.kernel: case for case in CASES}
AT_ONCE = 17  # kernels that cs.check() compiles together


def answer(found: bool, lines: set[str], wanted: set[str], clean: bool) -> str:
    text = "nothing" if not found else "found" if not wanted or lines & wanted else "elsewhere"
    return text + ("" if clean else "!")


# ---- cs.check()


class SimulatedDevice:
    """A simulated device to use. A mistake may end the work on it; then there is another one."""

    device: cs.Device | None = None

    def usable(self) -> cs.Device:
        try:
            if self.device is not None:
                self.device.synchronize()
        except cs.CudaError:
            self.device = None
        if self.device is None:
            self.device = cs.add_host_device("h200")
        return self.device


def checked(names: Sequence[str]) -> dict[str, str]:
    """The answers of cs.check() for these kernels."""
    cases = [TABLE[name] for name in names]
    sources, simulated = Sources(cases), SimulatedDevice()
    answers = {}
    for case in cases:
        reports = []
        for mended in (False, True):
            with simulated.usable():
                reports.append(sources.run(case, mended=mended))
        findings = [finding for finding in reports[0].findings if finding.kind == case.kind]
        lines = {line for finding in findings for line in (finding.line, finding.other_line)}
        wanted = {line for comment in ("here", "other") if (line := sources.line(case, comment))}
        answers[case.kernel] = answer(bool(findings), lines, wanted, not reports[1].findings)
    return answers


def all_checked(cases: Sequence[Planted], jobs: int) -> Iterator[tuple[str, str]]:
    """The answers of cs.check(), in the order of the table."""
    parts = [[case.kernel for case in cases[i : i + AT_ONCE]] for i in range(0, len(cases), AT_ONCE)]
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as processes:
        for answers in processes.map(checked, parts):
            yield from answers.items()


# ---- compute-sanitizer


def sanitized(case: Planted, seen: dict[tuple[str, str], Seen]) -> str:
    wrong = seen.get((case.kernel, "wrong"), Seen())
    mended = seen.get((case.kernel, "mended"), Seen())
    if "not launched" in (wrong.state, mended.state):
        return "not launched"
    clean = mended.state == "ended" and not mended.findings
    if wrong.state == "no end" and not wrong.findings:
        return "no end" if clean else "no end!"
    wanted = {f"{case.kernel}:{line}" for comment in ("here", "other") if (line := case.line(comment))}
    return answer(bool(wrong.findings), wrong.lines, wanted, clean)


# ---- the command line


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="host:0", help="cuda:0: ask compute-sanitizer on this GPU, too")
    parser.add_argument("--only", nargs="*", metavar="KERNEL", help="these kernels of the table")
    parser.add_argument(
        "--seconds", type=float, default=20, help="the longest that a kernel may run on a GPU"
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=3600,
        help="seconds after which compute-sanitizer launches nothing more",
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes beside each other")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the answers to this file")
    parser.add_argument(
        "--checked", type=Path, metavar="FILE", help="take the answers of cs.check() from this file"
    )
    parser.add_argument(
        "--outputs", type=Path, metavar="FOLDER", help="keep the outputs of compute-sanitizer"
    )
    parser.add_argument("--read", action="store_true", help="run nothing: read the outputs of an earlier run")
    parser.add_argument(
        "--run-only", action="store_true", help="only fill the folder of --outputs, to read it later"
    )
    for option in ("--batch", "--launch"):
        parser.add_argument(option, nargs="*", metavar="KERNEL", help=argparse.SUPPRESS)
    parser.add_argument("--form", choices=("wrong", "mended"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if unknown := {*(given.only or ()), *(given.batch or ()), *(given.launch or ())} - set(TABLE):
        parser.error(f"no such kernel: {', '.join(sorted(unknown))}")
    given.on_gpu = given.read or given.device.startswith("cuda")
    if given.jobs < 1:
        parser.error(f"--jobs {given.jobs}: it has to be 1 or more")
    if (given.read or given.run_only) and given.outputs is None:
        parser.error("--read and --run-only need --outputs FOLDER")
    if given.on_gpu and not given.read and shutil.which("compute-sanitizer") is None:
        parser.error("compute-sanitizer is not on the PATH: it comes with the CUDA toolkit")
    return given


def main() -> int:
    given = parse()
    if given.form:
        batch = [TABLE[name] for name in given.batch]
        sanitizer_runs.launch_all(batch, given.launch, given.form, given.seconds)
        return 0

    cases = [case for case in CASES if not given.only or case.kernel in given.only]
    of_gpu = Answers()
    with tempfile.TemporaryDirectory() as temporary:
        outputs = given.outputs or Path(temporary)
        if given.on_gpu and not given.read:
            program = Path(__file__).resolve()
            sanitizer_runs.Runs(
                program, given.device, outputs, seconds=given.seconds, jobs=given.jobs, limit=given.limit
            ).run(cases)
        if given.on_gpu:
            of_gpu = sanitizer_runs.answers(outputs, TABLE)
    if given.run_only:
        print(f"{len(of_gpu.seen)} launches of {2 * len(cases)}, in {given.outputs}")
        return int(len(of_gpu.seen) < 2 * len(cases))

    ours: Iterator[tuple[str, str]] = all_checked(cases, given.jobs)
    if given.checked:
        earlier = {row["kernel"]: row["check"] for row in json.loads(given.checked.read_text())["kernels"]}
        if missing := [case.kernel for case in cases if case.kernel not in earlier]:
            raise SystemExit(f"{given.checked} has no answer of cs.check() for {', '.join(missing)}")
        ours = iter([(case.kernel, earlier[case.kernel]) for case in cases])

    rows: list[dict[str, Any]] = []
    width = max(map(len, TABLE))
    for name, check in ours:
        case = TABLE[name]
        theirs = sanitized(case, of_gpu.seen) if given.on_gpu else "-"
        row: dict[str, Any] = {"kernel": name, "kind": case.kind, "check": check}
        if given.on_gpu:
            row |= {"tool": sanitizer_runs.tool_of(case), "compute-sanitizer": theirs}
            for form in ("wrong", "mended"):
                findings = of_gpu.seen.get((name, form), Seen()).findings
                row[form] = {"findings": len(findings), "first": findings[0].splitlines() if findings else []}
        rows.append(row)
        print(f"{name:<{width}}  {case.kind:<18}  {check:<10}  {theirs}", flush=True)

    pairs = collections.Counter((row["check"], row.get("compute-sanitizer", "-")) for row in rows)
    print("\ncs.check()  compute-sanitizer  kernels")
    for (check, theirs), count in sorted(pairs.items()):
        print(f"{check:<10}  {theirs:<17}  {count}")
    for message in of_gpu.other:
        print(f"\n{message}")
    if given.json:
        result = {
            "compute-sanitizer": of_gpu.version,
            "device": of_gpu.device,
            "agreement": [
                {"check": check, "compute-sanitizer": theirs, "kernels": count}
                for (check, theirs), count in sorted(pairs.items())
            ],
            "kernels": rows,
            "other messages": of_gpu.other,
        }
        given.json.write_text(json.dumps(result, indent=1) + "\n")
    return int(any(check != "found" or theirs == "not launched" for check, theirs in pairs))


if __name__ == "__main__":
    sys.exit(main())
