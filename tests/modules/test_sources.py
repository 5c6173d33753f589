"""Sources of other projects: names that nvcc defines without an include, host code beside kernels, whole files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from support import module

TOOLKITS = [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "include"), Path("/usr/local/cuda/include")]


def one_number(device, body: str, head: str = "", **arguments) -> int:
    """The number that the kernel with this body stores in `*out`."""
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


HOST_HEADERS = """
#include <iostream>
#include <vector>
#include <stdio.h>
#include <cublas_v2.h>
#include <cufft.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <device_launch_parameters.h>
#include <helper_cuda.h>
#include "helper_functions.h"
"""


def test_headers_of_host_libraries_are_no_obstacle(device):
    assert one_number(device, "float3 x{1, 2, 3}; *out = x.z;", HOST_HEADERS) == 3


def test_headers_of_an_installed_toolkit_do_not_meet_the_built_in_ones(device):
    toolkit = next((p for p in TOOLKITS if (p / "cublas_v2.h").is_file()), None)
    if toolkit is None:
        pytest.skip("there is no toolkit with cuBLAS on this machine")

    assert one_number(device, "*out = 3;", HOST_HEADERS, include_paths=(toolkit,)) == 3


def test_members_may_be_handles_of_host_libraries(device):
    head = "#include <cublas_v2.h>\nstruct State { cublasHandle_t handle; int n; };"

    assert one_number(device, "State s{nullptr, 3}; *out = s.n;", head) == 3


def test_own_header_of_the_name_of_a_samples_header_is_taken(device, tmp_path):
    (tmp_path / "helper_string.h").write_text("#define NUMBER 5\n")

    assert one_number(device, "*out = NUMBER;", '#include "helper_string.h"', include_paths=(tmp_path,)) == 5


def test_kernel_of_many_parameters_gets_them_all(device):
    count = 2000
    parameters = ", ".join(f"int a{i}" for i in range(count))
    mod = module(
        device,
        f"__global__ void put(int* p, {parameters}) {{ p[0] = a0; p[1] = a{count // 2}; p[2] = a{count - 1}; }}",
    )
    values = cs.zeros(3, np.int32)
    mod.put[1, 1](values, *range(1, count + 1))

    assert values.to_host().tolist() == [1, count // 2 + 1, count]


def test_kernel_of_too_many_parameters_is_refused(device):
    parameters = ", ".join(f"long long a{i}" for i in range(4097))

    with pytest.raises(cs.CompileError, match=r"put|parameter"):
        cs.Module(f"__global__ void put({parameters}) {{}}", device=device)


@pytest.mark.host_only("NVRTC takes no letters beyond ASCII in names, and says so")
def test_kernel_has_the_name_that_it_was_given(device):
    value = cs.zeros(1, np.int32)
    mod = module(device, '__global__ void größe(int* p, int ń) { *p = ń + sizeof "ö\\u00f6"; }')
    mod["größe"][1, 1](value, 3)

    assert mod.kernels == ("größe",)
    assert [p.name for p in mod["größe"].parameters] == ["p", "ń"]
    assert value.to_host()[0] == 8


@pytest.mark.gpu_only("compilers for simulated devices take such names")
def test_name_beyond_ascii_is_refused(device):
    with pytest.raises(cs.CompileError, match="unrecognized token"):
        cs.Module("__global__ void größe(int* p) { *p = 1; }", device=device)


def test_module_says_that_the_preprocessor_left_its_kernels_out(device):
    mod = module(device, "#if 0\n__global__ void lost(int* p) {}\n#endif\n")

    assert mod.kernels == ()
    assert "the source has 'lost'" in mod.log
    with pytest.raises(AttributeError, match="the source has 'lost'"):
        mod.lost  # noqa: B018
    with pytest.raises(KeyError, match="the source has 'lost'"):
        mod["other"]


@pytest.mark.skipif(
    not any((toolkit / "curand_kernel.h").exists() for toolkit in TOOLKITS),
    reason="no toolkit is installed here",
)
def test_types_of_random_numbers_of_hosts_may_follow_the_runtime_header(device):
    head = "#include <cuda_runtime.h>\n#include <curand.h>\ncurandGenerator_t generator;\nint main() { return 0; }"

    assert one_number(device, "*out = 3;", head) == 3
