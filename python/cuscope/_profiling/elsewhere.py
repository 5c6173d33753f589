"""Profiles of kernels of a GPU: a simulated device counts in its place, with copies of the arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .profile import Profile

if TYPE_CHECKING:
    from .. import _core

__all__ = ["profile"]


def profile(
    kernel: _core.Kernel,
    source: Mapping[str, Any] | None,
    launch: Any,
    values: tuple[Any, ...],
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared: int,
    blocks: int | None,
) -> Profile:
    """Copy the arguments, launch the kernel on its own device, and count what it does with the copies on host:0."""
    from .. import _core

    name = f"profile of {kernel.name}"
    if source is None:
        raise ValueError(
            f"{name}: this takes its source, and the kernel was loaded from a compiled image: compile it, "
            "cs.Module(source) or cs.Module.from_file('kernel.cu')"
        )
    for value, parameter in zip(values, kernel.parameters, strict=False):
        if not isinstance(value, _core.DeviceArray) and parameter.kind == "pointer" and value is not None:
            raise TypeError(
                f"{name}: argument {parameter.name} is {type(value).__name__}: on {kernel.device.name} "
                "a profile takes DeviceArray or None for pointers, because a simulated device gets copies"
            )
    held = [value.to_host() if isinstance(value, _core.DeviceArray) else value for value in values]
    launch(*values)
    device = _core.Device("host:0")
    with device:
        module = _core.Module(
            source["text"],
            name_expressions=source["name_expressions"],
            options=source["options"],
            include_paths=source["include_paths"],
            headers=dict(source["headers"]),
            file_name=source["file_name"],
        )
        copies = [
            _core.to_device(one) if isinstance(value, _core.DeviceArray) else value
            for one, value in zip(held, values, strict=True)
        ]
        made = module[kernel.name].profile(*copies, grid=grid, block=block, shared=shared, blocks=blocks)
    note = (
        f"The kernel ran on {kernel.device.name}. These numbers are not measured there: host:0 ({device.model}) simulated "
        "the launch with copies of the arguments."
    )
    return Profile({**made._facts, "note": note})
