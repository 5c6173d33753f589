"""Writes the report of tools/gpu_check.sh from the outputs of its steps: gpu_report.py FOLDER."""

from __future__ import annotations

import collections
import datetime as dt
import json
import os
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any


class Steps:
    """The steps' outputs, exit codes and times."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def output(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace").strip() if path.exists() else ""

    def verdict(self, name: str) -> str:
        path = self.folder / f"{name}.result"
        if not path.exists():
            return "not run"
        code, seconds, seen_at = path.read_text().split()
        words = {"0": "passed", "124": "out of time", "127": "not there", "137": "out of time"}
        verdict = f"{words.get(code, f'failed (exit code {code})')}, {seconds} s"
        return verdict if seen_at == commit() else f"{verdict} (at commit {seen_at})"

    def values(self, name: str) -> dict[str, Any]:
        text = self.output(name)
        try:
            found: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
        except ValueError:
            return {}
        return found


def commit() -> str:
    return os.environ.get("COMMIT", "unknown")


def tests(steps: Steps) -> list[str]:
    lines: list[str] = []
    cases: list[ET.Element] = []
    for name in ("pytest_cuda", "pytest_cuda_memory", "pytest_cuda_times", "pytest_rest"):
        lines += [f"- {name}: {steps.verdict(name)}"]
        path = steps.folder / f"{name.replace('pytest', 'junit')}.xml"
        if path.exists():
            cases += ET.parse(path).iter("testcase")
        else:
            lines += ["", "It left no results. The end of what it printed:", "", *tail(steps, name), ""]
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    reasons: collections.Counter[str] = collections.Counter()
    broken: list[str] = []
    for case in cases:
        name = f"{case.get('classname')}::{case.get('name')}"
        where = next((device for device in ("cuda:0", "host:0") if device in name), "no device")
        if case.find("failure") is not None or case.find("error") is not None:
            counts[where]["failed"] += 1
            broken.append(name)
        elif (skipped := case.find("skipped")) is not None:
            counts[where]["skipped"] += 1
            reasons[skipped.get("message") or "no reason given"] += 1
        else:
            counts[where]["passed"] += 1
    lines += ["", "| | passed | failed | skipped |", "|---|---|---|---|"]
    total: collections.Counter[str] = collections.Counter()
    for where in sorted(counts):
        total.update(counts[where])
        lines.append(
            f"| {where} | {counts[where]['passed']} | {counts[where]['failed']} | {counts[where]['skipped']} |"
        )
    lines.append(f"| all | {total['passed']} | {total['failed']} | {total['skipped']} |")
    if broken:
        lines += ["", "Failed:", "", *(f"- `{name}`" for name in broken[:60])]
        lines += [f"- and {len(broken) - 60} more"] if len(broken) > 60 else []
    if reasons:
        lines += [
            "",
            "Skipped, because:",
            "",
            *(f"- {count}: {reason}" for reason, count in reasons.most_common()),
        ]
    return lines


def tail(steps: Steps, name: str, lines: int = 25) -> list[str]:
    return ["```", *(steps.output(name).splitlines()[-lines:] or ["(nothing)"]), "```"]


def checker(steps: Steps, name: str) -> list[str]:
    output = steps.output(name)
    summary = re.findall(r"^=+ ((?:ERROR|RACECHECK) SUMMARY: .*)$", output, re.MULTILINE)
    counts = re.findall(r"^.*\b\d+ passed.*$", output, re.MULTILINE)
    lines = [
        f"- {name}: {steps.verdict(name)}; {summary[-1] if summary else 'no summary'}; {counts[-1] if counts else 'no tests'}"
    ]
    if not steps.verdict(name).startswith("passed"):
        lines += ["", *tail(steps, name), ""]
    return lines


def report(steps: Steps) -> str:
    info, demo = steps.values("info"), steps.values("demo")
    build = info.get("build", {})
    lines = [
        "# What was seen on a GPU",
        "",
        "Written by `tools/gpu_check.sh`; times are those of the one machine that it ran on.",
        "",
        f"- commit: {commit()}",
        f"- date: {dt.datetime.now(dt.timezone.utc):%Y-%m-%d}",
        f"- GPU, driver, compute capability, memory: {steps.output('gpu') or 'nvidia-smi said nothing'}",
        f"- CUDA: {build.get('cuda_reason', 'unknown')}; C++: {build.get('cxx_compiler', 'unknown')}",
        f"- Python: {info.get('python', 'unknown').split(' ')[0]}, NumPy {info.get('numpy', 'unknown')}",
        f"- build: {steps.verdict('build')}",
        f"- `python -m cuscope doctor`: {steps.verdict('doctor')}",
        f"- `python -m cuscope demo --device cuda:0`: {steps.verdict('demo')}"
        + "".join(f"; {step['name']} {step['milliseconds']:.4f} ms" for step in demo.get("steps", [])),
        "",
    ]
    for name in ("build", "doctor", "demo"):
        if not steps.verdict(name).startswith("passed"):
            lines += [f"The end of what `{name}` printed:", "", *tail(steps, name), ""]
    lines += ["## Tests", "", *tests(steps), "", "## compute-sanitizer", ""]
    tools = ("memcheck", "initcheck", "racecheck", "synccheck")
    checkers = [path.stem for tool in tools for path in sorted(steps.folder.glob(f"{tool}*.result"))]
    for name in checkers or tools:
        lines += checker(steps, name)
    lines += ["", "## Call costs", ""]
    lines += [f"`benchmarks/calls.py`: {steps.verdict('calls')}", "", *tail(steps, "calls"), ""]
    lines += ["## Graphs", "", f"`benchmarks/graphs.py`: {steps.verdict('graphs')}", ""]
    lines += [*tail(steps, "graphs", 40), ""]
    for title, name, program in (
        ("The pieces of a call", "pieces", "pieces"),
        ("Operations, called", "operations", "operations"),
        ("Reductions of many shapes and dtypes", "reduction_shapes", "reductions"),
        ("Copies", "copies", "copies"),
    ):
        lines += [f"## {title}", "", f"`benchmarks/{program}.py`: {steps.verdict(name)}", ""]
        lines += [*tail(steps, name, 80), ""]
    for name in ("call_costs_build", "graph_costs_build", "copy_rates_build", "reductions_build"):
        if not steps.verdict(name).startswith("passed"):
            lines += ["A C++ program was not built:", "", *tail(steps, name), ""]
    lines += [
        "## Reductions beside CUB",
        "",
        f"`benchmarks/cpp/reductions.cu`: {steps.verdict('reductions')}",
        "",
    ]
    lines += [steps.output("reductions") or "(nothing)", ""]
    for name in ("matmul", "reduce"):
        step = f"bench_{name}"
        lines += [f"## `python -m cuscope bench {name}`", "", f"{steps.verdict(step)}", ""]
        lines += [*tail(steps, step, 50), ""]
    lines += ["## The simulated device on this machine", ""]
    lines += [
        f"`benchmarks/host.py`: {steps.verdict('host_benchmark')}",
        "",
        *tail(steps, "host_benchmark"),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(report(Steps(Path(sys.argv[1]))))
