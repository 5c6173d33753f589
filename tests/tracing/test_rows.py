"""The rows of a picture and their lanes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuscope.tracing import Trace
from cuscope.tracing.rows import lanes_of, rows_of
from tracing import sample_traces
from tracing.sample_traces import kernel, span


def labels(trace, **options):
    return [row.label for row in rows_of(trace, **options)]


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)), max_size=80))
def test_spans_of_a_lane_never_overlap(drawn):
    spans = Trace.from_spans([{"start": s, "end": s + n} for s, n in drawn]).spans
    lanes = lanes_of(spans["start"], spans["end"])
    assert len(lanes) == len(spans)
    for lane in range(lanes.max(initial=-1) + 1):
        start, end = spans["start"][lanes == lane], spans["end"][lanes == lane]
        assert np.all(start[1:] >= end[:-1])


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=80))
def test_there_are_as_many_lanes_as_spans_at_once(drawn):
    spans = Trace.from_spans([{"start": s, "end": s + n} for s, n in drawn]).spans
    at_once = max(int(np.sum((spans["start"] <= t) & (t < spans["end"]))) for t in spans["start"])
    assert lanes_of(spans["start"], spans["end"]).max() + 1 == at_once


def test_rows_are_threads_then_streams_then_engines_of_each_device():
    assert labels(sample_traces.program()) == [
        *("ranges", "calls"),
        *("stream 1", "stream 2", "stream 3", "stream 4"),
        *("copy to device", "copy to host", "kernels"),
    ]
    groups = [row.group for row in rows_of(sample_traces.two_devices())]
    assert groups == ["host:0 \u00b7 simulated h200"] * 4 + ["host:1 \u00b7 simulated h200"] * 4


@pytest.mark.parametrize("made", sample_traces.SAMPLES.values(), ids=sample_traces.SAMPLES.keys())
def test_streams_have_each_span_of_a_device_once(made):
    trace = made()
    drawn = np.concatenate([[], *(np.concatenate([r.spans, r.ticks]) for r in rows_of(trace, "streams"))])
    assert sorted(drawn) == np.flatnonzero(trace.spans["device"] != "").tolist()


def test_several_threads_are_named():
    rows = [{"kind": k, "start": 0, "end": 9, "thread": n} for k in ("range", "call") for n in (0, 1)]
    trace = Trace.from_spans(rows, threads={0: "MainThread", 1: "loader"})
    assert labels(trace) == ["MainThread", "", "loader", ""]


def test_one_copy_engine_has_one_row_for_both_directions():
    assert labels(sample_traces.depth_first_on_one_engine(), show="engines") == ["copy engine", "kernels"]


def test_many_streams_share_the_last_row():
    trace = Trace.from_spans([kernel(i, 0, 10) for i in range(100)])
    assert labels(trace, show="streams", most=4) == ["stream 0", "stream 1", "stream 2", "97 more streams"]


def test_nodes_of_a_graph_stand_below_its_launch():
    trace = sample_traces.graph()
    row = rows_of(trace, "streams")[0]
    kinds = trace.spans["kind"][row.spans]
    assert set(row.lanes[kinds == "graph"]) == {0}
    assert set(row.lanes[kinds != "graph"]) == {1, 2}


def test_event_records_and_work_that_takes_no_time_are_marks():
    rows = [span(k, k, 5, 5, device="host:0", stream=1) for k in ("event record", "free")]
    row = rows_of(Trace.from_spans([*rows, kernel(1, 0, 9)]), "streams")[0]
    assert (len(row.spans), len(row.ticks)) == (1, 2)


def test_an_unknown_section_is_refused():
    with pytest.raises(
        ValueError, match="show names 'stream'; a picture can show ranges, calls, streams, engines"
    ):
        rows_of(sample_traces.serial(), "stream")
