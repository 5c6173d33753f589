"""Stream memory operations in graphs: captured, as nodes, and in executables."""

from __future__ import annotations

import time

import numpy as np
import pytest

import cuscope as cs
from cuscope import _core
from support import load_basic, number_in, pinned, plain, streams

pytestmark = pytest.mark.no_sanitizer("under it no stream goes on while another waits")


@pytest.fixture
def kernels(device):
    return load_basic(device)


def test_captured_operations_are_nodes(device):
    a, b, s = pinned(), pinned(), cs.Stream()
    with s.capture() as graph:
        s.write_value(a, 1)
        s.wait_value(a, 1, "eq")
        s.batch_mem_op([cs.WriteValue(b, 2), cs.MemoryBarrier("device")])
    assert [n.type for n in graph.nodes] == ["batch_mem_op"] * 3
    assert [n.params["operations"] for n in graph.nodes] == [
        [{"operation": "write_value", "pointer": a.ctypes.data, "bits": 32, "value": 1}],
        [{"operation": "wait_value", "pointer": a.ctypes.data, "bits": 32, "value": 1, "condition": "eq"}],
        [
            {"operation": "write_value", "pointer": b.ctypes.data, "bits": 32, "value": 2},
            {"operation": "barrier", "scope": "device"},
        ],
    ]
    assert a.tolist() == [0]
    graph.instantiate().launch(s)
    s.synchronize()
    assert (a.tolist(), b.tolist()) == ([1], [2])


def test_a_node_writes_whenever_the_graph_runs(device, kernels):
    x = plain(0, np.int32)
    g = cs.Graph()
    node = g.add_batch_mem_op([cs.WriteValue(x, 5)])
    g.add_kernel(kernels.add_one[1, 1], args=(x,), after=node)
    exe, s = g.instantiate(), cs.Stream()
    for _ in range(3):
        exe.launch(s)
        assert x.to_host(stream=s).tolist() == [6]


def test_a_node_waits_whenever_the_graph_runs(device, kernels):
    flag, x, (s, other) = plain(), plain(0, np.int32), streams(2)
    g = cs.Graph()
    node = g.add_batch_mem_op([cs.WaitValue(flag, 1), cs.WriteValue(flag, 0)])
    g.add_kernel(kernels.add_one[1, 1], args=(x,), after=node)
    exe = g.instantiate()
    for i in range(3):
        exe.launch(s)
        time.sleep(0.005)
        assert not s.query()
        other.write_value(flag, 1)
        s.synchronize()
        assert number_in(x) == i + 1


def test_a_graph_shows_the_operations_of_a_batch(device):
    flag, g = pinned(), cs.Graph()
    few = g.add_batch_mem_op([cs.WriteValue(flag, 1), cs.WaitValue(flag, 1), cs.MemoryBarrier()])
    many = g.add_batch_mem_op([cs.WriteValue(flag, 1)] * 5, after=few)
    none = g.add_batch_mem_op([])
    assert [n.label for n in (few, many, none)] == [
        "batch_mem_op\nwrite, wait, barrier",
        "batch_mem_op\n5 operations",
        "batch_mem_op",
    ]
    assert "batch_mem_op" in g.to_dot()


def test_clones_and_children_of_a_memory_operation_run_it_too(device):
    flag, inner, g, s = pinned(), cs.Graph(), cs.Graph(), cs.Stream()
    node = inner.add_batch_mem_op([cs.WriteValue(flag, 4)])
    copy = inner.clone()
    assert copy.find_clone(node).params == node.params
    g.add_child(copy)
    g.instantiate().launch(s)
    s.synchronize()
    assert flag.tolist() == [4]


def test_executables_take_other_operations_of_the_same_types(device):
    a, b, s, g = pinned(), pinned(), cs.Stream(), cs.Graph()
    node = g.add_batch_mem_op([cs.WriteValue(a, 1), cs.WaitValue(a, 1)])
    exe = g.instantiate()
    exe.set_batch_mem_op(node, [cs.WriteValue(b, 2), cs.WaitValue(b, 2, "eq")])
    exe.launch(s)
    s.synchronize()
    assert (a.tolist(), b.tolist()) == ([0], [2])
    assert node.params["operations"][0]["value"] == 1


def test_executables_refuse_operations_of_other_types(device):
    a, wide, s, g = pinned(), pinned(0, np.uint64), cs.Stream(), cs.Graph()
    node = g.add_batch_mem_op([cs.WriteValue(a, 1), cs.MemoryBarrier()])
    exe = g.instantiate()
    for others in [
        [cs.WriteValue(a, 2)],
        [cs.WriteValue(a, 2), cs.MemoryBarrier(), cs.MemoryBarrier()],
        [cs.WaitValue(a, 0), cs.MemoryBarrier()],
        [cs.WriteValue(wide, 2), cs.MemoryBarrier()],
        [cs.WriteValue(a, 2), cs.MemoryBarrier("device")],
        [],
    ]:
        with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
            exe.set_batch_mem_op(node, others)
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        exe.set_batch_mem_op(cs.Graph().add_empty(), [])
    exe.launch(s)
    s.synchronize()
    assert a.tolist() == [1]


def test_an_update_takes_numbers_and_refuses_types(device):
    a, s = pinned(), cs.Stream()

    def graph(*operations) -> cs.Graph:
        made = cs.Graph()
        made.add_batch_mem_op(operations)
        return made

    exe = graph(cs.WriteValue(a, 1)).instantiate()
    assert exe.update(graph(cs.WriteValue(a, 2)))
    for other in [graph(cs.WaitValue(a, 0)), graph(cs.WriteValue(a, 3), cs.WriteValue(a, 4)), graph()]:
        answer = exe.update(other)
        assert (answer.result, answer.node) == ("parameters_changed", other.nodes[0])
    exe.launch(s)
    s.synchronize()
    assert a.tolist() == [2]


def test_a_memory_operation_node_cannot_be_disabled(device):
    g = cs.Graph()
    node = g.add_batch_mem_op([cs.WriteValue(pinned(), 1)])
    exe = g.instantiate()
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        exe.set_enabled(node, False)
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        exe.is_enabled(node)


def test_the_device_does_not_start_a_memory_operation_node_by_itself(device):
    flag, g, body = pinned(), cs.Graph(), cs.Graph()
    g.add_batch_mem_op([cs.WriteValue(flag, 1)])
    with pytest.raises(cs.CudaError, match="batch_mem_op"):
        g.instantiate(device_launch=True)
    body.add_if(body.conditional_handle(default=1)).bodies[0].add_batch_mem_op([cs.WriteValue(flag, 1)])
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        body.instantiate()


@pytest.mark.parametrize("memory", [plain, pinned])
def test_an_executable_keeps_the_memory_of_its_operations(device, settled, memory):
    before = _core.live()
    (s,) = streams(1)
    g = cs.Graph()
    g.add_batch_mem_op([cs.WriteValue(memory(), 1), cs.WaitValue(memory(), 0)])
    exe = g.instantiate()
    g.close()
    assert _core.live() != before
    for _ in range(3):
        exe.launch(s)
    exe.close()
    del exe
    s.synchronize()
    settled()
    assert _core.live() == before
