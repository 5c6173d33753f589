"""Asks a runtime the questions of a case, in the words of the case.

A case is a generator over a `Runtime`: it yields (label, answer) in the order of the file of answers. It uses the
contract, because most cases are about things that the public classes hide: status codes, handles, order of calls.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cuscope import _core

ANSWERS = (
    "answers.txt",
    "answers_again.txt",
    "answers_devices.txt",
    "answers_drawn.txt",
    "answers_graphs.txt",
    "answers_operations.txt",
)
MS = 1_000_000  # nanoseconds

KERNELS = r"""
__global__ void spin(long long ns) {
  unsigned long long t0, t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); } while ((long long)(t - t0) < ns);
}
__global__ void inc(int* p) { if (p) atomicAdd(p, 1); }
__global__ void store(int* p, int v) { *p = v; }
__global__ void oob(int* p) { p[1LL << 40] = 1; }
__global__ void misaligned(char* p) { *(int*)(p + 1) = 1; }
__global__ void assert_() { assert(threadIdx.x == 99); }
__global__ void dyn(float* p) { extern __shared__ float s[]; s[threadIdx.x] = 1; if (p) *p = s[0]; }
"""

CONDITIONS = r"""
__global__ void cond_dec(cudaGraphConditionalHandle h, int* p) {
  int v = atomicSub(p, 1) - 1;
  cudaGraphSetConditional(h, v > 0);
}
"""

LEGACY, PER_THREAD = 1, 2
STATUSES = ("none", "active", "invalidated")
KERNEL, COPY, MEMSET, HOST, CHILD, EMPTY, EVENT_WAIT, EVENT_RECORD = range(8)
ALLOC, FREE, CONDITIONAL = 10, 11, 13
Question = tuple[str, object]
Case = Callable[["Runtime"], Iterator[Question]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def answers() -> dict[str, list[str]]:
    """The lines of every case: 'label=answer', or the text that the case wrote."""
    cases: dict[str, list[str]] = {}
    lines = [line for name in ANSWERS for line in Path(__file__).with_name(name).read_text().splitlines()]
    for line in lines:
        if line.startswith("## "):
            cases[line[3:]] = current = []
        elif line and not line.startswith("#"):
            current.append(line)
    return cases


class Runtime:
    """The contract, with the few helper functions that the cases use."""

    def __init__(self, device: str) -> None:
        self.simulated = device.startswith("host")
        self.c: Any = _core.contract(device)
        self.c.set_device(int(device.partition(":")[2]))
        self.c.get_last_error()

    @functools.cache  # noqa: B019 - lives as long as the process' one asker
    def _library(self, source: str) -> tuple[int, dict[str, str]]:
        status, image, names, log = self.c.compile(source)
        assert status == "cudaSuccess", log
        status, library = self.c.library_load_data(image)
        assert status == "cudaSuccess", status
        return library, dict(names)

    @functools.cache  # noqa: B019 - lives as long as the process' one asker
    def kernel(self, name: str, source: str = KERNELS) -> int:
        library, names = self._library(source)
        status, kernel = self.c.library_get_kernel(library, names[name])
        assert status == "cudaSuccess", status
        return kernel

    def launch(self, name: str, *values: bytes, grid=1, block=1, shared: int = 0, stream: int = 0) -> str:
        return self.c.launch_kernel(
            self.kernel(name), grid, block, list(values), dynamic_shared=shared, stream=stream
        )

    def spin(self, nanoseconds: int, stream: int = 0) -> str:
        return self.launch("spin", struct.pack("q", nanoseconds), stream=stream)

    def store(self, address: int, value: int, stream: int = 0) -> str:
        return self.launch("store", struct.pack("P", address), struct.pack("i", value), stream=stream)

    def stream(self, flags: int = 0) -> int:
        status, stream = self.c.stream_create_with_priority(flags, 0)
        assert status == "cudaSuccess", status
        return stream

    def event(self, flags: int = 0) -> int:
        status, event = self.c.event_create_with_flags(flags)
        assert status == "cudaSuccess", status
        return event

    def device_int(self, count: int = 1) -> int:
        status, pointer = self.c.malloc(4 * count)
        assert status == "cudaSuccess", status
        self.c.memset(pointer, 0, 4 * count)
        self.c.device_synchronize()
        return pointer

    def read_int(self, pointer: int) -> int:
        value = ctypes.c_int(-1)
        self.c.memcpy(ctypes.addressof(value), pointer, 4, kind=4)
        return value.value

    def last(self) -> str:
        answer = self.c.peek_at_last_error()
        self.c.get_last_error()
        return answer

    def ms(self) -> float:
        return self.c.clock_ns() / MS

    def record(self, event: int, stream: int = 0) -> str:
        return self.c.event_record_with_flags(event, stream, 0)

    def capture_status(self, stream: int) -> str:
        status, capture = self.c.stream_is_capturing(stream)
        return STATUSES[capture] if status == "cudaSuccess" else status

    def graph(self) -> int:
        status, graph = self.c.graph_create(0)
        assert status == "cudaSuccess", status
        return graph

    def empty_node(self, graph: int, after: tuple[int, ...] = ()) -> int:
        return self.c.graph_add_node(graph, {"type": EMPTY}, after)[1]

    def inc_node(self, graph: int, pointer: int, after: tuple[int, ...] = (), block: int = 1) -> int:
        parameters = {
            "type": KERNEL,
            "kernel": self.kernel("inc"),
            "block": block,
            "arguments": [struct.pack("P", pointer)],
        }
        status, node, *_ = self.c.graph_add_node(graph, parameters, after)
        assert status == "cudaSuccess", status
        return node

    def instantiate(self, graph: int, flags: int = 0) -> int:
        status, exe, *_ = self.c.graph_instantiate(graph, flags)
        assert status == "cudaSuccess", status
        return exe

    def nodes(self, graph: int) -> str:
        """The numbers of nodes and edges, and the types of the nodes."""
        count = self.c.graph_get_nodes(graph)[1]
        found = self.c.graph_get_nodes(graph, count)[2]
        edges = self.c.graph_get_edges(graph)[1]
        types = "".join(f" {self.c.graph_node_get_type(node)[1]}" for node in found)
        return f"{count} nodes {edges} edges:{types}"


def ask(device: str, name: str) -> list[str]:
    """The answers of a runtime, in the format of the file."""
    runtime = Runtime(device)
    runtime.kernel("spin")  # compiled and loaded before the clock of a case starts
    return [label if value is None else f"{label}={value}" for label, value in CASES[name](runtime)]


def load_cases() -> dict[str, Case]:
    from . import (  # noqa: F401 - they fill CASES
        cases_again,
        cases_beside,
        cases_capture,
        cases_devices,
        cases_drawn,
        cases_errors,
        cases_graphs,
        cases_instantiate,
        cases_memory,
        cases_operations,
        cases_order,
    )

    return CASES
