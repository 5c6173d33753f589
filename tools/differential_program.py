"""The programs of the differential test: sequences of calls of the raw contract, and their answers.

A program is a list of steps, one call each, in JSON. An object (a stream, memory, a node) is named by the number of the
step that made it. So a step can be left out without renaming the others: a step that needs a missing object is skipped,
on both runtimes alike. This file is also the worker: it reads a program, runs it on one runtime and writes a line for
each step as soon as it is done. So the output shows the place of a crash, or of a call that never returns.

    python tools/differential_program.py host:0 LIMIT < program.json
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import mmap
import os
import queue
import struct
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

THREADS = 3
CELLS = 64  # counters that kernels add to, on each device
HOST_BYTES = 1 << 17

KERNELS = "__global__ void inc(int* p) { if (p) atomicAdd(p, 1); }"

# The compared parts of the answers: for each call the kinds of its outputs, in order. A status always comes first.
# handle: null or not; pointer: which memory; number: the value; any: not compared.
OUTPUTS: dict[str, tuple[str, ...]] = {
    "get_device_count": ("number",),
    "get_device": ("number",),
    "get_device_flags": ("number",),
    "device_can_access_peer": ("number",),
    "malloc": ("pointer",),
    "malloc_async": ("pointer",),
    "malloc_pitch": ("pointer", "number"),
    "malloc_managed": ("pointer",),
    "malloc_from_pool_async": ("pointer",),
    "host_alloc": ("pointer",),
    "host_get_flags": ("number",),
    "host_get_device_pointer": ("pointer",),
    "pointer_get_attributes": ("number", "number", "pointer", "pointer"),
    "mem_get_info": ("any", "any"),
    "stream_create_with_priority": ("handle",),
    "stream_get_flags": ("number",),
    "stream_get_priority": ("number",),
    "stream_get_device": ("number",),
    "stream_get_id": ("any",),
    "stream_is_capturing": ("number",),
    "stream_get_capture_info": ("number", "any", "handle", "count"),
    "stream_end_capture": ("handle",),
    "thread_exchange_stream_capture_mode": ("number",),
    "event_create_with_flags": ("handle",),
    "event_elapsed_time": ("any",),
    "graph_create": ("handle",),
    "graph_clone": ("handle",),
    "graph_add_node": ("handle", "count", "any"),
    "graph_get_nodes": ("number", "count", "any"),
    "graph_get_root_nodes": ("number", "count", "any"),
    "graph_get_edges": ("number", "count", "count", "number"),
    "graph_node_get_type": ("number",),
    "graph_node_get_dependencies": ("number", "count", "number"),
    "graph_node_get_dependent_nodes": ("number", "count", "number"),
    "graph_node_find_in_clone": ("handle",),
    "graph_instantiate": ("handle", "number", "handle"),
    "graph_exec_get_flags": ("number",),
    "graph_exec_update": ("number", "handle", "handle"),
    "graph_node_get_enabled": ("number",),
    "device_get_default_mem_pool": ("handle",),
    "device_get_mem_pool": ("handle",),
    "mem_pool_create": ("handle",),
    "mem_pool_get_attribute": ("number",),
    "mem_pool_get_access": ("number",),
    "mem_range_get_attribute": ("number",),
    "func_get_attributes": ("any",),
    "device_get_limit": ("number",),
    "occupancy_max_active_blocks_per_multiprocessor": ("number",),
    "stream_get_attribute": ("any",),
}
# The memory that a pool reserves is the driver's decision.
RESERVED = (5, 6)
# Whether work is done by now is not compared.
TIMELY = {"stream_query", "event_query", "event_elapsed_time", "get_last_error", "peek_at_last_error"}


class MissingError(Exception):
    """The program lacks a step that this one needs, or that step failed."""


class Runner:
    """Runs the steps of a program on one runtime."""

    def __init__(self, name: str, devices: int) -> None:
        from cuscope import _core

        wrapper, _, device = name.rpartition("@")
        self.c: Any = _core.contract(device)
        # Host memory: sources of copies, pages that are registered, and the counter of host functions.
        self.pages = mmap.mmap(-1, HOST_BYTES)
        self.host = (ctypes.c_char * HOST_BYTES).from_buffer(self.pages)
        self.called = 0
        self.permanent: dict[str, int] = {}
        self.made: dict[int, list[Any]] = {}  # by step
        self.names: dict[int, str] = {}  # the call of each step
        self.gone: set[int] = set()  # steps whose object another step destroys
        self.filled: set[int] = set()  # graphs that streams were captured to: a spoilt capture destroys them
        self.kernel = 0
        while self.c.simulated() and self.c.get_device_count()[1] < devices:
            self.c.add_device("h200")
        if self.c.get_device_count()[1] < devices:
            raise SystemExit(f"{name}: there are fewer than {devices} devices")
        for device_index in reversed(range(devices)):
            self.prepare(device_index)
        self.zero_counters()
        if wrapper:
            spec = importlib.util.spec_from_file_location("wrapper", wrapper)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self.c = module.wrap(self.c)
        self.queues = [queue.SimpleQueue[Any]() for _ in range(THREADS)]
        for own in self.queues:
            threading.Thread(target=self.serve, args=(own,), daemon=True).start()
        # Before the first call of a thread that needs the device, a GPU's driver answers differently: it has no
        # context.
        for thread in range(THREADS):
            self.in_thread(thread, lambda: self.c.set_device(0))

    def prepare(self, device: int) -> None:
        c = self.c
        c.set_device(device)
        if not self.kernel:
            _, image, names, log = c.compile(KERNELS)
            assert image, log
            _, library = c.library_load_data(image)
            _, self.kernel = c.library_get_kernel(library, dict(names)["inc"])
        # Two streams that work at once never write different values to one place: counters are added to, and the
        # scratch memory is only ever filled with zeroes.
        self.permanent[f"counters{device}"] = c.malloc(4 * CELLS)[1]
        self.permanent[f"scratch{device}"] = c.malloc(4096)[1]
        self.permanent[f"pinned{device}"] = c.host_alloc(4096)[1]
        c.launch_kernel(self.kernel, 1, 1, [struct.pack("P", 0)])
        c.device_synchronize()

    # A memset reaches only the memory of the current device, so the counters of the other device go on from program to
    # program. The recorded answers depend on this.
    def zero_counters(self) -> None:
        for name, address in self.permanent.items():
            if name.startswith(("counters", "scratch")):
                self.c.memset(address, 0, 4 * CELLS)
        self.c.device_synchronize()
        self.called = 0
        self.c.get_last_error()

    def serve(self, own: queue.SimpleQueue[Any]) -> None:
        while True:
            work, answers = own.get()
            try:
                answers.put(work())
            except BaseException as error:
                answers.put(error)

    def in_thread(self, thread: int, work: Any) -> Any:
        answers = queue.SimpleQueue[Any]()
        self.queues[thread].put((work, answers))
        answer = answers.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def value(self, given: Any) -> Any:
        """An argument, with the objects that it names."""
        if isinstance(given, dict):
            return {key: self.value(inner) for key, inner in given.items()}
        if not isinstance(given, list):
            return given
        if not given or not isinstance(given[0], str):
            return [self.value(inner) for inner in given]
        what = given[0]
        if what == "step":  # output `index` of a step
            outputs = self.made.get(given[1])
            if not outputs or not outputs[given[2]]:
                raise MissingError
            return outputs[given[2]] + (given[3] if len(given) > 3 else 0)
        if what == "node":  # the n-th node that a step found or made
            nodes = self.made.get(given[1], [None])
            if not nodes[-1]:
                raise MissingError
            return nodes[-1][given[2] % len(nodes[-1])]
        if what == "permanent":
            return self.permanent[given[1]] + given[2]
        if what == "host":
            return ctypes.addressof(self.host) + given[1]
        if what == "kernel":
            return self.kernel
        if what == "address":  # packed, as an argument of a kernel
            return struct.pack("P", self.value(given[1]))
        if what == "function":
            return self.count_call
        return [self.value(inner) for inner in given]

    def count_call(self) -> None:
        self.called += 1

    def call(self, step: dict[str, Any]) -> list[Any]:
        name = step["call"]
        if name == "clean_up":
            return self.in_thread(step["thread"], self.clean_up)
        try:
            arguments = [self.value(given) for given in step["args"]]
        except MissingError:
            return ["skipped"]
        function = getattr(self.c, name)
        answer = self.in_thread(step["thread"], lambda: function(*arguments))
        status, outputs = (answer[0], list(answer[1:])) if isinstance(answer, tuple) else (answer, [])
        if name in TIMELY and status == "cudaErrorNotReady":
            status = "cudaSuccess"
        if status != "cudaSuccess":
            return [status]
        self.made[step["id"]] = outputs
        if name == "stream_begin_capture_to_graph":
            self.filled.add(arguments[1])
        if name in ("graph_get_nodes", "graph_get_root_nodes"):
            self.made[step["id"]] = [outputs[0], outputs[1]]
        if name == "mem_pool_get_attribute" and step["args"][1] in RESERVED:
            return [status]
        kinds = OUTPUTS.get(name, ())
        return [status, *(self.normalised(kind, x) for kind, x in zip(kinds, outputs, strict=False))]

    def normalised(self, kind: str, output: Any) -> Any:
        if kind == "number":
            if isinstance(output, list):
                return [list(x) if isinstance(x, tuple) else x for x in output]
            return output
        if kind == "count":
            return len(output)
        if kind == "handle":
            return "something" if output else "null"
        if kind == "pointer":
            return "something" if output else "null"
        return None

    def clean_up(self) -> list[Any]:
        """Ends the program's pending work and captures, frees its objects, and reports the effects of its work."""
        c = self.c
        kinds: dict[str, list[int]] = {}
        for step, outputs in self.made.items():
            if outputs and isinstance(outputs[0], int) and step not in self.gone:
                kinds.setdefault(self.names[step], []).append(outputs[0])
        streams = kinds.get("stream_create_with_priority", [])
        ended: list[int] = []  # graphs
        for _ in range(2):  # the second round is for a capture that another one held
            for stream in [*streams, 2]:
                for thread in range(THREADS):
                    self.from_here(thread, lambda s=stream: ended.append(c.stream_end_capture(s)[1]))
        for thread in range(THREADS):
            self.from_here(thread, lambda: c.thread_exchange_stream_capture_mode(0))
        for stream in streams:
            c.stream_destroy(stream)
        done = []
        for device in reversed(range(len(self.permanent) // 3)):
            c.set_device(device)
            done.append(c.device_synchronize())
        for event in kinds.get("event_create_with_flags", []):
            c.event_destroy(event)
        freed = set(self.filled)  # these stay: the driver may have destroyed them, and would end in a SIGSEGV
        for name, free in (
            ("graph_instantiate", c.graph_exec_destroy),
            ("graph_create", c.graph_destroy),
            ("graph_clone", c.graph_destroy),
            ("stream_end_capture", c.graph_destroy),
        ):
            for handle in kinds.get(name, []):
                if handle not in freed:  # two steps may have made one graph
                    freed.add(handle)
                    free(handle)
        for handle in ended:
            if handle and handle not in freed:
                freed.add(handle)
                c.graph_destroy(handle)
        for name, free in (
            ("malloc", c.free),
            ("malloc_pitch", c.free),
            ("malloc_managed", c.free),
            ("malloc_async", c.free),
            ("malloc_from_pool_async", c.free),
            ("host_alloc", c.free_host),
            ("mem_pool_create", c.mem_pool_destroy),
        ):
            for address in kinds.get(name, []):
                free(address)
        for page in range(0, HOST_BYTES, 4096):
            c.host_unregister(ctypes.addressof(self.host) + page)
        devices = range(len(self.permanent) // 3)
        for device in reversed(devices):
            c.set_device(device)
            for peer in devices:
                if peer != device:
                    c.device_disable_peer_access(peer)
        for device in reversed(devices):
            c.device_synchronize()
            counters = (ctypes.c_int * CELLS)()
            c.set_device(device)
            c.memcpy(ctypes.addressof(counters), self.permanent[f"counters{device}"], 4 * CELLS)
            done.append({cell: n for cell, n in enumerate(counters) if n})
        done.append(self.called)
        self.zero_counters()
        for thread in range(THREADS):
            self.from_here(thread, lambda: c.set_device(0))
            self.from_here(thread, c.get_last_error)
        self.made.clear()
        self.gone.clear()
        self.filled.clear()
        self.names.clear()
        return done

    # clean_up() runs on the first of the threads that it asks.
    def from_here(self, thread: int, work: Any) -> None:
        if thread == 0:
            work()
        else:
            self.in_thread(thread, work)

    def run(self, steps: list[dict[str, Any]], out: TextIO, limit: float) -> None:
        self.at = 0
        threading.Thread(target=self.watch, args=(limit, out), daemon=True).start()
        for step in steps:
            self.at += 1
            self.names[step["id"]] = step["call"]
            self.gone.update(step.get("destroys", []))
            out.write(json.dumps([step["id"], self.call(step)]) + "\n")
            out.flush()

    def watch(self, limit: float, out: TextIO) -> None:
        """Ends the process when one step takes longer than the limit."""
        last = self.at
        while True:
            threading.Event().wait(limit)
            if self.at == last:
                out.flush()
                os._exit(HUNG)
            last = self.at


HUNG = 77  # exit status


def main() -> None:
    name, limit = sys.argv[1], float(sys.argv[2])
    given = json.load(sys.stdin)
    # The answers go to the parent process; output of the runtime goes to stderr.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runner = Runner(name, given["devices"])
    runner.run(given["steps"], out, limit)
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
