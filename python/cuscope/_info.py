"""What this installation is and what it found: ``cs.info()``. It never raises for what is missing: it says why."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import cuscope as cs
from cuscope import _core

__all__ = ["Info", "driver", "host_compiler", "info", "nvrtc"]


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
        missing, its entry says why, and what to do if it is wanted.

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
        runtimes={"cuda": _cuda_runtime(), "host": "simulated devices, always there"},
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
        optional={name: _package(name, needed_for) for name, needed_for in _OPTIONAL.items()},
    )


_OPTIONAL = {"cuda-pathfinder": "finding NVRTC among installed wheels: pip install 'cuscope[cuda13]'"}


def _package(name: str, needed_for: str) -> str:
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return f"not installed; for {needed_for}"
    return f"{found.version} ({found.locate_file('')})"


def driver() -> tuple[int | None, str]:
    """The CUDA version that the NVIDIA driver here supports (13000 is 13.0; None without one), and that in words."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return None, f"no driver: {error}"
    version = ctypes.c_int(0)
    status = library.cuDriverGetVersion(ctypes.byref(version))
    if status != 0 or version.value <= 0:
        return None, f"no driver: libcuda.so.1 is there, but answers {status}"
    return version.value, f"driver for CUDA {_spell(version.value)}"


def _spell(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _cuda_runtime() -> str:
    build = _core.build_config
    if build["cuda"] != "ON":
        return f"not in this build: {build['cuda_reason']}"
    version, words = driver()
    if version is None:
        return f"{words}. Real GPUs need NVIDIA's driver; the simulated devices do not"
    major = int(build["cuda_toolkit"].split(".")[0])
    if version // 1000 < major:
        return f"driver too old: {words}, but this build needs {major}.0 or newer. Update NVIDIA's driver"
    count = sum(device.kind == "cuda" for device in cs.devices())
    return f"{words}, {count} device{'s' if count != 1 else ''}"


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
    if _core.build_config["cuda"] != "ON":
        return "not needed: this build has no runtime for real GPUs"
    name = f"libnvrtc.so.{_core.build_config['cuda_toolkit'].split('.')[0]}"
    folders = [Path(entry) / "nvidia" / part / "lib" for entry in sys.path for part in ("cu13", "cuda_nvrtc")]
    folders += [
        Path(root) / "lib64" for root in (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME")) if root
    ]
    folders.append(Path("/usr/local/cuda/lib64"))
    for folder in folders:
        if (folder / name).exists():
            return str(folder / name)
    if found := ctypes.util.find_library("nvrtc"):
        return found
    return f"none: no {name} among the installed wheels or toolkits. pip install 'cuscope[cuda13]'"


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
            lines.append(f"{indent}{key:<{width}}  {entry}".rstrip())
