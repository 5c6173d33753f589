"""``cs.info()``: a description of this installation. For a missing part it gives the reason, and does not raise."""

from __future__ import annotations

import ctypes.util
import importlib.metadata
import importlib.util
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

from ._public import show_as_public
from ._wheels import wheel_folders

__all__ = [
    "Info",
    "cuda_runtime",
    "current_device",
    "cupti",
    "host_compiler",
    "info",
    "nvrtc",
    "optional_libraries",
]

# The packages that only an extra of this package installs, and their use.
OPTIONAL = {
    "ipykernel": "notebooks",
    "jupyterlab": "notebooks",
    "matplotlib": "plots",
    "rich": "progress bars",
    "pytest": "tests",
    "hypothesis": "tests",
    "nbclient": "tests",
}


class Info(dict[str, Any]):
    """A dictionary of plain values, printed as an indented list."""

    def __repr__(self) -> str:
        lines: list[str] = []
        _write(lines, dict(self), 0)
        return "\n".join(lines)

    __str__ = __repr__


def info() -> Info:
    """Describe this installation: a dictionary that prints as ``python -m cuscope info`` does.

    Never raises for a missing part: its entry gives the reason. Sizes are in bytes, and ``json.dumps`` takes all values.

    >>> import cuscope as cs
    >>> cs.info()["version"] == cs.__version__
    True
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
        current_device=current_device()[1],
        kernel_compilers={"host": host_compiler(), "cuda": nvrtc()},
        traces={"host": "recorded by the simulation", "cuda": cupti()},
        kernel_cache=_core.cache_description(),
        optional_libraries=optional_libraries(),
    )


show_as_public(info)


def current_device() -> tuple[bool, str]:
    """Whether there is a current device; and its name, or the reason why there is none."""
    try:
        return True, cs.current_device().name
    except (ValueError, cs.CudaError) as error:
        return False, f"none: {error}"


def optional_libraries() -> dict[str, str]:
    """The packages that only an extra installs: version and folder, or the reason why one cannot be used."""
    return {name: _package(name, use) for name, use in OPTIONAL.items()}


def _package(name: str, use: str) -> str:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return f"none: not installed, needed for {use} only. pip install {name}"
    folder = Path(spec.origin).parent if spec.origin else "no folder"
    try:
        return f"{importlib.metadata.version(name)} ({folder})"
    except importlib.metadata.PackageNotFoundError:
        return str(folder)


def cuda_runtime() -> tuple[Literal["absent", "no driver", "broken", "ok"], str]:
    """The state of the runtime for real GPUs, and a sentence about it."""
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
    """The C++ compiler for the kernels of simulated devices, or the reason why there is none."""
    if chosen := os.environ.get("CUSCOPE_CXX"):
        candidates = [chosen]
        fix = "Set CUSCOPE_CXX to the path of g++ or clang++, or unset it"
    else:
        candidates = [name for name in (os.environ.get("CXX"), "c++", "g++", "clang++") if name]
        fix = "apt install g++, dnf install gcc-c++ or conda install gxx"
    problem = "no c++, g++ or clang++ on the PATH"
    for name in candidates:
        path = shutil.which(name)
        if path and (version := _compiler_version(path)):
            return f"{path} ({version})"
        if chosen:
            what = "does not run" if path else "is no program" if Path(name).exists() else "is not there"
            problem = f"CUSCOPE_CXX is {chosen}, which {what}"
    return f"none: {problem}. {fix}"


def _compiler_version(path: str) -> str | None:
    try:
        output = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return output.splitlines()[0] if output else "it does not say its version"


def nvrtc() -> str:
    """The path of NVRTC, which compiles kernels for real GPUs, or the reason why there is none."""
    return _cuda_library("nvrtc", ["cu13/lib", "cuda_nvrtc/lib"], ["lib64", "lib"], ["nvrtc", "runtime"])


def cupti() -> str:
    """The path of CUPTI, which records the work of real GPUs for traces, or the reason why there is none."""
    return _cuda_library(
        "cupti", ["cu13/lib", "cuda_cupti/lib"], ["extras/CUPTI/lib64", "lib64", "lib"], ["cupti"]
    )


def _cuda_library(name: str, in_wheels: list[str], in_toolkits: list[str], packages: list[str]) -> str:
    build = _core.build_config
    if build["cuda"] != "ON":
        return "not needed: this build has no runtime for real GPUs"
    major = build["cuda_toolkit"].split(".")[0]
    files = [f"lib{name}.so.{number}" for number in dict.fromkeys([major, "13", "12"])]
    variable = f"CUSCOPE_{name.upper()}"
    folders: list[Path] = []
    if chosen := os.environ.get(variable):
        if Path(chosen).is_file():
            return chosen
        folders.append(Path(chosen))
    folders += [Path(wheels) / folder for wheels in wheel_folders() for folder in in_wheels]
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders += [Path(root) / folder for root in toolkits if root for folder in in_toolkits]
    for folder in folders:
        for file in files:
            if (folder / file).is_file():
                return str(folder / file)
    if found := ctypes.util.find_library(name):
        return found
    wheel = "nvidia-cuda-{}-cu12" if major == "12" else f'"nvidia-cuda-{{}}=={major}.*"'
    wanted = " ".join(wheel.format(package) for package in packages)
    return f"none: no {files[0]} among the wheels and toolkits. pip install {wanted}, or set {variable} to its path"


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
