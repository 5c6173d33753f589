"""The summary that print(trace) shows."""

from cuscope.tracing import Trace
from traces import copy_and_kernel, random_trace


def test_the_summary_lists_engines_and_work():
    assert str(copy_and_kernel()) == "\n".join(
        [
            "trace of 9.5 us (simulation): 2 calls, 2 spans of devices",
            "",
            "engine                   busy  of the time  spans",
            "host:0 copy to device    4 us         42 %      1",
            "host:0 kernels         2.5 us         26 %      1",
            "",
            "work                 count   total    mean  bandwidth",
            "copy host to device      1    4 us    4 us   262 GB/s",
            "saxpy                    1  2.5 us  2.5 us",
        ]
    )


def test_engines_are_busy_once_however_much_overlaps():
    kernel = {"kind": "kernel", "device": "host:0", "engine": "kernels", "name": "k"}
    trace = Trace.from_spans(
        [{**kernel, "start": 0, "end": 60}, {**kernel, "start": 20, "end": 80}], duration=100
    )
    assert "host:0 kernels  80 ns         80 %      2" in str(trace)
    assert "k         2  120 ns  60 ns" in str(trace)


def test_calls_that_waited_are_listed():
    wait = {"kind": "call", "name": "cudaStreamSynchronize", "start": 10, "end": 60, "thread": 0, "cause": 1}
    kernel = {"kind": "kernel", "device": "host:0", "start": 20, "end": 60}
    lines = str(Trace.from_spans([wait, kernel], duration=100)).splitlines()
    assert lines[-2:] == [
        "host waits in          count  total   mean  of the time",
        "cudaStreamSynchronize      1  50 ns  50 ns         50 %",
    ]


def test_the_nodes_of_a_graph_are_not_counted_twice():
    launch = {"kind": "graph", "name": "graph", "start": 0, "end": 50, "device": "host:0"}
    node = {"kind": "kernel", "name": "node", "start": 0, "end": 50, "device": "host:0", "graph": 0}
    assert "graph" not in str(Trace.from_spans([launch, node])).splitlines()[3]
    assert str(Trace.from_spans([launch])).splitlines()[3].startswith("graph")


def test_lost_spans_are_mentioned():
    trace = Trace.from_spans([], dropped=1200, duration=0)
    assert str(trace) == (
        "trace of 0 ns (simulation): 0 calls, 0 spans of devices\n"
        "1,200 spans are missing: the trace had reached its limit"
    )


def test_lines_are_short_and_plain():
    names = [
        {"kind": "kernel", "name": "x" * 500, "device": "host:0", "start": 0, "end": 10**12, "bytes": 10**15}
    ]
    for trace in (random_trace(1), Trace.from_spans(names)):
        for line in str(trace).splitlines():
            assert len(line) <= 100
            assert line == line.rstrip()
            assert line == "" or line.isprintable()
