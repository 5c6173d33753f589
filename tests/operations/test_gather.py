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
