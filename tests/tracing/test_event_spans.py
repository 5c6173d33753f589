"""Work measured by events, as on a GPU without CUPTI, beside the spans that the simulation records itself."""

import pytest

# Each program has a process of its own: what measures the work is chosen before the first trace.
PRELUDE = """
import threading
import numpy as np
import cuscope as cs
from cuscope import _core

_core.measure_simulated_work()
host = cs.Device("host:0")
module = cs.Module('''
__global__ void scale(float* a, int n) {
    __shared__ float first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) first = 2;
    __syncthreads();
    if (i < n) a[i] *= first;
}''')
KINDS = ["kernel", "copy", "memset", "graph", "host function"]

def split(t):
    '''The measured spans, and those of the simulation for the same calls in the same order.'''
    spans = t.spans[np.isin(t.spans["kind"], KINDS) & (t.spans["graph"] < 0)]
    measured = spans[spans["issued"] < 0]
    exact = spans[(spans["issued"] >= 0) & np.isin(spans["call"], measured["call"])]
    order = lambda some: some[np.argsort(some["call"], kind="stable")]
    return order(measured), order(exact)

def launch(x, stream=None):
    # Blocks for a part of the array: its bytes alone give the time.
    module.scale[-(-x.size // 4096), 256, stream or cs.current_stream()](x, x.size)

x, stream = cs.zeros(1 << 20, np.float32), cs.Stream()
page_locked = cs.pinned_empty(1 << 20, np.float32)
launch(x)  # compiled
cs.synchronize()
"""


@pytest.fixture
def measured(run_python):
    def run(source):
        done = run_python(PRELUDE + source)
        assert done.stderr == ""
        return done.stdout

    return run


def test_measured_work_is_described_as_the_simulation_describes_it(measured):
    assert (
        measured("""
y = cs.zeros((64, 100), np.float32)
cs.synchronize()
with stream.capture() as graph:
    launch(x, stream)
exe = graph.instantiate()
with cs.trace() as t:
    x.copy_from(page_locked, stream=stream)
    launch(x, stream)
    x.copy_to(page_locked, stream=stream)
    x.copy_from(np.ones(1 << 20, np.float32))
    x[: 1 << 10].copy_from(x[1 << 10 : 1 << 11])
    y[:, :50].copy_from(y[:, 50:])
    y.fill(1)
    y[:, :10].fill(2)
    exe.launch(stream)
    stream.host_function(cs.host_work, 1e-5)
    cs.sum(x)
found, exact = split(t)
for field in ("kind", "name", "stream", "bytes", "grid", "block", "shared_bytes", "pageable", "line", "device", "call"):
    assert found[field].tolist() == exact[field].tolist(), field
print(t.source, t.notes, t.dropped, sorted(set(found["kind"].tolist())), set(found["name"].tolist()) >= {"scale", "sum"})
print(set(found["engine"][found["kind"] != "host function"].tolist()), set(t.streams) >= set(found["stream"].tolist()))
""")
        == "events [] 0 ['copy', 'graph', 'host function', 'kernel', 'memset'] True\n{''} True\n"
    )


def test_times_of_work_behind_other_work_are_those_of_the_simulation(measured):
    assert (
        measured("""
launch(x, stream)
with cs.trace() as t:
    for _ in range(3):
        x.copy_from(page_locked, stream=stream)
        launch(x, stream)
        x.copy_to(page_locked, stream=stream)
found, exact = split(t)
lengths = np.abs((found["end"] - found["start"]) - (exact["end"] - exact["start"]))
offsets = found["end"] - exact["end"]
print(len(found), lengths[1:].max() <= 16, np.ptp(offsets) <= 16, abs(offsets).max() < 1000)
""")
        == "9 True True True\n"
    )


def test_work_directly_behind_other_work_begins_where_that_ended(measured):
    assert (
        measured("""
with cs.trace() as t:
    for _ in range(20):
        x.copy_from(page_locked, stream=stream)
        launch(x, stream)
found, exact = split(t)
print(len(found), (found["start"][1:] == found["end"][:-1]).all(), np.ptp(found["end"] - exact["end"]) < 1000)
""")
        == "40 True True\n"
    )


def test_a_span_does_not_include_the_time_before_its_call(measured):
    assert (
        measured("""
with cs.trace() as t:
    launch(x, stream)
    cs.host_work(1e-3)
    launch(x, stream)
found, exact = split(t)
call = t.spans[found["call"][1]]
print(found["start"][1] - found["end"][0] > 500_000, abs(found["start"][1] - call["start"]) < 5000)
""")
        == "True True\n"
    )


def test_a_span_does_not_include_a_wait_for_an_event(measured):
    assert (
        measured("""
other, event = cs.Stream(), cs.Event()
cs.synchronize()
with cs.trace() as t:
    x.copy_from(page_locked, stream=other)
    event.record(other)
    launch(x, stream)
    stream.wait(event)
    launch(x, stream)
found, exact = split(t)
copy, first, second = found
print(first["end"] < copy["end"] <= second["start"] + 1000)
""")
        == "True\n"
    )


def test_a_call_that_fails_directly_behind_work_changes_no_span(measured):
    assert (
        measured("""
small = cs.zeros(1, np.float32)
cs.synchronize()
with cs.trace() as t:
    for _ in range(1500):  # so many that events are used again
        launch(small, stream)
        try:
            module.scale[1, 4096, stream](small, 1)
        except cs.CudaError:
            pass
        launch(small, stream)
found, exact = split(t)
lengths = (found["end"] - found["start"]) - (exact["end"] - exact["start"])
print(len(found), t.dropped, abs(lengths[1:]).max() < 5000, np.ptp(found["end"] - exact["end"]) < 1000)
""")
        == "3000 0 True True\n"
    )


def test_a_span_in_an_idle_stream_includes_the_call(measured):
    assert (
        measured("""
with cs.trace() as t:
    launch(x, stream)
(found,), (exact,) = split(t)
early = exact["start"] - found["start"]
print(0 < early < 5000, abs(found["end"] - exact["end"]) < 1000)
""")
        == "True True\n"
    )


def test_a_span_includes_the_wait_for_an_engine(measured):
    assert (
        measured("""
other = cs.Stream()
y, more = cs.zeros(1 << 20, np.float32), cs.pinned_empty(1 << 20, np.float32)
cs.synchronize()
with cs.trace() as t:
    x.copy_from(page_locked, stream=stream)
    y.copy_from(more, stream=other)
found, exact = split(t)
print((exact["end"] - exact["start"])[1] < 100_000 < (found["end"] - found["start"])[1])
print([one.rule for one in t.explain()][:1], "waits for an engine" in str(t.explain()))
""")
        == "True\n['measured by events'] True\n"
    )


def test_times_stay_exact_in_a_trace_of_minutes(measured):
    assert (
        measured("""
with cs.trace() as t:
    for _ in range(50):
        launch(x, stream)
        cs.host_work(7.0)
    launch(x, stream)
found, exact = split(t)
print(len(found), t.duration > 300e9, np.ptp(found["end"] - exact["end"]) < 1500)
""")
        == "51 True True\n"
    )


def test_many_pieces_of_work_are_all_there(measured):
    assert (
        measured("""
small = cs.zeros(1, np.float32)
with cs.trace() as t:
    for _ in range(20_000):
        launch(small, stream)
found, exact = split(t)
print(len(found), t.dropped, (np.diff(found["start"]) >= 0).all(), np.ptp(found["end"] - exact["end"]) < 1000)
""")
        == "20000 0 True True\n"
    )


def test_captures_get_no_events_and_are_not_invalidated(measured):
    assert (
        measured("""
other = cs.Stream(non_blocking=True)
y = cs.zeros(16, np.float32)
cs.synchronize()
with cs.trace() as t:
    with stream.capture() as graph:  # in the global mode
        launch(x, stream)
        with cs.trace() as within:
            launch(y, other)
            launch(x, stream)
        stream.host_function(print, end="")
        other.synchronize()
    graph.instantiate().launch(stream)
found, exact = split(t)
print(len(graph.nodes), found["kind"].tolist(), split(within)[0]["kind"].tolist())
""")
        == "3 ['kernel', 'graph'] ['kernel']\n"
    )


def test_captures_of_other_threads_are_not_invalidated(measured):
    assert (
        measured("""
done = threading.Event()

def capture():
    with host:
        own, y = cs.Stream(non_blocking=True), cs.zeros(1 << 10, np.float32)
        while not done.is_set():
            with own.capture() as graph:
                for _ in range(5):
                    launch(y, own)
            graph.instantiate().launch(own)
            counts.append(len(graph.nodes))

counts = []
thread = threading.Thread(target=capture)
thread.start()
own, y = cs.Stream(non_blocking=True), cs.zeros(16, np.float32)
spans = []
while len(counts) < 200 or len(spans) < 20:
    with cs.trace() as t:
        for _ in range(50):
            launch(y, own)
        own.synchronize()
    spans.append((split(t)[0]["stream"] == own.id).sum())
done.set()
thread.join()
print(set(counts), *set(spans))
""")
        == "{5} 50\n"
    )


def test_calls_that_fail_fail_as_without_a_trace(measured):
    assert (
        measured("""
def fail():
    errors = []
    for bad in (lambda: module.scale[1, 4096, stream](x, 1), lambda: module.scale[0, 1](x, 1)):
        try:
            bad()
        except (cs.CudaError, ValueError) as error:
            errors.append(str(error))
    return errors

without = fail()
with cs.trace() as t:
    within = fail()
print(without == within, len(without), len(split(t)[0]))
contract = _core.contract("host")
print(contract.peek_at_last_error())
""").splitlines()[0]
        == "True 2 0"
    )


def test_a_reset_in_a_trace_and_between_traces(measured):
    assert (
        measured("""
def trace(reset):
    with cs.trace() as t:
        cs.zeros(1 << 10).fill(1)
        cs.synchronize()
        if reset:
            host.reset()
            cs.zeros(1 << 10).fill(2)
    return split(t)[0]["kind"].tolist()

first = trace(False)
host.reset()
print(first, trace(True), trace(False))
""")
        == "['memset', 'memset'] ['memset', 'memset', 'memset', 'memset'] ['memset', 'memset']\n"
    )


def test_two_devices(measured):
    assert (
        measured("""
second = cs.add_host_device("k20x")
with second:
    y, other = cs.zeros(1 << 20, np.float32), cs.Stream()
    cs.synchronize()
with cs.trace() as t:
    x.fill(1, stream=stream)
    y.fill(1, stream=other)  # the first device is current
    with second:
        y.fill(2)
found, exact = split(t)
print(found["device"].tolist(), found["stream"].tolist() == exact["stream"].tolist())
print(abs(found["end"] - exact["end"]).max() < 2000)
""")
        == "['host:0', 'host:1', 'host:1'] True\nTrue\n"
    )


def test_nested_traces_and_work_that_has_not_ended(measured):
    assert (
        measured("""
go_on = threading.Event()
with cs.trace() as outer:
    launch(x, stream)
    with cs.trace(wait=False) as inner:
        stream.synchronize()
        stream.host_function(go_on.wait)
        launch(x, stream)
    go_on.set()
print(split(outer)[0]["kind"].tolist(), split(inner)[0]["kind"].tolist())
with cs.trace() as t:
    launch(x, stream)
print(split(t)[0]["kind"].tolist())
""")
        == "['kernel', 'host function', 'kernel'] ['kernel']\n['kernel']\n"
    )


def test_threads_share_a_trace(measured):
    assert (
        measured("""
def work():
    with host:
        own, y = cs.Stream(), cs.zeros(16, np.float32)
        for _ in range(2000):
            launch(y, own)
        own.synchronize()

with cs.trace() as t:
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
found, exact = split(t)
kernels = found[found["kind"] == "kernel"]
print(len(kernels), t.dropped, sorted(np.unique(kernels["stream"], return_counts=True)[1].tolist()))
""")
        == "8000 0 [2000, 2000, 2000, 2000]\n"
    )


def test_a_call_that_begins_in_one_trace_and_ends_in_the_next(measured):
    assert (
        measured("""
go_on, other, y = threading.Event(), cs.Stream(), cs.zeros(16, np.float32)
pageable = np.empty(1 << 20, np.float32)
cs.synchronize()
with cs.trace(wait=False) as first:
    stream.host_function(go_on.wait)
    thread = threading.Thread(target=lambda: x.copy_to(pageable, stream=stream), daemon=True)
    thread.start()
    while not any("copy" in work.what for work in cs.pending(host)):  # the thread waits in the copy
        pass
with cs.trace() as second:
    go_on.set()
    thread.join()
    launch(y, other)
for t in first, second:  # the simulation's own spans have an engine
    measured = t.spans[np.isin(t.spans["kind"], ["copy", "kernel"]) & (t.spans["engine"] == "")]
    print(measured["kind"].tolist(), t.dropped)
""")
        == "[] 0\n['kernel'] 1\n"  # the copy is no work of the second trace, which counts it
    )
