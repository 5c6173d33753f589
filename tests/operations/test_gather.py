"""Operands whose elements lie in another order than the kernels read them: they are copied on the device first."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import cuscope as cs

DTYPES = [np.uint8, np.int16, np.float32, np.float64, np.complex128]  # elements of 1, 2, 4, 8 and 16 bytes


def numbers(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 9, shape).astype(dtype)


def product_and_kernels(a: cs.DeviceArray, b: cs.DeviceArray) -> tuple[np.ndarray, list[str]]:
    with cs.trace() as t:
        product = cs.matmul(a, b, variant="naive").to_host()
    return product, t.spans["name"][t.spans["kind"] == "kernel"].tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_elements_in_any_order_of_axes_are_found(device, axes, dtype):
    host = numbers((21, 70, 37), dtype)
    a, b = cs.to_device(host).transpose(axes), numbers((host.transpose(axes).shape[2], 5), dtype)

    product, _ = product_and_kernels(a, cs.to_device(b))

    assert np.array_equal(product, host.transpose(axes) @ b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_stack_of_transposed_matrices_is_copied_by_tiles(device, dtype):
    host = numbers((3, 70, 90), dtype)
    a, b = cs.to_device(host).transpose(0, 2, 1)[:, 1::2], numbers((70, 5), dtype)

    product, kernels = product_and_kernels(a, cs.to_device(b))

    assert np.array_equal(product, host.transpose(0, 2, 1)[:, 1::2] @ b)
    assert any("gather_tiles" in name for name in kernels)


def test_elements_in_reverse_are_found(device):
    host = numbers((70, 90), np.float32)
    b = numbers((70, 5), np.float32)

    product, kernels = product_and_kernels(cs.to_device(host)[::-1, ::-1].T, cs.to_device(b))

    assert np.array_equal(product, host[::-1, ::-1].T @ b)
    assert any("gather_tiles" in name for name in kernels)


def transposed(m: int, n: int, dtype: type) -> cs.DeviceArray:
    return cs.empty((n, m), dtype).T


# On simulated devices alone: the kernels of a GPU have other names, and some products are two launches there.
@pytest.mark.parametrize(
    ("left", "right", "copies"),
    [
        (lambda: cs.empty((64, 1000), np.float32), lambda: transposed(1000, 520, np.float32), 0),
        (lambda: cs.empty((9000, 800), np.float32), lambda: cs.empty((800, 7), np.float32), 0),
        (lambda: transposed(9000, 800, np.float32), lambda: cs.empty((800, 7), np.float32), 0),
        (lambda: cs.empty((16, 1000), np.float16), lambda: transposed(1000, 520, np.float16), 0),
        (lambda: cs.empty((300, 300), np.float16), lambda: transposed(300, 300, np.float16), 1),
        (lambda: cs.empty((64, 1000), np.int32), lambda: cs.empty((1000, 520), np.int8), 1),
    ],
    ids=["x @ w.T", "few columns", "few columns, transposed", "16 rows", "rows of 600 bytes", "converted"],
)
def test_a_simulated_device_copies_the_operands_that_a_gpu_copies(left, right, copies):
    with cs.add_host_device("h200"):
        a, b = left(), right()
        a.fill(1)
        b.fill(2)
        cs.synchronize()
        with cs.trace() as t:
            product = cs.matmul(a, b)

    assert (product.to_host() == 2 * a.shape[1]).all()
    work = t.spans["name"][np.isin(t.spans["kind"], ["kernel", "copy", "memset"])].tolist()
    assert work[-1] == "matmul"
    assert len(work[:-1]) == copies, work
