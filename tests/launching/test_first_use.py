"""The first use of a kernel, variable or graph does not wait for streams that are held up.

CUDA loads kernels lazily, and loading one may wait for all work on the device.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import cuscope as cs
from support import pinned

SOURCE = """
__device__ int variable = 3;
__constant__ int constant = 5;
__global__ void put(int* p) { *p = variable + constant; }
template <class T> __global__ void put_template(T* p) { *p = 47; }
"""
ONE_AT_A_TIME = pytest.mark.no_sanitizer("it runs one kernel at a time, and none beside a held stream")
PATIENCE_S = 20.0  # then the test lets the stream go on, so that it fails and does not hang


@contextlib.contextmanager
def held_stream() -> Iterator[Callable[[], bool]]:
    """A stream that waits for the host; the function tells whether it still waits."""
    flag, stream = pinned(), cs.Stream(non_blocking=True)

    def release() -> None:
        flag[0] = 1

    stream.wait_value(flag, 1)
    watchdog = threading.Timer(PATIENCE_S, release)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield lambda: not flag[0]
    finally:
        watchdog.cancel()
        release()
        stream.synchronize()


@pytest.fixture
def target(device) -> cs.DeviceArray:
    """Memory for a kernel's result. It was copied to the host once, so that copies are loaded."""
    made = cs.empty_plain(4, np.int32)
    stream = cs.Stream(non_blocking=True)
    made.fill(0, stream=stream)
    made.to_host(stream=stream)
    return made


def fresh(**arguments) -> cs.Module:
    """A module whose kernels no other test has launched."""
    return cs.Module(SOURCE, **arguments)


@ONE_AT_A_TIME
def test_first_launch_does_not_wait_for_a_held_stream(device, target):
    module, stream = fresh(), cs.Stream(non_blocking=True)

    with held_stream() as held:
        module.put[1, 1, stream](target)
        stream.synchronize()

        assert held()
    assert target.to_host()[0] == 8


@pytest.mark.parametrize(
    "operation",
    ["cs.sum(a, stream=s)", "cs.matmul(a, a, stream=s)", "cs.argmax(a, stream=s)", "a.T.copy(stream=s)"],
)
def test_first_operation_does_not_wait_for_a_held_stream(device, run_python, operation):
    if device.kind != "host" and device.compute_capability != (9, 0):
        pytest.skip("the package has machine code for compute capability 9.0")
    done = run_python(
        f"""
        import sys, threading
        import numpy as np
        import cuscope as cs
        a = cs.to_device(np.ones((64, 64), np.float32))
        cs.synchronize()
        flag, held, s = cs.pinned_empty(1, np.uint32), cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        flag[0] = 0
        held.wait_value(flag, 1)
        watchdog = threading.Timer({PATIENCE_S}, flag.__setitem__, (0, 1))
        watchdog.daemon = True
        watchdog.start()
        {operation}
        s.synchronize()
        print(int(flag[0]))
        flag[0] = 1
        held.synchronize()
        """
    )

    assert done.stdout.split() == ["0"], done.stderr


@ONE_AT_A_TIME
def test_first_launch_of_a_template_does_not_wait_for_a_held_stream(device, target):
    module, stream = fresh(name_expressions=["put_template<int>"]), cs.Stream(non_blocking=True)

    with held_stream() as held:
        module["put_template<int>"][1, 1, stream](target)
        stream.synchronize()

        assert held()
    assert target.to_host()[0] == 47


@ONE_AT_A_TIME
def test_first_launch_from_a_file_does_not_wait_for_a_held_stream(device, target, tmp_path):
    path = tmp_path / ("kernels.image" if device.kind == "host" else "kernels.cubin")
    path.write_bytes(fresh().image)
    module, stream = cs.Module.from_file(path), cs.Stream(non_blocking=True)
    (kernel,) = (module[name] for name in module.kernels)

    with held_stream() as held:
        kernel[1, 1, stream](target)
        stream.synchronize()

        assert held()
    assert target.to_host()[0] == 8


@pytest.mark.parametrize("name", ["variable", "constant"])
def test_first_look_at_a_variable_does_not_wait_for_a_held_stream(device, name):
    module = fresh()

    with held_stream() as held:
        symbol = module.symbol(name, np.int32)

        assert held()
    assert symbol.nbytes == 4


def test_first_question_for_attributes_does_not_wait_for_a_held_stream(device):
    module = fresh()

    with held_stream() as held:
        threads = module.put.attributes.max_threads_per_block

        assert held()
    assert threads > 0


@ONE_AT_A_TIME
def test_first_launch_of_a_graph_does_not_wait_for_a_held_stream(device, target):
    module, stream = fresh(), cs.Stream(non_blocking=True)
    with stream.capture() as graph:
        module.put[1, 1, stream](target)
    executable = graph.instantiate()

    with held_stream() as held:
        executable.launch(stream)
        stream.synchronize()

        assert held()
    assert target.to_host()[0] == 8
