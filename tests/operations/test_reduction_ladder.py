"""The ladder of cuda_kernels/reduce_ladder, as modules of a device."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cuscope as cs
from support import TESTS, instances

LADDER = {
    path.stem[3:]: path
    for path in sorted((TESTS.parent / "cuda_kernels" / "reduce_ladder").glob("[0-9]*.cu"))
}
SIZES = (1, 2, 31, 255, 256, 257, 4099, 100003)
C_TYPES = {
    "float32": "float",
    "float64": "double",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
}
NUMPY = {"Sum": np.sum, "Product": np.prod, "Minimum": np.min, "Maximum": np.max}


def offered(device: cs.Device, rung: str) -> list[tuple[str, str]]:
    """(dtype, operation) of each instance."""
    names = {c.replace(" ", ""): dtype for dtype, c in C_TYPES.items()}
    inside = [name[name.index("<") + 1 : -1].rsplit(",", 1) for name in instances(device, LADDER[rung])]
    return [(names[c], operation) for c, operation in inside]


def climb(device: cs.Device, rung: str, x: cs.DeviceArray, operation: str, grid: int = 5) -> np.ndarray:
    """x reduced by a rung, launched as the comment in its file says, to one element."""
    kernel = instances(device, LADDER[rung])[f"{rung}<{C_TYPES[x.dtype.name]},{operation}>".replace(" ", "")]
    number = int(LADDER[rung].name[:2])
    n = x.size
    if number >= 11:
        out, partials, ticket = cs.empty(1, x.dtype), cs.empty(grid, x.dtype), cs.zeros(1, np.uint32)
        kernel[grid, 256](x, out, n, partials, ticket)
        assert ticket.to_host()[0] == 0
    elif number in (8, 9):
        ends = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        identity = {"Sum": 0, "Minimum": ends.max, "Maximum": ends.min}[operation]
        out = cs.full(1, x.dtype.type(identity), x.dtype)
        kernel[grid, 256](x, out, n)
    else:
        while True:
            each = 256 if number <= 3 else 512
            blocks = -(-n // each) if number <= 6 else min(grid, -(-n // 256))
            out = cs.empty(blocks, x.dtype)
            kernel[blocks, 256](x, out, n)
            if blocks == 1:
                break
            x, n = out, blocks
    return out.to_host()[0]


def exact_input(n: int, dtype: str, operation: str, seed: int = 1) -> np.ndarray:
    """Elements whose reduction is exact in every order."""
    rng = np.random.default_rng(seed)
    if operation == "Product":
        x = np.ones(n, dtype)
        x[rng.integers(n, size=min(n, 9))] = 2
        if np.dtype(dtype).kind != "u":
            x[rng.integers(n, size=n // 2)] *= -1
        return x
    low = 0 if np.dtype(dtype).kind == "u" else -100
    return rng.integers(low, 100, n).astype(dtype)


@pytest.mark.parametrize("rung", LADDER)
def test_rung_is_exact_where_the_order_does_not_matter(device: cs.Device, rung: str) -> None:
    for i, (dtype, operation) in enumerate(offered(device, rung)):
        for n in SIZES if i % 5 == 0 else SIZES[1:-1:3]:
            x = exact_input(n, dtype, operation, seed=n)
            result = climb(device, rung, cs.to_device(x), operation)
            assert result == NUMPY[operation](
                x, **({"dtype": dtype} if operation in ("Sum", "Product") else {})
            ), (
                dtype,
                operation,
                n,
            )


@pytest.mark.parametrize("rung", LADDER)
def test_rung_handles_nan_and_infinity(device: cs.Device, rung: str) -> None:
    operations = [operation for dtype, operation in offered(device, rung) if dtype == "float32"]
    for operation in operations:
        x = np.linspace(-3, 3, 1000, dtype=np.float32)
        for place in (0, 777, 999):
            y = x.copy()
            y[place] = np.nan
            assert np.isnan(climb(device, rung, cs.to_device(y), operation)), (operation, place)
        if operation != "Product":  # a product may already have become 0 by elements below 1
            x[5] = np.inf
            assert climb(device, rung, cs.to_device(x), operation) == NUMPY[operation](x)
    if operations and not rung.startswith("warp_shuffle"):
        negative_zero = climb(device, rung, cs.full(300, -0.0, np.float32), "Sum")
        assert negative_zero == 0


@pytest.mark.parametrize("rung", ["two_kernels", "last_block", "vector_loads"])
def test_rung_gives_the_same_bits_on_every_run(device: cs.Device, rung: str) -> None:
    x = np.random.default_rng(2).normal(size=50001).astype(np.float32)
    d_x = cs.to_device(x)
    results = {climb(device, rung, d_x, "Sum", grid=40).tobytes() for _ in range(5)}
    assert len(results) == 1
    assert abs(np.frombuffer(results.pop(), np.float32)[0] - math.fsum(x)) <= 1e-6 * np.abs(x).sum(
        dtype=np.float64
    )


def test_vector_loads_begin_at_any_element(device: cs.Device) -> None:
    x = exact_input(100010, "float32", "Sum")
    d_x = cs.to_device(x)
    for begin in (1, 2, 3):
        for end in (begin + 1, begin + 6, 100007, 100010):
            assert climb(device, "vector_loads", d_x[begin:end], "Sum", grid=2) == x[begin:end].sum()
