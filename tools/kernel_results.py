"""Writes the results of a benchmark into the README of its topic, between the marks for results.

    python benchmarks/matmul_rungs.py --json matmul.json
    python tools/kernel_results.py matmul matmul.json ...
    ./reductions > reductions.txt
    python tools/kernel_results.py reduce_ladder reductions.txt
    python benchmarks/topics.py --json benchmarks/results/h200_topics.json
    python tools/kernel_results.py vec_add benchmarks/results/h200_topics.json

The last command also takes transpose, memory_walks and averaging.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

KERNELS = Path(__file__).resolve().parent.parent / "cuda_kernels"
RESULTS = KERNELS.parent / "benchmarks" / "results"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def of_matmul(paths: list[Path]) -> str:
    """A table for each element type: a row for each kernel, a column for each size."""
    groups: dict[str, dict[str, dict[int, tuple[float, float]]]] = {}
    for path in paths:
        for group, rows in json.loads(path.read_text())["rows"].items():
            for size, name, rate, ratio in rows:
                groups.setdefault(group, {}).setdefault(name, {})[size] = (rate, ratio)
    tables = []
    for group, rows in groups.items():
        sizes = sorted({size for row in rows.values() for size in row})
        lines = [
            f"| {group}: TFLOP/s (of the peer's) | " + " | ".join(f"n = {size}" for size in sizes) + " |",
            "|---" * (len(sizes) + 1) + "|",
        ]
        for name, row in rows.items():
            cells = [f"{row[size][0]:.1f} ({row[size][1]:.2f})" if size in row else "" for size in sizes]
            lines.append(
                f"| `{name}` | " + " | ".join(cells) + " |"
                if "<" in name
                else f"| {name} | " + " | ".join(cells) + " |"
            )
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def of_reductions(paths: list[Path]) -> str:
    """The program prints its own tables; this keeps their numbers in a file for tools/predicted_times.py."""
    text = "\n".join(path.read_text() for path in paths)
    found = re.search(r"^The ladder, (.*)$\n+((?:^\|.*$\n?)+)", text, re.MULTILINE)
    if found is None:
        raise SystemExit("there is no table of the ladder in this text")
    head, _, *rungs = ([cell.strip() for cell in line.split("|")[1:-1]] for line in found[2].splitlines())
    rows: list[tuple[str, int, float]] = []
    for name, *cells in rungs:
        for power, cell in zip(head[1:], cells, strict=True):
            rows.append((name.partition(" ")[0], 1 << int(power[2:]), float(cell.partition(" ")[0])))
    sums = re.search(r"^Sum of float32$\n+((?:^\|.*$\n?)+)", text, re.MULTILINE)
    if sums is None:
        raise SystemExit("there is no table of sums in this text")
    for line in sums[1].splitlines()[2:]:
        power, ours, *_ = (cell.strip() for cell in line.split("|")[1:-1])
        rows.append(("single_launch", 1 << int(power[2:]), float(ours)))
    device = re.search(r"^(.*?), \d+ multiprocessors", text, re.MULTILINE)
    kept = {
        "device": device[1] if device else "",
        "what": "benchmarks/cpp/reductions.cu, float32 sums, microseconds",
    }
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    (RESULTS / "h200_reductions.json").write_text(f'{json.dumps(kept)[:-1]}, "rows": [\n  {lines}]}}\n')
    return f"{found[1][0].upper()}{found[1][1:]}:\n\n{found[2].strip()}"


def rows_of_topic(topic: str, paths: list[Path]) -> list[tuple[int, str, float, float, float]]:
    rows = []
    for path in paths:
        report = json.loads(path.read_text())
        if report["simulated"]:
            raise SystemExit(f"{path} has simulated times: the READMEs tell what a GPU took")
        rows += report["topics"].get(topic, [])
    if not rows:
        raise SystemExit(f"there is nothing about {topic} in {', '.join(map(str, paths))}")
    return rows


def beside_a_copy(topic: str, size_of: Callable[[int], str], paths: list[Path]) -> str:
    """A row for each rung, a column for each size; the copy last."""
    rows = rows_of_topic(topic, paths)
    cells = {(name, size): f"{rate:.0f} ({share:.2f})" for size, name, _, rate, share in rows}
    sizes = sorted({size for size, *_ in rows})
    names = sorted({name for _, name, *_ in rows}, key=lambda name: (name == "copy", name))
    return "\n".join(
        [
            "What is read and written a second, and in brackets the share of what a copy of as many bytes within",
            "the device reached in the same rounds.",
            "",
            f"| floats: GB/s (of a copy's) | {' | '.join(map(size_of, sizes))} |",
            "|---" * (len(sizes) + 1) + "|",
            *(f"| {name} | {' | '.join(cells.get((name, size), '') for size in sizes)} |" for name in names),
        ]
    )


def of_averaging(paths: list[Path]) -> str:
    return "\n".join(
        [
            "| 20 chunks of 2^20 integers, there and back | ms | GB/s |",
            "|---|---|---|",
            *(
                f"| {name} | {microseconds / 1e3:.2f} | {rate:.1f} |"
                for _, name, microseconds, rate, _ in rows_of_topic("averaging", paths)
            ),
        ]
    )


def power(n: int) -> str:
    return f"2^{n.bit_length() - 1}"


def square(n: int) -> str:
    return f"{n} x {n}"


TOPICS: dict[str, Callable[[list[Path]], str]] = {
    "matmul": of_matmul,
    "reduce_ladder": of_reductions,
    "vec_add": partial(beside_a_copy, "vec_add", power),
    "transpose": partial(beside_a_copy, "transpose", square),
    "memory_walks": partial(beside_a_copy, "memory_walks", square),
    "averaging": of_averaging,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("topic", choices=TOPICS)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--where", default="on an NVIDIA H200", help="what the figures are called")
    options = parser.parse_args()
    readme = KERNELS / options.topic / "README.md"
    before, begin, rest = readme.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"{readme} has no marks for results", file=sys.stderr)
        return 1
    table = TOPICS[options.topic](options.results)
    readme.write_text(f"{before}{begin}\nMeasured {options.where}.\n\n{table}\n{end}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
