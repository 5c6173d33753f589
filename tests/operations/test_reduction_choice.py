"""The plans of reductions over an axis, held against the times that an H200 took for random shapes.

Each time is the mean of two measurements (of rows, one), each the median of five rounds of eight launches between two events (four of
large arrays). As in calls from Python, a launch may begin early. The launches of a round read different data, so arrays
above an eighth of the L2 cache come from memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reduction_plans import instance, planned, planned_axis

MEASURED = json.loads(Path(__file__).with_name("reduction_times_h200.json").read_text())
MULTIPROCESSORS = 132


def times_behind_the_fastest(shapes: str, times: str, choose: Callable[..., str]) -> list[float]:
    """For each shape: the time of the chosen launch, divided by that of the fastest one that was measured."""
    found = []
    for row in MEASURED[shapes]:
        _, _, (_, element, value) = instance(row["operation"], row["dtype"], row["dtype"])
        chosen, measured = choose(row, element, value), row[times]
        assert chosen in measured, (
            f"{row['extents']} of {row['dtype']}: there is no time of {chosen}, measure it"
        )
        found.append(measured[chosen] / min(measured.values()))
    return found


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


@pytest.mark.parametrize(
    ("shapes", "plan", "mean", "worst"), [("columns", 2, 1.025, 1.35), ("rows", 1, 1.03, 1.3)]
)
def test_plans_have_the_lanes_and_splits_of_nearly_the_fastest_launch(
    shapes: str, plan: int, mean: float, worst: float
) -> None:
    def choose(row: dict[str, Any], element: int, value: int) -> str:
        _, _, lanes, splits, *_ = planned(plan, *row["extents"], element, value, MULTIPROCESSORS)
        return f"{lanes} {splits}"

    behind = times_behind_the_fastest(shapes, "lanes_and_splits", choose)

    assert geometric_mean(behind) < mean
    assert max(behind) < worst


def test_few_rows_and_few_columns_have_the_fastest_kernel_of_nearly_all_shapes():
    def choose(row: dict[str, Any], element: int, value: int) -> str:
        return planned_axis((*row["extents"],), element, value, MULTIPROCESSORS)[0]

    behind = times_behind_the_fastest("kernels", "kernels", choose)

    assert geometric_mean(behind) < 1.02
    assert sum(times > 1.25 for times in behind) <= 7
    assert max(behind) < 1.7


def test_few_columns_have_nearly_the_best_number_of_blocks():
    def choose(row: dict[str, Any], element: int, value: int) -> str:
        _, (_, _, _, splits, *_) = planned_axis((*row["extents"],), element, value, MULTIPROCESSORS, "narrow")
        return min(row["splits"], key=lambda count: abs(math.log(int(count) / splits)))  # the nearest number

    behind = times_behind_the_fastest("few columns", "splits", choose)

    assert geometric_mean(behind) < 1.035
    assert max(behind) < 1.25
