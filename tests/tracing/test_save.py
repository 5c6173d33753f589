"""Files of traces: what they say, and that they follow the rules of Chrome's trace event format."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest

from cuscope.tracing import Trace, load
from traces import copy_and_kernel, random_trace


def saved(trace: Trace, folder: Path) -> list[dict]:
    trace.save(folder / "t.json")
    return json.loads((folder / "t.json").read_text())["traceEvents"]


def slices(events: list[dict]) -> list[dict]:
    return [event for event in events if event["ph"] == "X"]


def names(events: list[dict], what: str) -> dict[int, str]:
    key = "pid" if what == "process_name" else "tid"
    return {
        event[key]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == what
    }


def test_spans_stand_on_named_tracks_of_named_processes(tmp_path):
    events = saved(copy_and_kernel(), tmp_path)
    processes, tracks = names(events, "process_name"), names(events, "thread_name")
    assert [(processes[e["pid"]], tracks[e["tid"]], e["name"]) for e in slices(events)] == [
        ("host", "MainThread", "step 1"),
        ("host", "MainThread", "cudaMemcpyAsync"),
        ("host", "MainThread", "cudaLaunchKernel"),
        ("host:0 (NVIDIA H200, simulated)", "stream 7", "host to device"),
        ("host:0 (NVIDIA H200, simulated)", "copy to device", "host to device"),
        ("host:0 (NVIDIA H200, simulated)", "stream 7", "saxpy"),
        ("host:0 (NVIDIA H200, simulated)", "kernels", "saxpy"),
    ]


def test_times_are_microseconds_and_arguments_tell_the_rest(tmp_path):
    copy, kernel = (e for e in slices(saved(copy_and_kernel(), tmp_path)) if e["cat"] in ("copy", "kernel"))
    assert (copy["ts"], copy["dur"]) == (1.5, 4.001)
    assert copy["args"]["bytes"] == 1 << 20
    assert copy["args"]["GB/s"] == 262.1
    assert copy["args"]["pageable"] is True
    assert kernel["args"] == {
        "span": 4,
        "engine": "kernels",
        "grid": "4096 x 1 x 1",
        "block": "256 x 1 x 1",
        "reason": "stream order",
        "line": "p.py:5",
        "cause": 3,
        "call": 2,
    }


def test_an_arrow_leads_from_each_call_to_its_work(tmp_path):
    events = slices(saved(copy_and_kernel(), tmp_path))
    begin = {e["bind_id"]: e["name"] for e in events if e.get("flow_out")}
    assert {e["name"]: begin[e["bind_id"]] for e in events if e.get("flow_in")} == {
        "host to device": "cudaMemcpyAsync",
        "saxpy": "cudaLaunchKernel",
    }


def test_a_graph_gets_the_arrow_and_its_nodes_none(tmp_path):
    node = {"kind": "kernel", "device": "host:0", "stream": 1, "call": 0, "graph": 1}
    trace = Trace.from_spans(
        [
            {"kind": "call", "name": "cudaGraphLaunch", "start": 0, "end": 10, "thread": 0},
            {
                "kind": "graph",
                "name": "graph",
                "start": 20,
                "end": 60,
                "device": "host:0",
                "stream": 1,
                "call": 0,
            },
            {**node, "name": "a", "start": 20, "end": 40},
            {**node, "name": "b", "start": 30, "end": 60},
        ]
    )
    events = saved(trace, tmp_path)
    tracks = names(events, "thread_name")
    assert [e["name"] for e in slices(events) if e.get("flow_in")] == ["graph"]
    assert [(e["name"], tracks[e["tid"]]) for e in slices(events) if e["pid"] == 2] == [
        ("graph", "stream 1"),
        ("a", "stream 1"),
        ("b", "stream 1 (2)"),
    ]


def test_the_order_of_tracks_is_threads_streams_engines(tmp_path):
    events = saved(copy_and_kernel(), tmp_path)
    order = {e["tid"]: e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    tracks = names(events, "thread_name")
    assert [tracks[tid] for tid in sorted(order, key=order.get)] == [
        "MainThread",
        "stream 7",
        "copy to device",
        "kernels",
    ]


def test_counters_tell_the_busy_engines_and_the_bytes_in_flight(tmp_path):
    counters = defaultdict(list)
    for event in saved(copy_and_kernel(), tmp_path):
        if event["ph"] == "C":
            ((series, value),) = event["args"].items()
            counters[f"{event['name']} {series}"].append((event["ts"], value))
    assert counters == {
        "busy engines": [(1.5, 1), (8.0, 0)],
        "bytes in flight": [(1.5, 1 << 20), (5.501, 0)],
    }


@pytest.mark.parametrize("seed", range(20))
def test_slices_of_a_track_nest_and_arrows_go_forward(tmp_path, seed):
    events = slices(saved(random_trace(seed), tmp_path))
    by_track = defaultdict(list)
    begun = set()
    for event in events:
        start = round(event["ts"] * 1000)
        by_track[event["tid"]].append((start, start + round(event["dur"] * 1000), event))
        if event.get("flow_out"):
            begun.add(event["bind_id"])
        if event.get("flow_in"):
            assert event["bind_id"] in begun
    for track in by_track.values():
        assert len({event["pid"] for _, _, event in track}) == 1
        assert [start for start, _, _ in track] == sorted(start for start, _, _ in track)
        open_ends = []
        for start, end, event in track:
            while open_ends and open_ends[-1][0] <= start:
                open_ends.pop()
            if open_ends:
                assert end <= open_ends[-1][0]
                assert open_ends[-1][1] in ("range", "call", "graph")
            open_ends.append((end, event["cat"]))


def test_a_process_and_a_track_never_have_the_same_number(tmp_path):
    events = saved(random_trace(1), tmp_path)
    assert not set(names(events, "process_name")) & set(names(events, "thread_name"))


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_equal_traces_make_equal_files(tmp_path, name):
    random_trace(3).save(tmp_path / name)
    first = (tmp_path / name).read_bytes()
    random_trace(3).save(tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


def test_the_compressed_file_has_the_same_contents(tmp_path):
    copy_and_kernel().save(tmp_path / "t.json")
    copy_and_kernel().save(tmp_path / "t.JSON.GZ")
    packed = (tmp_path / "t.JSON.GZ").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "t.json").read_bytes()
    assert packed[4:8] == b"\0\0\0\0"  # no time


@pytest.mark.parametrize("name", ["t.txt", "t", "t.gz", "t.json.bz2", ""])
def test_another_end_of_the_name_is_refused_before_anything_is_written(tmp_path, name):
    with pytest.raises(ValueError, match=r"must end in \.json or \.json\.gz"):
        copy_and_kernel().save(f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_a_file_stays_as_it_was_if_saving_fails(tmp_path):
    (tmp_path / "t.json").write_text("precious")
    trace = Trace.from_spans([], devices={"host:0": {"model": object()}})
    with pytest.raises(TypeError, match="not JSON serializable"):
        trace.save(tmp_path / "t.json")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        copy_and_kernel().save(tmp_path / "missing" / "t.json")


def test_a_link_goes_on_to_lead_to_the_file(tmp_path):
    (tmp_path / "real.json").write_text("")
    (tmp_path / "link.json").symlink_to("real.json")
    copy_and_kernel().save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load(tmp_path / "real.json") == copy_and_kernel()


def test_a_name_that_is_no_text_is_shown_with_question_marks(tmp_path):
    Trace.from_spans([{"name": "lone \ud800", "start": 0, "end": 1}]).save(tmp_path / "t.json")
    assert list(load(tmp_path / "t.json").spans["name"]) == ["lone ?"]


def test_an_empty_trace_is_a_valid_file(tmp_path):
    trace = Trace.from_spans([])
    assert slices(saved(trace, tmp_path)) == []
    assert load(tmp_path / "t.json") == trace
