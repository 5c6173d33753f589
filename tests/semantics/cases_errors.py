"""The cases of errors, lost devices, launches and function attributes."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Iterator

from cuscope import _core
from support import NO_DEVICE

from .asking import MS, Question, Runtime, case

HOST_TO_DEVICE = 1
MAX_DYNAMIC_SHARED = 8
NULL = struct.pack("P", 0)


@case
def error_last_semantics(r: Runtime) -> Iterator[Question]:
    yield "bad_device", r.c.set_device(NO_DEVICE)
    yield "peek", r.c.peek_at_last_error()
    yield "malloc_ok", r.c.malloc(4)[0]
    yield "peek_after_success", r.c.peek_at_last_error()
    yield "get", r.c.get_last_error()
    yield "get_after", r.c.get_last_error()
    yield "bad_again", r.c.set_device(-1)
    other: list[str] = []
    thread = threading.Thread(target=lambda: other.append(r.c.peek_at_last_error()))
    thread.start()
    thread.join()
    yield "other_thread", other[0]
    yield "this_thread", r.c.get_last_error()


@case
def error_texts(_r: Runtime) -> Iterator[Question]:
    for number in (*range(1000), 12345):
        name, text = _core.status_name(number), _core.status_text(number)
        if name != "unrecognized error code" or number >= 1000:
            yield str(number), f"{name}|{text}"


@case
def sticky_illegal_address(r: Runtime) -> Iterator[Question]:
    d = r.device_int()
    r.launch("oob", struct.pack("P", d))
    yield "launch", r.c.peek_at_last_error()
    yield "sync", r.c.device_synchronize()
    yield "get", r.c.get_last_error()
    yield "get2", r.c.get_last_error()
    p = ctypes.c_void_p()
    yield "malloc_after", r.c.malloc(4)[0]
    yield "memcpy_after", r.c.memcpy(d, ctypes.addressof(p), 4, HOST_TO_DEVICE)
    yield "stream_create_after", r.c.stream_create_with_priority(0, 0)[0]
    yield "free_after", r.c.free(d)
    yield "reset", r.c.device_reset()
    yield "malloc_after_reset", r.c.malloc(4)[0]
    yield "sync_after_reset", r.c.device_synchronize()


@case
def sticky_misaligned(r: Runtime) -> Iterator[Question]:
    _, d = r.c.malloc(64)
    r.launch("misaligned", struct.pack("P", d))
    yield "sync", r.c.device_synchronize()
    yield "next", r.c.device_synchronize()


@case
def sticky_assert(r: Runtime) -> Iterator[Question]:
    r.launch("assert_")
    yield "sync", r.c.device_synchronize()
    yield "next", r.c.device_synchronize()


@case
def launch_config(r: Runtime) -> Iterator[Question]:
    def dyn(grid, block, shared: int = 0) -> str:
        r.launch("dyn", NULL, grid=grid, block=block, shared=shared)
        return r.c.get_last_error()

    r.launch("dyn", NULL, block=2048)
    yield "block2048", r.c.peek_at_last_error()
    r.c.get_last_error()
    yield "grid0", dyn(0, 1)
    yield "block0", dyn(1, 0)
    yield "smem1m", dyn(1, 32, 1 << 20)
    yield "smem64k_without_optin", dyn(1, 32, 64 << 10)
    kernel = r.kernel("dyn")
    yield "optin", r.c.func_set_attribute(kernel, MAX_DYNAMIC_SHARED, 227 << 10)
    yield "smem227k", dyn(1, 32, 227 << 10)
    yield "optin_too_big", r.c.func_set_attribute(kernel, MAX_DYNAMIC_SHARED, 228 << 10)
    r.c.get_last_error()
    yield "gridy65536", dyn((1, 65536, 1), 1, 4)
    yield "blockz65", dyn(1, (1, 1, 65))
    # Accepted, and never waited for: 2^32 blocks. The process ends with it pending.
    yield "gridx_max", dyn((0x7FFFFFFF, 2, 1), 1, 4)


@case
def launch_blocking_env(r: Runtime) -> Iterator[Question]:
    """This case runs in a process that was started with CUDA_LAUNCH_BLOCKING=1."""
    s = r.stream()
    t = r.ms()
    r.spin(50 * MS, s)
    yield "launch_blocked", int(r.ms() - t > 40)
    yield "query", r.c.stream_query(s)


@case
def func_attributes(r: Runtime) -> Iterator[Question]:
    dyn = r.kernel("dyn")
    status, a = r.c.func_get_attributes(dyn)
    yield "get", status
    yield "maxThreads", a.max_threads_per_block
    yield "maxDyn", a.max_dynamic_shared_size
    yield "static", a.shared_size
    status, blocks = r.c.occupancy_max_active_blocks_per_multiprocessor(dyn, 256, 0)
    yield "occ", status
    yield "blocks256", blocks
    yield "blocks1024", r.c.occupancy_max_active_blocks_per_multiprocessor(dyn, 1024, 0)[1]
    yield "blocks32", r.c.occupancy_max_active_blocks_per_multiprocessor(dyn, 32, 0)[1]
    n = ctypes.c_int()
    yield "bad_func", r.c.func_get_attributes(ctypes.addressof(n))[0]
    r.c.get_last_error()
    _, grid, block = r.c.occupancy_max_potential_block_size(dyn, 0, 0)
    yield "potential_grid", grid
    yield "potential_block", block
