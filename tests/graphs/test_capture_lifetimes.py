"""Captures and graphs whose stream, graph or registration comes from another library, or was invalidated or closed."""

import numpy as np
import pytest

import cuscope as cs


@pytest.fixture
def x(device):
    return cs.zeros(4, np.int32)


def test_a_stream_that_is_being_captured_is_taken_over_without_invalidating(device, contract, x):
    status, handle = contract.stream_create_with_priority(1, 0)
    assert status == "cudaSuccess"

    class Foreign:
        def __cuda_stream__(self):
            return 0, handle

    assert contract.stream_begin_capture(handle, 2) == "cudaSuccess"
    x.fill(3, stream=cs.as_stream(Foreign()))

    status, graph = contract.stream_end_capture(handle)
    assert status == "cudaSuccess"
    assert contract.graph_get_nodes(graph)[1] == 1
    contract.graph_destroy(graph)
    contract.stream_destroy(handle)


def test_a_graph_goes_with_the_invalidated_capture_that_was_to_add_to_it(device, contract, x):
    # CUDA destroys the graph then. cuscope used to destroy it a second time when the object was dropped.
    graph, s = cs.Graph(), cs.Stream()
    graph.add_memset(x, 1)

    with pytest.raises(cs.CaptureError, match="Invalidated"), s.capture(graph=graph):
        contract.stream_query(s.handle)

    with pytest.raises(ValueError, match="its capture failed"):
        graph.instantiate()
    graph.close()
    with s.capture(graph=cs.Graph()) as other:
        x.fill(2, stream=s)
    assert len(other.nodes) == 1


def test_a_graph_that_copies_memory_registered_no_longer_is_refused(device, x):
    # NVIDIA's driver ends the process with a SIGSEGV at the launch of such a graph.
    s, registration = cs.Stream(), cs.register(np.zeros(1024, np.int32))
    with s.capture() as graph:
        x.copy_from(registration.array[: x.size], stream=s)
    executable = graph.instantiate()
    registration.close()

    for use in (graph.instantiate, lambda: executable.update(graph), executable.launch):
        with pytest.raises(ValueError, match=r"registration .*was closed"):
            use()
    graph.add_empty()
    graph.close()


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_textures_and_surfaces_come_and_go_beside_a_capture(device, x, mode):
    array = cs.CudaArray((4, 4), np.float32, surface=True)
    s = cs.Stream()

    with s.capture(mode) as graph:
        x.fill(3)
        cs.Texture(array).close()
        cs.Surface(array).close()

    assert [node.type for node in graph.nodes] == ["memset"]
