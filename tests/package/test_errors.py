"""The text of an error names the failed call, its values, the allowed values and the solution; and its class."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import cuscope as cs
from semantics.asking import answers
from support import module


def caught_from(use) -> cs.CudaError:
    with pytest.raises(cs.CudaError) as caught:
        use()
    return caught.value


def test_error_knows_its_code_name_and_call(device):
    error = caught_from(lambda: cs.empty(1 << 50))

    assert (error.code, error.name) == (2, "cudaErrorMemoryAllocation")
    assert error.call.startswith("cuda")
    assert error.call in str(error)
    assert error.name in str(error)
    assert isinstance(error, RuntimeError)


def test_out_of_memory_is_a_memory_error_and_has_a_hint(device):
    error = caught_from(lambda: cs.empty(1 << 50))

    assert isinstance(error, cs.OutOfMemoryError)
    assert isinstance(error, MemoryError)
    assert error.hint
    assert error.hint in str(error)


THREE_PARTS = {
    "a block that is too large": (
        lambda device: module(device).nothing[1, 2048](),
        ["2048", "1024", "block"],
    ),
    "a grid of nothing": (lambda device: module(device).nothing[0, 1](), ["0", "1", "grid"]),
    "too much dynamic shared memory": (
        lambda device: module(device).nothing[1, 1, None, 64 << 10](),
        ["65536", "49152", "max_dynamic_shared"],
    ),
    "more memory than there is": (
        lambda device: cs.empty(1 << 50, np.uint8),
        ["free", "cudaErrorMemoryAllocation"],
    ),
    "a duration before its end": (
        lambda device: _pending(device),
        ["cudaErrorNotReady", "synchronize"],
    ),
    "a limit that is not there": (lambda device: device.limit("heap"), ["heap", "malloc_heap_size"]),
    "a device that is not there": (
        lambda device: cs.Device("host:99999"),
        ["host:99999", "there are", "host:0"],
    ),
    "a kernel that is not there": (lambda device: module(device)["vec_sub"], ["vec_sub", "vec_add"]),
    "an array of another type": (
        lambda device: module(device).store[1, 1](cs.zeros(1, np.float64), 1),
        ["float64", "int32", "p"],
    ),
    "a host array": (
        lambda device: module(device).store[1, 1](np.zeros(1, np.int32), 1),
        ["p", "numpy", "to_device"],
    ),
    "a device array for NumPy": (lambda device: np.asarray(cs.zeros(1)), ["to_host"]),
}


def _pending(device):
    s = cs.Stream()
    a = s.record()
    module(device).spin[1, 1, s](50_000_000)
    b = s.record()
    try:
        return b - a
    finally:
        s.synchronize()


@pytest.mark.parametrize("mistake", THREE_PARTS)
def test_message_has_the_value_the_allowed_values_and_the_solution(device, mistake):
    use, parts = THREE_PARTS[mistake]

    with pytest.raises((cs.CudaError, TypeError, ValueError, KeyError, RuntimeError)) as caught:
        use(device)

    for part in parts:
        assert part.lower() in str(caught.value).lower()


def test_refused_launch_leaves_no_error_behind(device, contract):
    with pytest.raises((cs.CudaError, ValueError)):
        module(device).nothing[1, 2048]()

    assert contract.peek_at_last_error() == "cudaSuccess"


def test_failed_call_leaves_no_error_behind(device, contract):
    with pytest.raises(cs.OutOfMemoryError):
        cs.empty(1 << 50)

    assert contract.peek_at_last_error() == "cudaSuccess"
    assert cs.zeros(3).to_host().tolist() == [0, 0, 0]


def test_error_can_be_pickled(device):
    error = caught_from(lambda: cs.empty(1 << 50))

    copy = pickle.loads(pickle.dumps(error))

    assert type(copy) is type(error)
    assert (copy.code, copy.name, copy.call, str(copy)) == (error.code, error.name, error.call, str(error))


def test_every_call_on_a_lost_device_names_the_error_and_the_kernel(device, run_python):
    done = run_python(
        """
        import numpy as np
        import cuscope as cs
        from cuscope import CudaError
        mod = cs.Module("__global__ void wild(int* p) {\\n    p[1LL << 40] = 1;\\n}")
        p = cs.zeros(1, np.int32)
        mod.wild[1, 1](p)
        for use in (cs.synchronize, lambda: cs.empty(4), cs.Stream, lambda: p.to_host()):
            try:
                use()
            except CudaError as error:
                print(error.name, "|", "wild" in str(error), "|", bool(error.hint))
        """
    )

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    for line in lines:
        name, named, hinted = line.split(" | ")
        assert name == "cudaErrorIllegalAddress"
        assert hinted == "True"
        if device.simulated:
            assert named == "True"


@pytest.mark.host_only("a GPU knows no source lines")
def test_fault_says_kernel_block_thread_and_address(device, run_python):
    done = run_python(
        """
        import numpy as np
        import cuscope as cs
        mod = cs.Module("__global__ void wild(int* p) { if (blockIdx.x == 2 && threadIdx.x == 5) p[1LL << 40] = 1; }")
        mod.wild[4, 32](cs.zeros(1, np.int32))
        try:
            cs.synchronize()
        except cs.CudaError as error:
            print(error)
        """
    )

    assert "wild" in done.stdout
    assert "[2,0,0]" in done.stdout.replace("(", "[").replace(")", "]").replace(" ", "")
    assert "[5,0,0]" in done.stdout.replace("(", "[").replace(")", "]").replace(" ", "")
    assert "0x" in done.stdout


def test_every_status_that_the_gpu_answered_has_a_name():
    from cuscope import _core

    named = {line.split("=", 1)[1].split("|")[0] for line in answers()["error_texts"]}
    seen = {
        line.split("=", 1)[1].split()[0]
        for case, lines in answers().items()
        if case != "error_texts"
        for line in lines
        if line.split("=", 1)[-1].startswith("cudaError")
    }

    assert seen <= named
    assert all(_core.status_name(int(line.split("=")[0])) for line in answers()["error_texts"])
