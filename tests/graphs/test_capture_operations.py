"""The operations of the package are captured and replayed with other input."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import in_threads


@pytest.mark.parametrize("name", ["sum", "max", "mean", "argmax"])
def test_reductions_are_captured_and_replayed_with_other_input(device, name):
    s = cs.Stream()
    values = np.random.default_rng(0).random(1 << 16, dtype=np.float32)
    given = cs.to_device(values, stream=s)
    s.synchronize()
    with s.capture() as graph:
        made = getattr(cs, name)(given)
    exe = graph.instantiate()
    for _ in range(3):
        values = np.random.default_rng(1).permutation(values)
        given.copy_from(values, stream=s)
        exe.launch(s)
        with s:
            plain = getattr(cs, name)(given)
        assert made.to_host(stream=s) == plain.to_host(stream=s)


def test_products_are_captured_and_replayed_with_other_input(device):
    s = cs.Stream()
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 4, (96, 96)).astype(np.float32) for _ in range(2))
    d_a, d_b = cs.to_device(a, stream=s), cs.to_device(b, stream=s)
    s.synchronize()
    with s.capture() as graph:
        product = cs.matmul(d_a, d_b)
        again = cs.matmul(product, d_b)
    exe = graph.instantiate()
    for factor in (1, 2):
        d_a.copy_from(a * factor, stream=s)
        exe.launch(s)
        assert np.array_equal(again.to_host(stream=s), a * factor @ b @ b)


def test_captured_and_plain_reductions_share_no_workspace(device):
    s, t = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    given = cs.full(1 << 20, 1, np.int32)
    device.synchronize()
    with s.capture() as graph:
        made = cs.sum(given)
    exe = graph.instantiate()
    plain = []
    for _ in range(10):
        exe.launch(t)
        with s:
            plain.append(cs.sum(given))
    assert made.to_host(stream=t) == 1 << 20
    assert [int(p.to_host(stream=s)) for p in plain] == [1 << 20] * 10


@pytest.fixture
def captured_sum(device):
    """A graph with a sum whose blocks exchange values, its result, and its source."""
    s = cs.Stream()
    given, made = cs.full(1 << 20, 1, np.int32), cs.empty((), np.int32)
    device.synchronize()
    with s.capture() as graph:
        cs.sum(given, out=made)
    return graph, made, given


def workspaces(graph):
    """The addresses of the workspaces, which a graph sets to zero."""
    found = []
    for node in graph.nodes:
        found += [node.params["pointer"]] if node.type == "memset" else []
        found += [pointer for body in node.bodies for pointer in workspaces(body)]
    return found


def test_executables_of_a_captured_sum_share_no_workspace(captured_sum):
    graph, made, _ = captured_sum
    (first,) = workspaces(graph)
    one = graph.instantiate()
    assert workspaces(graph) == [first]
    two = graph.instantiate()
    assert workspaces(graph) != [first]
    streams = [cs.Stream(non_blocking=True) for _ in range(2)]
    for _ in range(20):
        for exe, stream in zip((one, two), streams, strict=True):
            exe.launch(stream)
    for stream in streams:
        stream.synchronize()
    assert made.to_host() == 1 << 20


def test_an_executable_outlives_one_that_had_the_workspace_before(captured_sum):
    graph, made, _ = captured_sum
    one, two = graph.instantiate(), graph.instantiate()
    one.launch()
    one.close()
    cs.synchronize()  # the memory of the first workspace is free now
    made.fill(0)

    two.launch()

    assert made.to_host() == 1 << 20


def test_threads_instantiate_one_captured_sum_at_once(captured_sum):
    graph, made, _ = captured_sum
    executables = []

    def instantiate(_):
        for _ in range(5):
            executables.append(graph.instantiate())

    assert not in_threads(4, instantiate)
    for exe in executables:
        made.fill(0)
        exe.launch()
        assert made.to_host() == 1 << 20


def test_an_executable_gets_the_workspace_of_one_that_was_closed(captured_sum):
    graph, made, _ = captured_sum
    before = workspaces(graph)
    graph.instantiate().close()
    exe = graph.instantiate()
    assert workspaces(graph) == before
    exe.launch()
    assert made.to_host() == 1 << 20


def test_an_update_with_the_own_graph_leaves_the_workspace(captured_sum):
    graph, made, _ = captured_sum
    exe = graph.instantiate()
    before = workspaces(graph)
    assert exe.update(graph)
    assert workspaces(graph) == before
    exe.launch()
    assert made.to_host() == 1 << 20


@pytest.mark.parametrize("take_over", ["update", "set_child"])
def test_executables_that_take_over_a_captured_sum_share_no_workspace(captured_sum, take_over):
    graph, made, _ = captured_sum
    parent = cs.Graph()
    child = parent.add_child(graph.clone())
    executables = [(graph.clone() if take_over == "update" else parent).instantiate() for _ in range(2)]
    seen = []
    for exe in executables:
        if take_over == "update":
            assert exe.update(graph)
        else:
            exe.set_child(child, graph)
        seen += workspaces(graph)
    assert len(set(seen)) == 2
    for exe in executables:
        exe.launch()
    assert made.to_host() == 1 << 20


def test_two_children_that_take_over_a_captured_sum_share_no_workspace(captured_sum):
    graph, made, _ = captured_sum
    parent = cs.Graph()
    children = [parent.add_child(graph.clone()) for _ in range(2)]
    exe = parent.instantiate()
    seen = []
    for child in children:
        exe.set_child(child, graph)
        seen += workspaces(graph)
    assert len(set(seen)) == 2
    exe.launch()
    assert made.to_host() == 1 << 20


def test_executables_of_children_and_clones_share_no_workspace(captured_sum):
    graph, made, _ = captured_sum
    parent = cs.Graph()
    for _ in range(2):
        parent.add_child(graph)
    outer = cs.Graph()
    outer.add_child(parent)
    copies = [parent, outer, graph.clone(), parent.clone()]
    executables = [copy.instantiate() for copy in copies]
    found = [pointer for copy in copies for pointer in workspaces(copy)]
    assert len(set(found)) == len(found) == 7
    for exe in executables:
        exe.launch()
        assert made.to_host() == 1 << 20
        made.fill(0)


def test_sums_after_replaced_dependencies_share_no_workspace(device):
    s = cs.Stream()
    given, made = cs.full(1 << 20, 1, np.int32), cs.empty(2, np.int32)
    device.synchronize()
    with s.capture() as graph:
        before = s.capture_dependencies
        cs.sum(given, out=made[0])
        s.update_capture_dependencies(before, replace=True)
        cs.sum(given, out=made[1])
    assert len(set(workspaces(graph))) == 2
    graph.instantiate().launch()
    assert made.to_host().tolist() == [1 << 20] * 2
