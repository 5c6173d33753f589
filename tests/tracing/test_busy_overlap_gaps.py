"""``busy``, ``overlap`` and ``gaps``: against an oracle that looks at each nanosecond, and at edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuscope.tracing import Trace

LONGEST = 40
SPANS = st.lists(
    st.builds(
        lambda kind, start, long, stream: {
            "kind": kind[0],
            "engine": kind[1],
            "start": start,
            "end": start + long,
            "stream": stream,
            "device": "host:0",
        },
        st.sampled_from([("copy", "copy to device"), ("copy", "copy to host"), ("kernel", "kernels")]),
        st.integers(0, LONGEST),
        st.integers(0, 12),
        st.integers(7, 8),
    ),
    max_size=12,
)
WORDS = st.sampled_from(["copy", "kernel", "copy to device", "copy to host", "memset", "host:0"])


def running(trace, what):
    """For each nanosecond, the set of rows that run."""
    tests = {
        "copy": lambda span: span["kind"] == "copy",
        "kernel": lambda span: span["kind"] == "kernel",
        "memset": lambda span: False,
        "host:0": lambda span: True,
    }
    matches = tests.get(what, lambda span: span["engine"] == what)
    return [
        {row for row, span in enumerate(trace.spans) if span["start"] <= t < span["end"] and matches(span)}
        for t in range(trace.duration)
    ]


@given(SPANS, WORDS, st.integers(0, LONGEST + 20))
@settings(max_examples=300, deadline=None)
def test_busy_counts_the_nanoseconds(rows, what, duration):
    trace = Trace.from_spans(rows, duration=duration, devices={"host:0": {}})
    expected = sum(map(bool, running(trace, what)))
    assert trace.busy(what) == (expected / duration if duration else 0)


@given(SPANS, WORDS, WORDS, st.integers(0, LONGEST + 20))
@settings(max_examples=500, deadline=None)
def test_overlap_counts_the_nanoseconds_with_another_span(rows, a, b, duration):
    trace = Trace.from_spans(rows, duration=duration, devices={"host:0": {}})
    pairs = list(zip(running(trace, a), running(trace, b), strict=True))
    whole = sum(bool(one) for one, _ in pairs)
    hidden = sum(any(i != j for i in one for j in other) for one, other in pairs)
    assert trace.overlap(a, b) == (hidden / whole if whole else 0)


@given(SPANS, WORDS, st.integers(0, LONGEST + 20))
@settings(max_examples=300, deadline=None)
def test_gaps_are_the_other_nanoseconds_and_name_their_neighbours(rows, what, duration):
    trace = Trace.from_spans(rows, duration=duration, devices={"host:0": {}})
    at = running(trace, what)
    found = trace.gaps(what)
    idle = [t for start, end in zip(found["start"], found["end"], strict=True) for t in range(start, end)]
    assert idle == [t for t in range(duration) if not at[t]]
    for start, end, after, before in found.tolist():
        assert (after in at[start - 1]) if start else after == -1
        assert (before in at[end]) if end < duration else before == -1
    # Two gaps are never side by side.
    assert (found["start"][1:] > found["end"][:-1]).all()


def test_a_kernel_hides_half_of_a_copy():
    trace = Trace.from_spans(
        [
            {"kind": "copy", "engine": "copy to device", "start": 0, "end": 100},
            {"kind": "kernel", "engine": "kernels", "start": 50, "end": 250},
        ]
    )
    assert trace.overlap("copy", "kernel") == 0.5
    assert trace.overlap("kernel", "copy") == 0.25


def test_gaps_without_an_argument_are_the_times_when_no_device_works():
    trace = Trace.from_spans(
        [
            {"kind": "call", "start": 0, "end": 90},
            {"kind": "kernel", "start": 10, "end": 20, "graph": 2},
            {"kind": "graph", "start": 10, "end": 60},
            {"kind": "event record", "start": 25, "end": 26},
            {"kind": "memset", "start": 50, "end": 60},
        ]
    )
    rows = {kind: list(trace.spans["kind"]).index(kind) for kind in ("kernel", "memset")}
    assert trace.gaps().tolist() == [
        (0, 10, -1, rows["kernel"]),
        (20, 50, rows["kernel"], rows["memset"]),
        (60, 90, rows["memset"], -1),
    ]


def test_a_graph_without_known_nodes_is_work():
    graph = {"kind": "graph", "device": "cuda:0", "stream": 7, "start": 10, "end": 60}
    node = {"kind": "kernel", "device": "cuda:0", "stream": 7, "start": 10, "end": 20, "graph": 0}
    for selection in ("cuda:0", 7):
        assert Trace.from_spans([graph], duration=100).busy(selection) == 0.5
        assert Trace.from_spans([graph, node], duration=100).busy(selection) == 0.1


def two_devices():
    return Trace.from_spans(
        [
            {"kind": "kernel", "name": "scale", "engine": "kernels", "device": "cuda:0", "stream": 1, "start": 0, "end": 50},
            {"kind": "kernel", "name": "add", "engine": "kernels", "device": "cuda:1", "stream": 2, "start": 0, "end": 100},
        ],
        devices={"cuda:0": {}, "cuda:1": {}},
        streams={
            1: {"device": "cuda:0", "label": "legacy default"},
            2: {"device": "cuda:1", "label": "legacy default"},
            3: {"device": "cuda:1", "label": "stream 3"},
        },
    )  # fmt: skip


def test_busy_without_an_argument_has_each_engine_and_stream_by_a_name_that_selects_it():
    trace = two_devices()
    assert trace.busy() == {
        "cuda:0 kernels": 0.5,
        "cuda:1 kernels": 1.0,
        "cuda:0 legacy default": 0.5,
        "cuda:1 legacy default": 1.0,
    }
    assert {name: trace.busy(name) for name in trace.busy()} == trace.busy()


class Stream:
    id = 1


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("scale", 0.5),
        ("cuda:0", 0.5),
        ("kernel", 1.0),
        (1, 0.5),
        (np.int64(2), 1.0),
        (Stream(), 0.5),
        (3, 0.0),
    ],
)
def test_a_selection_is_a_name_a_device_a_kind_or_a_stream(what, expected):
    assert two_devices().busy(what) == expected


@pytest.mark.parametrize("what", ["nonsense", "", 99, -1])
def test_an_unknown_selection_lists_the_names_of_the_trace(what):
    with pytest.raises(ValueError, match="the trace has no") as caught:
        two_devices().busy(what)
    for part in (
        "'kernel'",
        "'kernels'",
        "'cuda:0', 'cuda:1'",
        "1 (cuda:0 legacy default)",
        "'add', 'scale'",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize("what", [True, 1.5, [1], object()])
def test_a_selection_of_another_type_is_refused(what):
    with pytest.raises(TypeError, match="a selection is a kind, an engine"):
        two_devices().gaps(what)


def test_an_empty_trace_is_never_busy():
    trace = Trace.from_spans([])
    assert trace.busy() == {}
    assert trace.busy("copy") == 0
    assert trace.overlap("copy", "kernel") == 0
    assert len(trace.gaps()) == 0
    assert Trace.from_spans([], duration=5).gaps().tolist() == [(0, 5, -1, -1)]
