"""Compares cs.check() with an oracle, over random kernels on a simulated device.

    python tools/random_checks.py --count 3000 --seed 1

The kernels have random accesses to global and shared memory, barriers, overruns, and reads of memory that was never
written. tests/checking/random_kernels.py draws them and computes their mistakes in Python. A mistake is missed if no
finding explains a byte that races, and invented if the oracle does not know it. The same seed draws the same kernels.
The exit status is 0 if the check and the oracle agree on all of them, otherwise 1.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "checking"))

from random_kernels import checked, differences, random_kernel

import cuscope as cs

IN_ONE_SOURCE = 50


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000, help="the number of kernels")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.count < 1:
        parser.error(f"--count is at least 1, not {given.count}")
    seen: collections.Counter[str] = collections.Counter()
    wrong = 0
    began = time.monotonic()
    with cs.Device("host:0"):
        for first in range(0, given.count, IN_ONE_SOURCE):
            numbers = range(first, min(first + IN_ONE_SOURCE, given.count))
            kernels = [random_kernel(given.seed * 1_000_000 + n, f"kernel_{n}") for n in numbers]
            for number, (kernel, report, begin) in zip(numbers, checked(kernels), strict=True):
                seen.update({finding.kind for finding in report.findings} or {"no mistake"})
                if found := differences(kernel, report, begin):
                    wrong += 1
                    print(f"kernel {number}:", *found, kernel.source(), report, sep="\n", flush=True)
    kinds = ", ".join(f"{kind}: {count}" for kind, count in sorted(seen.items()))
    print(f"{given.count} kernels in {time.monotonic() - began:.0f} s; kernels with {kinds}")
    print(f"{wrong} kernels on which the check and the oracle differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
