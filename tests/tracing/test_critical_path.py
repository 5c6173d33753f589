"""``critical_path``: the chain of causes back from the last end, recorded or inferred."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuscope.tracing import Trace


def call(name, start, end, **more):
    return {"kind": "call", "name": name, "start": start, "end": end, "thread": 0, **more}


def kernel(name, start, end, **more):
    return {
        "kind": "kernel",
        "name": name,
        "start": start,
        "end": end,
        "device": "host:0",
        "engine": "kernels",
        **more,
    }


def hops(trace):
    return [
        (str(hop["name"]), int(hop["start"]), int(hop["end"]), str(hop["reason"]))
        for hop in trace.critical_path().hops
    ]


def test_issued_work_leads_to_its_call_and_the_calls_before_it():
    trace = Trace.from_spans(
        [
            call("cudaEventRecord", 10, 20),
            call("cudaLaunchKernel", 50, 80, line="p.py:3"),
            kernel("add", 90, 200, call=1, reason="issued", issued=75),
        ]
    )
    assert hops(trace) == [
        ("host program", 0, 10, ""),
        ("cudaEventRecord", 10, 20, ""),
        ("host program", 20, 50, ""),
        ("cudaLaunchKernel", 50, 75, "program order"),
        ("launch latency", 75, 90, ""),
        ("add", 90, 200, "issued"),
    ]
    assert trace.critical_path().hops["line"].tolist()[-1] == "p.py:3"
    assert not trace.critical_path().inferred


def test_work_with_a_cause_leads_to_the_cause():
    trace = Trace.from_spans(
        [
            kernel("first", 0, 100),
            kernel("beside", 0, 90),
            kernel("second", 105, 150, cause=0, reason="stream order"),
            kernel("third", 150, 160, cause=2, reason="event"),
        ]
    )
    assert hops(trace) == [
        ("first", 0, 100, ""),
        ("latency", 100, 105, ""),
        ("second", 105, 150, "stream order"),
        ("third", 150, 160, "event"),
    ]


def test_a_call_that_waits_leads_to_the_work_and_back_to_itself():
    trace = Trace.from_spans(
        [
            call("cudaMemcpy", 0, 120, cause=1),
            {"kind": "copy", "name": "host to device", "start": 30, "end": 100, "call": 0, "reason": "issued", "issued": 20},
            call("cudaLaunchKernel", 120, 130),
        ]
    )  # fmt: skip
    assert hops(trace) == [
        ("cudaMemcpy", 0, 20, ""),
        ("launch latency", 20, 30, ""),
        ("host to device", 30, 100, "issued"),
        ("cudaMemcpy", 100, 120, "wait"),
        ("cudaLaunchKernel", 120, 130, "program order"),
    ]


def test_a_cause_that_ends_after_the_start_is_cut_there():
    trace = Trace.from_spans(
        [kernel("wide", 0, 100), kernel("narrow", 60, 150, cause=0, reason="multiprocessors")]
    )
    assert hops(trace) == [("wide", 0, 60, ""), ("narrow", 60, 150, "multiprocessors")]


def test_the_last_node_stands_for_a_graph():
    trace = Trace.from_spans(
        [
            {"kind": "graph", "name": "graph", "start": 0, "end": 50},
            kernel("short", 0, 20, graph=0),
            kernel("long", 0, 50, graph=0),
            kernel("after", 50, 70, cause=0, reason="stream order"),
            {"kind": "graph", "name": "graph", "start": 70, "end": 90},
            kernel("node", 70, 90, cause=3, reason="graph", graph=4),
        ]
    )
    assert [name for name, *_ in hops(trace)] == ["long", "after", "node"]


def test_the_hops_reach_the_end_of_the_trace():
    trace = Trace.from_spans([call("cudaMalloc", 5, 10)], duration=30)
    assert hops(trace) == [
        ("host program", 0, 5, ""),
        ("cudaMalloc", 5, 10, ""),
        ("host program", 10, 30, ""),
    ]


def test_totals_are_the_time_of_each_kind():
    trace = Trace.from_spans(
        [
            call("cudaLaunchKernel", 0, 30),
            kernel("a", 40, 140, call=0, reason="issued"),
            kernel("b", 140, 150, cause=1, reason="stream order"),
        ]
    )
    path = trace.critical_path()
    assert path.totals == {"kernel": 110, "call": 30, "launch latency": 10}
    assert path.duration == 150
    assert path.spans["name"].tolist() == ["cudaLaunchKernel", "a", "b"]


def gpu(rows):
    """A trace of a GPU: no reasons, no causes."""
    return Trace.from_spans(rows, source="cupti")


def test_without_reasons_work_that_starts_soon_after_its_call_is_issued_by_it():
    trace = gpu(
        [
            kernel("a", 0, 50, stream=7),
            call("cudaLaunchKernel", 40, 60),
            kernel("b", 65, 90, stream=7, call=1),
        ]
    )
    assert hops(trace)[-1] == ("b", 65, 90, "issued")
    assert trace.critical_path().inferred


def test_without_reasons_work_after_the_end_in_its_stream_is_in_stream_order():
    trace = gpu(
        [
            call("cudaLaunchKernel", 0, 20),
            kernel("a", 20, 80, stream=7, call=0),
            kernel("other", 20, 85, stream=8),
            call("cudaLaunchKernel", 20, 40),
            kernel("b", 82, 90, stream=7, call=3),
        ]
    )
    assert [(name, reason) for name, _, _, reason in hops(trace)] == [
        ("cudaLaunchKernel", ""),
        ("a", "issued"),
        ("latency", ""),
        ("b", "stream order"),
    ]


def test_without_reasons_a_copy_waits_for_its_engine():
    copy = {"kind": "copy", "name": "host to device", "engine": "copy to device", "device": "cuda:0"}
    trace = gpu([{**copy, "start": 0, "end": 50, "stream": 7}, {**copy, "start": 51, "end": 99, "stream": 8}])
    assert hops(trace)[-1] == ("host to device", 51, 99, "engine")


@pytest.mark.parametrize(
    "wait",
    [
        {"kind": "event wait", "start": 30, "end": 30, "stream": 8},
        call("cudaStreamWaitEvent", 30, 31, stream=8),
    ],
)
def test_without_reasons_work_after_an_event_wait_follows_another_stream(wait):
    rows = [
        call("cudaLaunchKernel", 0, 20),
        kernel("a", 20, 80, stream=7, call=0),
        call("cudaLaunchKernel", 35, 40),
        kernel("b", 82, 90, stream=8, call=2),
    ]
    assert hops(gpu(rows))[-1] == ("b", 82, 90, "issued")
    assert hops(gpu([*rows, wait]))[-1] == ("b", 82, 90, "event")
    assert hops(gpu([*rows, {**wait, "stream": 7}]))[-1] == ("b", 82, 90, "issued")


@pytest.mark.parametrize(
    "name", ["cudaStreamSynchronize", "cudaStreamSynchronize_ptsz", "cudaDeviceSynchronize_v3020"]
)
def test_without_causes_a_wait_ends_with_the_last_work(name):
    rows = [kernel("a", 0, 50, stream=7), call(name, 10, 60, stream=7), kernel("b", 0, 40, stream=8)]
    assert hops(gpu(rows)) == [("a", 0, 50, ""), (name, 50, 60, "wait")]
    assert hops(Trace.from_spans(rows, source="simulation"))[-1] == (name, 10, 60, "")


def test_a_wait_for_a_stream_does_not_end_with_another_stream():
    rows = [
        kernel("a", 0, 50, stream=7),
        call("cudaStreamSynchronize", 10, 60, stream=8),
        kernel("b", 0, 40, stream=8),
    ]
    assert hops(gpu(rows))[-2:] == [("b", 0, 40, ""), ("cudaStreamSynchronize", 40, 60, "wait")]


def test_a_circle_of_causes_ends():
    trace = Trace.from_spans(
        [
            kernel("a", 0, 10, cause=1, reason="event"),
            kernel("b", 0, 10, cause=0, reason="event"),
            kernel("c", 10, 20, cause=2, reason="event"),
        ]
    )
    assert hops(trace) == [("unknown", 0, 10, ""), ("c", 10, 20, "event")]


def test_an_empty_trace_has_an_empty_path():
    assert repr(Trace.from_spans([]).critical_path()) == "critical path: no spans"
    assert Trace.from_spans([{"kind": "range", "start": 0, "end": 9}]).critical_path().duration == 0


def test_the_repr_of_a_long_path_shows_both_ends():
    rows = [
        kernel(f"k{i}", 10 * i, 10 * i + 10, cause=i - 1, reason="stream order" if i else "")
        for i in range(100)
    ]
    text = repr(Trace.from_spans(rows).critical_path())
    assert "critical path, 1 us in 100 hops: kernel 1 us (100 %)" in text
    assert "kernel k0" in text
    assert "76 hops more" in text
    assert "kernel k99" in text
    assert "kernel k50" not in text


def test_the_repr_marks_inferred_reasons():
    text = repr(gpu([kernel("a", 0, 50, stream=7), kernel("b", 51, 60, stream=7)]).critical_path())
    assert "stream order*" in text
    assert "* inferred" in text


@given(
    st.lists(st.tuples(st.sampled_from(["call", "kernel", "copy"]), st.integers(0, 50), st.integers(0, 20)), max_size=12),
    st.randoms(use_true_random=False),
    st.sampled_from(["simulation", "cupti"]),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_hops_follow_each_other_and_add_up(spans, random, source):
    rows = [
        {
            "kind": kind,
            "start": start,
            "end": start + long,
            "thread": random.randrange(2),
            "stream": random.randrange(2),
            "cause": random.randrange(-1, len(spans)),
            "call": random.choice([-1, *(i for i, (kind, *_) in enumerate(spans) if kind == "call")]),
            "reason": random.choice(["", "issued", "stream order"]),
        }
        for kind, start, long in spans
    ]
    path = Trace.from_spans(rows, source=source).critical_path()
    found = path.hops
    assert np.array_equal(found["start"][1:], found["end"][:-1])
    assert (found["start"] <= found["end"]).all()
    assert sum(path.totals.values()) == path.duration
    if rows:
        assert path.duration == max(row["end"] for row in rows)
        assert found["start"][0] == 0
