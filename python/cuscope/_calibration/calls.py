"""The time that runtime calls cost the host."""

from __future__ import annotations

from .. import _core
from .bench import Bench

__all__ = ["measure"]


def measure(bench: Bench) -> dict[str, int]:
    costs = _core.call_costs(bench.nothing, bench.gate)
    return {f"call_{name}_ns": round(cost) for name, cost in costs.items()}
