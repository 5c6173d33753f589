"""The table of spans, made from rows."""

import numpy as np
import pytest

from cuscope.tracing import Trace


def test_spans_are_sorted_by_start_and_relations_follow():
    trace = Trace.from_spans(
        [
            {"kind": "kernel", "name": "late", "start": 20, "end": 30, "cause": 1},
            {"kind": "copy", "name": "early", "start": 0, "end": 20},
        ]
    )
    assert list(trace.spans["name"]) == ["early", "late"]
    assert list(trace.spans["cause"]) == [-1, 0]


def test_a_longer_span_stands_before_the_spans_within_it():
    trace = Trace.from_spans(
        [{"name": "inner", "start": 0, "end": 5}, {"name": "outer", "start": 0, "end": 9}]
    )
    assert list(trace.spans["name"]) == ["outer", "inner"]


def test_an_unknown_column_is_named():
    with pytest.raises(ValueError, match="a span has no column 'colour'; it has kind, name"):
        Trace.from_spans([{"colour": "red"}])


def test_the_duration_is_the_last_end_unless_it_is_given():
    assert Trace.from_spans([{"start": 1, "end": 7}]).duration == 7
    assert Trace.from_spans([], duration=12).duration == 12


def test_spans_cannot_be_written_to():
    trace = Trace.from_spans([{"start": 0, "end": 1}])
    with pytest.raises(ValueError, match="read-only"):
        trace.spans["start"] = 5
    assert np.array_equal(trace.spans["start"], [0])
