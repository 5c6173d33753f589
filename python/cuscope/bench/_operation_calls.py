"""Calls of operations on device arrays, as programs make them: of this package, and of others in the same process."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import cuscope as cs

__all__ = ["CASES", "DONE", "LAUNCH", "PEERS", "Calls", "of_cuscope"]

LAUNCH = "launch of four arguments"  # the scale: the cost of a call that only launches a kernel
DONE = ", until done"  # behind a case: the time has the device's work, too
SOURCE = 'extern "C" __global__ void four(const float* a, const float* b, float* c, int n) {}'
CASES = (
    LAUNCH,
    "sum",
    "sum, out",
    f"sum, out{DONE}",
    "max",
    "max, out",
    "argmax",
    "argmax, out",
    "sum of axis 0",
    "max of axis 0",
    "argmax of axis 0",
    "matmul",
    "matmul, out",
    "dot",
)


@dataclass(frozen=True)
class Calls:
    """The calls of a package on arrays of its own: a statement for each case that it has."""

    statements: dict[str, str]
    names: dict[str, Any]
    synchronise: Callable[[], object]


def _arrays(n: int) -> tuple[Any, Any]:
    """n float32 numbers, and as many of them as fill a square matrix, as one."""
    numbers = np.random.default_rng(n).uniform(-1, 1, n).astype(np.float32)
    side = math.isqrt(n)
    return numbers, numbers[: side * side].reshape(side, side)


def of_cuscope(device: cs.Device, n: int) -> Calls:
    with device:
        launch = cs.Module(SOURCE).four[1, 32]
        x, m = (cs.to_device(array) for array in _arrays(n))
        names = {
            "cs": cs, "launch": launch, "x": x, "m": m,
            "out": cs.zeros((), np.float32), "place": cs.zeros((), np.int64), "product": cs.empty_like(m),
        }  # fmt: skip
    return Calls(
        {
            LAUNCH: f"launch(x, x, out, {n})",
            "sum": "cs.sum(x)",
            "sum, out": "cs.sum(x, out=out)",
            "max": "cs.max(x)",
            "max, out": "cs.max(x, out=out)",
            "argmax": "cs.argmax(x)",
            "argmax, out": "cs.argmax(x, out=place)",
            "sum of axis 0": "cs.sum(m, axis=0)",
            "max of axis 0": "cs.max(m, axis=0)",
            "argmax of axis 0": "cs.argmax(m, axis=0)",
            "matmul": "cs.matmul(m, m)",
            "matmul, out": "cs.matmul(m, m, out=product)",
            "dot": "cs.dot(x, x)",
        },
        names,
        device.synchronize,
    )


def _of_torch(number: int, n: int) -> Calls:
    torch = importlib.import_module("torch")
    x, m = (torch.from_numpy(array.copy()).to(f"cuda:{number}") for array in _arrays(n))
    names = {
        "torch": torch, "x": x, "m": m,
        "out": torch.sum(x), "place": torch.argmax(x), "product": torch.matmul(m, m),
    }  # fmt: skip
    return Calls(
        {
            "sum": "torch.sum(x)",
            "sum, out": "torch.sum(x, 0, out=out)",
            "max": "torch.max(x)",
            "max, out": "torch.amax(x, 0, out=out)",
            "argmax": "torch.argmax(x)",
            "argmax, out": "torch.argmax(x, 0, out=place)",
            "sum of axis 0": "torch.sum(m, 0)",
            "max of axis 0": "torch.amax(m, 0)",
            "argmax of axis 0": "torch.argmax(m, 0)",
            "matmul": "torch.matmul(m, m)",
            "matmul, out": "torch.matmul(m, m, out=product)",
            "dot": "torch.dot(x, x)",
        },
        names,
        lambda: torch.cuda.synchronize(number),
    )


def _of_cupy(number: int, n: int) -> Calls:
    cupy = importlib.import_module("cupy")
    cupy.cuda.Device(number).use()
    x, m = (cupy.asarray(array) for array in _arrays(n))
    kernel = cupy.RawKernel(SOURCE, "four")
    names = {
        "cupy": cupy, "x": x, "m": m, "kernel": kernel, "grid": (1,), "block": (32,), "count": np.int32(n),
        "out": cupy.sum(x), "place": cupy.argmax(x), "product": cupy.matmul(m, m),
    }  # fmt: skip
    return Calls(
        {
            LAUNCH: "kernel(grid, block, (x, x, out, count))",
            "sum": "cupy.sum(x)",
            "sum, out": "cupy.sum(x, out=out)",
            "max": "cupy.max(x)",
            "max, out": "cupy.max(x, out=out)",
            "argmax": "cupy.argmax(x)",
            "argmax, out": "cupy.argmax(x, out=place)",
            "sum of axis 0": "cupy.sum(m, axis=0)",
            "max of axis 0": "cupy.max(m, axis=0)",
            "argmax of axis 0": "cupy.argmax(m, axis=0)",
            "matmul": "cupy.matmul(m, m)",
            "matmul, out": "cupy.matmul(m, m, out=product)",
            "dot": "cupy.dot(x, x)",
        },
        names,
        cupy.cuda.Device(number).synchronize,
    )


def _of_cuda_compute(number: int, n: int) -> Calls:
    """CUB's reduction, prepared once; its arrays are CuPy's."""
    compute = importlib.import_module("cuda.compute")
    cupy = importlib.import_module("cupy")
    cupy.cuda.Device(number).use()
    x, out = cupy.asarray(_arrays(n)[0]), cupy.empty(1, cupy.float32)
    plus = compute.OpKind.PLUS
    try:  # without an initial value, a call has one conversion less
        start = None
        prepared = compute.make_reduce_into(d_in=x, d_out=out, op=plus, h_init=start)
    except (TypeError, AttributeError):  # before 1.0
        start = np.zeros(1, np.float32)
        prepared = compute.make_reduce_into(d_in=x, d_out=out, op=plus, h_init=start)
    given = {"d_in": x, "d_out": out, "op": plus, "num_items": n, "h_init": start}
    try:
        size = prepared(temp_storage=None, **given)
    except TypeError:  # before 0.5 the call does not take the operator again
        del given["op"]
        size = prepared(temp_storage=None, **given)
    names = {"prepared": prepared, "storage": cupy.empty(size, cupy.uint8), "given": given}
    return Calls(
        {"sum, out": "prepared(temp_storage=storage, **given)"}, names, cupy.cuda.Device(number).synchronize
    )


def _of_nvmath(number: int, n: int) -> Calls:
    """A prepared product; its arrays are CuPy's."""
    advanced = importlib.import_module("nvmath.linalg.advanced")
    cupy = importlib.import_module("cupy")
    cupy.cuda.Device(number).use()
    m = cupy.asarray(_arrays(n)[1])
    prepared = advanced.Matmul(m, m)
    prepared.plan()
    return Calls(
        {"matmul": "prepared.execute()"}, {"prepared": prepared}, cupy.cuda.Device(number).synchronize
    )


PEERS: dict[str, Callable[[int, int], Calls]] = {
    "torch": _of_torch,
    "cupy": _of_cupy,
    "cuda.compute": _of_cuda_compute,
    "nvmath": _of_nvmath,
}
