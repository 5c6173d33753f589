"""cs.trace() on a GPU without CUPTI: the work is measured by events. Its rules are tested in test_event_spans.py."""

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
def measured_by_events(monkeypatch):
    monkeypatch.delenv("CUSCOPE_TRACE_GPU", raising=False)


def test_a_trace_has_the_work_without_further_steps(device):
    basic, x, stream = load_basic(device), cs.zeros(4096, np.float32), cs.Stream()
    host = cs.pinned_empty(4096, np.float32)
    cs.synchronize()
    with cs.trace() as t:
        x.copy_from(host, stream=stream)
        basic.vec_add[16, 256, stream](x, x, x, 4096)
        x.fill(1)
    assert (t.source, t.notes, t.dropped) == ("events", [], 0)
    (kernel,) = kernels(t)
    assert (kernel["name"], kernel["device"], kernel["stream"]) == ("vec_add", device.name, stream.id)
    assert (kernel["grid"].tolist(), kernel["block"].tolist()) == ([16, 1, 1], [256, 1, 1])
    assert kernel["line"].startswith("test_gpu_events.py:")
    assert t.spans[kernel["call"]]["name"] == "cudaLaunchKernel"
    (copy,) = of_kind(t, "copy")
    assert (copy["name"], copy["bytes"], bool(copy["pageable"])) == ("host to device", 4096 * 4, False)
    (memset,) = of_kind(t, "memset")
    assert (memset["bytes"], memset["stream"]) == (4096 * 4, device.default_stream.id)


@pytest.mark.measures_time
@pytest.mark.parametrize("milliseconds", [1, 5, 20])
def test_a_kernel_takes_as_long_as_between_the_programs_events(device, milliseconds):
    load_basic(device)
    stream, start, stop = cs.Stream(), cs.Event(), cs.Event()
    with cs.trace() as t:
        spin(device, BUSY, stream)
        start.record(stream)
        spin(device, milliseconds / 1e3, stream)
        stop.record(stream)
    kernel = kernels(t)[-1]
    assert int(kernel["end"] - kernel["start"]) == pytest.approx((stop - start) * MS, rel=0.02)


@pytest.mark.measures_time
def test_spans_agree_with_those_of_cupti(device, monkeypatch):
    load_basic(device)
    size = 64 << 20
    host, x, stream = cs.pinned_empty(size, np.uint8), cs.empty(size, np.uint8), cs.Stream()

    def lengths():
        """The least length of each span: other processes may share the GPU, and their turns make spans longer."""
        found = []
        for _ in range(24):
            with cs.trace() as t:
                spin(device, BUSY, stream)
                x.copy_from(host, stream=stream)
                spin(device, 3e-3, stream)
                x.fill(1, stream=stream)
                x.copy_to(host, stream=stream)
            spans = work(t)
            found.append((spans["end"] - spans["start"])[1:])
        return t.source, np.min(found, axis=0).tolist()

    source, by_events = lengths()
    monkeypatch.setenv("CUSCOPE_TRACE_GPU", "1")
    if problem():
        pytest.skip(problem())
    other_source, by_cupti = lengths()
    assert (source, other_source) == ("events", "cupti")
    assert by_events == pytest.approx(by_cupti, rel=0.03, abs=10_000)


@pytest.mark.measures_time
def test_work_stands_where_the_host_saw_it(device):
    load_basic(device)
    with cs.trace() as t:
        for _ in range(5):
            spin(device, 1e-3)
            cs.synchronize()
            time.sleep(0.05)
    waits = t.spans[(t.spans["kind"] == "call") & (t.spans["name"] == "cudaDeviceSynchronize")]
    assert len(kernels(t)) == 5
    for kernel in kernels(t):
        call = t.spans[kernel["call"]]
        wait = waits[waits["start"] >= call["end"]][0]
        # It may begin later than the call, because other processes may use the GPU.
        assert call["start"] - 20_000 <= kernel["start"]
        assert kernel["end"] <= wait["end"] + 20_000
        assert kernel["end"] - kernel["start"] >= 0.9 * MS


@pytest.mark.measures_time
def test_times_agree_with_the_hosts_clock_in_a_trace_of_seconds(device):
    load_basic(device)
    with cs.trace() as t:
        for _ in range(5):
            for _ in range(100):
                spin(device, 2e-5)
                cs.synchronize()
            time.sleep(0.7)
    found = kernels(t)
    calls = t.spans[found["call"]]
    # A kernel may wait while the GPU works for another process, and the first launch of a trace makes events.
    soonest = (found["start"] - calls["start"]).reshape(5, 100).min(axis=1)
    assert np.ptp(soonest) < MS // 5


def test_a_host_function_is_measured_where_it_runs(device):
    stream = cs.Stream()
    load_basic(device)
    with cs.trace() as t:
        spin(device, 2e-3, stream)
        stream.host_function(time.sleep, 5e-3)
    (function,) = of_kind(t, "host function")
    assert 5 * MS <= function["end"] - function["start"] <= 50 * MS
    assert function["start"] >= kernels(t)[0]["end"] - MS // 10
    assert t.spans[function["call"]]["name"] == "cudaLaunchHostFunc"


def test_a_graph_is_one_span_and_its_capture_has_no_events(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    cs.synchronize()
    with cs.trace() as t:
        with stream.capture() as graph:
            for _ in range(3):
                basic.add_one[1, 1, stream](x)
            with cs.trace() as within:
                basic.add_one[1, 1, stream](x)
        graph.instantiate().launch(stream)
    assert len(graph.nodes) == 4
    assert len(work(within)) == 0
    assert work(t)["kind"].tolist() == ["graph"]
    assert x.to_host(stream=stream)[0] == 4


def test_many_launches_are_all_there_and_in_order(device):
    basic, x, stream = load_basic(device), cs.zeros(1, np.int32), cs.Stream()
    launch, count = basic.add_one[1, 1, stream], 50_000
    cs.synchronize()
    with cs.trace() as t:
        for _ in range(count):
            launch(x)
    found = kernels(t)
    assert (len(found), t.dropped) == (count, 0)
    assert (np.diff(found["start"]) >= 0).all()
    assert x.to_host()[0] == count


def test_the_first_launch_of_each_thread_has_its_span(device):
    basic, x = load_basic(device), cs.zeros(1, np.int32)

    def launch(index):
        with device:
            for _ in range(3):
                basic.add_one[1, 1](x)  # in the default stream

    cs.synchronize()
    with cs.trace() as t:
        assert not in_threads(20, launch, timeout=60)
    assert (len(kernels(t)), t.dropped) == (60, 0)


@pytest.mark.parametrize("mode", ["global", "thread_local"])
def test_traces_beside_threads_that_launch_capture_and_copy(device, mode):
    basic = load_basic(device)
    until = time.monotonic() + 5
    counts, most = [0] * 6, []
    pinned = [cs.pinned_empty(1 << 16, np.float32) for _ in counts]

    def launch(index, x, stream):
        for _ in range(50):
            basic.add_one[1, 1, stream](x)
        stream.synchronize()

    def capture(index, x, stream):
        with stream.capture(mode) as graph:
            for _ in range(5):
                basic.add_one[1, 1, stream](x)
        assert len(graph.nodes) == 5
        exe = graph.instantiate()
        for _ in range(5):
            exe.launch(stream)
        stream.synchronize()

    def copy(index, x, stream):
        y = cs.zeros(1 << 16, np.float32, stream=stream)
        y.copy_from(pinned[index], stream=stream)
        y.copy_to(pinned[index], stream=stream)
        stream.synchronize()

    def trace(index, x, stream):
        with cs.trace(wait=index % 2 == 0) as t:
            launch(index, x, stream)
        assert (t.source, t.notes) == ("events", [])
        # A piece of work that begins while another thread ends the last trace may be dropped, and is counted.
        most.append(int((kernels(t)["stream"] == stream.id).sum()) + t.dropped)

    works = [launch, capture, copy, trace, trace, launch]

    def run(index):
        with device:
            x, stream = cs.zeros(1, np.int32), cs.Stream(non_blocking=True)
            while time.monotonic() < until:
                works[index](index, x, stream)
                counts[index] += 1

    assert not in_threads(len(works), run, timeout=60)
    assert all(counts)
    assert min(most) >= 50
    module(device).store[1, 1](cs.zeros(1, np.int32), 1)
    cs.synchronize()


def test_a_reset_in_a_trace(device, run_python):
    done = run_python("""
        import cuscope as cs
        device = cs.Device("cuda:0")
        with cs.trace() as t:
            cs.zeros(1 << 20).fill(1)
            cs.synchronize()
            device.reset()
            cs.zeros(1 << 20).fill(2)
        device.reset()
        with cs.trace() as again:
            cs.zeros(1 << 20).fill(3)
        print((t.spans["kind"] == "memset").sum(), (again.spans["kind"] == "memset").sum())
    """)
    assert (done.stdout, done.stderr) == ("4 2\n", "")


def test_errors_are_those_without_a_trace(device):
    basic, stream = load_basic(device), cs.Stream()
    with pytest.raises(cs.CudaError) as without:
        basic.store[1, 4096, stream](cs.zeros(1, np.int32), 1)
    with cs.trace() as t, pytest.raises(cs.CudaError) as within:
        basic.store[1, 4096, stream](cs.zeros(1, np.int32), 1)
    assert str(without.value) == str(within.value)
    assert len(kernels(t)) == 0


def test_work_that_has_not_ended_leaves_no_error(device, contract):
    load_basic(device)
    stream = cs.Stream()
    with cs.trace(wait=False) as t:
        spin(device, BUSY, stream)
    assert contract.peek_at_last_error() == "cudaSuccess"
    assert len(kernels(t)) == 0
    stream.synchronize()
