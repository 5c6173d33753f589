"""Errors against exact arithmetic: no larger than those of NumPy's pairwise sums, and of cuBLAS."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import cuscope as cs

# Kinds of numbers: all of one sign, of both signs, and of all magnitudes, which cancel.
DATA = {
    "positive": lambda random, shape: random.uniform(0, 1, shape),
    "normal": lambda random, shape: random.standard_normal(shape),
    "cancelling": lambda random, shape: 10.0 ** random.uniform(-4, 4, shape) * random.choice([-1, 1], shape),
}
SUMS = ["auto", "single_launch"]


def numbers(kind: str, shape, seed: int, dtype=np.float32) -> np.ndarray:
    return DATA[kind](np.random.default_rng(seed), shape).astype(dtype)


def exact_sum(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    wide = x.astype(np.float64)
    return np.float64(math.fsum(wide)) if axis is None else np.apply_along_axis(math.fsum, axis, wide)


# Sums


@pytest.mark.parametrize("variant", SUMS)
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("n", [7, 1000, 4099, 200_003])
def test_no_float32_sum_is_further_off_than_numpys(device, n, kind, variant):
    for seed in range(5):
        x = numbers(kind, n, seed)
        exact = exact_sum(x)

        result = cs.reduce(x, "sum", variant=variant)

        assert abs(float(result) - exact) <= abs(float(x.sum()) - exact)


@pytest.mark.parametrize("variant", SUMS)
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("axis", [0, 1])
def test_no_float32_sum_along_an_axis_is_further_off_than_numpys(device, axis, kind, variant):
    x = numbers(kind, (700, 300), 6)
    exact = exact_sum(x, axis)

    result = cs.reduce(cs.to_device(x), "sum", axis, variant=variant).to_host()

    assert np.all(abs(result.astype(np.float64) - exact) <= abs(x.sum(axis).astype(np.float64) - exact))


@pytest.mark.parametrize("op", ["sum", "mean"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_floats_are_rounded_once(device, op, dtype):
    x = numbers("normal", 100_003, 7, dtype)
    exact = exact_sum(x) / (x.size if op == "mean" else 1)

    result = getattr(cs, op)(x)

    assert abs(float(result) - exact) <= float(np.spacing(dtype(abs(exact)))) * 0.5000001


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_dot_products_of_narrow_floats_are_rounded_once(device, dtype):
    x, y = numbers("normal", 50_003, 8, dtype), numbers("positive", 50_003, 9, dtype)
    # Products of single precision are exact in double.
    exact = math.fsum(x.astype(np.float64) * y.astype(np.float64))

    result = cs.dot(x, y)

    assert abs(float(result) - exact) <= float(np.spacing(dtype(abs(exact)))) * 0.5000001


def test_compensated_float64_sums_are_no_further_off_than_numpys(device):
    for kind in DATA:
        for seed in range(5):
            x = numbers(kind, 30_001, seed, np.float64)
            exact = exact_sum(x)

            result = cs.reduce(x, "sum", variant="single_launch")

            assert abs(result - exact) <= abs(x.sum() - exact), kind


@pytest.mark.parametrize("kind", DATA)
def test_float64_sums_of_auto_are_as_good_as_numpys(device, kind):
    ours, numpys = [], []
    for seed in range(40):
        x = numbers(kind, 20_001, seed, np.float64)
        exact, unit = exact_sum(x), float(np.spacing(np.abs(x).sum()))
        ours.append((cs.sum(x) - exact) / unit)
        numpys.append((x.sum() - exact) / unit)

    assert root_mean_square(ours) <= 1.25 * root_mean_square(numpys) + 0.1


# Products of matrices


class Error(NamedTuple):
    """Errors relative to the sums of the magnitudes of the summands."""

    root_mean_square: float
    largest: float


def root_mean_square(values) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


class Product(NamedTuple):
    a: np.ndarray
    b: np.ndarray
    rows: np.ndarray  # the rows whose exact product is known
    exact: np.ndarray
    magnitude: np.ndarray

    def error(self, result: np.ndarray) -> Error:
        assert result.dtype == np.float32
        relative = (result[self.rows].astype(np.float64) - self.exact) / self.magnitude
        return Error(root_mean_square(relative), float(abs(relative).max()))


@functools.cache
def product(n: int, kind: str) -> Product:
    """The product in double precision: 2^29 times as exact as the results that it judges."""
    a, b = numbers(kind, (n, n), 1), numbers(kind, (n, n), 2)
    rows = np.unique(np.linspace(0, n - 1, 64).astype(int))
    left, right = a[rows].astype(np.float64), b.astype(np.float64)
    return Product(a, b, rows, left @ right, abs(left) @ abs(right))


def check_no_worse(ours: Error, theirs: Error) -> None:
    """Sums in another order have other errors. They are of the same size on average, but the largest error varies."""
    assert ours.root_mean_square <= 1.05 * theirs.root_mean_square, (ours, theirs)
    assert ours.largest <= 1.5 * theirs.largest, (ours, theirs)


SQUARES = pytest.mark.parametrize("n", [256, 1024, 2048])
KINDS = pytest.mark.parametrize("kind", ["positive", "normal"])


@SQUARES
@KINDS
@pytest.mark.host_only("beside cuBLAS on a GPU")
def test_float32_products_are_as_good_as_numpys(device, n, kind):
    known = product(n, kind)

    check_no_worse(known.error(cs.matmul(known.a, known.b)), known.error(known.a @ known.b))


CUBLAS = """
import sys
import numpy as np

a, b = np.load("a.npy"), np.load("b.npy")
missing = []
try:
    import cupy

    result = cupy.asnumpy(cupy.matmul(cupy.asarray(a), cupy.asarray(b)))
except Exception as error:
    missing.append(f"CuPy: {type(error).__name__}: {error}")
    try:
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        result = (torch.from_numpy(a).cuda() @ torch.from_numpy(b).cuda()).cpu().numpy()
    except Exception as error:
        missing.append(f"PyTorch: {type(error).__name__}: {error}")
        print("; ".join(missing))
        sys.exit(77)
np.save("c.npy", result)
"""


@SQUARES
@KINDS
@pytest.mark.gpu_only("cuBLAS needs a GPU")
def test_float32_products_are_as_good_as_those_of_cublas(device, run_python, tmp_path: Path, n, kind):
    known = product(n, kind)
    np.save(tmp_path / "a.npy", known.a)
    np.save(tmp_path / "b.npy", known.b)
    done = run_python(CUBLAS, env={"CUPY_TF32": "0", "NVIDIA_TF32_OVERRIDE": "0"})
    if done.returncode == 77:
        pytest.skip("neither CuPy nor PyTorch gives cuBLAS here")
    assert done.returncode == 0, done.stderr

    check_no_worse(known.error(cs.matmul(known.a, known.b)), known.error(np.load(tmp_path / "c.npy")))


@KINDS
@pytest.mark.parametrize("variant", ["vectorised", "double_buffered", "warp_tiles"])
def test_rungs_sum_in_single_precision_with_no_more_error_than_one_after_the_other(device, variant, kind):
    known = product(256, kind)
    in_order = np.zeros(known.exact.shape, np.float32)
    for k in range(known.a.shape[1]):
        in_order += known.a[known.rows, k, None] * known.b[k]
    whole = np.zeros(known.a.shape, np.float32)
    whole[known.rows] = in_order

    check_no_worse(known.error(cs.matmul(known.a, known.b, variant=variant)), known.error(whole))


def test_checker_sees_wrong_products():
    known = product(256, "normal")
    good = (known.a.astype(np.float64) @ known.b).astype(np.float32)
    one_wrong, all_worse = good.copy(), good * np.float32(1 + 1e-6)
    one_wrong[0, 0] += 1e-3

    for bad in (one_wrong, all_worse):
        with pytest.raises(AssertionError):
            check_no_worse(known.error(bad), known.error(good))
