"""The operations of the package are captured and replayed with other input."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs


@pytest.mark.parametrize("name", ["sum", "max", "mean", "argmax"])
def test_reductions_are_captured_and_replayed_with_other_input(device, name):
    s = cs.Stream()
    values = np.random.default_rng(0).random(1 << 16, dtype=np.float32)
    given = cs.to_device(values, stream=s)
    s.synchronize()
    with s.capture() as graph:
        made = getattr(cs, name)(given)
    exe = graph.instantiate()
    for _ in range(3):
        values = np.random.default_rng(1).permutation(values)
        given.copy_from(values, stream=s)
        exe.launch(s)
        with s:
            plain = getattr(cs, name)(given)
        assert made.to_host(stream=s) == plain.to_host(stream=s)


def test_products_are_captured_and_replayed_with_other_input(device):
    s = cs.Stream()
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 4, (96, 96)).astype(np.float32) for _ in range(2))
    d_a, d_b = cs.to_device(a, stream=s), cs.to_device(b, stream=s)
    s.synchronize()
    with s.capture() as graph:
        product = cs.matmul(d_a, d_b)
        again = cs.matmul(product, d_b)
    exe = graph.instantiate()
    for factor in (1, 2):
        d_a.copy_from(a * factor, stream=s)
        exe.launch(s)
        assert np.array_equal(again.to_host(stream=s), a * factor @ b @ b)


def test_captured_and_plain_reductions_share_no_workspace(device):
    s, t = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    given = cs.full(1 << 20, 1, np.int32)
    device.synchronize()
    with s.capture() as graph:
        made = cs.sum(given)
    exe = graph.instantiate()
    plain = []
    for _ in range(10):
        exe.launch(t)
        with s:
            plain.append(cs.sum(given))
    assert made.to_host(stream=t) == 1 << 20
    assert [int(p.to_host(stream=s)) for p in plain] == [1 << 20] * 10
