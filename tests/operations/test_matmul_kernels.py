"""The kernels of cuda_kernels/matmul: every rung and instance against exact references, at edges of every kind."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import cuscope as cs
from matmul_instances import FOLDER, INSTANCES, TYPES, Instance, make_problem
from support import built_in

each_instance = pytest.mark.parametrize("kernel", INSTANCES, ids=lambda i: i.name)


@functools.cache
def rung(device: cs.Device, name: str) -> cs.Module:
    return built_in(device, f"matmul/{name}")


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def from_float8(kind: str, bits: np.ndarray) -> np.ndarray:
    fraction = {"__nv_fp8_e4m3": 3, "__nv_fp8_e5m2": 2}[kind]
    size = (bits & 0x7F).astype(np.int32)
    exponent, rest = size >> fraction, (size & (1 << fraction) - 1).astype(np.float32)
    least = 2 - 2 ** (6 - fraction)
    numbers = np.ldexp(
        rest + np.where(exponent > 0, 1 << fraction, 0), np.maximum(exponent, 1) - 1 + least - fraction
    )
    numbers = np.where(size > (0x7E if fraction == 3 else 0x7C), np.nan, numbers)
    return np.where(bits >= 0x80, -numbers, numbers).astype(np.float32)


def values(kind: str, array: np.ndarray) -> np.ndarray:
    if array.dtype == np.uint8:
        return from_float8(kind, array)
    return from_bfloat16(array) if kind == "__nv_bfloat16" and array.dtype == np.uint16 else array


def random(kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    storage = TYPES[kind].storage
    if storage is np.bool_:
        return rng.random(shape) < 0.2
    if storage is np.uint8:  # up to 1 in magnitude
        one = {"__nv_fp8_e4m3": 0x38, "__nv_fp8_e5m2": 0x3C}[kind]
        return rng.integers(0, one, shape, np.uint8, endpoint=True) | rng.integers(0, 2, shape, np.uint8) << 7
    if TYPES[kind].rounding is None:  # random bits: sums wrap around
        info = np.iinfo(storage)
        return rng.integers(info.min, info.max, shape, storage, endpoint=True)
    if np.issubdtype(storage, np.complexfloating):
        return (rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(storage)
    numbers = rng.uniform(-1, 1, shape).astype(np.float32 if kind == "__nv_bfloat16" else storage)
    return (numbers.view(np.uint32) >> 16).astype(np.uint16) if kind == "__nv_bfloat16" else numbers


def exact(kinds: tuple[str, str], a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The product, and the product of the magnitudes, which bounds the rounding error."""
    a, b = values(kinds[0], a), values(kinds[0], b)
    if a.dtype == np.bool_:
        return a @ b, np.zeros(1)
    if np.issubdtype(a.dtype, np.integer):
        with np.errstate(over="ignore"):
            product = a.astype(np.int64) @ b.astype(np.int64)
        return product.astype(TYPES[kinds[1]].storage), np.zeros(1)
    wide = np.result_type(a.dtype, np.float64)
    if wide == a.dtype:
        wide = np.clongdouble if np.issubdtype(wide, np.complexfloating) else np.longdouble
    return a.astype(wide) @ b.astype(wide), np.abs(a.astype(wide)) @ np.abs(b.astype(wide))


def check(kernel: Instance, c: np.ndarray, product: np.ndarray, magnitude: np.ndarray, k: int) -> None:
    """Checks that C is the product: exactly, or with the error of at most k roundings of a sum."""
    kind, out = kernel.types
    c = values(out, c)
    if TYPES[out].rounding is None:
        assert np.array_equal(c, product)
        return
    arithmetic = 2**-53 if kind in ("double", "Complex<double>") else 2**-24
    terms = 2 * k if "Complex" in kind else k
    factors = 2**-10 if kernel.tf32 else 0
    tiny = {"__nv_fp8_e4m3": 2**-10, "__nv_fp8_e5m2": 2**-17}.get(out, 1e-300)  # half of the least number
    bound = (terms * arithmetic + factors) * magnitude + TYPES[out].rounding * np.abs(product) + tiny
    assert c.shape == product.shape
    assert (np.abs(c - product) <= bound).all()  # false for NaN


def poison(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    storage = TYPES[kind].storage
    if TYPES[kind].rounding is None:
        return np.full(shape, 85, np.uint8).repeat(np.dtype(storage).itemsize, -1).view(storage)
    return np.full(
        shape, {"__nv_bfloat16": 0x7FC0}.get(kind, 0x7F if storage is np.uint8 else np.nan), storage
    )


def rows(array: np.ndarray, step: int, extra: int) -> np.ndarray:
    """The matrices with rows that are at least `extra` longer, up to a multiple of `step`, and filled with poison."""
    length = -(-(array.shape[-1] + extra) // step) * step
    return np.concatenate([array, poison_like(array, length - array.shape[-1])], axis=-1)


def poison_like(array: np.ndarray, columns: int) -> np.ndarray:
    shape = (*array.shape[:-1], columns)
    if np.issubdtype(array.dtype, np.inexact):
        return np.full(shape, np.nan, array.dtype)
    return np.full(shape, {2: 0x7FC0, 1: 0x7F}[array.itemsize] if array.dtype.kind == "u" else 1, array.dtype)


def multiply(device, kernel: Instance, a, b, batch: int = 1, extra: int = 0, mod=None) -> np.ndarray:
    """C computed by the kernel (of another module, if given); a and b are matrices, or stacks of `batch` matrices."""
    (m, k), n = a.shape[-2:], b.shape[-1]
    if kernel.along_k:
        b = np.ascontiguousarray(b.swapaxes(-1, -2))
    chunk = 16 // a.itemsize
    wide = [rows(x, chunk if of in kernel.aligned else 1, extra) for x, of in ((a, "a"), (b, "b"))]
    c = poison(kernel.types[1], (batch, m, n + extra))
    p = make_problem(m=m, n=n, k=k)
    for x, array in zip("abc", [*wide, c], strict=True):
        p[f"{x}_row"] = array.shape[-1]
        p[f"{x}_batch"] = array[0].size if array.ndim == 3 else 0
    if kernel.cluster:
        return multiply_boxes(device, kernel, (*wide, c), (m, n, k), p)
    arrays = [cs.to_device(x.ravel()) for x in (*wide, c)]
    function = (mod or rung(device, kernel.rung))[kernel.name]
    if kernel.shared > 48 << 10:
        function.max_dynamic_shared = kernel.shared
    blocks = -(-m // kernel.tile[0]) * -(-n // kernel.tile[1])
    function[(blocks, 1, batch), kernel.block, None, kernel.shared](*arrays, p)
    result = arrays[2].to_host().reshape(c.shape)
    assert result[..., n:].tobytes() == c[..., n:].tobytes(), "something was written between the rows of C"
    return result[..., :n] if a.ndim == 3 or b.ndim == 3 else result[0, :, :n]


def multiply_boxes(device, kernel: Instance, stored, extents, p, transposed=(False, False)) -> np.ndarray:
    """C computed by a kernel that takes tensor maps; by few blocks, so that each computes several tiles."""
    m, n, k = extents
    name = with_layouts(kernel.name, transposed)
    arrays = [cs.to_device(x if x.ndim == 3 else x[None]) for x in stored]
    columns = kernel.tile[1]
    share_of_b = (1, 64, 64 if columns // 64 % kernel.cluster == 0 else 64 // kernel.cluster)
    views = [
        arrays[0][..., : m if transposed[0] else k],
        arrays[1][..., : k if transposed[1] else n],
        arrays[2][..., :n],
    ]
    boxes = [
        (1, 64, 64) if transposed[0] else (1, 128, 64),
        (1, columns // kernel.cluster, 64) if transposed[1] else (1, share_of_b[2], 64),
        (1, 16, 128 // stored[2].itemsize),
    ]
    if stored[2].shape[-1] * stored[2].itemsize % 16 != 0:  # C has no map; the kernel does not read this one
        views[2], boxes[2] = views[0], boxes[0]
    maps = [cs.TensorMap(view, box=box, swizzle="128B") for view, box in zip(views, boxes, strict=True)]
    batch = arrays[2].shape[0]
    rows = kernel.tile[0] * kernel.cluster
    tiles = -(-m // rows) * -(-n // columns) * batch
    function = boxes_rung(device, kernel.rung)[name]
    function.max_dynamic_shared = kernel.shared
    grid = min(tiles, 2) * kernel.cluster
    function[grid, kernel.block, None, kernel.shared](*maps, arrays[2], p, np.int32(batch), np.int32(8))
    result = arrays[2].to_host()
    assert result[..., n:].tobytes() == stored[2][..., n:].tobytes(), (
        "something was written between the rows of C"
    )
    return result[..., :n] if stored[0].ndim == 3 or stored[1].ndim == 3 else result[0, :, :n]


# The kernels that test_operands_that_are_stored_transposed launches.
TRANSPOSED = [
    ("tma<__half, __half, 256, 4, 2", (True, True)),
    ("tma<__half, __half, 192, 4, 2", (True, False)),
    ("tma<__nv_bfloat16, __nv_bfloat16, 256, 4, 1", (False, True)),
    ("tma<__nv_bfloat16, __nv_bfloat16, 128, 6, 2", (True, True)),
]


def with_layouts(name: str, transposed: tuple[bool, bool]) -> str:
    """The instance for operands that are stored so: INSTANCES has the instances for operands in rows."""
    return name.replace("false, false", ", ".join(str(x).lower() for x in transposed))


@functools.cache
def boxes_rung(device: cs.Device, rung_name: str) -> cs.Module:
    """The rung; on simulated devices only the kernels that the tests launch: a third of all, in one compilation."""
    if not device.simulated:
        return rung(device, rung_name)
    names = [i.name for i in INSTANCES if i.rung == rung_name]
    return cs.Module.from_file(
        FOLDER / f"{rung_name}.cu",
        options=["-DCUSCOPE_ONE_INSTANCE"],
        name_expressions=[
            *names,
            *(
                with_layouts(n, layouts)
                for begin, layouts in TRANSPOSED
                for n in names
                if n.startswith(begin)
            ),
        ],
        device=device,
    )


@functools.cache
def case(kinds: tuple[str, str], m: int, n: int, k: int) -> tuple[np.ndarray, ...]:
    a, b = random(kinds[0], (m, k), 1), random(kinds[0], (k, n), 2)
    return a, b, *exact(kinds, a, b)


@each_instance
@pytest.mark.parametrize(
    ("m", "n", "k", "extra"),
    [(1, 1, 1, 0), (17, 33, 5, 0), (64, 64, 64, 0), (130, 67, 129, 3), (5, 300, 1, 1), (129, 6, 40, 0)],
)
def test_product_is_right(device, kernel, m, n, k, extra):
    a, b, product, magnitude = case(kernel.types, m, n, k)

    c = multiply(device, kernel, a, b, extra=extra)

    check(kernel, c, product, magnitude, k)


@each_instance
@pytest.mark.parametrize("broadcast", ["a", "b", ""])
def test_batches_and_matrices_that_are_used_again(device, kernel, broadcast):
    kinds = kernel.types
    a = random(kinds[0], (19, 23) if broadcast == "a" else (3, 19, 23), 3)
    b = random(kinds[0], (23, 21) if broadcast == "b" else (3, 23, 21), 4)

    c = multiply(device, kernel, a, b, batch=3)

    check(kernel, c, *exact(kinds, a, b), 23)


@pytest.mark.parametrize(("name", "transposed"), TRANSPOSED)
@pytest.mark.parametrize(("m", "n", "k"), [(130, 67, 129), (24, 264, 8), (1, 1, 1)])
def test_operands_that_are_stored_transposed(device, name, transposed, m, n, k):
    kernel = next(i for i in INSTANCES if i.name.startswith(name))
    a, b, product, magnitude = case(kernel.types, m, n, k)
    stored = [
        rows(np.ascontiguousarray(x.T) if is_transposed else x, 8, 0)
        for x, is_transposed in zip((a, b), transposed, strict=True)
    ]
    p = make_problem(m=m, n=n, k=k, a_row=stored[0].shape[-1], b_row=stored[1].shape[-1], c_row=n)

    c = multiply_boxes(
        device, kernel, (*stored, poison(kernel.types[1], (1, m, n))), (m, n, k), p, transposed
    )

    check(kernel, c, product, magnitude, k)


@pytest.mark.parametrize("name", ["01_naive", "02_coalesced", "03_shared_tiles"])
def test_rungs_up_to_shared_tiles_have_every_element_type(name):
    assert {i.types[0] for i in INSTANCES if i.rung == name} == set(TYPES)


@pytest.mark.parametrize("name", ["08_warp_tiles", "09_tensor_cores"])
def test_every_instance_of_a_source_is_tested(device, name):
    assert set(rung(device, name).kernels) == {i.name for i in INSTANCES if i.rung == name}


FLOATS = [i for i in INSTANCES if i.types[0] == "float" and not i.tf32]


def sums_in_parts(kernel) -> bool:
    """Problems with few elements a thread: 08_warp_tiles then adds up sums of 32 steps of k."""
    numbers = [int(number) for number in re.findall(r"\d+", kernel.name.partition("<")[2])]
    return kernel.rung == "08_warp_tiles" and numbers[3] * numbers[4] <= 32


@pytest.mark.parametrize("kernel", FLOATS, ids=lambda i: i.name)
def test_float_sums_have_the_same_bits_in_every_run(device, kernel):
    a, b, *_ = case(kernel.types, 130, 67, 129)

    c = [multiply(device, kernel, a, b) for _ in range(2)]

    assert c[0].tobytes() == c[1].tobytes()


@pytest.mark.parametrize("kernel", [i for i in FLOATS if not sums_in_parts(i)], ids=lambda i: i.name)
def test_float_sums_in_the_order_of_k_have_the_same_bits_in_every_rung(device, kernel):
    a, b, *_ = case(kernel.types, 130, 67, 129)

    c = multiply(device, kernel, a, b)

    assert c.tobytes() == multiply(device, FLOATS[0], a, b).tobytes()


@pytest.mark.parametrize("kernel", [i for i in FLOATS if sums_in_parts(i)], ids=lambda i: i.name)
def test_float_sums_in_parts_are_closer_than_those_in_the_order_of_k(device, kernel):
    a, b = (random(kernel.types[0], (256, 256), seed) for seed in (5, 6))
    exact_product = a.astype(np.float64) @ b.astype(np.float64)

    errors = [np.abs(multiply(device, k, a, b) - exact_product).mean() for k in (kernel, FLOATS[0])]

    assert errors[0] < 0.7 * errors[1]


ROUNDED = [i for i in INSTANCES if i.rung > "05" and TYPES[i.types[1]].rounding]


@pytest.mark.parametrize("kernel", ROUNDED, ids=lambda i: i.name)
def test_nan_and_infinity_stay_and_reach_no_other_row_or_column(device, kernel):
    kind, out = kernel.types
    a, b, product, magnitude = (x.copy() for x in case(kernel.types, 17, 33, 5))
    a[16, 4] = b[4, 0] = poison(kind, (1,))[0]

    c = multiply(device, kernel, a, b)

    c = values(out, c).copy()
    assert np.isnan(c[16]).all()
    assert np.isnan(c[:, 0]).all()
    c[16], c[:, 0] = product[16], product[:, 0]
    check(kernel, c, product, magnitude, 5)


# Copies that arrive late

LATE = r"""
#pragma once
// As async_copy.cuh, but nothing is copied before it is waited for. For one block.
struct LateCopy { char* to; const char* from; int bytes, taken, group; };
struct LateThread { LateCopy copies[512]; int first, last, group; };
__device__ LateThread late_threads[512];
__device__ inline void late_copy(void* to, const void* from, int bytes, int taken) {
    LateThread& t = late_threads[threadIdx.x];
    t.copies[t.last++ % 512] = {(char*)to, (const char*)from, bytes, taken, t.group};
}
template <int Bytes> __device__ void copy_async(void* to, const void* from, bool valid) {
    late_copy(to, from, Bytes, valid ? Bytes : 0);
}
__device__ inline void copy_async_part(void* to, const void* from, int left) { late_copy(to, from, 16, left); }
__device__ inline void commit_copies() { ++late_threads[threadIdx.x].group; }
template <int Pending> __device__ void wait_for_copies() {
    LateThread& t = late_threads[threadIdx.x];
    for (; t.first < t.last && t.copies[t.first % 512].group < t.group - Pending; ++t.first) {
        const LateCopy& c = t.copies[t.first % 512];
        for (int i = 0; i < c.bytes; ++i) c.to[i] = i < c.taken ? c.from[i] : 0;
    }
}
"""


# Rungs with each number of stages, and each way to copy.
LATE_INSTANCES = [
    i
    for i in INSTANCES
    if i.name
    in (
        "warp_tiles<float, 64, 64, 8, 8, 4, 4, 1>",
        "warp_tiles<float, 128, 256, 16, 16, 8, 3, 4>",
        "warp_tiles<double, 32, 64, 8, 4, 4, 4, 2>",
        "tensor_cores<float, float, 64, 64, 32, 32, 3>",
        "tensor_cores<double, double, 64, 64, 32, 32, 3>",
        "tensor_cores<signed char, int, 64, 128, 32, 64, 2>",
    )
]


@functools.cache
def late_rung(device: cs.Device, name: str) -> cs.Module:
    source = (FOLDER / f"{name}.cu").read_text().replace('"../common/', '"')
    for arguments in re.findall(r"^INSTANCE\((.*)\)", source, re.MULTILINE):
        if not any(i.name.endswith(f"<{arguments}>") for i in LATE_INSTANCES):
            source = source.replace(f"\nINSTANCE({arguments})", "\n")
    files = [*FOLDER.glob("*.[ch]*"), *(FOLDER.parent / "common").iterdir()]
    headers = {path.name: path.read_text().replace('"../common/', '"') for path in files}
    return cs.Module(source, headers=headers | {"async_copy.cuh": LATE}, device=device)


@pytest.mark.host_only("a GPU's copies arrive when they do")
@pytest.mark.parametrize("kernel", LATE_INSTANCES, ids=lambda i: i.name)
def test_copies_may_arrive_as_late_as_they_are_waited_for(device, kernel):
    assert len(LATE_INSTANCES) == 6
    a, b, product, magnitude = case(kernel.types, 30, 60, 600)

    c = multiply(device, kernel, a, b, mod=late_rung(device, kernel.rung))

    check(kernel, c, product, magnitude, 600)


# The compiler of users


@pytest.mark.gpu_only("simulated devices compile these sources for other tests")
@pytest.mark.parametrize(
    "name",
    [
        "12_byte_planes",
        "13_wgmma_planes",
        "14_split_floats",
        "15_float8",
        "add_parts",
        "to_parts",
        "to_planes",
    ],
)
def test_nvrtc_compiles_the_kernels_that_only_matmul_launches(device, name):
    # cs.matmul launches their machine code if the package has it.
    assert len(cs.Module.from_file(FOLDER / f"{name}.cu").kernels) > 0


# The checker


@pytest.mark.parametrize("kind", ["float", "__half", "__nv_bfloat16", "int", "bool", "Complex<float>"])
@pytest.mark.parametrize("wrong", ["poison", "one_nan", "last", "zeros", "shape"])
def test_checker_rejects_a_wrong_product(kind, wrong):
    kernel = next(i for i in INSTANCES if i.types == (kind, kind))
    a, _, product, magnitude = case(kernel.types, 17, 33, 5)
    good = product.astype(values(kind, a).dtype)
    if kind == "__nv_bfloat16":
        good = ((good.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)
    check(kernel, good, product, magnitude, 5)
    bad = good.copy()
    if wrong == "poison":
        bad = poison(kind, bad.shape)
    elif wrong == "one_nan":
        bad[3, 4] = poison(kind, (1,))[0] if kind != "bool" else not bad[3, 4]
    elif wrong == "last":
        bad[-1, -1] = {"__nv_bfloat16": bad[-1, -1] + 8, "bool": not bad[-1, -1]}.get(kind, bad[-1, -1] + 1)
    elif wrong == "zeros":
        bad[:] = 0
    else:
        bad = bad[:-1]

    with pytest.raises((AssertionError, ValueError)):
        check(kernel, bad, product, magnitude, 5)
