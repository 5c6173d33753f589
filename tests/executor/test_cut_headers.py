"""Sources for a simulated device, whose compiler gets only the functions and parts of CUDA's headers that a source uses.

The tests use them where they are hard to find: in included headers, in macros and in name expressions.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

USES = {
    "atomics": ("", "atomicAdd(p, 5);"),
    "inline PTX": ("", 'int five = 2; asm volatile("add.s32 %0, %0, 3;" : "+r"(five)); *p = five;'),
    "inline PTX behind a parenthesis": ("", 'if (*p == 0) asm("add.s32 %0, %0, 5;" : "+r"(*p));'),
    "atomics of inline PTX": (
        "",
        'int was; asm volatile("atom.global.add.s32 %0, [%1], 5;" : "=r"(was) : "l"(p) : "memory");',
    ),
    "SIMD": ("", "*p = __vadd2(2, 3);"),
    "dot products of shorts": ("", "*p = __dp2a_lo(1, 5, 0);"),
    "textures": ("", "*p = clock64() == 1 ? tex1Dfetch<int>(0, 0) : 5;"),
    "surfaces": ("", "if (clock64() == 1) surf1Dwrite(1, 0, 0, cudaBoundaryModeZero); *p = 5;"),
    "functions of a header that uses atomics": (
        "#include <cuda_fp16.h>\n",
        "*p = __half2int_rn(atomicAdd((__half*)p, __float2half(0))) + 5;",
    ),
    "functions of a header that includes a part": (
        "#include <cuda_fp8.h>\n",
        "*p = (int)(float)__nv_fp8_e4m3(5.0f);",
    ),
    "copies of a header that includes a part": (
        "#include <cuda/barrier>\n",
        "__shared__ cuda::barrier<cuda::thread_scope_block> b; init(&b, 1); b.arrive_and_wait(); *p = 5;",
    ),
}
USED = pytest.mark.parametrize(("include", "use"), USES.values(), ids=USES)


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """A function that compiles a source and returns the text that the compiler proper got."""
    copy, wrapper = tmp_path / "image.ii", tmp_path / "compiler"
    wrapper.write_text(
        "#!/bin/sh\n"
        f'for argument; do case "$argument" in */image.ii) cp "$argument" "{copy}";; esac; done\n'
        f'exec {os.environ.get("CUSCOPE_CXX", "c++")} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("CUSCOPE_CXX", str(wrapper))

    def compile_(source: str) -> str:
        copy.unlink(missing_ok=True)
        cs.Module(source)
        return copy.read_text()

    return compile_


@pytest.mark.host_only("a GPU's compiler has headers of its own")
def test_functions_and_parts_without_a_use_are_not_compiled(device, compiled):
    text = compiled(
        "#include <cuda_fp16.h>\n__global__ void put(__half* p) { *p = __hneg(__hsub(p[1], p[2])); }"
    )

    words = set(re.findall(r"\w+", text))
    assert {"__hneg", "__hsub"} <= words
    assert {"hsin", "__vadd2", "tex1Dfetch", "numeric_limits", "acosh", "strtok", "qsort"} & words == set()


@pytest.mark.host_only("a GPU's compiler has headers of its own")
def test_code_that_stays_keeps_its_line(device, compiled):
    text = compiled("#include <cuda_fp16.h>\n__global__ void put(__half* p) { *p = __hneg(*p); }")

    found, path, number = 0, Path(), 0
    lines: list[str] = []  # of a header
    for line in text.splitlines():
        if marker := re.match(r'# (\d+) "(.*)"', line):
            number, path = int(marker[1]), Path(marker[2])
            # Parts are cut without regard to lines, so the headers that hold parts are left out.
            is_cut = "cuscope_simt" in path.parts and path.name not in ("atomics.h", "cuda.h")
            lines = path.read_text().splitlines() if is_cut else []
            continue
        if len(line) > 20 and lines.count(line) == 1:
            assert lines[number - 1] == line
            found += 1
        number += 1
    assert found > 10


def result_of(mod: cs.Module, kernel: str = "put") -> list[int]:
    x = cs.zeros(1, np.int32)
    mod[kernel][1, 1](x)
    return x.to_host().tolist()


@USED
def test_a_header_may_use_every_part(device, include, use):
    header = f"{include}__device__ inline void use(int* p) {{ {use} }}\n"
    source = '#include "use.h"\n__global__ void put(int* p) { use(p); }'

    assert result_of(cs.Module(source, headers={"use.h": header})) == [5]


@USED
def test_a_macro_of_a_header_may_use_every_part(device, include, use):
    header = f"{include}#define USE {use}\n"
    source = '#include "use.h"\n__global__ void put(int* p) { USE }'

    assert result_of(cs.Module(source, headers={"use.h": header})) == [5]


@pytest.mark.parametrize("gap", ["\n" * 30, "\n// a comment" * 30 + "\n"], ids=["lines", "comments"])
@pytest.mark.parametrize(
    "statement", ['asm volatile(GAP"add.s32 %0, %0, 5;"', 'asm volatile GAP("add.s32 "GAP"%0, %0, 5;"']
)
def test_lines_may_lie_within_inline_ptx(device, statement, gap):
    source = "#include <cuda_runtime.h>\n__global__ void put(int* p) { int five = 0;\n"
    source += statement.replace("GAP", gap) + ' : "+r"(five));\n*p = five; }'

    assert result_of(cs.Module(source)) == [5]


def test_a_macro_of_a_system_header_may_be_inline_ptx(device):
    header = "#pragma once\n#pragma GCC system_header\n#define ASM(...) asm volatile(__VA_ARGS__)\n"
    source = '#include "ptx.h"\n__global__ void put(int* p) { int x = 2; ASM("add.s32 %0, %0, 3;" : "+r"(x)); *p = x; }'

    assert result_of(cs.Module(source, headers={"ptx.h": header})) == [5]


@pytest.mark.parametrize("end", ['asm("x"', 'asm volatile("x" "y"', "asm", "asm(", "template <", "struct {"])
def test_a_source_that_ends_too_early_is_refused(device, end):
    with pytest.raises(cs.CompileError):
        cs.Module("__global__ void put(int* p) { *p = 1; }\n" + end)


@pytest.mark.parametrize("include", ["", "#include <cuda_fp16.h>\n"], ids=["", "with a header"])
@pytest.mark.parametrize(
    "type_",
    [
        "cudaTextureObject_t",
        "cudaSurfaceBoundaryMode",
        "decltype(__vadd4(1, 2))",
        "decltype(atomicAdd((int*)0, 1))",
    ],
)
def test_only_a_name_expression_may_use_a_part(device, type_, include):
    source = include + "template <class T> __global__ void put(int* p) { *p = sizeof(T) > 0 ? 5 : 0; }"
    name = f"put<{type_}>"

    assert result_of(cs.Module(source, name_expressions=[name]), name) == [5]


@pytest.mark.host_only("NVRTC has no standard library of the host")
@pytest.mark.parametrize("include", ["", "#include <cuda_fp16.h>\n"], ids=["", "with a header"])
def test_only_a_name_expression_may_use_the_standard_library(device, include):
    source = include + "template <class T> __global__ void put(int* p) { *p = sizeof(T) == 8 ? 5 : 0; }"

    assert result_of(
        cs.Module(source, name_expressions=["put<std::pair<int, int>>"]), "put<std::pair<int, int>>"
    ) == [5]


@pytest.mark.host_only("NVRTC has no standard library of the host")
def test_numbers_may_be_compared_in_three_ways(device):
    source = """#include <compare>
struct Number { int n; auto operator<=>(const Number&) const = default; };
__global__ void put(int* p) { *p = (*p <=> 1) < 0 && Number{1} < Number{2} ? 5 : 0; }
"""

    assert result_of(cs.Module(source, options=["-std=c++20"])) == [5]


@pytest.mark.host_only("NVRTC has no standard library of the host")
@pytest.mark.parametrize(
    "include", ["", "#include <algorithm>\n", "#include <utility>\n", "#include <stdio.h>\n"]
)
def test_a_header_may_use_the_standard_library(device, include):
    header = f"{include}__device__ inline void use(int* p) {{ *p = std::min(5, 6); }}\n"
    source = '#include "use.h"\n__global__ void put(int* p) { use(p); }'

    assert result_of(cs.Module(source, headers={"use.h": header})) == [5]


def test_a_function_may_have_the_name_of_a_function_of_a_header(device):
    source = """#include <cuda_fp16.h>
namespace mine {
struct umax { int x; };
__device__ int __hadd(int a, int b) { return a + b; }
__device__ umax umin(int a) { return {a}; }
}  // namespace mine
__global__ void put(int* p) { *p = mine::__hadd(mine::umin(2).x, 3); }
"""

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
