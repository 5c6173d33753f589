"""Sources as other people write them: what nvcc brings without an include, host code beside kernels, whole files."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module


def one_number(device, body: str, head: str = "", **arguments) -> int:
    """What the kernel with this body puts into `*out`."""
    out = cs.zeros(1, np.int64)
    module(device, f"{head}\n__global__ void put(long long* out) {{ {body} }}", **arguments).put[1, 1](out)
    return int(out.to_host()[0])


def test_version_of_the_runtime_is_defined_without_an_include(device):
    assert one_number(device, "*out = CUDART_VERSION;") >= 12000


def test_kernels_behind_a_question_for_the_version_are_there(device):
    source = """
#if CUDART_VERSION >= 2020
__global__ void there(int* p) { *p = 1; }
#endif"""

    assert module(device, source).kernels == ("there",)


@pytest.mark.parametrize(
    ("name", "size"), [("uint8_t", 1), ("int32_t", 4), ("uint32_t", 4), ("uint64_t", 8), ("uintptr_t", 8)]
)
def test_integers_of_a_fixed_width_need_no_include(device, name, size):
    assert one_number(device, f"{name} x = 1; *out = x * sizeof x;") == size


@pytest.mark.parametrize(("name", "size"), [("uint", 4), ("ushort", 2), ("ulong", 8)])
def test_short_names_of_the_c_library_need_no_include(device, name, size):
    assert one_number(device, f"{name} x = 1; *out = x * sizeof x;") == size


def test_pitched_pointer_and_extent_are_parameters_of_a_kernel(device):
    mod = module(
        device,
        """
__global__ void walk(cudaPitchedPtr pitched, cudaExtent extent, float* sum) {
    char* slice = (char*)pitched.ptr;
    for (size_t z = 0; z < extent.depth; ++z, slice += pitched.pitch * extent.height)
        for (size_t y = 0; y < extent.height; ++y) {
            float* row = (float*)(slice + y * pitched.pitch);
            for (size_t x = 0; x < extent.width; ++x) *sum += row[x];
        }
}""",
    )
    data = cs.to_device(np.arange(24, dtype=np.float32))
    pitched = np.array(
        (data.pointer, 16, 12, 2),
        np.dtype([("ptr", "u8"), ("pitch", "u8"), ("xsize", "u8"), ("ysize", "u8")]),
    )
    extent = np.array((3, 2, 3), np.dtype([("width", "u8"), ("height", "u8"), ("depth", "u8")]))
    total = cs.zeros(1)
    mod.walk[1, 1](pitched[()], extent[()], total)

    assert total.to_host()[0] == np.arange(24).reshape(3, 2, 4)[..., :3].sum()


@pytest.mark.parametrize(
    "expression",
    [
        "make_cudaExtent(3, 4, 5).depth",
        "make_cudaPos(1, 2, 5).z",
        "make_cudaPitchedPtr(nullptr, 5, 2, 3).pitch",
    ],
)
def test_makers_of_extents_and_positions_are_there(device, expression):
    assert one_number(device, f"*out = {expression};") == 5


@pytest.mark.parametrize(
    ("enumeration", "constant", "value"),
    [
        ("cudaTextureReadMode", "cudaReadModeNormalizedFloat", 1),
        ("cudaTextureAddressMode", "cudaAddressModeMirror", 2),
        ("cudaTextureFilterMode", "cudaFilterModeLinear", 1),
        ("cudaChannelFormatKind", "cudaChannelFormatKindFloat", 2),
        ("cudaMemcpyKind", "cudaMemcpyDeviceToHost", 2),
    ],
)
def test_enumerations_of_the_runtime_are_there(device, enumeration, constant, value):
    assert one_number(device, f"{enumeration} x = {constant}; *out = x;") == value


def test_types_of_the_driver_come_with_its_header(device):
    assert one_number(device, "CUtexObject x = 5; *out = x;", "#include <cuda.h>") == 5
