"""The plans of reductions are launches that every device can run."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduction_plans import OPERATIONS, TYPES, instance, planned, planned_axis, planner


def slot_bytes(times: int, splits: int, results: int, threads: int, value: int) -> int:
    """Of blocks that combine `results` values, `times` times in a launch: 8 bytes for each 4 bytes of a value."""
    if splits == 1:
        return 0
    groups = -(-splits // planner().splits_of_group_of(splits, results, threads))
    return times * results * (splits + groups) * 8 * -(-value // 4)


def assert_places_are_left(times: int, splits: int, results: int, threads: int, processors: int) -> None:
    """The last block of each group waits. A multiprocessor holds two blocks or more, and other blocks need places."""
    if splits > 1:
        groups = -(-splits // planner().splits_of_group_of(splits, results, threads))
        assert times * groups < 2 * processors


@settings(deadline=None)
@given(
    counts=st.tuples(*[st.integers(1, 1 << 22)] * 3),
    operation=st.sampled_from(OPERATIONS),
    dtype=st.sampled_from(TYPES),
    processors=st.integers(1, 200),
)
def test_every_plan_is_a_valid_launch(
    counts: tuple[int, int, int], operation: str, dtype: str, processors: int
) -> None:
    _, _, (_, element, value) = instance(operation, dtype, dtype)
    outer, length, inner = counts
    for shape, (a, b, c) in enumerate(
        ((outer * length, 0, 0), (outer, length, 0), (outer % 100 + 1, length, inner))
    ):
        grid, block, lanes, splits, slots = planned(shape, a, b, c, element, value, processors)
        assert 1 <= grid < 1 << 31
        assert block == (512, 256, 256)[shape]
        if shape == 0 and planner().few(ctypes.c_longlong(a), element, processors):
            assert a * element <= 4 * 16 * grid * block  # a thread takes four vectors at most
        assert 1 <= lanes <= 256
        assert lanes & (lanes - 1) == 0
        if shape < 2:
            assert slots == (64 * grid if (grid if shape == 0 else splits) > 1 else 0)
        if shape == 1:
            assert splits == 1 or lanes == 256
            assert grid * (256 // lanes) >= a * splits
            # Blocks that wait for other blocks run at the same time as these.
            assert splits == 1 or grid <= 4 * processors
        if shape == 2:
            columns = 16 // element
            while columns * value * 256 > 32768:
                columns //= 2
            tiles = grid // splits
            assert tiles * lanes >= -(-c // columns) * a
            assert slots == slot_bytes(tiles, splits, lanes * columns, block, value)
            assert slots <= 1 << 20
            assert_places_are_left(tiles, splits, lanes * columns, block, processors)


@settings(deadline=None)
@given(
    counts=st.tuples(st.integers(1, 1 << 20), st.integers(1, 1 << 20), st.integers(1, 1 << 22)),
    operation=st.sampled_from(OPERATIONS[:-1]),
    dtype=st.sampled_from(TYPES),
    processors=st.integers(1, 200),
    which=st.integers(0, 3),
)
def test_every_plan_of_an_axis_is_a_valid_launch(
    counts: tuple[int, int, int], operation: str, dtype: str, processors: int, which: int
) -> None:
    _, _, (_, element, value) = instance(operation, dtype, dtype)
    outer, length, inner = counts
    outer, length, inner = (
        (outer % 100 + 1, length, inner),
        (outer, length % 40 + 1, inner % 20 + 1),
        (outer % 9 + 1, length % 40 + 1, inner),
        (outer % 9 + 1, length, inner % 1100 + 1),
    )[which]
    kernel, (grid, block, lanes, splits, slots) = planned_axis(
        (outer, length, inner), element, value, processors
    )
    width = 16 // element
    while width * value * 256 > 32768:
        width //= 2
    assert 1 <= grid < 1 << 31
    if kernel == "slices":
        assert lanes % 16 == 0
        assert lanes * length * inner * element + 16 <= 16384
        assert (grid - 1) * lanes < outer <= grid * lanes
    elif kernel == "shallow":
        whole = inner % width == 0  # then the strips of all o follow each other
        blocks, columns = (grid, outer * inner) if whole else (grid // outer, inner)
        assert whole or grid % outer == 0
        assert (blocks - 1) * 256 * width < columns <= blocks * 256 * width
        assert inner * element >= 4
    elif kernel == "narrow":
        assert block <= 256
        assert block % lanes == 0
        assert lanes * width % inner == 0
        assert grid == outer * splits
        assert slots == slot_bytes(outer, splits, inner, block, value)
        assert_places_are_left(outer, splits, inner, block, processors)
    else:
        assert kernel == ("rows" if inner == 1 else "columns")


def test_blocks_that_wait_for_others_leave_places_for_them() -> None:
    """The launch with the shortest estimate for this shape has 1197 blocks, of which 399 wait. 132 multiprocessors may
    hold 264 blocks, so that no other block could run if these began first."""
    _, _, (_, element, value) = instance("sum", "float64", "float64")

    grid, block, lanes, splits, _ = planned(2, 1, 5156, 6379, element, value, 132)

    assert_places_are_left(grid // splits, splits, lanes * 2, block, 132)


@pytest.mark.parametrize("rows", [4096, 32768, 1 << 18])
@pytest.mark.parametrize("columns", [1408, 4096, 8192])
def test_no_block_combines_many_values_of_columns(rows: int, columns: int) -> None:
    """When one block combined 800,000 values, the sums of 27832 x 1408 bytes took 607 us on an H200, and not 27."""
    _, _, (_, element, value) = instance("sum", "int8", "int64")

    _, block, lanes, splits, *_ = planned(2, 1, rows, columns, element, value, 132)

    results = lanes * min(16 // element, 128 // value)
    assert planner().splits_of_group_of(splits, results, block) * results <= 10_000


@settings(deadline=None)
@given(splits=st.integers(2, 1600), results=st.integers(1, 4096), threads=st.integers(129, 256))
def test_groups_of_blocks_are_few_and_have_all_splits(splits: int, results: int, threads: int) -> None:
    size = planner().splits_of_group_of(splits, results, threads)
    groups = -(-splits // size)
    readers = max(1, threads // results)

    assert max(size, groups) <= max(16 * readers, splits**0.5 + 1)
