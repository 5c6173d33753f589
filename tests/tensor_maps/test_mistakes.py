"""Wrong uses of barriers and bulk copies. On a GPU most of them end in a hang or in undefined behaviour."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cuscope as cs
from support import module
from tensor_tiles import BARRIER, BASICS, tile_kernels

pytestmark = pytest.mark.host_only("a GPU hangs, or its behaviour is undefined")

LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"


@pytest.fixture
def lost(device):
    """A device of its own for a kernel that fails."""
    with cs.add_host_device("h200") as other:
        yield other


def fails(kernel, *arguments) -> str:
    kernel[1, 32](*arguments)
    with pytest.raises(cs.CudaError) as caught:
        cs.synchronize()
    return str(caught.value)


def tensor_map() -> cs.TensorMap:
    return cs.TensorMap(cs.zeros((8, 8), np.float32), box=(8, 8))


def one_thread(device, body: str) -> cs.Kernel:
    return module(
        device,
        f"""{BASICS}
__global__ void f(const __grid_constant__ CUtensorMap map) {{
    __shared__ alignas(128) float tile[8][8];
    __shared__ alignas(8) unsigned long long barrier;
    if (threadIdx.x == 0) init(at(&barrier), 1);
    __syncthreads();
    if (threadIdx.x == 0) {{
#line 1 "wrong.cu"
{body}
    }}
    wait(at(&barrier), 0);
}}""",
    ).f


def load(to: str = "at(tile)", x: str = "0") -> str:
    return (
        f'asm volatile("{LOAD} [%0], [%1, {{%2, %3}}], [%4];" ::"r"({to}), "l"(&map), "r"({x}), "r"(0), '
        '"r"(at(&barrier)) : "memory");'
    )


MISTAKES = {
    "nobody arrives": (
        "",
        "32 of 32 threads wait at mbarrier.try_wait() in {}. The phase waits for 1 more arrival.",
    ),
    "fewer bytes are copied": (
        f"expect(at(&barrier), 512); {load()}",
        "waits for 0 more arrivals, and for 256 bytes that were announced",
    ),
    "more bytes are copied": (
        f"expect(at(&barrier), 128); {load()}",
        "and 128 bytes were copied that nobody has announced",
    ),
    "misaligned tile": (load("at(tile) + 16"), "no multiple of 128"),
    "tile at 4 bytes of a row": (load(x="1"), "does not begin at a multiple of 16 bytes of its row"),
    "store before the begin of an axis": (
        (
            'asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {0, -1}], [%1];" '
            '::"l"(&map), "r"(at(tile)) : "memory");'
        ),
        "a store of a tile with a negative coordinate",
    ),
    "misaligned barrier": (
        "init(at(&barrier) + 4, 1);",
        "an mbarrier at an address that is no multiple of 8",
    ),
    "no arrivals": ("init(at(&barrier), 0);", "from 1 to 1048575"),
    "too many arrivals": (
        'asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" ::"r"(at(&barrier)));',
        "waits for fewer arrivals",
    ),
    "too many bytes": ("expect(at(&barrier), 1 << 21);", "at most 1048575 bytes"),
    "another number of axes": (
        load().replace("2d", "1d").replace("{%2, %3}", "{%2}"),
        "another number of axes than the tensor map has",
    ),
    "bulk copy of 8 bytes": (
        (
            'asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 8, [%2];" '
            '::"r"(at(tile)), "l"(&map), "r"(at(&barrier)));'
        ),
        "copies multiples of 16 bytes",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistake_is_reported_with_its_line(lost, what):
    body, text = MISTAKES[what]

    message = fails(one_thread(lost, body), tensor_map())

    line = re.search(r"\w+\.cu:\d+", message)
    assert line
    assert text.format(line[0]) in message


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("misaligned tile", "cudaErrorMisalignedAddress"),
        ("tile at 4 bytes of a row", "cudaErrorIllegalInstruction"),
        ("store before the begin of an axis", "cudaErrorIllegalInstruction"),
    ],
)
def test_mistake_has_the_error_of_an_h200(lost, what, error):
    assert error in fails(one_thread(lost, MISTAKES[what][0]), tensor_map())


def test_bytes_of_another_map_are_refused(lost):
    kernel = module(
        lost,
        f"""{BASICS}
struct alignas(64) Words {{ unsigned long long words[16]; }};
__global__ void f(const __grid_constant__ Words map) {{
    __shared__ alignas(128) float tile[8][8];
    __shared__ alignas(8) unsigned long long barrier;
    if (threadIdx.x == 0) init(at(&barrier), 1);
    if (threadIdx.x == 0) {load()}
}}""",
    ).f

    assert "cuTensorMapEncodeTiled has not made" in fails(kernel, bytes(128))


def test_check_finds_no_mistake_in_a_right_kernel(device):
    kernel = one_thread(device, f"expect(at(&barrier), 256); {load()}")

    with cs.check() as report:
        kernel[2, 32](tensor_map())
        device.synchronize()

    assert not report


def test_check_knows_the_bytes_that_a_tile_writes(device):
    mod = module(device, tile_kernels(2))
    x, y, out = cs.to_device(np.ones((8, 8), np.float32)), cs.empty((8, 8)), cs.empty(256, np.uint8)

    with cs.check() as report:
        for swizzle in ("none", "32B"):
            mod.load[1, 32, None, 256 + BARRIER](
                cs.TensorMap(x, box=(8, 8), swizzle=swizzle), 0, 0, 256, 256, out
            )
            mod.store[1, 32, None, 256](cs.TensorMap(y, box=(8, 8), swizzle=swizzle), 0, 0, 256, out)
            mod.load[1, 32, None, 256 + BARRIER](
                cs.TensorMap(y, box=(8, 8), swizzle=swizzle), 0, 0, 256, 256, out
            )
        device.synchronize()

    assert not report
    np.testing.assert_array_equal(out.to_host().view(np.float32), 1)


def test_check_finds_a_tile_that_nobody_waits_for(device):
    source = tile_kernels(2).replace("wait(at(&barrier), 0);\n    for", "for", 1)
    mod = module(device, source)

    with cs.check() as report:
        mod.load[1, 64, None, 256 + BARRIER](tensor_map(), 0, 0, 256, 256, cs.empty(256, np.uint8))
        device.synchronize()

    assert "race" in str(report) or "tile" in str(report)


def test_counting_changes_no_result(device):
    x, out = cs.to_device(np.arange(64, dtype=np.float32).reshape(8, 8)), cs.empty(256, np.uint8)
    kernel = module(device, tile_kernels(2)).load

    kernel.count(cs.TensorMap(x, box=(8, 8)), 0, 0, 256, 256, out, grid=1, block=32, shared=256 + BARRIER)

    np.testing.assert_array_equal(out.to_host().view(np.float32), np.arange(64))
