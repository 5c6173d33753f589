"""CUDA's functions and types that only an included header or a macro names. A simulated device cuts out of its headers
what a source does not use, so it has to find every use.
"""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs

USES = {
    "atomics": "atomicAdd(p, 5);",
    "inline PTX": 'asm volatile("mov.s32 %0, 5;" : "=r"(*p));',
    "inline PTX behind a parenthesis": 'if (*p == 0) asm("mov.s32 %0, 5;" : "=r"(*p));',
    "atomics of inline PTX": 'int was; asm volatile("atom.global.add.s32 %0, [%1], 5;" : "=r"(was) : "l"(p) : "memory");',
    "SIMD": "*p = __vadd2(2, 3);",
    "dot products of shorts": "*p = __dp2a_lo(1, 5, 0);",
    "functions of a header that uses atomics": "*p = __half2int_rn(__float2half(5));",
    "functions of a header that includes a part": "*p = (int)(float)__nv_fp8_e4m3(5.0f);",
}
INCLUDES = "#include <cuda_fp16.h>\n#include <cuda_fp8.h>\n"


def result_of(mod: cs.Module) -> list[int]:
    x = cs.zeros(1, np.int32)
    mod.put[1, 1](x)
    return x.to_host().tolist()


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_header_may_use_every_part(device, use):
    header = f"{INCLUDES}__device__ inline void use(int* p) {{ {use} }}\n"
    source = '#include "use.h"\n__global__ void put(int* p) { use(p); }'

    assert result_of(cs.Module(source, headers={"use.h": header})) == [5]


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_macro_of_a_header_may_use_every_part(device, use):
    header = f"{INCLUDES}#define USE {use}\n"
    source = '#include "use.h"\n__global__ void put(int* p) { USE }'

    assert result_of(cs.Module(source, headers={"use.h": header})) == [5]


@pytest.mark.host_only("NVRTC has no standard library of the host")
@pytest.mark.parametrize(
    "include", ["", "#include <algorithm>\n", "#include <utility>\n", "#include <stdio.h>\n"]
)
def test_a_header_may_use_the_standard_library(device, include):
    header = f"{include}__device__ inline void use(int* p) {{ *p = std::min(5, 6); }}\n"
    source = '#include "use.h"\n__global__ void put(int* p) { use(p); }'

    assert result_of(cs.Module(source, headers={"use.h": header})) == [5]


def test_a_function_may_have_the_name_of_a_function_of_a_header(device):
    source = (
        INCLUDES
        + """
namespace mine {
struct umax { int x; };
__device__ int __hadd(int a, int b) { return a + b; }
__device__ umax umin(int a) { return {a}; }
}  // namespace mine
__global__ void put(int* p) { *p = mine::__hadd(mine::umin(2).x, 3); }
"""
    )

    assert result_of(cs.Module(source)) == [5]


def test_an_option_may_name_a_part(device):
    mod = cs.Module("__global__ void put(int* p) { ADD(p, 5); }", options=["-DADD=atomicAdd"])

    assert result_of(mod) == [5]


def test_a_macro_may_join_the_name_of_a_part(device):
    source = "#define JOIN(a, b) a##b\n__global__ void put(int* p) { JOIN(ato, micAdd)(p, 5); }"

    assert result_of(cs.Module(source)) == [5]


@pytest.mark.parametrize("include", ["", "#include <cuda_runtime.h>\n"], ids=["", "with a header"])
@pytest.mark.parametrize("kind", ["Texture", "Surface"])
def test_a_kernel_may_take_an_object_that_it_does_not_read(device, kind, include):
    source = f"{include}__global__ void put(int* p, cuda{kind}Object_t object) {{ *p = 5; }}"
    x = cs.zeros(1, np.int32)

    cs.Module(source).put[1, 1](x, np.uint64(0))

    assert x.to_host().tolist() == [5]
