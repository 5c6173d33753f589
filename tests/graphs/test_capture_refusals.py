"""Calls that a capture refuses, calls that invalidate it, and the errors of an invalidated capture."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import cuscope as cs
from others import Interface
from support import module

ADD = "__global__ void add(int* x, int v) { x[threadIdx.x] += v; }"


@pytest.fixture
def add(device):
    return module(device, ADD).add


@pytest.fixture
def x(device):
    return cs.zeros(4, np.int32)


def types(graph):
    return [node.type for node in graph.nodes]


def refused(call, name):
    with pytest.raises(cs.CaptureError) as caught:
        call()
    assert caught.value.name == name
    assert "goes on" in str(caught.value)


def test_calls_that_the_package_knows_to_be_illegal_invalidate_nothing(device, x):
    s, event = cs.Stream(), cs.Event()
    outside = cs.Event().record()
    with s.capture() as graph:
        event.record(s)
        refused(s.synchronize, "cudaErrorStreamCaptureUnsupported")
        refused(s.query, "cudaErrorStreamCaptureUnsupported")
        refused(device.synchronize, "cudaErrorStreamCaptureUnsupported")
        refused(event.query, "cudaErrorCapturedEvent")
        refused(event.synchronize, "cudaErrorCapturedEvent")
        refused(lambda: event - event, "cudaErrorCapturedEvent")
        refused(lambda: s.wait(outside), "cudaErrorStreamCaptureIsolation")
        refused(lambda: s.wait(cs.Stream()), "cudaErrorStreamCaptureIsolation")
        refused(x.to_host, "cudaErrorStreamCaptureUnsupported")
        assert s.capture_status == "active"
        x.fill(1)
    assert types(graph) == ["memset"]


def test_the_legacy_stream_is_refused_beside_a_blocking_one(device, add, x):
    s = cs.Stream()
    legacy = cs.current_stream()
    with s.capture() as graph:
        refused(lambda: add[1, 4, legacy](x, 1), "cudaErrorStreamCaptureImplicit")
        refused(legacy.synchronize, "cudaErrorStreamCaptureImplicit")
        refused(lambda: legacy.wait(s), "cudaErrorStreamCaptureImplicit")
        x.fill(1)
    assert types(graph) == ["memset"]


WORK_IN_THE_LEGACY_STREAM = {
    "fill of zeros": lambda legacy, x: x.fill(0),
    "fill": lambda legacy, x: x.fill(1),
    "fill of a view": lambda legacy, x: x[::2].fill(1),
    "copy_from": lambda legacy, x: x.copy_from(np.ones(4, np.int32)),
    "copy_from to a view": lambda legacy, x: x[::2].copy_from(np.ones(2, np.int32)),
    "to_host": lambda legacy, x: x.to_host(),
    "to_host of a view": lambda legacy, x: x[::2].to_host(),
    "copy": lambda legacy, x: x.copy(),
    "zeros": lambda legacy, x: cs.zeros(4),
    "full": lambda legacy, x: cs.full(4, 1),
    "record": lambda legacy, x: legacy.record(),
    "record of an event": lambda legacy, x: cs.Event().record(legacy),
    "wait for an event": lambda legacy, x: legacy.wait(cs.Event()),
    "wait for a stream": lambda legacy, x: legacy.wait(cs.Stream(non_blocking=True)),
    "wait of another stream": lambda legacy, x: cs.Stream(non_blocking=True).wait(legacy),
    "copy_batch": lambda legacy, x: cs.copy_batch([(x, cs.pinned_empty(4, np.int32))]),
    "host_function": lambda legacy, x: legacy.host_function(print),
    "CudaArray.copy_from": lambda legacy, x: cs.CudaArray((4,), np.int32).copy_from(x),
    "sum": lambda legacy, x: cs.sum(x),
}


@pytest.mark.parametrize("work", WORK_IN_THE_LEGACY_STREAM.values(), ids=WORK_IN_THE_LEGACY_STREAM)
def test_work_in_the_legacy_stream_leaves_a_capture_beside_it_as_it_is(device, add, x, work):
    s, legacy = cs.Stream(), cs.current_stream()
    with s.capture() as graph:
        with legacy, pytest.raises(cs.CudaError) as caught:
            work(legacy, x)
        assert s.capture_status == "active"
        add[1, 4](x, 1)
    assert types(graph) == ["kernel"]
    assert caught.value.name == "cudaErrorStreamCaptureImplicit"
    graph.instantiate().launch(s)
    s.synchronize()
    assert x.to_host().tolist() == [1] * 4


def test_prefetch_in_the_legacy_stream_leaves_a_capture_beside_it_as_it_is(device):
    s, legacy, x = cs.Stream(), cs.current_stream(), cs.empty_managed(4, np.int32)
    with s.capture():
        refused(lambda: x.prefetch(stream=legacy), "cudaErrorStreamCaptureImplicit")
        assert s.capture_status == "active"


def test_work_in_the_legacy_stream_runs_beside_a_capture_that_does_not_block(device, x):
    s, legacy = cs.Stream(non_blocking=True), cs.current_stream()
    with s.capture():
        with legacy:
            x.fill(3)
            event = legacy.record()
            legacy.wait(event)
            cs.Stream(non_blocking=True).wait(legacy)
        assert s.capture_status == "active"
    assert x.to_host().tolist() == [3] * 4


def test_two_captures_cannot_become_one(device):
    a, b = cs.Stream(), cs.Stream()
    with a.capture():
        with b.capture():
            refused(lambda: b.wait(a), "cudaErrorStreamCaptureMerge")
    assert (a.capture_status, b.capture_status) == ("none", "none")


def test_the_call_that_invalidates_a_capture_is_named_with_its_line(device, contract):
    s = cs.Stream()
    with pytest.raises(cs.CaptureError) as caught:
        with s.capture():
            assert contract.stream_query(s.handle) == "cudaErrorStreamCaptureUnsupported"
    assert caught.value.name == "cudaErrorStreamCaptureInvalidated"
    assert "cuscope did not make" in str(caught.value)


@pytest.mark.host_only("whether a GPU captures a prefetch was not asked of one")
def test_the_call_of_the_package_that_invalidates_a_capture_is_named(device, x):
    s = cs.Stream()
    managed = cs.empty_managed(4, np.int32)
    device.synchronize()

    def invalidated():
        with s.capture(), contextlib.suppress(cs.CudaError):
            managed.prefetch(device)

    with pytest.raises(cs.CaptureError) as caught:
        invalidated()
    assert "cudaMemPrefetchAsync" in str(caught.value)
    assert "test_capture_refusals.py" in str(caught.value)


def test_a_launch_that_fails_invalidates_its_capture(device, add, x):
    s = cs.Stream()
    s.begin_capture()
    with pytest.raises(cs.CudaError):
        add[1, 4096, s](x, 1)
    with pytest.raises(cs.CaptureError) as caught:
        s.end_capture()
    assert caught.value.name == "cudaErrorStreamCaptureInvalidated"
    assert s.capture_status == "none"


def test_streams_that_were_not_joined_are_named_and_usable(device, x):
    s, t = cs.Stream(), cs.Stream()
    captured = []

    def unjoined():
        with s.capture() as graph:
            captured.append(graph)
            t.wait(s)
            x.fill(1, stream=t)

    with pytest.raises(cs.CaptureError, match="Unjoined") as caught:
        unjoined()
    assert "wait" in caught.value.hint
    with pytest.raises(ValueError, match="its capture failed"):
        _ = captured[0].nodes
    t.synchronize()
    s.synchronize()


def test_a_body_that_raises_ends_the_capture(device, x):
    s = cs.Stream()
    captured = []

    def raises():
        with s.capture() as graph:
            captured.append(graph)
            x.fill(1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        raises()
    assert s.capture_status == "none"
    assert "failed" in repr(captured[0])
    s.synchronize()


def test_a_graph_is_not_there_before_its_capture_has_ended(device):
    s = cs.Stream()
    with s.capture() as graph:
        with pytest.raises(ValueError, match="being captured"):
            graph.instantiate()
    assert graph.nodes == []


def test_beginning_twice_and_ending_nothing_are_errors(device):
    s = cs.Stream()
    with pytest.raises(cs.CudaError, match="cudaErrorIllegalState"):
        s.end_capture()
    with s.capture():
        with pytest.raises(cs.CudaError, match="cudaErrorIllegalState"):
            s.begin_capture()


def test_modes_are_checked(device):
    with pytest.raises(ValueError, match="'global', 'thread_local' or 'relaxed'"):
        cs.Stream().capture("everything")
    with pytest.raises(TypeError):
        cs.Stream().capture(1)


def test_an_event_of_a_capture_stands_for_no_moment_afterwards(device):
    s, event = cs.Stream(), cs.Event()
    with s.capture():
        event.record(s)
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue") as caught:
        event.query()
    assert "external" in caught.value.hint
    event.record(s).synchronize()
    assert event.query()


def test_the_legacy_stream_is_refused_beside_a_fork_that_is_blocking(device, x):
    s, t = cs.Stream(non_blocking=True), cs.Stream()
    legacy = cs.current_stream()
    with s.capture() as graph:
        x.fill(1)
        legacy.synchronize()
        t.wait(s)
        refused(legacy.synchronize, "cudaErrorStreamCaptureImplicit")
        s.wait(t)
    assert len(graph.nodes) == 1


@pytest.mark.parametrize(
    "compute",
    [
        lambda a: cs.sum(a),
        lambda a: cs.sum(a[:, :0], 1),
        lambda a: cs.matmul(a, a),
        lambda a: cs.dot(a[0], a[1]),
        lambda a: cs.dot(a, np.stack([a, a, a])),
        lambda a: cs.reduce(a, "max", variant="auto"),
        lambda a: cs.sum(a, 0, out=np.empty(4, np.float32)),
    ],
    ids=["sum", "sum of nothing", "matmul", "dot", "dot of matrices", "reduce", "out"],
)
def test_an_operation_on_arrays_of_the_host_is_refused_and_leaves_no_nodes(device, compute):
    s, a = cs.Stream(), np.ones((4, 4), np.float32)
    with s.capture() as graph:
        refused(lambda: compute(a), "cudaErrorStreamCaptureUnsupported")
        with pytest.raises(cs.CaptureError, match=r"cuscope\.to_device"):
            compute(a)

    assert not graph.nodes
    with s:
        np.testing.assert_array_equal(cs.sum(a, 0), a.sum(0))


def test_an_output_that_is_read_only_is_refused_before_the_work_is_captured(device):
    s, a, whole = cs.Stream(), cs.zeros((4, 4)), cs.zeros(4)
    out = cs.asarray(Interface(whole, data=(whole.pointer, True)))
    device.synchronize()
    with s.capture() as graph, pytest.raises(ValueError, match="out: is read-only"):
        cs.sum(a, 0, out=out)

    assert not graph.nodes


@pytest.mark.parametrize("shape", [(2, 3, 2, 5), (2, 3, 2, 6)])
def test_an_output_that_does_not_fit_is_refused_before_the_product_is_captured(device, shape):
    s, x, y = cs.Stream(), cs.zeros((2, 3, 4)), cs.zeros((2, 4, 5))
    memory = cs.zeros(shape)
    out = cs.asarray(Interface(memory, data=(memory.pointer, True))) if shape[-1] == 5 else memory
    device.synchronize()
    with s.capture() as graph, pytest.raises(ValueError, match=r"out: (is read-only|has shape)"):
        cs.dot(x, y, out=out)

    assert not graph.nodes


@pytest.mark.parametrize("ask", ["count", "explain_time", "profile"])
def test_a_launch_that_is_waited_for_is_refused_and_leaves_no_nodes(device, add, x, ask):
    if ask != "profile" and not device.simulated:
        pytest.skip("a GPU does not count")
    s, outside = cs.Stream(), cs.Stream(non_blocking=True)
    device.synchronize()
    with s.capture() as graph:
        refused(lambda: getattr(add, ask)(x, 1, grid=1, block=4), "cudaErrorStreamCaptureUnsupported")
        refused(
            lambda: getattr(add, ask)(x, 1, grid=1, block=4, stream=s), "cudaErrorStreamCaptureUnsupported"
        )
        refused(
            lambda: getattr(add, ask)(x, 1, grid=1, block=4, stream=device.default_stream),
            "cudaErrorStreamCaptureImplicit",
        )
        if ask == "count":
            add.count(x, 1, grid=1, block=4, stream=outside)

    assert not graph.nodes
    assert x.to_host().tolist() == [1 if ask == "count" else 0] * 4


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_stream_cannot_be_closed_inside_the_block_that_captures_it(device, add, x, mode):
    s = cs.Stream()
    with s.capture(mode) as graph:
        add[1, 4](x, 1)
        refused(s.close, "cudaErrorStreamCaptureUnsupported")
        assert not s.closed
        assert s.capture_status == "active"
        add[1, 4](x, 1)
    s.close()

    assert s.closed
    assert types(graph) == ["kernel", "kernel"]
    assert x.to_host().tolist() == [0] * 4


def test_the_error_of_a_block_is_kept_when_its_cleanup_closes_the_captured_stream(device, x):
    s = cs.Stream()

    def capture():
        with s.capture():
            try:
                raise RuntimeError("of the block")
            finally:
                s.close()

    with pytest.raises(cs.CaptureError, match="stays open") as caught:
        capture()
    assert str(caught.value.__context__) == "of the block"
    assert s.capture_status == "none"
    with contextlib.closing(s), pytest.raises(RuntimeError), s.capture():
        raise RuntimeError
    assert s.closed


def test_a_stream_that_joined_a_capture_may_be_closed(device, x):
    s = cs.Stream()
    with s.capture() as graph:
        fork = cs.Stream()
        fork.wait(s)
        x.fill(1, stream=fork)
        s.wait(fork)
        fork.close()
        x.fill(2)

    assert types(graph) == ["memset", "memset"]


@pytest.mark.subprocess
def test_a_program_that_ends_within_a_capture_exits_as_usual(device, run_python):
    done = run_python("""
        import atexit
        import cuscope as cs

        kept, entered = cs.Stream(), cs.Stream()
        entered.capture().__enter__()  # never left
        cs.zeros(4)
        atexit.register(kept.close)
        with kept.capture():
            raise SystemExit(3)
    """)

    assert (done.returncode, done.stderr) == (3, "")
