"""cs.trace() records what the host and its devices do. The numbers of simulated time hold on simulated devices alone."""

import threading

import numpy as np
import pytest

import cuscope as cs

KERNEL = """
__global__ void scale(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= 2;
}
"""


def idle_zeros(count):
    """An array, on a device without work: its memset would be part of the traces."""
    x = cs.zeros(count, np.float32)
    cs.synchronize()
    return x


def names_of(trace, kind):
    return trace.spans["name"][trace.spans["kind"] == kind].tolist()


def test_calls_and_work_are_recorded(device):
    x = idle_zeros(1024)
    with cs.trace() as t:
        x.fill(1)
    assert names_of(t, "call") == ["cuMemsetD2D32Async"]
    assert t.spans["kind"].tolist() == ["call", "memset"]


def test_work_names_its_call_its_line_and_its_stream(device):
    x = idle_zeros(1024)
    stream = cs.Stream()
    with cs.trace() as t:
        x.fill(1, stream=stream)
    work = t.spans[t.spans["kind"] == "memset"][0]
    assert t.spans[work["call"]]["name"] == "cuMemsetD2D32Async"
    assert work["line"].startswith("test_recording.py:")
    assert (work["stream"], work["bytes"], work["device"]) == (stream.id, 4096, device.name)


def test_a_kernel_has_its_launch_configuration(device):
    module = cs.Module(KERNEL)
    x = idle_zeros(1024)
    with cs.trace() as t:
        module.scale[8, 128](x, 1024)
    kernel = t.spans[t.spans["kind"] == "kernel"][0]
    assert kernel["name"] == "scale"
    assert (kernel["grid"].tolist(), kernel["block"].tolist()) == ([8, 1, 1], [128, 1, 1])


@pytest.mark.host_only("a GPU has no simulated time")
def test_recording_changes_no_simulated_time(device):
    def run():
        before = cs.clock()
        x = idle_zeros(1 << 20)
        x.fill(2)
        x.to_host()
        return round((cs.clock() - before) * 1e9)

    plain = run()
    with cs.trace(wait=False):
        traced = run()
    assert traced == plain


def test_copies_of_pageable_memory_are_marked(device):
    x = idle_zeros(1 << 20)
    page_locked = cs.pinned_empty(1 << 20, np.float32)
    with cs.trace() as t:
        x.copy_from(np.zeros(1 << 20, np.float32))
        x.copy_from(page_locked)
    copies = t.spans[t.spans["kind"] == "copy"]
    assert copies["pageable"].tolist() == [True, False]


def test_nested_traces_each_have_the_spans_of_their_block(device):
    x = idle_zeros(16)
    with cs.trace() as outer:
        x.fill(1)
        cs.synchronize()
        with cs.trace() as inner:
            x.fill(2)
    assert (names_of(outer, "memset"), names_of(inner, "memset")) == (["memset"] * 2, ["memset"])


def test_the_calls_of_all_threads_are_recorded(device):
    x = idle_zeros(16)

    def work():
        with cs.Device(device.name):
            x.fill(1)

    with cs.trace() as t:
        threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(3)]
        for thread in threads:
            thread.start()
            thread.join()
    calls = t.spans[t.spans["kind"] == "call"]
    assert len(set(calls["thread"].tolist())) == 3


def test_records_beyond_the_limit_are_counted(device):
    x = idle_zeros(16)
    with cs.trace(limit=1000) as t:
        for _ in range(100):
            x.fill(1)
    assert 0 < len(t.spans) < 20
    assert t.dropped == 200 - len(t.spans)


def test_a_trace_that_records_cannot_be_read(device):
    with cs.trace() as t, pytest.raises(RuntimeError, match="still recording: read it after its with block"):
        _ = t.spans


def test_an_exception_ends_the_recording_and_goes_on(device):
    x = idle_zeros(16)

    def fail():
        x.fill(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), cs.trace() as t:
        fail()
    assert names_of(t, "call") == ["cuMemsetD2D32Async"]


def test_a_capture_under_way_is_not_disturbed(device):
    x = idle_zeros(16)
    stream = cs.Stream()
    with stream.capture() as graph, cs.trace():
        x.fill(1, stream=stream)
    cs.synchronize()
    with cs.trace() as t:
        graph.instantiate().launch(stream)
    assert names_of(t, "graph") == ["graph"]
    memset = t.spans[t.spans["kind"] == "memset"][0]
    assert t.spans[memset["graph"]]["kind"] == "graph"


@pytest.mark.host_only("the times of a GPU differ from run to run")
def test_the_same_program_gives_the_same_spans(device):
    def spans():
        stream = cs.Stream()
        x = idle_zeros(1 << 16)
        with cs.trace() as t:
            for value in range(5):
                x.fill(value, stream=stream)
        return t.spans[["kind", "name", "start", "end", "cause", "call", "reason"]]

    first, second = spans(), spans()
    assert first.tolist() == second.tolist()


def test_a_trace_tells_where_its_spans_come_from(device):
    with cs.trace() as t:
        pass
    assert t.source == ("simulation" if device.simulated else "cupti")


def test_streams_are_described(device):
    stream = cs.Stream(non_blocking=True, priority=device.stream_priority_range[1])
    x = idle_zeros(16)
    with cs.trace() as t:
        x.fill(1, stream=stream)
        x.fill(2)
    about = t.streams[stream.id]
    assert (about["device"], about["blocking"], about["priority"]) == (device.name, False, stream.priority)
    memsets = t.spans[t.spans["kind"] == "memset"]
    assert sorted(t.streams[number]["label"] for number in set(memsets["stream"].tolist())) == [
        "legacy default",
        f"stream {stream.id}",
    ]


def test_copies_have_their_direction_and_engine(device):
    x, y = idle_zeros(1 << 16), idle_zeros(1 << 16)
    page_locked = cs.pinned_empty(1 << 16, np.float32)
    stream = cs.Stream()
    with cs.trace() as t:
        x.copy_from(page_locked, stream=stream)
        y.copy_from(x, stream=stream)
        y.copy_to(page_locked, stream=stream)
    copies = t.spans[t.spans["kind"] == "copy"]
    assert list(
        zip(copies["name"].tolist(), copies["engine"].tolist(), copies["bytes"].tolist(), strict=True)
    ) == [
        ("host to device", "copy to device", 1 << 18),
        ("device to device", "copy on device", 1 << 18),
        ("device to host", "copy to host", 1 << 18),
    ]


def test_each_launch_of_a_graph_has_its_own_nodes(device):
    module = cs.Module(KERNEL)
    x = idle_zeros(1 << 16)
    first, second = cs.Stream(), cs.Stream()
    with first.capture() as graph:
        x.fill(1, stream=first)
        module.scale[256, 256, first](x, 1 << 16)
    exe = graph.instantiate()
    with cs.trace() as t:
        exe.launch(first)
        exe.launch(second)
    launches = np.flatnonzero(t.spans["kind"] == "graph")
    assert t.spans["stream"][launches].tolist() == [first.id, second.id]
    for launch in launches:
        nodes = t.spans[t.spans["graph"] == launch]
        assert nodes["kind"].tolist() == ["memset", "kernel"]
        assert (nodes["stream"] == t.spans["stream"][launch]).all()
        assert (nodes["call"] == t.spans["call"][launch]).all()
        assert t.spans["start"][launch] <= nodes["start"].min()  # a simulated launch has a begin of its own
        assert t.spans["end"][launch] >= nodes["end"].max()


def test_work_issued_while_another_thread_captures_is_recorded(device):
    x = idle_zeros(16)
    captured, stream = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    with cs.trace() as t:
        x.fill(1, stream=stream)
        with captured.capture():
            x.fill(2, stream=captured)
        x.fill(3, stream=stream)
    assert t.spans["stream"][t.spans["kind"] == "memset"].tolist() == [stream.id] * 2


def test_a_program_may_end_within_a_trace(run_python, device):
    result = run_python("""
        import cuscope as cs
        x = cs.zeros(1 << 20)
        t = cs.trace()
        t.__enter__()
        for value in range(100):
            x.fill(value)
        print("end")
    """)
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


def test_a_process_forked_within_a_trace_can_end_it(run_python, device):
    result = run_python("""
        import os, warnings
        import cuscope as cs
        warnings.simplefilter("ignore", DeprecationWarning)
        x = cs.zeros(16)
        child = None
        with cs.trace(wait=False) as t:
            x.fill(1)
            child = os.fork()
        if child == 0:
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(t.spans) > 0)
    """)
    assert (result.stdout, result.stderr) == ("7 True\n", "")


SPIN = """
__global__ void spin(long long nanoseconds) {
    long long now, begin;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now < begin + nanoseconds);
}
"""


@pytest.mark.gpu_only("simulated times are compared exactly elsewhere")
def test_spans_agree_with_events(device):
    spin = cs.Module(SPIN).spin
    x = cs.empty(1 << 28, np.uint8)
    page_locked = cs.pinned_empty(1 << 28, np.uint8)
    stream = cs.Stream()
    work = {
        "kernel": lambda: spin[1, 1, stream](20_000_000),
        "copy": lambda: x.copy_from(page_locked, stream=stream),
    }
    for issue in work.values():
        issue()  # the first launch loads the kernel
    stream.synchronize()
    for kind, issue in work.items():
        before, after = cs.Event(), cs.Event()
        with cs.trace() as t:
            before.record(stream)
            issue()
            after.record(stream)
        (span,) = t.spans[t.spans["kind"] == kind]
        elapsed = (after - before) * 1e6
        assert abs(int(span["end"] - span["start"]) - elapsed) < 0.02 * elapsed


@pytest.mark.gpu_only("simulated devices need no CUPTI")
def test_without_cupti_spans_come_from_events(run_python, device):
    result = run_python(
        """
        import numpy as np
        import cuscope as cs
        x = cs.zeros(1 << 24, np.float32)
        page_locked = cs.pinned_empty(1 << 24, np.float32)
        stream = cs.Stream()
        x.copy_from(page_locked, stream=stream)
        stream.synchronize()
        before, after = cs.Event(), cs.Event()
        with cs.trace() as t:
            before.record(stream)
            x.copy_from(page_locked, stream=stream)
            after.record(stream)
        (copy,) = t.spans[t.spans["kind"] == "copy"]
        print(t.source, copy["name"], copy["bytes"], copy["stream"] == stream.id, t.spans["name"][copy["call"]])
        elapsed = (after - before) * 1e6
        assert abs(int(copy["end"] - copy["start"]) - elapsed) < 0.05 * elapsed
        with stream.capture() as graph, cs.trace() as captured:
            x.fill(1, stream=stream)
        with cs.trace() as t:
            graph.instantiate().launch(stream)
        print(len(captured.spans), t.spans["kind"].tolist().count("graph"))
        """,
        env={"CUSCOPE_CUPTI": "none"},
    )
    assert result.stdout == f"events host to device {4 << 24} True cudaMemcpyAsync\n1 1\n", result.stderr
