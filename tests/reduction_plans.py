"""The plans of cuda_kernels/reduce_auto/plan.hpp, which is compiled for the tests that launch by them."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from cuscope import _core
from support import TESTS

KERNELS = TESTS.parent / "cuda_kernels" / "reduce_auto"
OPERATIONS = (
    "sum",
    "mean",
    "product",
    "minimum",
    "maximum",
    "first_minimum",
    "first_maximum",
    "any",
    "all",
    "dot",
)
KINDS = dict(_core.element_types())
TYPES = tuple(KINDS)  # in the order of the kernels' numbers for types

PLAN = r"""
#include "plan.hpp"
#include <cstring>
using namespace cuscope::reduce;
extern "C" void instance(int operation, int type, int output, char* policy, unsigned long long* bits, int* numbers) {
    const auto op = static_cast<Operation>(operation);
    const auto element = static_cast<Type>(type);
    const auto name = policy_of(op, element);
    std::memcpy(policy, name.data(), name.size());
    policy[name.size()] = 0;
    *bits = bits_of(op, element);
    numbers[0] = kind_of(op, static_cast<Type>(output));
    numbers[1] = bytes_of(element);
    numbers[2] = value_bytes(op, element);
}
extern "C" int splits_of_group_of(int splits, int results, int threads) {
    return splits_of_group(splits, results, threads);
}
extern "C" bool few(long long n, int element, int processors) { return is_few(n, element, processors); }
// kernel: the one that plan_axis chooses if it is empty.
extern "C" void axis(long long outer, long long length, long long inner, int element, int value, int processors,
                     char* kernel, long long* n) {
    const bool of_slices = std::strcmp(kernel, "slices") == 0, of_rows = std::strcmp(kernel, "shallow") == 0;
    const AxisPlan p = *kernel == 0 ? plan_axis(outer, length, inner, element, value, processors)
                       : of_slices ? AxisPlan{"slices", plan_slices(outer, length, inner, element, processors)}
                       : of_rows   ? AxisPlan{"shallow", plan_shallow(outer, inner, element, value)}
                                   : AxisPlan{"narrow", plan_narrow(outer, length, inner, element, value, processors)};
    const Launch& l = p.launch;
    const long long all[] = {l.grid, l.block, l.lanes, l.splits, static_cast<long long>(l.slot_bytes)};
    std::strcpy(kernel, p.kernel);
    std::memcpy(n, all, sizeof all);
}
extern "C" void plan(int shape, long long a, long long b, long long c, int element, int value, int processors,
                     long long* n) {
    const Launch l = shape == 0   ? plan_whole(a, element, processors)
                     : shape == 1 ? plan_rows(a, b, element, processors)
                                  : plan_columns(a, b, c, element, value, processors);
    const long long all[] = {l.grid, l.block, l.lanes, l.splits, static_cast<long long>(l.slot_bytes)};
    std::memcpy(n, all, sizeof all);
}
"""


@functools.cache
def planner() -> ctypes.CDLL:
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler for plan.hpp on this machine")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "plan.cpp", Path(folder) / "plan.so"
        source.write_text(PLAN)
        command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
        subprocess.run([*command, f"-I{KERNELS}", "-o", library, source], check=True)
        loaded = ctypes.CDLL(str(library))
        loaded.few.restype = ctypes.c_bool
        return loaded


def planned(shape: int, a: int, b: int, c: int, element: int, value: int, processors: int) -> list[int]:
    numbers = (ctypes.c_longlong * 5)()
    long = ctypes.c_longlong
    planner().plan(shape, long(a), long(b), long(c), element, value, processors, numbers)
    return list(numbers)


def planned_axis(
    extents: tuple[int, int, int], element: int, value: int, processors: int, kernel: str = ""
) -> tuple[str, list[int]]:
    numbers, name = (ctypes.c_longlong * 5)(), ctypes.create_string_buffer(kernel.encode(), 16)
    planner().axis(*map(ctypes.c_longlong, extents), element, value, processors, name, numbers)
    return name.value.decode(), list(numbers)


def instance(operation: str, dtype: str, output: str) -> tuple[str, int, list[int]]:
    name, bits, numbers = ctypes.create_string_buffer(64), ctypes.c_ulonglong(), (ctypes.c_int * 3)()
    which = (OPERATIONS.index(operation), TYPES.index(dtype), TYPES.index(output))
    planner().instance(*which, name, ctypes.byref(bits), numbers)
    return name.value.decode().replace(" ", ""), bits.value, list(numbers)
