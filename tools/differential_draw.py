"""Draws programs for the differential test: random calls, valid and invalid, on objects that earlier calls made.

Some calls are never drawn, because a real GPU does not survive them or answers them differently from time to time:
calls with handles that were destroyed, kernels and graphs that use memory that may be freed, two streams that write one
place, waits for a number that is never written. Without the last kind, every program ends.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from differential_program import CELLS, THREADS

Step = dict[str, Any]
LEGACY, PER_THREAD = 1, 2
INTERPROCESS = 4  # flag of events
KERNEL, COPY, MEMSET, HOST, CHILD, EMPTY, EVENT_WAIT, EVENT_RECORD = range(8)
ALLOC, FREE, BATCH = 10, 11, 12
MEMORY = ("malloc", "malloc_async", "malloc_from_pool_async", "malloc_managed", "malloc_pitch", "host_alloc")
GRAPHS = ("graph_create", "graph_clone", "stream_end_capture")


class Program:
    """A program in the making: its steps, and the objects that further steps may name."""

    def __init__(self, chance: random.Random, first: int = 1, devices: int = 1) -> None:
        self.r = chance
        self.steps: list[Step] = []
        self.next = first
        self.devices = devices
        self.live: dict[str, list[int]] = {}  # steps that made an object, by call
        self.device_of: dict[
            int, int
        ] = {}  # of streams, and of events that other processes may know, by step
        self.current = [0] * THREADS
        self.captures = False  # one was begun: what a graph may get is never freed from here on
        self.begun: list[tuple[Any, int]] = []  # the stream and the thread of each capture that began
        self.kept: set[int] = set()  # events that a graph may know
        self.into_graphs = False  # two steps may have made one graph
        self.quiet = False  # no capture is begun

    def add(self, call: str, *args: Any, thread: int = 0, destroys: int | None = None) -> int:
        step: Step = {"id": self.next, "thread": thread, "call": call, "args": list(args)}
        if destroys is not None:
            step["destroys"] = [destroys]
            for made in self.live.values():
                if destroys in made:
                    made.remove(destroys)
        self.steps.append(step)
        self.live.setdefault(call, []).append(self.next)
        self.next += 1
        return self.next - 1

    # ---- arguments

    def one_of(self, *calls: str) -> int | None:
        made = [step for call in calls for step in self.live.get(call, [])]
        return self.r.choice(made) if made else None

    def rarely(self, share: float = 0.06) -> bool:
        return self.r.random() < share

    def stream(self) -> Any:
        step = self.one_of("stream_create_with_priority")
        if step is None or self.rarely(0.15):
            return self.r.choice([0, LEGACY, PER_THREAD])
        return ["step", step, 0]

    def device_of_stream(self, stream: Any, thread: int) -> int:
        return self.device_of[stream[1]] if isinstance(stream, list) else self.current[thread]

    def event(self, keep: bool = False) -> Any:
        step = self.one_of("event_create_with_flags")
        if step is None or self.rarely(0.03):
            return 0
        if keep:
            self.kept.add(step)
        return ["step", step, 0]

    def memory(self) -> Any:
        """Memory of any kind, or a pointer that is no memory."""
        # Memory that a capture allocates exists only while its graph runs.
        kinds = [kind for kind in MEMORY if not (self.captures and kind.endswith("async"))]
        step = self.one_of(*kinds)
        if step is None or self.rarely(0.1):
            return self.r.choice([0, ["host", 0], ["permanent", "scratch0", 0]])
        return ["step", step, 0, self.r.choice([0, 0, 0, 64])]

    def copied(self, device: int, host: bool) -> Any:
        """A side of an asynchronous copy. Memory that a capture may use stays until the program's end."""
        if host:
            return self.r.choice([["host", 0], ["permanent", f"pinned{device}", 0]])
        if not self.captures and not self.rarely(0.5):
            step = self.one_of("malloc", "malloc_managed")
            if step is not None:
                return ["step", step, 0]
        return ["permanent", f"scratch{device}", self.r.choice([0, 256, 1024])]

    def other(self, device: int) -> int:
        """The device, or sometimes another one. During captures none is drawn: the graph would keep such a call for a
        launch.
        """
        if self.devices > 1 and not self.captures and self.rarely(0.4):
            return self.r.randrange(self.devices)
        return device

    def flags(self, valid: list[int], wrong: int = 0x400) -> int:
        return wrong if self.rarely(0.04) else self.r.choice(valid)

    def size(self) -> int:
        return self.r.choice([0, 4, 64, 64, 512, 4096, 4096, 1 << 40])

    def graph(self) -> Any:
        step = self.one_of(*GRAPHS)
        return 0 if step is None or self.rarely(0.02) else ["step", step, 0]

    def node(self) -> Any:
        step = self.one_of("graph_add_node", "graph_get_nodes", "graph_get_root_nodes")
        if step is None:
            return 0
        added = any(step in made for call, made in self.live.items() if call == "graph_add_node")
        return ["step", step, 0] if added else ["node", step, self.r.randrange(8)]

    def inc(self, device: int) -> Any:
        return ["address", ["permanent", f"counters{device}", 4 * self.r.randrange(CELLS)]]

    def forget_nodes(self, graph: int) -> None:
        """From here on the graph and its nodes may be gone."""
        of_it = {s["id"] for s in self.steps if s["args"][:1] == [["step", graph, 0]]}
        for call in ("graph_add_node", "graph_get_nodes", "graph_get_root_nodes"):
            self.live[call] = [node for node in self.live.get(call, []) if node not in of_it]

    def child_of(self, graph: Any) -> Any:
        """A graph for a child node, but never its own parent: a GPU's driver ends with a SIGSEGV there."""
        child = self.graph()
        return 0 if self.into_graphs or child == graph else child

    def node_parameters(self, graph: Any, device: int) -> dict[str, Any]:
        kind = self.r.choice(
            [KERNEL, KERNEL, COPY, MEMSET, HOST, EMPTY, EVENT_WAIT, EVENT_RECORD, CHILD, ALLOC, FREE, 99]
        )
        scratch = ["permanent", f"scratch{device}", self.r.choice([0, 256])]
        given: dict[str, Any] = {"type": kind}
        if kind == KERNEL:
            given |= {
                "kernel": ["kernel"],
                "arguments": [self.inc(device)],
                "block": self.flags([1, 2, 32], 4096),
            }
        elif kind == COPY:
            given |= {"destination": scratch, "source": ["permanent", f"pinned{device}", 0]}
            given |= {"bytes": self.r.choice([4, 64, 1 << 30]), "kind": self.flags([1, 4], 9)}
        elif kind == MEMSET:
            given |= {"pointer": scratch, "width": self.r.choice([4, 64, 1 << 30]), "value": 0}
            given |= {"element_bytes": self.flags([1, 2, 4], 3), "pitch": 0}
        elif kind == HOST:
            given |= {"function": None if self.rarely() else ["function"]}
        elif kind in (EVENT_WAIT, EVENT_RECORD):
            given |= {"event": self.event(keep=True)}
        elif kind == CHILD:
            given |= {"graph": self.child_of(graph)}
        elif kind == ALLOC:
            given |= {"bytes": self.r.choice([64, 4096])}
        elif kind == FREE:
            step = self.one_of("graph_add_node")
            given |= {"pointer": scratch if step is None else ["step", step, 2]}
        return given

    def pool(self) -> Any:
        step = self.one_of("mem_pool_create", "device_get_default_mem_pool", "device_get_mem_pool")
        return 0 if step is None else ["step", step, 0]

    def executable(self) -> Any:
        step = self.one_of("graph_instantiate")
        return 0 if step is None else ["step", step, 0]

    def after(self) -> list[Any]:
        return [] if self.r.random() < 0.6 else [self.node()]


Draw = Callable[[Program, int], object]
DRAWS: list[tuple[float, Draw]] = []
DRAWS_OF_TWO: list[tuple[float, Draw]] = []  # with a second device


def draw(weight: float, draws: list[tuple[float, Draw]] = DRAWS) -> Callable[[Draw], Draw]:
    def enter(function: Draw) -> Draw:
        draws.append((weight, function))
        return function

    return enter


def simple(weight: float, call: str, *arguments: Callable[[Program], Any]) -> None:
    """A call whose arguments are drawn one by one."""
    DRAWS.append((weight, lambda p, t: p.add(call, *(argument(p) for argument in arguments), thread=t)))


S, E, G, N = Program.stream, Program.event, Program.graph, Program.node


def any_device(p: Program) -> int:
    return p.r.choice([-1, 99]) if p.rarely(0.04) else p.r.randrange(p.devices)


# ---- devices and errors
simple(1, "get_last_error")
simple(1, "peek_at_last_error")
simple(0.3, "device_synchronize")
simple(0.2, "get_device_count")
simple(0.3, "get_device")
simple(0.2, "get_device_flags")
simple(0.3, "device_can_access_peer", any_device, any_device)
simple(0.2, "device_get_limit", lambda p: p.flags([0, 1, 2], 77))
simple(0.2, "mem_get_info")
simple(0.2, "func_get_attributes", lambda p: ["kernel"])
simple(
    0.2,
    "occupancy_max_active_blocks_per_multiprocessor",
    lambda p: ["kernel"],
    lambda p: p.flags([32, 256, 1024], 0),
)

# ---- streams and events
simple(2, "stream_synchronize", S)
simple(2, "stream_query", S)
simple(1, "stream_get_flags", S)
simple(0.7, "stream_get_priority", S)
simple(0.5, "stream_get_device", S)
simple(0.5, "stream_get_id", S)
simple(0.3, "stream_get_attribute", S, lambda p: p.flags([1, 3, 8], 77))


@draw(4)
def wait_for_event(p: Program, t: int) -> None:
    stream, event = p.stream(), p.event(keep=True)
    device = p.device_of_stream(stream, t)
    # If other processes may know an event, a wait for it in a stream of another device ends a GPU's driver with a
    # SIGSEGV.
    if isinstance(event, list) and p.device_of.get(event[1], device) != device:
        event = 0
    p.add("stream_wait_event", stream, event, p.flags([0, 0, 0, 1]), thread=t)


simple(5, "event_record_with_flags", lambda p: p.event(keep=True), S, lambda p: p.flags([0, 0, 0, 0, 1]))
simple(2, "event_query", E)
simple(2, "event_synchronize", E)
simple(1, "event_elapsed_time", E, E)


@draw(2)
def create_event(p: Program, t: int) -> None:
    flags = p.flags([0, 0, 1, 2, 3, 4, 6])
    step = p.add("event_create_with_flags", flags, thread=t)
    if flags & INTERPROCESS:
        p.device_of[step] = p.current[t]


simple(1.5, "launch_host_func", S, lambda p: None if p.rarely() else ["function"])
simple(0.5, "stream_add_callback", S, lambda p: p.flags([0], 1))

# ---- captures
simple(1, "stream_is_capturing", S)
simple(1, "stream_get_capture_info", S)
simple(1, "stream_update_capture_dependencies", S, lambda p: [p.node()], lambda p: p.flags([0, 1], 2))
simple(1, "thread_exchange_stream_capture_mode", lambda p: p.flags([0, 0, 1, 2], 3))

# ---- memory
simple(2, "malloc", Program.size)
# A GPU may promise more managed memory than it has: draw only sizes that fit.
simple(1, "malloc_managed", lambda p: p.r.choice([0, 64, 4096]), lambda p: p.flags([1, 1, 2], 0))
simple(0.7, "malloc_pitch", lambda p: p.r.choice([0, 4, 512, 513]), lambda p: p.r.choice([0, 1, 8]))
simple(1, "host_alloc", Program.size, lambda p: p.flags([0, 1, 2, 4]))
simple(2, "malloc_async", Program.size, S)
simple(1, "malloc_from_pool_async", Program.size, lambda p: p.pool(), S)
simple(1, "pointer_get_attributes", Program.memory)
simple(0.7, "host_get_flags", Program.memory)
simple(0.7, "host_get_device_pointer", Program.memory, lambda p: p.flags([0]))
simple(
    0.7,
    "host_register",
    lambda p: ["host", 4096 * p.r.randrange(1, 8)],
    lambda p: p.r.choice([0, 64, 4096, 8192]),
    lambda p: p.flags([0, 1, 2, 3]),
)
simple(0.2, "host_register", Program.memory, lambda p: 64)
simple(0.5, "host_unregister", lambda p: ["host", 4096 * p.r.randrange(1, 8)])
simple(1, "memset", Program.memory, lambda p: 0, Program.size)
simple(0.3, "mem_prefetch_async", Program.memory, lambda p: 4096, lambda p: [1, 0], lambda p: 0, S)
simple(0.3, "mem_range_get_attribute", Program.memory, lambda p: 64, lambda p: p.flags([1, 2, 3, 4]))

# ---- pools
simple(0.3, "device_get_default_mem_pool", any_device)
simple(0.3, "device_get_mem_pool", any_device)
simple(0.7, "mem_pool_create", any_device)
simple(0.7, "mem_pool_get_attribute", lambda p: p.pool(), lambda p: p.flags([1, 2, 3, 4, 5, 7], 77))
simple(
    0.5,
    "mem_pool_set_attribute",
    lambda p: p.pool(),
    lambda p: p.flags([1, 2, 3, 4, 6, 8, 7], 77),
    lambda p: p.r.choice([0, 1, 1 << 20]),
)
simple(0.4, "mem_pool_trim_to", lambda p: p.pool(), lambda p: 0)
simple(0.4, "mem_pool_get_access", lambda p: p.pool(), any_device)
simple(0.4, "mem_pool_set_access", lambda p: p.pool(), lambda p: [[any_device(p), p.flags([0, 3], 2)]])

# ---- graphs
simple(1.5, "graph_create", lambda p: p.flags([0], 1))
simple(0.7, "graph_clone", G)
simple(1, "graph_get_nodes", G, lambda p: 16)
simple(0.5, "graph_get_root_nodes", G, lambda p: 16)
simple(0.7, "graph_get_edges", G, lambda p: 16)
simple(0.7, "graph_node_get_type", N)
simple(0.5, "graph_node_get_dependencies", N, lambda p: 16)
simple(0.5, "graph_node_get_dependent_nodes", N, lambda p: 16)
simple(1, "graph_add_dependencies", G, lambda p: [p.node()], lambda p: [p.node()])
simple(0.7, "graph_remove_dependencies", G, lambda p: [p.node()], lambda p: [p.node()])
simple(0.4, "graph_node_find_in_clone", N, G)
simple(3, "graph_instantiate", G, lambda p: p.flags([0, 0, 0, 1, 2, 8], 1 << 20))
simple(4, "graph_launch", lambda p: p.executable(), S)
simple(0.7, "graph_upload", lambda p: p.executable(), S)
simple(0.7, "graph_exec_update", lambda p: p.executable(), G)
simple(0.4, "graph_exec_get_flags", lambda p: p.executable())
simple(0.4, "graph_node_set_enabled", lambda p: p.executable(), N, lambda p: p.r.randrange(2))
simple(0.4, "graph_node_get_enabled", lambda p: p.executable(), N)


@draw(2)
def create_stream(p: Program, t: int) -> None:
    step = p.add("stream_create_with_priority", p.flags([0, 0, 1, 1]), p.r.choice([0, 0, -1, 5]), thread=t)
    p.device_of[step] = p.current[t]


@draw(0.5)
def set_device(p: Program, t: int) -> None:
    device = any_device(p)
    p.add("set_device", device, thread=t)
    if 0 <= device < p.devices:
        p.current[t] = device


@draw(3)
def begin_capture(p: Program, t: int) -> None:
    p.captures = True
    stream = p.stream()
    p.begun.append((stream, t))
    p.add("stream_begin_capture", stream, p.flags([0, 1, 2], 9), thread=t)


@draw(4)
def end_capture(p: Program, t: int) -> None:
    if p.begun and not p.rarely(0.2):
        stream, own = p.begun.pop(p.r.randrange(len(p.begun)))
        t = t if p.rarely(0.2) else own
    else:
        stream = p.stream()
    p.add("stream_end_capture", stream, thread=t)


@draw(0.7)
def begin_capture_to_graph(p: Program, t: int) -> None:
    p.captures = p.into_graphs = True
    graph = p.graph()
    p.add("stream_begin_capture_to_graph", p.stream(), graph, p.after(), p.flags([0, 1, 2], 9), thread=t)
    if graph != 0:  # the graph is destroyed with its capture, if that is spoilt
        p.forget_nodes(graph[1])
        for call in GRAPHS:
            p.live[call] = [step for step in p.live.get(call, []) if step != graph[1]]


@draw(5)
def launch(p: Program, t: int) -> None:
    stream = p.stream()
    device = p.device_of_stream(stream, t)
    p.add(
        "launch_kernel",
        ["kernel"],
        p.flags([1, 2], 0),
        p.flags([1, 32], 4096),
        [p.inc(device)],
        0,
        stream,
        thread=t,
    )


@draw(1)
def memory_operation(p: Program, t: int) -> None:
    stream = p.stream()
    # The memory is zero, and only zero is written: no wait is for ever.
    word = ["permanent", f"scratch{p.device_of_stream(stream, t)}", 512]
    call = p.r.choice(["stream_write_value_32", "stream_wait_value_32"])
    p.add(call, stream, word, 0, p.flags([0, 1]), thread=t)


@draw(3)
def copy_async(p: Program, t: int) -> None:
    stream = p.stream()
    device = p.device_of_stream(stream, t)
    up = p.r.random() < 0.5
    to, source = p.copied(p.other(device), not up), p.copied(p.other(device), up)
    p.add(
        "memcpy_async",
        to,
        source,
        p.r.choice([0, 4, 64, 64]),
        p.flags([0, 1, 2, 3, 4, 4, 4], 9),
        stream,
        thread=t,
    )


@draw(1)
def copy(p: Program, t: int) -> None:
    device = p.current[t]
    to, source = p.copied(p.other(device), p.rarely(0.3)), p.copied(p.other(device), p.rarely(0.7))
    # For a copy between pageable memory the driver does not check the size of the memory.
    pageable = to[0] == source[0] == "host"
    size = p.r.choice([0, 4, 64, 4096, 4096 if pageable else 1 << 40])
    p.add("memcpy", to, source, size, p.flags([0, 1, 2, 3, 4], 9), thread=t)


@draw(2)
def set_async(p: Program, t: int) -> None:
    stream = p.stream()
    p.add(
        "memset_async",
        p.copied(p.other(p.device_of_stream(stream, t)), p.rarely()),
        0,
        p.r.choice([0, 64, 1 << 40]),
        stream,
        thread=t,
    )


@draw(4)
def add_node(p: Program, t: int) -> None:
    p.captures = True
    graph = p.graph()
    p.add("graph_add_node", graph, p.node_parameters(graph, p.current[t]), p.after(), thread=t)


def destroyer(weight: float, call: str, *makers: str, stream: bool = False) -> None:
    def destroy(p: Program, t: int) -> None:
        step = p.one_of(*makers)
        if step is None or step in p.kept:
            return
        p.begun = [(begun_in, own) for begun_in, own in p.begun if begun_in != ["step", step, 0]]
        p.add(call, ["step", step, 0], *([p.stream()] if stream else []), thread=t, destroys=step)

    DRAWS.append((weight, destroy))


@draw(0.5)
def destroy_graph(p: Program, t: int) -> None:
    step = p.one_of(*GRAPHS)
    if step is None or p.into_graphs:
        return
    p.add("graph_destroy", ["step", step, 0], thread=t, destroys=step)
    p.forget_nodes(step)


destroyer(0.5, "stream_destroy", "stream_create_with_priority")
destroyer(0.5, "event_destroy", "event_create_with_flags")
destroyer(1, "free", "malloc", "malloc_managed", "malloc_pitch", "malloc_async", "malloc_from_pool_async")
destroyer(1.5, "free_async", "malloc_async", "malloc_from_pool_async", "malloc", stream=True)
destroyer(0.7, "free_host", "host_alloc")
destroyer(0.1, "free", "host_alloc")
destroyer(0.4, "mem_pool_destroy", "mem_pool_create")
destroyer(0.6, "graph_exec_destroy", "graph_instantiate")


# ---- a second device


def scratch(p: Program, device: int) -> list[Any]:
    return ["permanent", f"scratch{device}", p.r.choice([0, 256, 1024])]


DRAWS_OF_TWO.append((2, set_device))


@draw(1, DRAWS_OF_TWO)
def enable_peer_access(p: Program, t: int) -> None:
    p.add("device_enable_peer_access", any_device(p), p.flags([0], 1), thread=t)


@draw(1.5, DRAWS_OF_TWO)
def copy_between_peers(p: Program, t: int) -> None:
    if p.captures:
        return
    to, source = p.r.randrange(p.devices), p.r.randrange(p.devices)
    named = [p.r.randrange(p.devices) if p.rarely(0.1) else device for device in (to, source)]
    given = [scratch(p, to), named[0], scratch(p, source), named[1], p.r.choice([0, 4, 64, 1 << 40])]
    if p.r.random() < 0.5:
        p.add("memcpy_peer", *given, thread=t)
    else:
        p.add("memcpy_peer_async", *given, p.stream(), thread=t)


@draw(1.5, DRAWS_OF_TWO)
def copy_to_a_pools_memory(p: Program, t: int) -> None:
    step = p.one_of("malloc_async", "malloc_from_pool_async")
    if step is None or p.captures:
        return
    # No work is pending that could collide with the copy, and the copy is done before the memory is freed.
    for device in range(p.devices):
        p.add("set_device", device, thread=t)
        p.add("device_synchronize", thread=t)
    p.add("set_device", p.current[t], thread=t)
    memory, held = ["step", step, 0], scratch(p, p.r.randrange(p.devices))
    p.add(*p.r.choice([("memcpy", memory, held, 4, 4), ("memset", memory, 0, 4)]), thread=t)
    p.add("stream_synchronize", 0, thread=t)


@draw(1, DRAWS_OF_TWO)
def launch_cooperatively(p: Program, t: int) -> None:
    stream = p.stream()
    counter = p.inc(p.device_of_stream(stream, t))
    p.add("launch_kernel", ["kernel"], 1, 32, [counter], 0, stream, -1, True, thread=t)


def random_program(chance: random.Random, first: int, calls: int, devices: int) -> Program:
    """So many calls, and the clean-up that reports their effects."""
    program = Program(chance, first, devices)
    for _ in range(2):
        create_stream(program, 0)
        program.add("event_create_with_flags", 0)
        program.add("graph_create", 0)
    if chance.random() < 0.5:
        program.add("mem_pool_create", 0)
    draws = DRAWS
    if devices > 1:
        draws = DRAWS + DRAWS_OF_TWO
        # Most calls with two devices are drawn only if nothing is captured.
        if chance.random() < 0.5:
            program.quiet = True
            captures = (begin_capture, begin_capture_to_graph, add_node)
            draws = [entry for entry in draws if entry[1] not in captures]
    if not program.quiet and chance.random() < 0.4:
        graph = ["step", program.one_of("graph_create"), 0]
        program.captures = True
        program.add("graph_add_node", graph, program.node_parameters(graph, 0))
        program.add("graph_instantiate", graph)
    weights = [weight for weight, _ in draws]
    thread = 0
    while len(program.steps) < calls:
        if program.rarely(0.15):
            thread = chance.choice([0, 0, *range(THREADS)])
        chance.choices(draws, weights)[0][1](program, thread)
    program.add("clean_up")
    return program
