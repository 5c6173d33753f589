"""The kernels of cuda_kernels/reduce_auto, which the operations use, as modules of a device."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuscope as cs
from reduction_plans import (
    KERNELS,
    KINDS,
    OPERATIONS,
    TYPES,
    instance,
    planned,
    planned_axis,
    planner,
)
from support import instances

FAMILIES = {path.stem: path for path in sorted(KERNELS.glob("*.cu"))}
OF_NUMPY = tuple(dtype for dtype, kind in KINDS.items() if kind in "biufc")
REAL = tuple(dtype for dtype in OF_NUMPY if not dtype.startswith("complex"))
FAMILY = {
    "sum": "sum",
    "mean": "sum",
    "product": "product",
    "minimum": "extremes",
    "maximum": "extremes",
    "first_minimum": "first_extremes",
    "first_maximum": "first_extremes",
    "any": "truth",
    "all": "truth",
    "dot": "dot",
}
REFERENCE = {
    "sum": np.sum,
    "mean": np.mean,
    "product": np.prod,
    "minimum": np.min,
    "maximum": np.max,
    "first_minimum": np.argmin,
    "first_maximum": np.argmax,
    "any": np.any,
    "all": np.all,
}


def output_of(operation: str, dtype: str) -> str:
    if operation in ("any", "all"):
        return "bool"
    if operation.startswith("first"):
        return "int64"
    if operation == "mean":
        return "float64" if dtype == "bool" or "int" in dtype else dtype
    if operation in ("sum", "product"):
        if dtype.startswith("uint"):
            return "uint64"
        return "int64" if dtype == "bool" or dtype.startswith("int") else dtype
    return dtype


class Reduction:
    """One operation on one type, launched on a device as plan.hpp describes."""

    def __init__(
        self, device: cs.Device, operation: str, dtype: str, output: str | None = None, processors: int = 2
    ) -> None:
        self.device, self.operation, self.processors = device, operation, processors
        output = output or output_of(operation, dtype)
        self.policy, self.bits, (self.kind, self.element, self.value) = instance(operation, dtype, output)
        self.output = np.dtype(np.uint16 if output == "bfloat16" else output)

    def kernel(self, shape: str) -> object:
        return instances(self.device, FAMILIES[FAMILY[self.operation]])[f"{shape}<{self.policy}>"]

    def divisor(self, count: int) -> float:
        return float(count) if self.operation == "mean" else 1.0

    def takes_few(self, n: int) -> bool:
        """Whether the plan takes the kernel for few elements."""
        return bool(planner().few(ctypes.c_longlong(n), self.element, self.processors))

    def whole(self, *x: cs.DeviceArray, many: bool = False) -> np.ndarray:
        """`many` avoids the kernel for few elements, even if there are few."""
        n = x[0].size
        grid, block, _, _, slot_bytes = planned(0, n, 0, 0, self.element, self.value, self.processors)
        out, slots = cs.empty(1, self.output), cs.zeros(max(slot_bytes, 8) // 8, np.uint64)
        if self.operation == "dot":
            self.kernel("dot")[grid, block](*x, out, n, self.bits, self.kind, slots)
        else:
            kernel = self.kernel("few" if self.takes_few(n) and not many else "whole")
            kernel[grid, block](*x, out, n, self.bits, self.kind, self.divisor(n), slots)
        assert not slots.to_host().any()
        return out.to_host()[0]

    def rows(self, x: cs.DeviceArray, count: int, length: int, distance: int) -> np.ndarray:
        grid, block, lanes, splits, slot_bytes = planned(
            1, count, length, 0, self.element, self.value, self.processors
        )
        out, slots = cs.empty(count, self.output), cs.zeros(max(slot_bytes, 8) // 8, np.uint64)
        self.kernel("rows")[grid, block](
            x, out, count, length, distance, self.bits, self.kind, self.divisor(length), lanes, splits, slots
        )
        assert not slots.to_host().any()
        return out.to_host()

    def columns(
        self, x: cs.DeviceArray, outer: int, length: int, inner: int, distance: int = 0
    ) -> np.ndarray:
        grid, block, lanes, splits, slot_bytes = planned(
            2, outer, length, inner, self.element, self.value, self.processors
        )
        out, slots = cs.empty((outer, inner), self.output), cs.zeros(max(slot_bytes, 8) // 8, np.uint64)
        distance = distance or inner
        self.kernel("columns")[grid, block](
            *(x, out, outer, length, inner, distance, length * distance, self.bits, self.kind),
            *(self.divisor(length), lanes, splits, slots),
        )
        assert not slots.to_host().any()
        return out.to_host()

    def shared_columns(
        self, x: cs.DeviceArray, length: int, inner: int, lanes: int, splits: int
    ) -> np.ndarray:
        """With `lanes` strips a tile and `splits` blocks for its rows, which a plan need not have."""
        results = lanes * min(16 // np.dtype(x.dtype).itemsize, 128 // self.value)
        tiles = -(-inner // results)
        out = cs.empty(inner, self.output)
        groups = -(-splits // planner().splits_of_group_of(splits, results, 256))
        slots = cs.zeros(tiles * results * (splits + groups) * -(-self.value // 4), np.uint64)
        self.kernel("columns")[tiles * splits, 256](
            *(x, out, 1, length, inner, inner, length * inner, self.bits, self.kind),
            *(self.divisor(length), lanes, splits, slots),
        )
        assert not slots.to_host().any()
        return out.to_host()

    def axis(
        self, x: cs.DeviceArray, outer: int, length: int, inner: int, kernel: str, begin: int = 0
    ) -> np.ndarray:
        """With the kernel slices, shallow or narrow. The output begins at element `begin` of its memory."""
        _, (grid, block, lanes, splits, slot_bytes) = planned_axis(
            (outer, length, inner), self.element, self.value, self.processors, kernel
        )
        memory = cs.zeros(begin + outer * inner + 1, self.output)
        out = memory[begin : begin + outer * inner]
        slots = cs.zeros(max(slot_bytes, 8) // 8, np.uint64)
        self.kernel(kernel)[grid, block](
            *(x, out, outer, length, inner, inner, length * inner, self.bits, self.kind),
            *(self.divisor(length), lanes, splits, slots),
        )
        assert not slots.to_host().any()
        assert not memory[:begin].to_host().any()
        assert not memory[begin + outer * inner :].to_host().any()
        return out.to_host().reshape(outer, inner)


def elements(n: int, dtype: str, seed: int = 3) -> np.ndarray:
    """Any values of the type; sums of many of them are exact."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(n) < 0.5
    if kind in "iu":
        ends = np.iinfo(dtype)
        return rng.integers(ends.min, ends.max, n, dtype=dtype, endpoint=True)
    x = rng.integers(-50, 50, n).astype(dtype)
    if kind == "c":
        x += 1j * rng.integers(-50, 50, n)
    return x


def bfloat16(x: np.ndarray) -> np.ndarray:
    """The nearest bfloat16 numbers, as uint16."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def widened(x: np.ndarray) -> np.ndarray:
    return (x.astype(np.uint32) << 16).view(np.float32)


def expected(operation: str, x: np.ndarray, axis: int | None = None) -> np.ndarray:
    if operation == "mean" and x.dtype.kind == "f":
        return np.mean(x, axis=axis, dtype=np.float64).astype(x.dtype)
    if operation == "mean" and x.dtype.kind in "iub":
        sums = np.apply_along_axis(math.fsum, -1 if axis is None else axis, x.astype(np.float64))
        return sums / (x.size if axis is None else x.shape[axis])
    if operation == "mean" and x.dtype.kind == "c":  # NumPy's division of complex numbers rounds more often
        sums, count = np.sum(x, axis=axis), x.size if axis is None else x.shape[axis]
        return (sums.real / count + 1j * (sums.imag / count)).astype(x.dtype)
    if operation == "sum" and x.dtype == np.float16:
        return np.sum(x, axis=axis, dtype=np.float64).astype(x.dtype)
    return REFERENCE[operation](x, axis=axis)


def same(result: np.ndarray, reference: np.ndarray) -> bool:
    """Equality in which NaN is equal to NaN."""
    return result.dtype == reference.dtype and np.array_equal(
        result, reference, equal_nan=result.dtype.kind in "fc"
    )


def operands(operation: str, n: int, dtype: str, seed: int = 3) -> np.ndarray:
    x = elements(n, dtype, seed)
    if operation == "product" and x.dtype.kind in "fc":
        x = np.where(np.arange(n) % 97 == 5, 2, np.where(np.arange(n) % 3 == 1, -1, 1)).astype(dtype)
        x[9 * 97 :][x[9 * 97 :] == 2] = 1
    elif operation == "product" and x.dtype.kind in "iu":
        x |= 1  # else it is soon 0
    elif operation == "all" and n > 1:
        x[x == 0] = 1
        x[seed % n] = x[seed % n] * (seed % 2)
    elif operation == "any":
        x[:] = 0
        x[-1] = seed % 2
    return x


def cases(operations: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        (operation, dtype)
        for operation in operations
        for dtype in OF_NUMPY
        if not (dtype.startswith("complex") and operation.startswith(("m", "first")) and operation != "mean")
    ]


ALL = cases(OPERATIONS[:-1])


@pytest.mark.parametrize("operation", OPERATIONS[:-1])
def test_reductions_of_whole_arrays_are_right(device: cs.Device, operation: str) -> None:
    for i, (_, dtype) in enumerate(cases((operation,))):
        reduction = Reduction(device, operation, dtype)
        for n in (1, 31, 257, 4099, 100003) if i % 3 == 0 else (2, 255, 30001):
            x = operands(operation, n + 3, dtype, seed=n)
            d_x = cs.to_device(x)
            for begin in (0, 1, 3):  # at another distance from an aligned address
                reference = np.asarray(expected(operation, x[begin : begin + n]))
                for many in (False, True) if reduction.takes_few(n) else (True,):
                    result = reduction.whole(d_x[begin : begin + n], many=many)
                    assert same(result, reference), (dtype, n, begin, many, result, reference)


@pytest.mark.parametrize("operation", OPERATIONS[:-1])
def test_reductions_of_rows_are_right(device: cs.Device, operation: str) -> None:
    shapes = ((3, 1, 1), (700, 5, 7), (37, 129, 129), (5, 1030, 1033), (2, 30001, 30001))
    for i, (_, dtype) in enumerate(cases((operation,))):
        reduction = Reduction(device, operation, dtype)
        for count, length, distance in shapes[i % 2 :: 2] if i else shapes:
            x = operands(operation, count * distance + 1, dtype, seed=length)
            reference = expected(operation, x[1:].reshape(count, distance)[:, :length], axis=1)
            result = reduction.rows(cs.to_device(x)[1:], count, length, distance)
            assert same(result, reference), (dtype, count, length, distance)


@pytest.mark.parametrize("operation", OPERATIONS[:-1])
def test_reductions_of_columns_are_right(device: cs.Device, operation: str) -> None:
    shapes = ((1, 1, 1), (1, 513, 64), (3, 7, 5), (2, 40, 33), (1, 5000, 3), (1, 300, 600), (40, 3, 48))
    for i, (_, dtype) in enumerate(cases((operation,))):
        reduction = Reduction(device, operation, dtype)
        for outer, length, inner in shapes[i % 3 :: 3] if i else shapes:
            x = operands(operation, outer * length * inner, dtype, seed=length).reshape(outer, length, inner)
            result = reduction.columns(cs.to_device(x), outer, length, inner)
            reference = expected(operation, x, axis=1)
            assert same(result, reference), (dtype, outer, length, inner)


# In groups: five of at most 5 blocks, the last of which has one, with more results than threads; 17 of at most 17.
@pytest.mark.parametrize(("lanes", "splits"), [(128, 21), (64, 288), (8, 288)])
@pytest.mark.parametrize("operation", ["sum", "first_maximum"])
def test_many_blocks_share_the_rows_of_columns(
    device: cs.Device, operation: str, lanes: int, splits: int
) -> None:
    length, inner = 3000, 700
    reduction = Reduction(device, operation, "float32")
    x = operands(operation, length * inner, "float32", seed=splits).reshape(length, inner)

    result = reduction.shared_columns(cs.to_device(x), length, inner, lanes, splits)

    assert same(result, expected(operation, x, axis=0))


def test_blocks_share_the_rows_of_more_columns_than_they_have_threads(device: cs.Device) -> None:
    reduction = Reduction(device, "sum", "float32", processors=3)
    x = operands("sum", 3000 * 258, "float32").reshape(1, 3000, 258)
    _, (_, threads, _, splits, *_) = planned_axis(x.shape, 4, reduction.value, 3, "narrow")
    assert threads < 258
    assert splits > 1

    result = reduction.axis(cs.to_device(x), *x.shape, "narrow")

    assert same(result, expected("sum", x, axis=1))


def test_many_blocks_share_the_rows_of_few_columns(device: cs.Device) -> None:
    reduction = Reduction(device, "sum", "float32", processors=132)
    x = operands("sum", 21000 * 102, "float32").reshape(1, 21000, 102)
    assert planned_axis(x.shape, 4, reduction.value, 132, "narrow")[1][3] > 32  # blocks, in groups

    result = reduction.axis(cs.to_device(x), *x.shape, "narrow")

    assert same(result, expected("sum", x, axis=1))


@pytest.mark.parametrize("operation", OPERATIONS[:-1])
@pytest.mark.parametrize("kernel", ["slices", "shallow", "narrow"])
def test_reductions_of_a_short_side_are_right(device: cs.Device, kernel: str, operation: str) -> None:
    shapes = {
        "slices": (
            (50, 7, 3),
            (300, 3, 1),
            (33, 4, 1),
            (7, 1, 5),
            (70, 16, 1),
            (5, 9, 1),
            (1, 1, 3),
            (19, 2, 31),
        ),
        "shallow": (
            # Whole strips. Each of the three is the first shape of some types, so its data begin aligned.
            (3, 5, 2048),
            (2, 3, 4096),
            (1, 9, 512),
            # Whole strips, but data that begin some elements later. An odd number of rows leaves a last one.
            (5, 3, 16),
            (1, 5, 5000),
            (3, 7, 1024),
            (3, 5, 2049),
            (2, 1, 4095),
            (1, 9, 4097),
            (1, 2, 1030),
            (1, 6, 17),
        ),
        "narrow": (
            (1, 3001, 3),
            (3, 517, 5),
            (2, 40, 33),
            (1, 4000, 1),
            (2, 2, 7),
            (1, 90, 65),
            (1, 9000, 17),
        ),
    }[kernel]
    for i, (_, dtype) in enumerate(cases((operation,))):
        reduction = Reduction(device, operation, dtype, processors=3)
        for begin, (outer, length, inner) in enumerate(shapes[i % 3 :: 3] if i else shapes):
            x = operands(operation, outer * length * inner + begin, dtype, seed=length)
            reference = expected(operation, x[begin:].reshape(outer, length, inner), axis=1)
            result = reduction.axis(cs.to_device(x)[begin:], outer, length, inner, kernel)
            assert same(result, reference), (dtype, outer, length, inner, begin)


@pytest.mark.parametrize("length", [1, 3, 6, 7, 10, 12, 31])
def test_means_of_few_rows_have_the_bits_of_a_division(device: cs.Device, length: int) -> None:
    """The kernel multiplies by the reciprocal and corrects the quotient."""
    x = np.zeros((length, 8192))
    bits = np.random.default_rng(length).integers(0, 1 << 64, 8192, np.uint64)
    bits[:2000] &= np.uint64(0x800F_FFFF_FFFF_FFFF)  # subnormal numbers
    bits[2000:2500] &= np.uint64(0x803F_FFFF_FFFF_FFFF)  # small ones
    x[0] = np.where(np.isnan(bits.view(np.float64)), 0, bits.view(np.float64))
    x[0, -5:] = np.inf, -np.inf, np.nan, np.finfo(np.float64).max, -np.finfo(np.float64).max

    result = Reduction(device, "mean", "float64").axis(cs.to_device(x), 1, *x.shape, "shallow")

    np.testing.assert_array_equal(result[0], x[0] / length)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "complex128", "int32", "uint64"])
def test_means_of_few_rows_of_other_types_have_the_bits_of_a_division(device: cs.Device, dtype: str) -> None:
    x = operands("mean", 7 * 2048, dtype).reshape(1, 7, 2048)

    result = Reduction(device, "mean", dtype).axis(cs.to_device(x), *x.shape, "shallow")

    assert same(result, expected("mean", x, axis=1))


@pytest.mark.parametrize("begin", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
def test_results_of_few_rows_may_begin_anywhere(device: cs.Device, dtype: str, begin: int) -> None:
    operation = "any" if dtype == "uint8" else "sum"
    for shape in ((1, 3, 2048), (1, 3, 2047), (9, 2, 48)):
        x = operands(operation, math.prod(shape), dtype).reshape(shape)

        result = Reduction(device, operation, dtype).axis(cs.to_device(x), *shape, "shallow", begin)

        assert same(result, expected(operation, x, axis=1)), shape


@pytest.mark.parametrize("columns", [2048, 2047])
@pytest.mark.parametrize(
    "output", ["int8", "uint16", "int32", "uint64", "bool", "float16", "float32", "float64"]
)
def test_sums_of_few_rows_have_each_type_of_output(device: cs.Device, output: str, columns: int) -> None:
    x = elements(3 * columns, "int16").reshape(1, 3, columns)

    result = Reduction(device, "sum", "int16", output).axis(cs.to_device(x), *x.shape, "shallow")

    with np.errstate(over="ignore"):  # a sum may be infinite as a half
        assert same(result, x.sum(axis=1, dtype=np.int64).astype(output))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_and_ties_of_a_short_side_are_numpys(device: cs.Device, dtype: str) -> None:
    x = np.tile(np.arange(-3, 4), 3000)[:6000].astype(dtype)
    x[[701, 1200, 5999]] = np.nan
    for kernel, shape in (("slices", (400, 5, 3)), ("shallow", (1, 4, 1500)), ("narrow", (1, 2000, 3))):
        for operation in ("first_minimum", "first_maximum", "minimum", "maximum"):
            reference = expected(operation, x.reshape(shape), axis=1)
            result = Reduction(device, operation, dtype).axis(cs.to_device(x), *shape, kernel)
            assert same(result, reference), (kernel, operation)


@pytest.mark.parametrize("dtype", OF_NUMPY)
def test_dot_products_are_right(device: cs.Device, dtype: str) -> None:
    reduction = Reduction(device, "dot", dtype)
    for n in (1, 31, 4099, 60001):
        a, b = elements(n + 3, dtype, 1), elements(n + 3, dtype, 2)
        if dtype == "float16":
            a, b = np.sign(a), np.sign(b)
        d_a, d_b = cs.to_device(a), cs.to_device(b)
        for at, bt in ((0, 0), (1, 1), (0, 3), (2, 1)):
            reference = np.dot(a[at : at + n].astype(wide(dtype)), b[bt : bt + n].astype(wide(dtype)))
            result = reduction.whole(d_a[at : at + n], d_b[bt : bt + n])
            assert result == np.asarray(reference).astype(dtype), (n, at, bt)


def wide(dtype: str) -> str:
    return {"float16": "float64", "float32": "float64", "complex64": "complex128"}.get(dtype, dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_float_sums_are_no_worse_than_numpy(device: cs.Device, dtype: str) -> None:
    rng = np.random.default_rng(7)
    for n in (1000, 4099, 100003):
        for x in (rng.normal(size=n), rng.random(n), rng.normal(size=n) * 10.0 ** rng.integers(-3, 3, n)):
            y = (x / 100 if dtype == "float16" else x).astype(dtype)
            exact = math.fsum(y.astype(np.float64))
            result = Reduction(device, "sum", dtype).whole(cs.to_device(y))
            assert result == y.dtype.type(exact)  # the nearest number of the type
            assert abs(float(result) - exact) <= abs(float(np.sum(y)) - exact)
            a, b = y[: n // 2].astype(np.float64), y[n // 2 : n // 2 * 2].astype(np.float64)
            if dtype != "float64":
                products = math.fsum(a * b)
                dot = Reduction(device, "dot", dtype).whole(
                    cs.to_device(y[: n // 2]), cs.to_device(y[n // 2 :][: n // 2])
                )
                assert (
                    abs(float(dot) - products) <= 1.01 * abs(float(y.dtype.type(products)) - products) + 1e-8
                )


@pytest.mark.host_only("the model of a device before sm_80, where floats are summed in pairs of floats")
def test_float_sums_without_double_are_right(device: cs.Device) -> None:
    x = np.random.default_rng(8).normal(size=20003).astype(np.float32)
    with cs.add_host_device("k20x") as old:
        # One instance in place of all 96, which take 15 s to compile.
        kernel = cs.Module.from_file(
            FAMILIES["sum"], options=["-DCUSCOPE_ONE_INSTANCE"], name_expressions=["whole<SumOf<float>>"]
        )["whole<SumOf<float>>"]
        out, slots = cs.empty(1, np.float32), cs.zeros(64, np.uint64)
        for values in (x, np.full(99, -0.0, np.float32), np.full(99, np.inf, np.float32)):
            kernel[2, 512](cs.to_device(values), out, values.size, 0, TYPES.index("float32"), 1.0, slots)
            assert out.to_host().tobytes() == np.float32(math.fsum(values) + 0.0).tobytes()
        old.synchronize()


def test_sums_give_the_same_bits_on_every_run(device: cs.Device) -> None:
    d_x = cs.to_device(np.random.default_rng(5).normal(size=100003) * 1e10)
    reduction = Reduction(device, "sum", "float64", processors=20)
    assert len({reduction.whole(d_x).tobytes() for _ in range(5)}) == 1


def test_bfloat16_is_reduced(device: cs.Device) -> None:
    values = np.random.default_rng(1).normal(size=6001).astype(np.float32)
    x = bfloat16(values)
    real, d_x = widened(x), cs.to_device(x)

    def result(operation: str, *arrays: cs.DeviceArray) -> np.ndarray:
        return Reduction(device, operation, "bfloat16").whole(*arrays)

    assert result("sum", d_x) == bfloat16(np.float32(math.fsum(real)))
    assert result("maximum", d_x[1:]) == bfloat16(real[1:].max())
    assert result("minimum", d_x[1:]) == bfloat16(real[1:].min())
    assert result("first_minimum", d_x) == real.argmin()
    assert result("dot", d_x, d_x) == bfloat16(np.float32(math.fsum(real.astype(np.float64) ** 2)))
    assert result("product", d_x[:7]) == bfloat16(np.float32(np.prod(real[:7].astype(np.float64))))
    assert result("all", d_x)
    assert np.array_equal(
        Reduction(device, "maximum", "bfloat16").columns(d_x[:6000], 2, 60, 50),
        bfloat16(real[:6000].reshape(2, 60, 50).max(axis=1)),
    )


def test_output_types_are_those_of_the_operation(device: cs.Device) -> None:
    x = np.arange(-300, 400, dtype=np.int16)
    halves = (x / 8).astype(np.float16)
    for output in ("int8", "uint8", "int32", "uint64", "float16", "float32", "float64", "bool"):
        result = Reduction(device, "sum", "int16", output).whole(cs.to_device(x))
        assert result == np.array(int(x.sum())).astype(output), output
    for output in ("float32", "float64"):
        result = Reduction(device, "sum", "float16", output).whole(cs.to_device(halves))
        assert abs(result - math.fsum(halves)) <= 1e-6 * np.abs(halves).sum(dtype=np.float64)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_mean_of_large_integers_is_exact(device: cs.Device, dtype: str) -> None:
    x = np.full(1000, np.iinfo(dtype).max, dtype)
    assert Reduction(device, "mean", dtype).whole(cs.to_device(x)) == float(np.iinfo(dtype).max)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", ["whole", "rows", "columns"])
def test_nan_ties_and_zeros_are_numpys(device: cs.Device, dtype: str, shape: str) -> None:
    def reduced(operation: str, x: np.ndarray) -> np.ndarray:
        reduction, d_x = Reduction(device, operation, dtype), cs.to_device(x)
        if shape == "whole":
            return reduction.whole(d_x)
        if shape == "rows":
            return reduction.rows(d_x, 1, x.size, x.size)[0]
        return reduction.columns(d_x, 1, x.size, 1)[0, 0]

    n = 3001
    x = np.tile(np.arange(-30, 31), 50)[:n].astype(dtype)
    for operation in ("first_minimum", "first_maximum"):
        assert reduced(operation, x) == REFERENCE[operation](x)
    for sign in (np.nan, -np.nan):
        y = x.copy()
        y[[700, 1200, 3000]] = np.copysign(np.nan, sign)
        for operation in ("minimum", "maximum", "sum", "product"):
            assert np.isnan(reduced(operation, y)), operation
        assert reduced("first_minimum", y) == 700
        assert reduced("first_maximum", y) == 700
        assert reduced("all", y[700:701])
    lowest = np.full(n, -np.inf, dtype)
    assert reduced("first_maximum", lowest) == 0
    assert reduced("maximum", lowest) == -np.inf
    assert reduced("sum", lowest) == -np.inf
    assert reduced("mean", lowest) == -np.inf
    assert reduced("first_minimum", -lowest) == 0
    zeros = np.where(np.arange(n) % 3 == 0, -0.0, 0.0).astype(dtype)
    assert reduced("first_maximum", zeros) == 0
    assert reduced("first_minimum", zeros) == 0
    assert not reduced("any", zeros)
    negative_zero = reduced("sum", np.full(n, -0.0, dtype))
    assert negative_zero == 0
    assert not np.signbit(negative_zero)  # as NumPy's
    assert np.isnan(reduced("sum", np.array([np.inf, 1, -np.inf], dtype)))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_small_arrays_are_reduced(device: cs.Device, data: st.DataObject) -> None:
    operation, dtype = data.draw(st.sampled_from(ALL))
    outer, length, inner = (data.draw(st.integers(1, limit)) for limit in (4, 40, 40))
    x = operands(operation, outer * length * inner, dtype, data.draw(st.integers(0, 99)))
    x = x.reshape(outer, length, inner)
    reduction = Reduction(device, operation, dtype, processors=data.draw(st.integers(1, 8)))
    d_x = cs.to_device(x)

    assert same(reduction.columns(d_x, outer, length, inner), expected(operation, x, axis=1))
    if operation != "product":  # of all of them, in floats, it may be inexact
        assert same(
            reduction.rows(d_x, outer * length, inner, inner).reshape(outer, length),
            expected(operation, x, 2),
        )
    assert same(reduction.whole(d_x), np.asarray(expected(operation, x.ravel())))
