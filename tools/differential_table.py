"""The table of the differential test: an answer to each of about 80 calls in each of 17 states of streams and captures.

Each cell is a program of its own: it makes the objects of the call, brings a stream into the state, makes the call, and
asks for the state of the capture. Two tables, of a GPU and of host:0, are compared with diff.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from differential import Answers, Options, finish, start
from differential_draw import (
    BATCH,
    CHILD,
    COPY,
    EMPTY,
    EVENT_RECORD,
    EVENT_WAIT,
    HOST,
    KERNEL,
    LEGACY,
    MEMSET,
    PER_THREAD,
    Program,
)

BLOCKING, NON_BLOCKING = 0, 1
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
EXTERNAL = 1
STATUSES = ("none", "active", "invalidated")
SCRATCH, PINNED, PAGEABLE = ["permanent", "scratch0", 0], ["permanent", "pinned0", 0], ["host", 0]
COUNTER = [["address", ["permanent", "counters0", 0]]]
Things = dict[str, Any]


def things(p: Program) -> Things:
    """The objects of the calls: made before the state, and not part of it."""

    def made(call: str, *args: Any) -> Any:
        return ["step", p.add(call, *args), 0]

    t: Things = {name: made("stream_create_with_priority", NON_BLOCKING, 0) for name in ("stream", "other")}
    t["blocking"] = made("stream_create_with_priority", BLOCKING, 0)
    t |= {name: made("event_create_with_flags", 0) for name in ("event", "later", "fresh", "third", "inside")}
    t |= {"memory": made("malloc", 4096), "freed": made("malloc", 64), "managed": made("malloc_managed", 64)}
    t |= {"pinned": made("host_alloc", 4096, 0), "pooled": made("malloc_async", 64, t["other"])}
    t |= {"pool": made("mem_pool_create", 0), "default": made("device_get_default_mem_pool", 0)}
    t |= {"graph": made("graph_create", 0), "small": made("graph_create", 0)}
    t["node"] = made(
        "graph_add_node", t["graph"], {"type": KERNEL, "kernel": ["kernel"], "arguments": COUNTER}
    )
    t["exec"] = made("graph_instantiate", t["graph"], 0)
    p.add("event_record_with_flags", t["event"], t["other"], 0)
    p.add("event_record_with_flags", t["later"], t["other"], 0)
    p.add("device_synchronize")
    return t


# ---- states: the stream of the call, and the stream whose capture is queried afterwards

State = Callable[[Program, Things], tuple[Any, Any]]


def idle(p: Program, t: Things) -> tuple[Any, Any]:
    return t["stream"], t["stream"]


def busy(p: Program, t: Things) -> tuple[Any, Any]:
    p.add("launch_kernel", ["kernel"], 1, 1, COUNTER, 0, t["stream"])
    return t["stream"], t["stream"]


def captured(mode: int, thread: int = 0) -> State:
    def state(p: Program, t: Things) -> tuple[Any, Any]:
        p.add("stream_begin_capture", t["stream"], mode, thread=thread)
        return t["stream"], t["stream"]

    return state


def spoilt(mode: int) -> State:
    def state(p: Program, t: Things) -> tuple[Any, Any]:
        p.add("stream_begin_capture", t["stream"], mode)
        p.add("stream_query", t["stream"])
        p.add("get_last_error")
        return t["stream"], t["stream"]

    return state


def beside(mode: int, own_mode: int | None = None, thread: int = 0) -> State:
    def state(p: Program, t: Things) -> tuple[Any, Any]:
        p.add("stream_begin_capture", t["other"], mode, thread=thread)
        if own_mode is not None:
            p.add("thread_exchange_stream_capture_mode", own_mode)
        return t["stream"], t["other"]

    return state


def forked(p: Program, t: Things) -> tuple[Any, Any]:
    p.add("stream_begin_capture", t["other"], GLOBAL)
    p.add("event_record_with_flags", t["inside"], t["other"], 0)
    p.add("stream_wait_event", t["stream"], t["inside"], 0)
    return t["stream"], t["other"]


def forked_from(p: Program, t: Things) -> tuple[Any, Any]:
    _, origin = forked(p, t)
    p.add("launch_kernel", ["kernel"], 1, 1, COUNTER, 0, t["stream"])
    return origin, origin


def to_graph(p: Program, t: Things) -> tuple[Any, Any]:
    p.add("stream_begin_capture_to_graph", t["stream"], t["small"], [], GLOBAL)
    return t["stream"], t["stream"]


def legacy(p: Program, t: Things) -> tuple[Any, Any]:
    p.add("stream_begin_capture", t["blocking"], GLOBAL)
    return LEGACY, t["blocking"]


def legacy_relaxed(p: Program, t: Things) -> tuple[Any, Any]:
    p.add("stream_begin_capture", t["blocking"], RELAXED)
    return LEGACY, t["blocking"]


def per_thread(p: Program, t: Things) -> tuple[Any, Any]:
    p.add("stream_begin_capture", PER_THREAD, GLOBAL)
    return PER_THREAD, PER_THREAD


STATES: dict[str, State] = {
    "idle": idle,
    "busy": busy,
    "captured global": captured(GLOBAL),
    "captured thread_local": captured(THREAD_LOCAL),
    "captured relaxed": captured(RELAXED),
    "captured by another thread, global": captured(GLOBAL, 1),
    "captured by another thread, relaxed": captured(RELAXED, 1),
    "spoilt global": spoilt(GLOBAL),
    "spoilt relaxed": spoilt(RELAXED),
    "beside a global capture": beside(GLOBAL),
    "beside a global capture, relaxed itself": beside(GLOBAL, RELAXED),
    "beside a capture of another thread, thread_local": beside(THREAD_LOCAL, thread=1),
    "forked": forked,
    "forked from": forked_from,
    "captured to a graph": to_graph,
    "legacy beside a blocking capture": legacy,
    "per-thread captured": per_thread,
}

# ---- calls: s is the stream of the state, t has all other objects


def node(kind: int, **given: Any) -> dict[str, Any]:
    return {"type": kind, **given}


CALLS: dict[str, Callable[[Any, Things], tuple[Any, ...]]] = {
    "get_last_error": lambda s, t: ("get_last_error",),
    "peek_at_last_error": lambda s, t: ("peek_at_last_error",),
    "device_synchronize": lambda s, t: ("device_synchronize",),
    "get_device": lambda s, t: ("get_device",),
    "get_device_flags": lambda s, t: ("get_device_flags",),
    "device_get_limit": lambda s, t: ("device_get_limit", 0),
    "device_set_limit": lambda s, t: ("device_set_limit", 0, 2048),
    "device_can_access_peer": lambda s, t: ("device_can_access_peer", 0, 0),
    "mem_get_info": lambda s, t: ("mem_get_info",),
    "func_get_attributes": lambda s, t: ("func_get_attributes", ["kernel"]),
    "occupancy": lambda s, t: ("occupancy_max_active_blocks_per_multiprocessor", ["kernel"], 64),
    "stream_synchronize": lambda s, t: ("stream_synchronize", s),
    "stream_query": lambda s, t: ("stream_query", s),
    "stream_get_flags": lambda s, t: ("stream_get_flags", s),
    "stream_get_priority": lambda s, t: ("stream_get_priority", s),
    "stream_get_id": lambda s, t: ("stream_get_id", s),
    "stream_get_device": lambda s, t: ("stream_get_device", s),
    "stream_get_attribute": lambda s, t: ("stream_get_attribute", s, 8),
    "stream_create": lambda s, t: ("stream_create_with_priority", 0, 0),
    "stream_destroy": lambda s, t: ("stream_destroy", s),
    "stream_is_capturing": lambda s, t: ("stream_is_capturing", s),
    "stream_get_capture_info": lambda s, t: ("stream_get_capture_info", s),
    "stream_begin_capture": lambda s, t: ("stream_begin_capture", s, GLOBAL),
    "stream_begin_capture_to_graph": lambda s, t: ("stream_begin_capture_to_graph", s, t["graph"]),
    "stream_end_capture": lambda s, t: ("stream_end_capture", s),
    "stream_update_capture_dependencies": lambda s, t: ("stream_update_capture_dependencies", s, [], 1),
    "update_dependencies_foreign_node": lambda s, t: (
        "stream_update_capture_dependencies",
        s,
        [t["node"]],
        0,
    ),
    "thread_exchange_mode": lambda s, t: ("thread_exchange_stream_capture_mode", THREAD_LOCAL),
    "thread_exchange_mode_9": lambda s, t: ("thread_exchange_stream_capture_mode", 9),
    "wait_event": lambda s, t: ("stream_wait_event", s, t["event"], 0),
    "wait_event_unrecorded": lambda s, t: ("stream_wait_event", s, t["fresh"], 0),
    "wait_event_external": lambda s, t: ("stream_wait_event", s, t["event"], EXTERNAL),
    "wait_event_inside": lambda s, t: ("stream_wait_event", s, t["inside"], 0),
    "wait_event_bad_flags": lambda s, t: ("stream_wait_event", s, t["event"], 64),
    "wait_event_null": lambda s, t: ("stream_wait_event", s, 0, 0),
    "event_record": lambda s, t: ("event_record_with_flags", t["third"], s, 0),
    "event_record_external": lambda s, t: ("event_record_with_flags", t["third"], s, EXTERNAL),
    "event_record_bad_flags": lambda s, t: ("event_record_with_flags", t["third"], s, 64),
    "event_query": lambda s, t: ("event_query", t["event"]),
    "event_query_inside": lambda s, t: ("event_query", t["inside"]),
    "event_synchronize": lambda s, t: ("event_synchronize", t["event"]),
    "event_elapsed_time": lambda s, t: ("event_elapsed_time", t["event"], t["later"]),
    "event_create": lambda s, t: ("event_create_with_flags", 0),
    "event_destroy": lambda s, t: ("event_destroy", t["third"]),
    "launch_kernel": lambda s, t: ("launch_kernel", ["kernel"], 1, 1, COUNTER, 0, s),
    "launch_kernel_bad_block": lambda s, t: ("launch_kernel", ["kernel"], 1, 4096, COUNTER, 0, s),
    "launch_kernel_bad_shared": lambda s, t: ("launch_kernel", ["kernel"], 1, 1, COUNTER, 1 << 20, s),
    "launch_host_func": lambda s, t: ("launch_host_func", s, ["function"]),
    "launch_host_func_null": lambda s, t: ("launch_host_func", s, None),
    "stream_add_callback": lambda s, t: ("stream_add_callback", s),
    "memcpy": lambda s, t: ("memcpy", SCRATCH, PINNED, 64),
    "memcpy_async_pinned": lambda s, t: ("memcpy_async", SCRATCH, PINNED, 64, 1, s),
    "memcpy_async_pageable_up": lambda s, t: ("memcpy_async", SCRATCH, PAGEABLE, 64, 1, s),
    "memcpy_async_pageable_down": lambda s, t: ("memcpy_async", PAGEABLE, SCRATCH, 64, 2, s),
    "memcpy_async_host_to_host": lambda s, t: ("memcpy_async", PINNED, PAGEABLE, 64, 0, s),
    "memcpy_async_on_device": lambda s, t: ("memcpy_async", t["memory"], SCRATCH, 64, 3, s),
    "memcpy_async_nothing": lambda s, t: ("memcpy_async", SCRATCH, PINNED, 0, 1, s),
    "memcpy_async_null": lambda s, t: ("memcpy_async", 0, PINNED, 64, 1, s),
    "memcpy_async_bad_kind": lambda s, t: ("memcpy_async", SCRATCH, PINNED, 64, 9, s),
    "memcpy_async_too_much": lambda s, t: ("memcpy_async", SCRATCH, PINNED, 1 << 30, 1, s),
    "memset": lambda s, t: ("memset", t["memory"], 0, 64),
    "memset_async": lambda s, t: ("memset_async", t["memory"], 0, 64, s),
    "memset_async_null": lambda s, t: ("memset_async", 0, 0, 64, s),
    "malloc": lambda s, t: ("malloc", 64),
    "malloc_managed": lambda s, t: ("malloc_managed", 64),
    "malloc_pitch": lambda s, t: ("malloc_pitch", 64, 4),
    "host_alloc": lambda s, t: ("host_alloc", 64),
    "malloc_async": lambda s, t: ("malloc_async", 64, s),
    "malloc_from_pool_async": lambda s, t: ("malloc_from_pool_async", 64, t["pool"], s),
    "free": lambda s, t: ("free", t["freed"]),
    "free_null": lambda s, t: ("free", 0),
    "free_async": lambda s, t: ("free_async", t["pooled"], s),
    "free_async_null": lambda s, t: ("free_async", 0, s),
    "free_async_of_malloc": lambda s, t: ("free_async", t["freed"], s),
    "free_host": lambda s, t: ("free_host", t["pinned"]),
    "host_register": lambda s, t: ("host_register", ["host", 4096], 4096),
    "pointer_get_attributes": lambda s, t: ("pointer_get_attributes", t["memory"]),
    "mem_prefetch_async": lambda s, t: ("mem_prefetch_async", t["managed"], 64, [1, 0], 0, s),
    "mem_pool_create": lambda s, t: ("mem_pool_create", 0),
    "mem_pool_destroy": lambda s, t: ("mem_pool_destroy", t["pool"]),
    "mem_pool_get_attribute": lambda s, t: ("mem_pool_get_attribute", t["default"], 7),
    "mem_pool_set_attribute": lambda s, t: ("mem_pool_set_attribute", t["pool"], 4, 0),
    "mem_pool_trim_to": lambda s, t: ("mem_pool_trim_to", t["pool"], 0),
    "write_value": lambda s, t: ("stream_write_value_32", s, t["memory"], 0),
    "wait_value": lambda s, t: ("stream_wait_value_32", s, ["permanent", "scratch0", 512], 0),
    "graph_create": lambda s, t: ("graph_create",),
    "graph_clone": lambda s, t: ("graph_clone", t["graph"]),
    "graph_add_empty": lambda s, t: ("graph_add_node", t["small"], node(EMPTY)),
    "graph_add_kernel": lambda s, t: (
        "graph_add_node",
        t["small"],
        node(KERNEL, kernel=["kernel"], arguments=COUNTER),
    ),
    "graph_add_copy": lambda s, t: (
        "graph_add_node",
        t["small"],
        node(COPY, destination=SCRATCH, source=PINNED, bytes=64),
    ),
    "graph_add_set": lambda s, t: (
        "graph_add_node",
        t["small"],
        node(MEMSET, pointer=SCRATCH, width=64, value=0),
    ),
    "graph_add_host": lambda s, t: ("graph_add_node", t["small"], node(HOST, function=["function"])),
    "graph_add_child": lambda s, t: ("graph_add_node", t["small"], node(CHILD, graph=t["graph"])),
    "graph_add_wait": lambda s, t: ("graph_add_node", t["small"], node(EVENT_WAIT, event=t["event"])),
    "graph_add_record": lambda s, t: ("graph_add_node", t["small"], node(EVENT_RECORD, event=t["third"])),
    "graph_add_batch_of_none": lambda s, t: ("graph_add_node", t["small"], node(BATCH)),
    "graph_instantiate": lambda s, t: ("graph_instantiate", t["graph"]),
    "graph_upload": lambda s, t: ("graph_upload", t["exec"], s),
    "graph_launch": lambda s, t: ("graph_launch", t["exec"], s),
    "graph_exec_update": lambda s, t: ("graph_exec_update", t["exec"], t["graph"]),
    "graph_exec_destroy": lambda s, t: ("graph_exec_destroy", t["exec"]),
    "graph_destroy": lambda s, t: ("graph_destroy", t["small"]),
}
# Objects that a call destroys, so that the clean-up does not destroy them again.
DESTROYS = {"stream_destroy", "event_destroy", "free", "free_async", "free_host", "mem_pool_destroy"} | {
    "graph_exec_destroy",
    "graph_destroy",
}


def cell(state: State, call: str, first: int) -> tuple[Program, int, int]:
    """The program of a cell, the step of the call, and the step that queries the capture afterwards."""
    p = Program(random.Random(0), first)
    t = things(p)
    s, asked = state(p, t)
    name, *args = CALLS[call](s, t)
    destroyed = (
        args[0][1] if name in DESTROYS and isinstance(args[0], list) and args[0][0] == "step" else None
    )
    step = p.add(name, *args, destroys=destroyed)
    gone = destroyed is not None and asked == args[0]
    after = step if gone else p.add("stream_is_capturing", asked)
    p.add("clean_up")
    return p, step, after


def rows(options: Options, state: str) -> Iterator[tuple[str, str]]:
    """Each call and its answer in the state."""
    cells, first = [], 1
    for call in CALLS:
        cells.append((call, *cell(STATES[state], call, first)))
        first = cells[-1][1].next
    while cells:
        given = {"devices": 1, "steps": [step for _, program, *_ in cells for step in program.steps]}
        answers = finish(start(options.first, options.limit), json.dumps(given), 60 + 3 * options.limit)
        left = []
        for i, (call, program, step, after) in enumerate(cells):
            yield call, answer_of(answers, step, after)
            if program.steps[-1]["id"] not in answers.by_step:  # the process ended in this cell
                left = cells[i + 1 :]
                break
        cells = left


def table(options: Options) -> Iterator[str]:
    for state in STATES:
        for call, answer in rows(options, state):
            yield f"{state:<50}{call:<38}{answer}"


def answer_of(answers: Answers, step: int, after: int) -> str:
    if step not in answers.by_step:
        return answers.end or "no answer"
    status = answers.by_step[step][0]
    if after == step:
        return status
    if after not in answers.by_step:
        return f"{status}, then {answers.end}"
    found = answers.by_step[after]
    return f"{status} {STATUSES[found[1]] if len(found) > 1 else found[0]}"
