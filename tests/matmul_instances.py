"""The instances of the kernels in cuda_kernels/matmul, as their sources list them, with their launches."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from support import TESTS

FOLDER = TESTS.parent / "cuda_kernels" / "matmul"

# The struct Problem of cuda_kernels/matmul/problem.hpp.
PROBLEM = np.dtype(
    [(x, "i4") for x in "mnk"]
    + [(f"{x}_{of}", "i8") for of in ("row", "batch") for x in "abc"]
    + [(x, "i8") for x in ("k_batch", "a_column", "c_column")],
    align=True,
)


def make_problem(**fields: int) -> np.ndarray:
    """The arguments of a kernel. Neighbours in a row of A and of C lie together, unless `fields` say something else."""
    problem = np.zeros((), PROBLEM)
    for name, value in {"a_column": 1, "c_column": 1, **fields}.items():
        problem[name] = value
    return problem


class Type(NamedTuple):
    """An element type of C++: NumPy's type with the same bytes, and the error of one rounding to it."""

    storage: type
    rounding: float | None = None  # None: exact


TYPES = {
    "float": Type(np.float32, 2**-24),
    "double": Type(np.float64, 2**-53),
    "__half": Type(np.float16, 2**-11),
    "__nv_bfloat16": Type(np.uint16, 2**-8),  # the bits
    "__nv_fp8_e4m3": Type(np.uint8, 2**-4),
    "__nv_fp8_e5m2": Type(np.uint8, 2**-3),
    "signed char": Type(np.int8),
    "short": Type(np.int16),
    "int": Type(np.int32),
    "long long": Type(np.int64),
    "bool": Type(np.bool_),
    "Complex<float>": Type(np.complex64, 2**-24),
    "Complex<double>": Type(np.complex128, 2**-53),
}


class Instance(NamedTuple):
    """A kernel, its launch, and the types and alignment of its A and B."""

    rung: str
    name: str
    types: tuple[str, str]  # one type for A and B, and one for C
    tile: tuple[int, int]
    block: tuple[int, int]
    shared: int = 0
    aligned: str = ""  # the operands that need 16-byte aligned rows
    tf32: bool = False
    cluster: int = 0  # the blocks of a cluster, for the kernels that take tensor maps
    along_k: bool = False  # takes a B that is stored transposed


def warp_tiles(name: str, kind: str, m: int, n: int, k: int, tm: int, tn: int, stages: int, width: int):
    pack = 16 // TYPES[kind].storage().itemsize
    shared = stages * k * (m + pack + n) * TYPES[kind].storage().itemsize
    threads = m // (4 * tm) * (n // (8 * tn)) * 32
    return Instance("08_warp_tiles", name, (kind, kind), (m, n), (threads, 1), shared, "b" * (width > 1))


def tensor_cores(name: str, kind: str, out: str, m: int, n: int, wm: int, wn: int, stages: int):
    shared = stages * 128 * (m + n)
    return Instance(
        "09_tensor_cores",
        name,
        (kind, out),
        (m, n),
        (m // wm * (n // wn) * 32, 1),
        shared,
        "ab",
        kind == "float",
    )


def tma(rung: str, name: str, types: tuple[str, str], n: int, stages: int, cluster: int) -> Instance:
    slabs, barriers, warps, box = stages * 128 * (128 + n), 16 * stages, 8, 16 * 128
    boxes = n * TYPES[types[1]].storage().itemsize // 128
    room = ((227 << 10) - slabs - barriers) // (warps * box)
    shared = slabs + warps * box * min(boxes, room if room >= boxes else room // 2 * 2) + barriers
    return Instance(rung, name, types, (128, n), (384, 1), shared, "ab", False, cluster)


def instance(rung: str, name: str) -> Instance:
    kernel, arguments = re.fullmatch(r"(\w+)<(.*)>", name).groups()
    if kernel.endswith("_along_k"):
        made = instance(rung, name.replace("_along_k", ""))
        if kernel.startswith("warp_tiles"):  # copies elements, into rows that are longer by a pack
            k, stages = (int(arguments.split(",")[i]) for i in (3, 6))
            made = made._replace(shared=made.shared + 16 * k * stages, aligned="")
        return made._replace(name=name, along_k=True)
    parts = [x.strip() for x in arguments.split(",")]
    if kernel == "warp_tiles":
        return warp_tiles(name, parts[0], *map(int, parts[1:]))
    if kernel == "tensor_cores":
        return tensor_cores(name, parts[0], parts[1], *map(int, parts[2:]))
    if kernel == "wgmma":
        n, stages = map(int, parts[2:])
        return Instance(rung, name, (parts[0], parts[1]), (128, n), (256, 1), stages * 128 * (128 + n), "ab")
    if kernel == "tma":
        return tma(rung, f"{kernel}<{arguments}, false, false>", (parts[0], parts[1]), *map(int, parts[2:]))
    tile, block, aligned = {
        "naive": (16, (16, 16), ""),
        "coalesced": (16, (16, 16), ""),
        "shared_tiles": (16, (16, 16), ""),
        "thread_tile_1d": (64, (512, 1), ""),
        "thread_tile_2d": (128, (256, 1), ""),
        "vectorised": (128, (256, 1), "ab"),
        "double_buffered": (128, (256, 1), "ab"),
    }[kernel]
    return Instance(rung, name, (parts[0], parts[0]), (tile, tile), block, 0, aligned)


def instances() -> list[Instance]:
    """The instances of the rungs in the sources. test_matmul_split.py, _planes.py, _parts.py and _float8.py have the other kernels."""
    found = []
    for path in sorted(FOLDER.glob("[0-9]*.cu")):
        source = path.read_text()
        kernel = path.stem[3:]
        if kernel in ("byte_planes", "wgmma_planes", "split_floats", "float8"):
            continue
        if "\nFOR_EVERY_ELEMENT_TYPE\n" in source:
            found += [instance(path.stem, f"{kernel}<{kind}>") for kind in TYPES]
        kernels = [x for x in (kernel, f"{kernel}_along_k") if f" {x}(" in source]
        found += [
            instance(path.stem, f"{x}<{arguments}>")
            for arguments in re.findall(r"^INSTANCE\((.*)\)$", source, re.MULTILINE)
            for x in kernels
        ]
    return found


INSTANCES = instances()
