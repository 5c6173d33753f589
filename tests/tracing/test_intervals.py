"""Sets of times, against sets of nanoseconds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cuscope.tracing.intervals import complement, covered, difference, intersection, length, union

PAIRS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda pair: (pair[0], sum(pair))), max_size=8
)


def made(pairs):
    starts, ends = np.array(pairs, np.int64).reshape(-1, 2).T
    return union(starts, ends)


def elements(intervals):
    return [t for start, end in intervals.tolist() for t in range(start, end)]


def moments(pairs):
    return {t for start, end in pairs for t in range(start, end)}


@given(PAIRS, PAIRS)
def test_sets_of_times_are_sets_of_nanoseconds(a, b):
    assert elements(made(a)) == sorted(moments(a))
    assert length(made(a)) == len(moments(a))
    assert elements(intersection(made(a), made(b))) == sorted(moments(a) & moments(b))
    assert elements(difference(made(a), made(b))) == sorted(moments(a) - moments(b))
    assert elements(complement(made(a), 5, 25)) == sorted(set(range(5, 25)) - moments(a))


@given(PAIRS, PAIRS)
def test_covered_is_the_part_of_each_time_in_the_set(a, times):
    starts, ends = np.array(times, np.int64).reshape(-1, 2).T
    expected = [len(moments([one]) & moments(a)) for one in times]
    assert covered(made(a), starts, ends).tolist() == expected


@given(PAIRS)
def test_a_union_is_in_order_and_apart(pairs):
    found = made(pairs)
    assert (found[:, 0] < found[:, 1]).all()
    assert (found[1:, 0] > found[:-1, 1]).all()
