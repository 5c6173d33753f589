"""Products and reductions of whole arrays."""

from __future__ import annotations

import numpy as np
from table import operation
from workers import Worker

import cuscope as cs


@operation("Matmul*", "Variant*", "matmul")
def multiply(w: Worker) -> None:
    assert cs.matmul(np.eye(8, dtype=np.float32), np.ones((8, 8), np.float32)).sum() == 64
    cs.matmul.variants()
    cs.matmul.explain(np.ones((8, 8), np.float32), np.ones((8, 8), np.float32))


@operation("Reduce*", "reduce", "sum", "prod", "min", "max", "mean", "dot", "argmin", "argmax", "any", "all")
def reduce(w: Worker) -> None:
    x = cs.full(64, 3, np.int32)
    name = w.random.choice(["sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all"])
    result = getattr(cs, name)(x)
    if name == "sum":
        assert int(result.to_host()) == 192
    cs.dot(x, x)
    cs.reduce(x, "sum")
    cs.reduce.variants()
    cs.reduce.explain(x, "sum")
