"""What this installation is and what it found: ``cs.info()``. It never raises for what is missing: it says why."""

from __future__ import annotations

import ctypes.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np

import cuscope as cs
from cuscope import _core

__all__ = ["Info", "cuda_runtime", "host_compiler", "info", "nvrtc"]


class Info(dict[str, Any]):
    """A dictionary of plain values, printed as an indented list."""

    def __repr__(self) -> str:
        lines: list[str] = []
        _write(lines, dict(self), 0)
        return "\n".join(lines)

    __str__ = __repr__


def info() -> Info:
    """Describe the build, the compilers, the runtimes, the devices and the optional libraries.

    Returns
    -------
    Info
        A dictionary of plain values (``json.dumps`` takes it) that prints as a readable list. Where something is
        missing, its entry says why.

    Examples
    --------
    >>> cs.info()["version"] == cs.__version__
    True
    >>> [d["name"] for d in cs.info()["devices"] if d["simulated"]][0]
    'host:0'
    """
    return Info(
        version=cs.__version__,
        python=f"{platform.python_version()} ({sys.executable})",
        numpy=np.__version__,
        platform=platform.platform(),
        build=dict(_core.build_config),
        runtimes={"cuda": cuda_runtime()[1], "host": "simulated devices, always there"},
        devices=[
            {
                "name": device.name,
                "model": device.model,
                "simulated": device.simulated,
                "compute_capability": ".".join(map(str, device.compute_capability)),
                "memory_bytes": device.properties.total_global_memory,
            }
            for device in cs.devices()
        ],
        kernel_compilers={"host": host_compiler(), "cuda": nvrtc()},
        kernel_cache=_core.cache_description(),
    )


def cuda_runtime() -> tuple[Literal["absent", "no driver", "broken", "ok"], str]:
    """How the runtime for real GPUs is: whether it can be used, and that in words."""
    build = _core.build_config
    if build["cuda"] != "ON":
        return "absent", f"not in this build: {build['cuda_reason']}"
    answer = next(answer for answer in _core.runtime_answers() if answer["kind"] == "cuda")
    if answer["status"] == "cudaSuccess":
        count = answer["device_count"]
        return (
            "ok",
            f"driver for CUDA {_spell(answer['driver_version'])}, {count} device{'s' if count != 1 else ''}",
        )
    reason = answer["detail"] or answer["status"]
    if reason.startswith("no driver"):
        return "no driver", f"{reason}. Real GPUs need NVIDIA's driver; the simulated devices do not"
    return "broken", reason


def _spell(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def host_compiler() -> str:
    """The C++ compiler that kernels for simulated devices are compiled with, or what is missing."""
    if chosen := os.environ.get("CUSCOPE_CXX"):
        if path := shutil.which(chosen):
            return _compiler_version(path)
        return f"none: CUSCOPE_CXX is {chosen}, which is not there. Set it to the path of g++ or clang++, or unset it"
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and (path := shutil.which(name)):
            return _compiler_version(path)
    return (
        "none: no c++, g++ or clang++ on the PATH. apt install g++, dnf install gcc-c++ or conda install gxx"
    )


def _compiler_version(path: str) -> str:
    try:
        output = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return f"none: {path} does not run: {error}"
    return f"{path} ({output.splitlines()[0] if output else 'it does not say its version'})"


def nvrtc() -> str:
    """Where NVRTC is, which compiles kernels for real GPUs, or what is missing."""
    build = _core.build_config
    if build["cuda"] != "ON":
        return "not needed: this build has no runtime for real GPUs"
    name = f"libnvrtc.so.{build['cuda_toolkit'].split('.')[0]}"
    wheels = Path(_core.__file__).parent.parent / "nvidia"
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    candidates = [wheels / "cu13/lib" / name, wheels / "cuda_nvrtc/lib" / name]
    candidates += [Path(root) / folder / name for root in toolkits if root for folder in ("lib64", "lib")]
    if chosen := os.environ.get("CUSCOPE_NVRTC"):
        candidates[:0] = [Path(chosen), Path(chosen) / name]
    for path in candidates:
        if path.is_file():
            return str(path)
    if found := ctypes.util.find_library("nvrtc"):
        return found
    return f"none: no {name} among the wheels and toolkits. pip install 'cuscope[cuda13]', or set CUSCOPE_NVRTC to its path"


def _write(lines: list[str], value: dict[str, Any], depth: int) -> None:
    indent = "  " * depth
    width = max((len(key) for key, entry in value.items() if not isinstance(entry, (dict, list))), default=0)
    for key, entry in value.items():
        if isinstance(entry, dict):
            lines.append(f"{indent}{key}:")
            _write(lines, entry, depth + 1)
        elif isinstance(entry, list):
            lines.append(f"{indent}{key}:")
            for item in entry:
                lines.append(f"{indent}  " + ", ".join(f"{name} {text}" for name, text in item.items()))
        else:
            lines.append(f"{indent}{key:<{width}}  {'-' if entry == '' else entry}")
