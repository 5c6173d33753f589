"""cs.trace() records what the host and its devices do. The numbers of simulated time hold on simulated devices alone."""

import subprocess
import sys
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


@pytest.fixture
def host():
    with cs.Device("host:0") as device:
        yield device


def idle_zeros(count):
    """An array, on a device without work: its memset would be part of the traces."""
    x = cs.zeros(count, np.float32)
    cs.synchronize()
    return x


def names_of(trace, kind):
    return trace.spans["name"][trace.spans["kind"] == kind].tolist()


def test_calls_have_the_names_of_cudas_functions(host):
    stream, small, large = cs.Stream(), cs.empty_plain(1, np.uint32), cs.empty_plain(1, np.uint64)
    tiles = cs.zeros((64, 64), np.float16)
    with cs.trace() as t:
        cs.Module("__global__ void nothing() {}")
        stream.write_value(small, 1)
        stream.write_value(large, 1)
        stream.wait_value(small, 1)
        stream.batch_mem_op([cs.WriteValue(small, 2), cs.WriteValue(large, 2)])
        cs.TensorMap(tiles, box=(16, 16))
        tiles.copy_to(np.empty((64, 64), np.float16))

    found = names_of(t, "call")
    for name in ("compile", "cuStreamWriteValue32", "cuStreamWriteValue64", "cuStreamWaitValue32", "cuStreamBatchMemOp",
                 "cuTensorMapEncodeTiled", "cudaMemcpyAsync"):  # fmt: skip
        assert name in found
    assert not {"cudaCompile", "cudaStreamBatchMemOp", "cudaTensorMapEncodeTiled"} & set(found)


def test_calls_and_work_are_recorded(host):
    x = idle_zeros(1024)
    with cs.trace() as t:
        x.fill(1)
    assert names_of(t, "call") == ["cuMemsetD2D32Async"]
    assert t.spans["kind"].tolist() == ["call", "memset"]


def test_work_names_its_call_its_line_and_its_stream(host):
    x = idle_zeros(1024)
    stream = cs.Stream()
    with cs.trace() as t:
        x.fill(1, stream=stream)
    work = t.spans[t.spans["kind"] == "memset"][0]
    assert t.spans[work["call"]]["name"] == "cuMemsetD2D32Async"
    assert work["line"].startswith("test_recording.py:")
    assert (work["stream"], work["bytes"], work["device"]) == (stream.id, 4096, "host:0")


def test_work_of_default_streams_has_their_ids(host):
    x = idle_zeros(1024)
    with cs.trace() as t:
        x.fill(1)
        x.fill(2, stream=host.per_thread_stream)
    work = t.spans[t.spans["kind"] == "memset"]
    assert work["stream"].tolist() == [host.default_stream.id, host.per_thread_stream.id]
    assert [t.streams[number]["label"] for number in work["stream"]] == [
        "legacy default",
        "per-thread default",
    ]


def test_a_kernel_has_its_launch_configuration(host):
    module = cs.Module(KERNEL)
    x = idle_zeros(1024)
    with cs.trace() as t:
        module.scale[8, 128](x, 1024)
    kernel = t.spans[t.spans["kind"] == "kernel"][0]
    assert kernel["name"] == "scale"
    assert (kernel["grid"].tolist(), kernel["block"].tolist()) == ([8, 1, 1], [128, 1, 1])


def test_recording_changes_no_simulated_time(host):
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


def test_copies_of_pageable_memory_are_marked(host):
    x = idle_zeros(1 << 20)
    page_locked = cs.pinned_empty(1 << 20, np.float32)
    with cs.trace() as t:
        x.copy_from(np.zeros(1 << 20, np.float32))
        x.copy_from(page_locked)
    copies = t.spans[t.spans["kind"] == "copy"]
    assert copies["pageable"].tolist() == [True, False]


def test_nested_traces_each_have_the_spans_of_their_block(host):
    x = idle_zeros(16)
    with cs.trace() as outer:
        x.fill(1)
        cs.synchronize()
        with cs.trace() as inner:
            x.fill(2)
    assert (names_of(outer, "memset"), names_of(inner, "memset")) == (["memset"] * 2, ["memset"])


def test_the_calls_of_all_threads_are_recorded(host):
    x = idle_zeros(16)

    def work():
        with cs.Device("host:0"):
            x.fill(1)

    with cs.trace() as t:
        threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(3)]
        for thread in threads:
            thread.start()
            thread.join()
    calls = t.spans[t.spans["kind"] == "call"]
    assert len(set(calls["thread"].tolist())) == 3


def test_records_beyond_the_limit_are_counted(host):
    x = idle_zeros(16)
    with cs.trace(limit=1000) as t:
        for _ in range(100):
            x.fill(1)
    assert 0 < len(t.spans) < 20
    assert t.dropped == 200 - len(t.spans)


def test_a_trace_does_not_change_when_later_traces_use_the_memory_of_earlier_ones(host):
    x = idle_zeros(16)

    def fills(value, count):
        with cs.trace() as t:
            for _ in range(count):
                with cs.range(value):
                    x.fill(1)
        return t

    first = fills("first", 5000)
    assert len(first.spans) > 10000
    del first
    kept = fills("second", 3000)
    spans = kept.spans.copy()
    for count in (1, 4000):
        later = fills("third", count)
        assert names_of(later, "range") == ["third"] * count

    assert (kept.spans == spans).all()
    assert names_of(kept, "range") == ["second"] * 3000


def test_a_trace_that_records_cannot_be_read(host):
    with cs.trace() as t, pytest.raises(RuntimeError, match="still recording: read it after its with block"):
        _ = t.spans


def test_an_exception_ends_the_recording_and_goes_on(host):
    x = idle_zeros(16)

    def fail():
        x.fill(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), cs.trace() as t:
        fail()
    assert names_of(t, "call") == ["cuMemsetD2D32Async"]


def test_a_capture_under_way_is_not_disturbed(host):
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


def test_the_same_program_gives_the_same_spans(host):
    def spans():
        stream = cs.Stream()
        x = idle_zeros(1 << 16)
        with cs.trace() as t:
            for value in range(5):
                x.fill(value, stream=stream)
        return t.spans[["kind", "name", "start", "end", "cause", "call", "reason"]]

    first, second = spans(), spans()
    assert first.tolist() == second.tolist()


def test_operations_have_their_own_names(host):
    x = idle_zeros(1024)
    square = cs.zeros((8, 8), np.float32)
    with cs.trace() as t:
        cs.sum(x)
        cs.argmax(x)
        cs.matmul(square, square)
    assert names_of(t, "kernel") == ["sum", "argmax", "matmul"]


def test_operations_in_a_graph_have_their_own_names(host):
    x = idle_zeros(1024)
    out = cs.zeros((), np.float32)
    stream = cs.Stream()
    with stream.capture() as graph:
        cs.sum(x, out=out, stream=stream)
    exe = graph.instantiate()
    with cs.trace() as t:
        exe.launch(stream)
    assert names_of(t, "kernel") == ["sum"]


@pytest.mark.parametrize("way", ["captured", "added"])
def test_kernels_in_a_graph_have_their_names(host, way):
    add_one = cs.Module("__global__ void add_one(float* x) { *x += 1; }").add_one
    x = idle_zeros(1)
    stream = cs.Stream()
    if way == "captured":
        with stream.capture() as graph:
            add_one[1, 1](x)
    else:
        graph = cs.Graph()
        graph.add_kernel(add_one[1, 1], args=(x,))
    exe = graph.instantiate()
    with cs.trace() as t:
        exe.launch(stream)
    assert names_of(t, "kernel") == ["add_one"]


LOST = """
import numpy as np, cuscope as cs
cs.set_device(cs.Device("host:0"))
with cs.add_host_device("h200"):
    kernel = cs.Module("__global__ void fault(int* p) { p[1 << 20] = 1; }").fault
    kernel[1, 1](cs.zeros(1, np.int32))
    try:
        cs.synchronize()
    except cs.CudaError as error:
        print(error.name)
x = cs.zeros(16, np.float32)
cs.synchronize()
with cs.trace() as t:
    x.fill(1)
print(t.spans["kind"].tolist())
"""


def test_a_device_that_was_lost_earlier_does_not_disturb_a_trace():
    # In a process of its own: the array of the lost device is never given back.
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["cudaErrorIllegalAddress", "['call', 'memset']"], done.stderr


BEGINS_MEANWHILE = """
import threading, time
import cuscope as cs

first, second = cs.Device("host:0"), cs.add_host_device("h200")
waiting, begun, ended = threading.Event(), threading.Event(), threading.Event()

def capture():
    with second:
        x, stream = cs.zeros(16), cs.Stream()
        waiting.wait()
        with stream.capture() as graph:
            x.fill(1, stream=stream)
            begun.set()
            time.sleep(0.2)  # the trace comes to the second device
            x.fill(2, stream=stream)
        print(len(graph.nodes))
    ended.set()

thread = threading.Thread(target=capture)
thread.start()
with cs.trace() as t:
    with first:
        cs.Stream().host_function(lambda: (waiting.set(), begun.wait()))
    with second:
        cs.Stream().host_function(ended.wait)
thread.join()
print((t.spans["kind"] == "host function").sum())
"""


def test_a_capture_that_begins_while_a_trace_ends_is_not_disturbed(run_python):
    done = run_python(BEGINS_MEANWHILE)
    assert (done.stdout, done.stderr) == ("2\n2\n", "")


def test_a_copy_between_two_simulated_devices_is_named_so():
    one, two = cs.add_host_device("h200"), cs.add_host_device("h200")
    with one:
        x = cs.zeros(1000)
    with two:
        y = cs.zeros(1000)
    one.synchronize()
    two.synchronize()
    with cs.trace() as trace:
        y.copy_from(x)
        y[:500].copy_from(y[500:])
        y.copy_from(np.zeros(1000, np.float32))

    names = trace.spans["name"][trace.spans["kind"] == "copy"].tolist()
    assert names == ["device to other device", "device to device", "host to device"]
    assert "device to other device" in trace.svg()


def test_a_limit_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="limit: takes an int, the most bytes of records, not str"):
        cs.trace(limit="1000")
