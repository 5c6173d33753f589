"""The first use of an operation on a simulated device compiles the kernel that it launches, and no other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

pytestmark = pytest.mark.host_only("a GPU has files that were compiled with the package")


@pytest.fixture
def images(tmp_path, monkeypatch):
    """A function that counts the images in the cache, which is empty. The current device has loaded no kernel."""
    monkeypatch.setenv("CUSCOPE_CACHE_DIR", str(tmp_path))
    with cs.add_host_device("h200"):
        yield lambda: sum(path.is_file() for path in Path(tmp_path).rglob("*"))


def test_operations_compile_nothing(images):
    x = np.ones((40, 40), np.float32)

    cs.sum(x), cs.max(x, axis=0), cs.argmin(x), cs.mean(x), cs.matmul(x, x)
    with cs.check():
        cs.sum(cs.to_device(x))

    assert images() == 0


def test_named_variant_of_a_reduction_compiles_an_instance_for_each_type(images):
    counts = []
    for dtype in (np.float32, np.float32, np.int32):
        cs.reduce(cs.zeros(1000, dtype), "sum", variant="single_launch")
        counts.append(images())

    assert counts == [1, 1, 2]


def test_named_variant_of_a_product_compiles_an_instance_for_each_type(images):
    counts = []
    for dtype in (np.float32, np.float32, np.float64):
        x = cs.zeros((64, 64), dtype)
        cs.matmul(x, x, variant="warp_tiles")
        counts.append(images())

    assert counts == [1, 1, 2]
