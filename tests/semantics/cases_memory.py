"""The cases of devices and memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from support import NO_DEVICE

from .asking import Question, Runtime, case

HOST_TO_DEVICE = 1
WARP_SIZE = 10
MAP_HOST = 8
STACK_SIZE, PRINTF_FIFO_SIZE, MALLOC_HEAP_SIZE = 0, 1, 2
PORTABLE, MAPPED, WRITE_COMBINED = 1, 2, 4


def _forgotten(r: Runtime, status: str) -> str:
    r.c.get_last_error()
    return status


@case
def device_edges(r: Runtime) -> Iterator[Question]:
    status, count = r.c.get_device_count()
    yield "count", status
    yield "set_n", _forgotten(r, r.c.set_device(count))
    yield "set_neg", _forgotten(r, r.c.set_device(-1))
    yield "prop_bad", _forgotten(r, r.c.get_device_properties(NO_DEVICE)[0])
    yield "attr_bad_dev", _forgotten(r, r.c.device_get_attribute(WARP_SIZE, NO_DEVICE)[0])
    yield "attr_bad", _forgotten(r, r.c.device_get_attribute(9999, 0)[0])
    yield "flags_late", _forgotten(r, r.c.set_device_flags(MAP_HOST))
    r.c.free(0)
    status, flags = r.c.get_device_flags()
    yield "getflags", status
    yield "flags", flags
    status, can = r.c.device_can_access_peer(0, 0)
    yield "peer_self", status
    yield "can", can
    yield "enable_self", r.c.device_enable_peer_access(0, 0)
    status, value = r.c.device_get_limit(STACK_SIZE)
    yield "stack", status
    yield "stack_bytes", value
    status, value = r.c.device_get_limit(PRINTF_FIFO_SIZE)
    yield "printf", status
    yield "fifo", value
    status, value = r.c.device_get_limit(MALLOC_HEAP_SIZE)
    yield "malloc_heap", status
    yield "heap", value
    yield "setstack", r.c.device_set_limit(STACK_SIZE, 4096)
    yield "stack2", r.c.device_get_limit(STACK_SIZE)[1]


@case
def device_props(r: Runtime) -> Iterator[Question]:
    _, p = r.c.get_device_properties(0)
    yield "name", p.name
    yield "asyncEngineCount", p.async_engine_count
    yield "concurrentKernels", int(p.concurrent_kernels)
    yield "cc", f"{p.compute_capability_major}.{p.compute_capability_minor}"
    yield "sm", p.multiprocessor_count
    yield "warp", p.warp_size
    yield "maxThreadsPerBlock", p.max_threads_per_block
    yield "maxThreadsPerSM", p.max_threads_per_multiprocessor
    yield "regsPerBlock", p.registers_per_block
    yield "smemPerBlock", p.shared_memory_per_block
    yield "smemOptin", p.shared_memory_per_block_optin
    yield "smemPerSM", p.shared_memory_per_multiprocessor
    yield "l2", p.l2_cache_size
    yield "canMapHostMemory", int(p.can_map_host_memory)
    yield "uva", int(p.unified_addressing)
    yield "managed", int(p.managed_memory)
    yield "concurrentManaged", int(p.concurrent_managed_access)
    yield "pageable", int(p.pageable_memory_access)
    yield "priorities", int(p.stream_priorities_supported)
    yield "hostRegister", int(p.host_register_supported)
    yield "hostRegReadOnly", int(p.host_register_read_only_supported)
    yield "memPools", int(p.memory_pools_supported)
    yield "maxBlocksPerSM", p.max_blocks_per_multiprocessor
    yield "texturePitchAlignment", p.texture_pitch_alignment
    yield "textureAlignment", p.texture_alignment
    yield "memPitch", p.memory_pitch
    yield "totalConstMem", p.total_constant_memory
    yield "asyncCopyIntegrated", int(p.integrated)
    yield "coop", int(p.cooperative_launch)
    yield "clock_khz", r.c.device_get_attribute(13, 0)[1]
    yield "memclock_khz", r.c.device_get_attribute(36, 0)[1]
    yield "bus", r.c.device_get_attribute(37, 0)[1]
    yield "runtime", r.c.runtime_get_version()[1]
    yield "driver", r.c.driver_get_version()[1]


@case
def malloc_edges(r: Runtime) -> Iterator[Question]:
    status, p = r.c.malloc(0)
    yield "zero", status
    yield "zero_null", int(p == 0)
    yield "null_out", r.c.malloc(4, null_out=True)[0]
    yield "l0", r.last()
    yield "huge", r.c.malloc(1 << 50)[0]
    yield "peek", r.c.peek_at_last_error()
    yield "get", r.c.get_last_error()
    yield "get_again", r.c.get_last_error()
    yield "max", _forgotten(r, r.c.malloc(2**64 - 1)[0])
    yield "host_huge", _forgotten(r, r.c.host_alloc(1 << 50, 0)[0])
    status, p = r.c.host_alloc(0, 0)
    yield "host_zero", status
    yield "host_zero_null", int(p == 0)


@case
def free_edges(r: Runtime) -> Iterator[Question]:
    yield "null", r.c.free(0)
    p = r.device_int(4)
    yield "inside", r.c.free(p + 4)
    yield "l1", r.last()
    yield "ok", r.c.free(p)
    yield "double", r.c.free(p)
    yield "l2", r.last()
    x = ctypes.c_int()
    yield "stack", r.c.free(ctypes.addressof(x))
    yield "l3", r.last()
    yield "freehost_null", r.c.free_host(0)
    h = ctypes.create_string_buffer(16)
    yield "freehost_malloc", r.c.free_host(ctypes.addressof(h))
    yield "l4", r.last()
    _, q = r.c.host_alloc(16, 0)
    yield "free_pinned_with_free", r.c.free(q)
    yield "l5", r.last()
    p = r.device_int(4)
    yield "freehost_device", r.c.free_host(p)
    yield "l6", r.last()


@case
def alignment(r: Runtime) -> Iterator[Question]:
    _, p = r.c.malloc(1)
    _, q = r.c.malloc(1)
    yield "mod256", p % 256
    yield "mod512", p % 512
    yield "apart512", q - p


@case
def memcpy_out_of_range(r: Runtime) -> Iterator[Question]:
    _, d = r.c.malloc(4096)
    buffer = ctypes.create_string_buffer(1 << 22)
    h = ctypes.addressof(buffer)
    yield "past_end_small", r.c.memcpy(d, h, 4097, HOST_TO_DEVICE)
    yield "l0", r.last()
    yield "past_end_4m", r.c.memcpy(d, h, 1 << 22, HOST_TO_DEVICE)
    yield "l1", r.last()
    yield "memset_past", r.c.memset(d, 0, 1 << 22)
    yield "l2", r.last()
    yield "async_past", r.c.memcpy_async(d, h, 1 << 22, HOST_TO_DEVICE, 0)
    yield "l3", r.last()
    yield "sync", r.c.device_synchronize()


@case
def host_flags(r: Runtime) -> Iterator[Question]:
    status, p = r.c.host_alloc(64, MAPPED | WRITE_COMBINED | PORTABLE)
    yield "alloc_mapped_wc_portable", status
    yield "flags", r.c.host_get_flags(p)[1]
    status, d = r.c.host_get_device_pointer(p, 0)
    yield "devptr", status
    yield "same_ptr", int(d == p)
    status, p = r.c.host_alloc(64, 0)
    yield "alloc_default", status
    yield "default_flags", r.c.host_get_flags(p)[1]
    status, d = r.c.host_get_device_pointer(p, 0)
    yield "devptr_default", status
    yield "same_default", int(d == p)
    yield "bad_flags", r.c.host_alloc(64, 0x80)[0]
    yield "l0", r.last()
    x = ctypes.c_int()
    yield "flags_of_stack", r.c.host_get_flags(ctypes.addressof(x))[0]
    yield "l1", r.last()
    yield "devptr_of_stack", r.c.host_get_device_pointer(ctypes.addressof(x), 0)[0]
    yield "l2", r.last()
    yield "devptr_flags", r.c.host_get_device_pointer(p, 3)[0]
    yield "l3", r.last()


@case
def mem_info(r: Runtime) -> Iterator[Question]:
    _, before, _ = r.c.mem_get_info()
    _, p = r.c.malloc(1 << 30)
    _, during, _ = r.c.mem_get_info()
    yield "dropped_about_1g", int(1 << 30 <= before - during < (1 << 30) + (1 << 26))
    r.c.free(p)
    _, after, _ = r.c.mem_get_info()
    yield "returned", int(after == before)


@case
def pitch(r: Runtime) -> Iterator[Question]:
    for width in (1, 64, 256, 511, 512, 513, 1000, 4096):
        yield f"w{width}", r.c.malloc_pitch(width, 8)[2]
    status, _, pitch, x_size, y_size = r.c.malloc_3d((64 * 4, 64, 64))
    yield "m3d", status
    yield "m3d", f"{pitch} {x_size} {y_size}"
    status, _, pitch = r.c.malloc_pitch(0, 8)
    yield "zero_width", status
    yield "pitch0", pitch
    yield "zero_height", r.c.malloc_pitch(8, 0)[0]
