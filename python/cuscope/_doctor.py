"""Checks of the installation, ordered so that later checks build on earlier ones. Each failure comes with a fix."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import cuscope as cs
from cuscope import _core, _demo, _info

__all__ = ["Check", "run"]


@dataclass(frozen=True)
class Check:
    """One check: its name and outcome, the details that it found, and the fix if it failed."""

    name: str
    status: Literal["ok", "failed", "skipped"]
    detail: str
    fix: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The check as plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        text = f"[{self.status:^7}] {self.name}: {self.detail}"
        return f"{text}\n          fix: {self.fix}" if self.fix else text


def run() -> Iterator[Check]:
    """Yield the checks one by one, as they are made."""
    yield _version()
    compiler = _host_compiler()
    yield compiler
    if compiler.status == "ok":
        yield _kernel(
            "host:0",
            "pip install --force-reinstall . (or report this with the output of: python -m cuscope info)",
        )
        yield _cache()
    else:
        yield Check("a kernel on host:0", "skipped", "needs the C++ compiler")
    gpu = _gpu()
    yield gpu
    if gpu.status == "ok":
        nvrtc = _nvrtc()
        yield nvrtc
        for device in cs.devices():
            if device.kind == "cuda" and nvrtc.status == "ok":
                yield _kernel(device.name, "run nvidia-smi; a GPU that it calls healthy and free should work")
            elif device.kind == "cuda":
                yield Check(f"a kernel on {device.name}", "skipped", "needs NVRTC")
        yield _cupti()
    yield _current_device()


def _version() -> Check:
    built = _core.build_config["version"]
    try:
        installed = importlib.metadata.version("cuscope")
    except importlib.metadata.PackageNotFoundError:
        installed = "none"
    if built == installed == cs.__version__:
        return Check("version", "ok", f"cuscope {built}")
    return Check(
        "version",
        "failed",
        f"the package is {installed}, its Python code {cs.__version__}, its extension {built}",
        "pip install --force-reinstall .",
    )


def _host_compiler() -> Check:
    found = _info.host_compiler()
    if found.startswith("none"):
        what, _, fix = found.removeprefix("none: ").partition(". ")
        return Check("C++ compiler", "failed", what, fix or "set CUSCOPE_CXX to the path of g++ or clang++")
    return Check("C++ compiler", "ok", found)


def _gpu() -> Check:
    name = "NVIDIA GPU"
    state, words = _info.cuda_runtime()
    if state == "ok":
        return Check(name, "ok", words)
    if state == "no driver" or (state == "absent" and not Path("/dev/nvidiactl").exists()):
        return Check(name, "skipped", words)
    if state == "absent":
        fix = "install the CUDA toolkit (nvcc on the PATH or in /usr/local/cuda), then: CUSCOPE_CUDA=ON pip install ."
        return Check(name, "failed", f"there is a driver, but its runtime is {words}", fix)
    if "too old" in words:
        fix = "update NVIDIA's driver, or build with an older toolkit: CUDACXX=/path/to/nvcc pip install ."
    else:
        fix = (
            "run nvidia-smi; in a container, pass the GPUs through (--gpus all); look at CUDA_VISIBLE_DEVICES"
        )
    return Check(name, "failed", words, fix)


def _nvrtc() -> Check:
    found = _info.nvrtc()
    if found.startswith("none"):
        what, _, fix = found.removeprefix("none: ").partition(". ")
        return Check("NVRTC", "failed", what, fix)
    return Check("NVRTC", "ok", found)


def _cupti() -> Check:
    """Only traces of GPUs need it, so the installation is sound without it."""
    found = _info.cupti()
    if found.startswith("none"):
        what, _, fix = found.removeprefix("none: ").partition(". ")
        return Check("CUPTI", "skipped", f"{what}. Traces of GPUs have the calls of the host alone", fix)
    return Check("CUPTI", "ok", found)


def _kernel(device_name: str, fix: str) -> Check:
    name = f"a kernel on {device_name}"
    try:
        report = _demo.run(cs.Device(device_name), elements=1 << 12)
    except cs.CudaError as error:
        where = f"{error.call}: {error.name}"
        detail = f"{where}: {error.detail.strip()}" if error.detail else where
        # The hint of that error is to run the doctor, which is running.
        hint = None if error.name == "cudaErrorJitCompilerNotFound" else error.hint
        return Check(name, "failed", detail, hint or fix)
    except (OSError, ValueError) as error:
        return Check(name, "failed", str(error), fix)
    verdict = str(report).splitlines()[-1]
    return Check(name, "ok", verdict) if report.passed else Check(name, "failed", verdict, fix)


def _cache() -> Check:
    """Checks the cache of the host's kernels, after one kernel has just been compiled."""
    name = "cache of compiled kernels"
    found = _core.cache_description()
    fix = "chmod 700 that folder, or set CUSCOPE_CACHE_DIR to one of your own"
    if found.startswith("off: "):
        return Check(name, "skipped", found)
    if found.startswith("not used: "):
        return Check(name, "failed", f"{found}, so every kernel is compiled again", fix)
    if not Path(found).is_dir():
        return Check(name, "failed", f"{found} cannot be made, so every kernel is compiled again", fix)
    return Check(name, "ok", found)


def _current_device() -> Check:
    name = "current device"
    there, found = _info.current_device()
    if there:
        return Check(name, "ok", found)
    return Check(
        name, "failed", found.removeprefix("none: "), "set CUSCOPE_DEVICE to one of these, or unset it"
    )
