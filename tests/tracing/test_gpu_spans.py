"""cs.trace() on a GPU: CUPTI's spans of the work, their calls and their times."""

import json
import threading
import time

import numpy as np
import pytest

import cuscope as cs
from support import in_threads, load_basic, module, spin
from tracing.on_gpu import kernels, of_kind, problem, work

pytestmark = pytest.mark.gpu_only("a simulated device records its work itself")

MS = 1_000_000  # nanoseconds
BUSY = 20e-3  # seconds for which a stream is kept busy: the host enqueues the rest meanwhile


@pytest.fixture(autouse=True)
def recorded_by_cupti(device, monkeypatch):
    monkeypatch.setenv("CUSCOPE_TRACE_GPU", "1")
    if problem():
        pytest.skip(problem())


def test_a_kernel_has_its_call_its_line_and_its_launch(device):
    basic, x, stream = load_basic(device), cs.zeros(4096, np.float32), cs.Stream()
    cs.synchronize()
    with cs.trace() as t:
        basic.vec_add[16, 256, stream](x, x, x, 4096)
    (kernel,) = kernels(t)
    assert (kernel["name"], kernel["device"], kernel["engine"]) == ("vec_add", device.name, "kernels")
    assert (kernel["grid"].tolist(), kernel["block"].tolist()) == ([16, 1, 1], [256, 1, 1])
    assert kernel["stream"] == stream.id
    assert kernel["line"].startswith("test_gpu_spans.py:")
    call = t.spans[kernel["call"]]
    assert call["name"] == "cudaLaunchKernel"
    assert call["start"] <= kernel["start"] <= kernel["end"] <= t.duration
    assert (t.source, t.notes) == ("cupti", [])


def test_kernels_of_default_streams_have_their_ids(device):
    basic, x = load_basic(device), cs.zeros(1, np.int32)
    cs.synchronize()
    with cs.trace() as t:
        basic.store[1, 1](x, 1)
        basic.store[1, 1, device.per_thread_stream](x, 2)
    legacy, per_thread = kernels(t)["stream"].tolist()
    assert (legacy, per_thread) == (device.default_stream.id, device.per_thread_stream.id)
    assert t.streams[legacy]["label"] == "legacy default"
    assert t.streams[per_thread]["label"] == "per-thread default"


@pytest.mark.measures_time
@pytest.mark.parametrize("milliseconds", [1, 5, 20])
def test_spans_agree_with_events_around_the_same_kernel(device, milliseconds):
    load_basic(device)
    stream = cs.Stream()
    start, stop = cs.Event(), cs.Event()
    with cs.trace() as t:
        spin(device, BUSY, stream)  # otherwise the events would include the time of the launch
        start.record(stream)
        spin(device, milliseconds / 1e3, stream)
        stop.record(stream)
    kernel = kernels(t)[-1]
    by_events = (stop - start) * MS
    assert int(kernel["end"] - kernel["start"]) == pytest.approx(by_events, rel=0.02)


@pytest.mark.measures_time
@pytest.mark.parametrize("direction", ["host to device", "device to host"])
def test_spans_of_copies_agree_with_events_around_them(device, direction):
    size = 256 << 20
    host, x = cs.pinned_empty(size, np.uint8), cs.empty(size, np.uint8)
    start, stop = cs.Event(), cs.Event()
    stream = cs.Stream()
    host[:] = 1
    load_basic(device)
    with cs.trace() as t:
        spin(device, BUSY, stream)  # otherwise the events would include the time of the call
        start.record(stream)
        if direction == "host to device":
            x.copy_from(host, stream=stream)
        else:
            x.copy_to(host, stream=stream)  # x.to_host() waits for the stream
        stop.record(stream)
    (copy,) = of_kind(t, "copy")
    assert (copy["name"], copy["bytes"], bool(copy["pageable"])) == (direction, size, False)
    assert copy["engine"] == ("copy to device" if direction == "host to device" else "copy to host")
    assert int(copy["end"] - copy["start"]) == pytest.approx((stop - start) * MS, rel=0.02)


def test_a_host_function_has_a_span(device):
    stream = cs.Stream()
    load_basic(device)
    with cs.trace() as t:
        spin(device, 2e-3, stream)
        stream.host_function(time.sleep, 5e-3)
    (function,) = of_kind(t, "host function")
    (kernel,) = kernels(t)
    assert 5 * MS <= function["end"] - function["start"] <= 50 * MS
    assert function["start"] >= kernel["end"] - MS // 10
    assert (function["stream"], function["engine"]) == (stream.id, "host functions")
    assert t.spans[function["call"]]["name"] == "cudaLaunchHostFunc"


@pytest.mark.measures_time
def test_time_between_kernels_agrees_with_the_hosts_clock(device):
    load_basic(device)
    with cs.trace() as t:
        spin(device, 1e-3)
        cs.synchronize()
        time.sleep(0.2)
        spin(device, 1e-3)
    first, second = kernels(t)
    calls = t.spans[[first["call"], second["call"]]]["start"]
    assert int(second["start"] - first["start"]) == pytest.approx(int(calls[1] - calls[0]), rel=0.02)


def test_a_memset_and_a_pageable_copy(device):
    x = cs.empty(1 << 20, np.uint8)
    source = np.zeros(1 << 20, np.uint8)
    cs.synchronize()
    with cs.trace() as t:
        x.fill(7)
        x[: 1 << 12].copy_from(source[: 1 << 12])
    (memset,) = of_kind(t, "memset")
    (copy,) = of_kind(t, "copy")
    assert memset["bytes"] == 1 << 20
    assert (copy["bytes"], copy["name"]) == (1 << 12, "host to device")


def test_the_nodes_of_a_graph_belong_to_its_launch(device):
    basic, x, stream = load_basic(device), cs.zeros(4, np.int32), cs.Stream()
    with stream.capture() as graph:
        for i in range(3):
            basic.store[1, 1, stream](x[i:], i)
        x.copy_from(x, stream=stream)
    exe = graph.instantiate()
    exe.launch(stream)
    stream.synchronize()
    with cs.trace() as t:
        exe.launch(stream)
        exe.launch(stream)
    launches = np.flatnonzero(t.spans["kind"] == "graph")
    assert len(launches) == 2
    for row in launches.tolist():
        nodes = t.spans[t.spans["graph"] == row]
        assert (nodes["kind"] == "kernel").sum() == 3
        assert t.spans[row]["start"] == nodes["start"].min()
        assert t.spans[row]["end"] == nodes["end"].max()
        assert t.spans[t.spans[row]["call"]]["name"] == "cudaGraphLaunch"
        assert set(nodes["stream"].tolist()) == {stream.id}


def test_work_of_a_graph_instantiated_in_a_trace(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    with cs.trace() as t:
        with stream.capture() as graph:
            basic.store[1, 1, stream](x, 1)
        exe = graph.instantiate()
        exe.launch(stream)
    exe.launch(stream)  # CUPTI is off again
    stream.synchronize()
    assert [kernel["graph"] >= 0 for kernel in kernels(t)] == [True]


def test_nested_traces_each_have_the_work_of_their_block(device):
    basic, x = load_basic(device), cs.zeros(1, np.int32)
    cs.synchronize()
    with cs.trace() as outer:
        basic.store[1, 1](x, 1)
        cs.synchronize()
        with cs.trace() as inner:
            basic.add_one[1, 1](x)
        basic.store[1, 1](x, 3)
    assert kernels(inner)["name"].tolist() == ["add_one"]
    assert kernels(outer)["name"].tolist() == ["store", "add_one", "store"]
    assert (kernels(outer)["call"] >= 0).all()


def test_concurrent_traces_of_threads(device):
    basic = load_basic(device)
    found = {}

    def trace(index):
        with device:
            x, stream = cs.zeros(1, np.int32), cs.Stream()
            with cs.trace() as t:
                for _ in range(50):
                    basic.add_one[1, 1, stream](x)
                stream.synchronize()
            found[index] = int((kernels(t)["stream"] == stream.id).sum())

    assert not in_threads(4, trace)
    assert found == dict.fromkeys(range(4), 50)


def test_work_after_a_trace_is_in_no_trace(device):
    basic, x = load_basic(device), cs.zeros(1, np.int32)
    cs.synchronize()
    for _ in range(5):
        with cs.trace() as t:
            basic.store[1, 1](x, 1)
        basic.add_one[1, 1](x)
        cs.synchronize()
        assert kernels(t)["name"].tolist() == ["store"]


def test_many_launches_are_all_there(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    launch, count = basic.add_one[1, 1, stream], 50_000
    cs.synchronize()
    with cs.trace() as t:
        for _ in range(count):
            launch(x)
    found = kernels(t)
    assert (len(found), t.dropped) == (count, 0)
    assert (found["call"] >= 0).all()
    assert (np.diff(found["start"]) >= 0).all()


def test_records_beyond_the_limit_are_counted(device):
    basic, x = load_basic(device), cs.zeros(1, np.int32)
    cs.synchronize()
    with cs.trace(limit=4000) as t:
        for _ in range(100):
            basic.store[1, 1](x, 1)
    assert len(t) + t.dropped >= 200


@pytest.mark.measures_time
def test_analyses_pictures_and_files_of_a_trace(device, tmp_path):
    size = 64 << 20
    host, x, y = cs.pinned_empty(size, np.uint8), cs.empty(size, np.uint8), cs.zeros(1 << 20, np.float32)
    first, second = cs.Stream(), cs.Stream()
    load_basic(device)
    cs.synchronize()
    with cs.trace() as t, cs.range("step"):
        x.copy_from(host, stream=first)
        spin(device, 3e-3, second)
        cs.sum(y, stream=second)
    assert t.overlap("copy", "kernel") > 0.3
    assert 0 < t.busy("kernels") <= 1
    assert str(t.explain())
    assert str(t.critical_path())
    assert "<svg" in t.svg()
    t.save(tmp_path / "t.json.gz")
    t.save(tmp_path / "t.json")
    assert cs.tracing.load(tmp_path / "t.json.gz") == t
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    starts = {event["bind_id"] for event in events if event.get("flow_out")}
    ends = {event["bind_id"] for event in events if event.get("flow_in")}
    assert starts
    assert starts == ends


@pytest.mark.measures_time
def test_two_streams_run_at_once(device):
    load_basic(device)
    first, second = cs.Stream(), cs.Stream()
    with cs.trace() as t:
        spin(device, 3e-3, first)
        spin(device, 3e-3, second)
    assert t.overlap("kernel", "kernel") > 0.8


def test_a_program_that_ends_without_its_work(device, run_python):
    done = run_python("""
        import cuscope as cs
        x = cs.zeros(1 << 20)
        t = cs.trace(wait=False).__enter__()
        x.fill(1)
    """)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reset_in_a_trace(device, run_python):
    done = run_python("""
        import cuscope as cs
        device = cs.Device("cuda:0")
        with cs.trace() as t:
            cs.zeros(1 << 20).fill(1)
            cs.synchronize()
            device.reset()
            cs.zeros(1 << 20).fill(2)
        with cs.trace() as again:
            cs.zeros(1 << 20).fill(3)
        print(len(t.spans[t.spans["kind"] == "memset"]) >= 2, len(again.spans[again.spans["kind"] == "memset"]) >= 1)
    """)
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_a_fork_in_a_trace(device, run_python):
    done = run_python("""
        import os, warnings
        import cuscope as cs
        warnings.simplefilter("ignore", DeprecationWarning)  # of os.fork() in a process with threads
        x = cs.zeros(1 << 20)
        cs.synchronize()
        with cs.trace() as t:
            x.fill(1)
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
            x.fill(2)
        print((t.spans["kind"] == "memset").sum())
    """)
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_the_command_line_traces_a_program(device, run_python, tmp_path):
    (tmp_path / "traced.py").write_text("import cuscope as cs\ncs.zeros(1 << 20).fill(1)\n")
    done = run_python(
        """
        import subprocess, sys
        sys.exit(subprocess.call([sys.executable, "-m", "cuscope", "trace", "traced.py", "--out", "t.json"]))
        """
    )
    assert done.returncode == 0
    assert "(cupti)" in done.stderr
    assert (cs.tracing.load(tmp_path / "t.json").spans["kind"] == "memset").any()


def test_work_of_another_library(device):
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Device(device.ordinal):
        x = cupy.zeros(1 << 20, cupy.float32)
        cupy.cuda.Device().synchronize()
        with cs.trace() as t:
            x += 1
            cupy.cuda.Device().synchronize()
    assert len(kernels(t)) == 1


@pytest.mark.filterwarnings("ignore:cs.trace. a stream is being captured:RuntimeWarning")
@pytest.mark.no_sanitizer("compute-sanitizer and CUPTI exclude each other")
def test_traces_beside_threads_that_launch_capture_and_copy(device):
    basic = load_basic(device)
    until = time.monotonic() + 10
    counts, complete = [0] * 6, []

    def launch(index, x, stream):
        for _ in range(50):
            basic.add_one[1, 1, stream](x)
        stream.synchronize()

    def capture(index, x, stream):
        with stream.capture("thread_local") as graph:  # other threads copy pageable memory
            for _ in range(5):
                basic.add_one[1, 1, stream](x)
        exe = graph.instantiate()
        for _ in range(5):
            exe.launch(stream)
        stream.synchronize()

    def copy(index, x, stream):
        y = cs.to_device(np.arange(1 << 16), stream=stream)
        assert y.to_host(stream=stream)[-1] == (1 << 16) - 1

    def trace(index, x, stream):
        with cs.trace(wait=index % 2 == 0) as t:
            launch(index, x, stream)
        if t.notes:  # it found no moment without a capture
            assert "captured" in t.notes[0]
        else:
            assert (kernels(t)["stream"] == stream.id).sum() >= 50
            complete.append(index)

    works = [launch, capture, copy, trace, trace, launch]

    def run(index):
        with device:
            x, stream = cs.zeros(1, np.int32), cs.Stream(non_blocking=True)
            while time.monotonic() < until:
                works[index](index, x, stream)
                counts[index] += 1

    assert not in_threads(len(works), run, timeout=60)
    assert all(counts)
    assert complete
    module(device).store[1, 1](cs.zeros(1, np.int32), 1)
    cs.synchronize()


def check_that_the_next_trace_is_whole(device):
    basic, x = load_basic(device), cs.zeros(1, np.int32)
    cs.synchronize()
    with cs.trace() as t:
        basic.add_one[1, 1](x)
    (kernel,) = kernels(t)
    assert t.spans[kernel["call"]]["name"] == "cudaLaunchKernel"
    assert (t.source, t.notes) == ("cupti", [])


def test_a_trace_within_a_capture_leaves_the_capture_alone(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    cs.synchronize()
    with stream.capture() as graph:
        basic.add_one[1, 1, stream](x)
        with pytest.warns(RuntimeWarning, match="begin the trace before the capture"), cs.trace() as t:
            basic.add_one[1, 1, stream](x)
    assert len(work(t)) == 0
    assert t.source == "events"
    graph.instantiate().launch(stream)
    assert x.to_host(stream=stream)[0] == 2
    check_that_the_next_trace_is_whole(device)


def test_a_trace_that_ends_within_a_capture_leaves_the_capture_alone(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    other = cs.Stream(non_blocking=True)
    cs.synchronize()
    trace = cs.trace()
    t = trace.__enter__()
    with stream.capture() as graph:
        basic.add_one[1, 1, stream](x)
        trace.__exit__(None, None, None)
        basic.add_one[1, 1, stream](x)
        with cs.trace() as within:  # CUPTI is still on
            basic.add_one[1, 1, other](x)
    assert "end the trace after the capture" in t.notes[0]
    assert "end the trace after the capture" in within.notes[0]
    other.synchronize()
    graph.instantiate().launch(stream)
    assert x.to_host(stream=stream)[0] == 3
    check_that_the_next_trace_is_whole(device)


def test_a_nested_trace_that_ends_within_a_capture(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    cs.synchronize()
    with cs.trace() as outer:
        with stream.capture() as graph, cs.trace() as inner:
            basic.add_one[1, 1, stream](x)
        graph.instantiate().launch(stream)
    assert "end the trace after the capture" in inner.notes[0]
    assert outer.notes == []
    assert [kernel["graph"] >= 0 for kernel in kernels(outer)] == [True]


def test_a_capture_in_a_trace_of_many_streams(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    others = [cs.Stream(non_blocking=True) for _ in range(20)]
    y = cs.zeros(len(others), np.int32)
    cs.synchronize()
    with cs.trace() as t:
        with stream.capture() as graph:
            for i, other in enumerate(others):
                basic.add_one[1, 1, other](y[i:])
                basic.add_one[1, 1, stream](x)
        cs.synchronize()
        graph.instantiate().launch(stream)
    assert x.to_host(stream=stream)[0] == len(others)
    ids = [other.id for other in others] + [stream.id] * len(others)
    assert sorted(kernels(t)["stream"].tolist()) == sorted(ids)


def launch_in(device, basic, x, stream):
    with device:
        basic.add_one[1, 1, stream](x)


def test_a_trace_that_begins_in_a_capture_while_another_trace_runs(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    cs.synchronize()
    with cs.trace():
        with stream.capture() as graph, cs.trace():
            # A thread that has not used the stream yet asks for its number.
            assert not in_threads(1, lambda index: launch_in(device, basic, x, stream))
        graph.instantiate().launch(stream)
    assert x.to_host(stream=stream)[0] == 1


def test_threads_have_numbers_and_names(device):
    basic, x = load_basic(device), cs.zeros(1, np.int32)
    cs.synchronize()

    def run():
        with device:
            basic.store[1, 1](x, 1)

    with cs.trace() as t:
        thread = threading.Thread(target=run, name="worker")
        thread.start()
        thread.join()
        basic.store[1, 1](x, 2)
    callers = t.spans[kernels(t)["call"]]["thread"].tolist()
    assert len(set(callers)) == 2
