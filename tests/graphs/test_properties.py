"""Any graph, and any captured program of streams, runs in an order that its edges allow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cuscope as cs
from support import module

SOURCE = r"""
__global__ void add(int* x, int v) { x[threadIdx.x] += v; }
__global__ void set(int* x, int v) { x[threadIdx.x] = v; }
__global__ void append(int* log, int* count, int id) { log[atomicAdd(count, 1)] = id; }
__global__ void spin(long long ns) {
  unsigned long long t0, t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while ((long long)(t - t0) < ns);
}
"""


@pytest.fixture
def kernels(device):
    return module(device, SOURCE)


@pytest.fixture
def x(device):
    return cs.zeros(4, np.int32)


# ---- any graph


@st.composite
def graphs(draw):
    """For each node, the earlier nodes that it waits for."""
    count = draw(st.integers(1, 12))
    return [sorted(draw(st.sets(st.integers(0, i - 1), max_size=4))) if i else [] for i in range(count)]


@settings(max_examples=40, deadline=None)
@given(shape=graphs(), data=st.data())
def test_any_graph_runs_in_an_order_that_its_edges_allow(shape, data):
    for name in [d.name for d in cs.devices() if d.name in ("host:0", "cuda:0")]:
        with cs.Device(name) as device:
            append = module(device, SOURCE).append
            log, count = cs.zeros(32, np.int32), cs.zeros(1, np.int32)
            g = cs.Graph()
            nodes = []
            for i, before in enumerate(shape):
                after = [nodes[b] for b in before]
                nodes.append(g.add_kernel(append[1, 1], args=(log, count, i), after=after))
            edges = {(b, i) for i, before in enumerate(shape) for b in before}
            assert {(nodes.index(a), nodes.index(b)) for a, b in g.edges} == edges
            # An edge against the order of the nodes is refused if it closes a cycle, and allowed otherwise.
            a, b = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.integers(0, len(shape) - 1))
            reachable = {b}
            for _ in shape:
                reachable |= {j for i, j in edges if i in reachable}
            if a in reachable:
                with pytest.raises(ValueError, match="cycle"):
                    g.add_dependency(nodes[a], nodes[b])
            elif (a, b) in edges:
                with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
                    g.add_dependency(nodes[a], nodes[b])
            else:
                g.add_dependency(nodes[a], nodes[b])
                edges.add((a, b))
            exe = g.instantiate()
            exe.launch()
            exe.launch()
            written = log.to_host().tolist()
            for run in (written[: len(shape)], written[len(shape) : 2 * len(shape)]):
                assert sorted(run) == list(range(len(shape)))
                assert all(run.index(i) < run.index(j) for i, j in edges)


@settings(max_examples=40, deadline=None)
@given(
    program=st.lists(
        st.one_of(
            st.tuples(st.just("kernel"), st.integers(0, 2)),
            st.tuples(st.just("wait"), st.integers(0, 2), st.integers(0, 2)),
        ),
        max_size=14,
    )
)
def test_any_captured_program_runs_as_its_streams_would_have(program):
    """Three streams, of which the first is captured: kernels, and waits of one stream for another."""
    for name in [d.name for d in cs.devices() if d.name in ("host:0", "cuda:0")]:
        with cs.Device(name) as device:
            append = module(device, SOURCE).append
            log, count = cs.zeros(32, np.int32), cs.zeros(1, np.int32)
            streams = [cs.Stream() for _ in range(3)]
            device.synchronize()
            order: set[tuple[int, int]] = set()
            before: list[set[int]] = [set(), set(), set()]  # by stream: the kernels before its next one
            joined, number = {0}, 0
            with streams[0].capture() as graph:
                for step in program:
                    if step[0] == "kernel":
                        (_, s) = step
                        if s not in joined:
                            continue
                        append[1, 1, streams[s]](log, count, number)
                        order |= {(b, number) for b in before[s]}
                        before[s].add(number)
                        number += 1
                    else:
                        (_, later, earlier) = step
                        if earlier not in joined:
                            continue
                        streams[later].wait(streams[earlier])
                        joined.add(later)
                        before[later] |= before[earlier]
                for s in sorted(joined - {0}):
                    streams[0].wait(streams[s])
            nodes = graph.nodes
            assert len(nodes) == number
            reach: set[tuple[int, int]] = set()
            for i, node in enumerate(nodes):
                for other in node.dependencies:
                    j = nodes.index(other)
                    reach |= {(j, i)} | {(k, i) for k, to in reach if to == j}
            assert reach == order
            graph.instantiate().launch(streams[0])
            written = log.to_host(stream=streams[0])[:number].tolist()
            assert all(written.index(i) < written.index(j) for i, j in order)
