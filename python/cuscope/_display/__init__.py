"""How notebooks show objects: small HTML without scripts, for light and dark pages.

A picture never raises, never waits, and leaves captures, traces and simulated times as they are. If it cannot be made,
the notebook shows the repr.
"""

from __future__ import annotations

import importlib

from .. import _core

__all__ = ["add_to_classes"]

# The module here that has the function of a class, and the function.
SHOWN: dict[str, tuple[str, str]] = {
    "DeviceArray": ("arrays", "array"),
    "Stream": ("streams", "stream"),
    "Event": ("streams", "event"),
    "Device": ("devices", "device"),
    "MemoryPool": ("memory", "pool"),
    "Module": ("kernels", "module"),
    "Kernel": ("kernels", "kernel"),
    "Graph": ("graphs", "graph"),
    "GraphExec": ("graphs", "executable"),
    **dict.fromkeys(
        ("Counts", "DeviceProperties", "FunctionAttributes", "GlobalCounts", "MemoryInfo", "PointerAttributes", "PoolStatistics"),
        ("fields", "fields"),
    ),
}  # fmt: skip


def _repr_html_(self: object) -> str | None:
    try:
        file, function = SHOWN[next(one.__name__ for one in type(self).__mro__ if one.__name__ in SHOWN)]
        made = getattr(importlib.import_module(f".{file}", __name__), function)
        shown: str | None = _core.looking(made, self)
    except Exception:
        return None
    return shown


def _key_completions(self: _core.Module) -> list[str]:
    """The kernels, for the Tab key behind ``module["``."""
    return list(self.kernels)


def add_to_classes() -> None:
    """Give the classes of the extension the methods that notebooks look for."""
    for name in SHOWN:
        getattr(_core, name)._repr_html_ = _repr_html_
    _core.Module._ipython_key_completions_ = _key_completions  # type: ignore[attr-defined]
