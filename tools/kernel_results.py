"""Writes what a benchmark measured into the README of its topic, between the marks for results.

python benchmarks/matmul_rungs.py --json matmul.json
python tools/kernel_results.py matmul matmul.json ...
./reductions > reductions.txt
python tools/kernel_results.py reduction reductions.txt
"""

from __future__ import annotations

import argparse
import json
import re
import sys
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
    """The program prints its tables as they are wanted; tools/calibrate.py reads what this keeps of them."""
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


TOPICS = {"matmul": of_matmul, "reduction": of_reductions}


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
