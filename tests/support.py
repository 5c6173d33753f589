"""Functions that several test files use, and sources of small kernels, compiled once for each device."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cuscope as cs

TESTS = Path(__file__).resolve().parent
MS = 1e-3  # seconds
IS_CLANG = "clang" in os.environ.get("CUSCOPE_CXX", "")  # compiles the kernels of simulated devices
NO_DEVICE = 99999  # no device has this number; a process of many tests makes hundreds of simulated devices

# A child of fork() has no thread but the one that forked. The allocators of GCC 12's and Clang 14's sanitizers do not
# handle their locks at a fork: the child waits for ever for a lock that another thread held.
forks_with_threads = pytest.mark.skipif(
    cs.build_config["sanitize"] == "address",
    reason="the sanitizer's allocator does not outlive a fork beside other threads",
)

BASIC = r"""
__global__ void spin(long long ns) {
  unsigned long long t0, t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while ((long long)(t - t0) < ns);
}
__global__ void store(int* p, int v) { *p = v; }
__global__ void add_one(int* p) { atomicAdd(p, 1); }
__global__ void multiply_add(unsigned* p, unsigned a, unsigned b) { *p = *p * a + b; }
__global__ void append(int* log, int* count, int id) { log[atomicAdd(count, 1)] = id; }
__global__ void vec_add(const float* a, const float* b, float* c, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void out_of_bounds(int* p) { p[1LL << 40] = 1; }
__global__ void forever(volatile int* p) { while (*p == 0) { } }
__global__ void nothing() { }
"""


def second(device) -> cs.Device:
    """Another device of the same runtime: a simulated one is added; a real one exists, or the test is skipped."""
    if device.simulated:
        return cs.add_host_device("h200")
    others = [d for d in cs.devices() if not d.simulated and d != device]
    if not others:
        pytest.skip("there is one GPU")
    return others[0]


@functools.cache
def module(device: cs.Device, source: str = BASIC, **arguments) -> cs.Module:
    return cs.Module(source, device=device, **arguments)


@functools.cache
def built_in(device: cs.Device, name: str, device_debug: bool = False) -> cs.Module:
    """The kernels of cuda_kernels/NAME.cu in the package: the compiled file if the package has one, else the source.

    With `device_debug`, a simulated device compiles them without optimisation.
    """
    kernels = Path(cs.__file__).parent / "kernels"
    compiled = kernels / (name + (".image" if device.simulated else ".fatbin"))
    if compiled.exists():
        return cs.Module.from_file(compiled, device=device)
    if device.simulated:
        options = ["--device-debug"] if device_debug else []
    else:
        # Without it, NVRTC takes a lambda with an `auto` parameter for host code.
        options = ["-default-device"]
        # Only this architecture has wgmma, so NVRTC must be told its name.
        if re.match("matmul/1[01345]_", name):
            options.append("--gpu-architecture=sm_90a")
    return cs.Module.from_file(kernels / f"{name}.cu", options=options, device=device)


@functools.cache
def one_instance(device: cs.Device, name: str, instance: str) -> cs.Kernel:
    """A kernel of cuda_kernels/NAME.cu. A simulated device compiles only this instance of the file's template."""
    if not device.simulated:
        return built_in(device, name)[instance]
    source = Path(cs.__file__).parent / "kernels" / f"{name}.cu"
    options = ["-DCUSCOPE_ONE_INSTANCE"]
    return cs.Module.from_file(source, options=options, name_expressions=[instance], device=device)[instance]


@functools.cache
def instances(device: cs.Device, source: Path) -> dict[str, cs.Kernel]:
    """The kernels of one of the package's files, by their names without spaces."""
    # A file has up to a hundred kernels, launched on few elements: to optimise them takes longer than to run them.
    module = built_in(device, f"{source.parent.name}/{source.stem}", device_debug=True)
    return {name.replace(" ", ""): module[name] for name in module.kernels}


def spin(device: cs.Device, seconds: float, stream: cs.Stream | None = None) -> None:
    """Keeps one block of the device busy for so long, in the stream."""
    module(device).spin[1, 1, stream](round(seconds * 1e9))


def in_threads(count: int, work: Callable[[int], object], timeout: float = 60) -> list[BaseException]:
    """Runs work(0), ..., work(count - 1) in threads that start together; returns their exceptions."""
    raised: list[BaseException] = []
    start = threading.Barrier(count)

    def run(index: int) -> None:
        try:
            start.wait(timeout)
            work(index)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + timeout
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return raised


def plain(value: int = 0, dtype=np.uint32) -> cs.DeviceArray:
    """A number in device memory that stream memory operations take."""
    made = cs.empty_plain(1, dtype)
    made.copy_from(np.array([value], dtype))
    cs.synchronize()
    return made


def pinned(value: int = 0, dtype=np.uint32) -> np.ndarray:
    """A number in page-locked memory."""
    made = cs.pinned_empty(1, dtype)
    made[0] = value
    return made


def number_in(array: cs.DeviceArray | np.ndarray) -> int:
    """The number in such an array, read without a wait for other streams."""
    return (
        int(array[0])
        if isinstance(array, np.ndarray)
        else int(array.to_host(stream=cs.Stream(non_blocking=True))[0])
    )


def streams(count: int) -> list[cs.Stream]:
    return [cs.Stream(non_blocking=True) for _ in range(count)]


def load_program(path: str):
    """A program of the repository as a module: "benchmarks/topics.py". Its folder does not become a place for imports."""
    file = TESTS.parent / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def load_basic(device: cs.Device) -> cs.Module:
    """The small kernels. The named ones are loaded now, so that no launch has to wait for that while a stream waits."""
    made, x = module(device), cs.empty_plain(2, np.int32)
    x.fill(0)
    made.store[1, 1](x, 0)
    made.add_one[1, 1](x)
    made.append[1, 1](x, x[1:], 0)
    made.spin[1, 1](1)
    x.to_host()
    return made


def ok(answer):
    """The outputs of a call of the contract, which has to succeed."""
    if isinstance(answer, str):
        assert answer == "cudaSuccess"
        return None
    assert answer[0] == "cudaSuccess"
    return answer[1] if len(answer) == 2 else answer[1:]


def pages(shown) -> list[str]:
    """The HTML of the outputs of a cell."""
    return [output.data["text/html"] for output in shown.outputs if "text/html" in output.data]


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def execute_notebook(notebook: Any, folder: Path, **options: Any) -> None:
    """Runs the cells of a notebook in the folder, in a kernel of its own.

    The kernel and its client meet at sockets in a folder of their own. Ports are chosen before they are used, so two tests
    at the same time could choose the same ones, and one would wait for its kernel in vain.
    """
    from nbclient import NotebookClient
    from traitlets.config import Config

    # The folder has a short name, because the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory() as sockets:
        NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            config=Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"}),
            **options,
        ).execute()
