"""Checks a wheel of this package: python tools/check_wheel.py FILE.whl [--precompiled] [--install] [--most MB].

Without options: the file's name says the same as its metadata, the file is small enough, and it has the parts that the
package needs and nothing else. `--precompiled`: every kernel of the package is compiled, as in a wheel that is
published. `--install`: installs the wheel with its requirements in a new environment, and runs it from an empty folder,
where no source of this repository can be found. Ends with 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"cuscope-(?P<version>[^-]+)-(?P<python>cp\d+)-(?P<abi>cp\d+t?)-(?P<platform>[^-]+)\.whl")
# The parts that every program needs, and the licences.
NEEDED = (
    "cuscope/__init__.py",
    "cuscope/_core.pyi",
    "cuscope/py.typed",
    "cuscope/include/cuscope_simt/fiber.h",
    "cuscope/kernels/host/native.cu",
    "cuscope/kernels/host/native.image",
    "cuscope/kernels/gather/gather.image",
    "cuscope/course/notebooks/01_memory_kernels_errors.ipynb",
)
LICENCES = ("LICENSE", "third_party/dlpack/LICENSE")
# The kinds of files: Python, the extension, kernels with their headers and machine code, and the wheel's own.
ALLOWED = re.compile(
    r"cuscope/(_core\.[\w-]+\.so|py\.typed|(\w+/)*\w+\.(pyi?|js))"
    r"|cuscope/include/[\w/]+(\.h|\.hpp|\.cuh|\.cpp|\.inc|/\w+)"
    r"|cuscope/kernels/\w+/(\w+\.(cu|cuh|hpp|image|fatbin)|README\.md)"
    r"|cuscope/course/(notebooks/\w+\.ipynb|results/\w+\.(json|csv))"
    r"|cuscope(-[\d.]+\.dist-info|\.libs)/.+"
)
# A first program: a kernel from source, and an operation.
PROGRAM = """\
import sys

import numpy as np
import cuscope as cs

x = cs.to_device(np.arange(32, dtype=np.float32))
module = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")
module.twice[1, 32](x)
assert x.to_host().tolist() == [2.0 * i for i in range(32)]
assert cs.sum(x).to_host() == 992
assert cs.__file__.startswith(sys.prefix), cs.__file__
"""
# The README's way to the picture of a first timeline.
DEMO = ["-m", "cuscope", "trace", "--out", "timeline.svg", "-m", "cuscope", "demo"]


def kernels_without_code(names: set[str], for_gpus: bool) -> list[str]:
    """The kernels of the package that the wheel leaves to the user's compiler."""
    missing = []
    for name in sorted(name for name in names if name.endswith(".cu")):
        stem = name.removesuffix(".cu")
        endings = [".image"] + [".fatbin"] * (for_gpus and "/host/" not in name)
        missing += [stem + ending for ending in endings if stem + ending not in names]
    return missing


def faults(wheel: Path, most: float, precompiled: bool) -> list[str]:
    """One line for each thing that is wrong with the file."""
    name = NAME.fullmatch(wheel.name)
    if name is None:
        return [f"{wheel.name} is no name of a wheel of cuscope for CPython"]
    found = []
    size = wheel.stat().st_size / 1e6
    if size > most:
        found.append(f"it has {size:.1f} MB; allowed are {most:g}")
    with zipfile.ZipFile(wheel) as archive:
        names = {one for one in archive.namelist() if not one.endswith("/")}  # auditwheel adds the folders
        info = f"cuscope-{name['version']}.dist-info"
        tags = Parser().parsestr(archive.read(f"{info}/WHEEL").decode()).get_all("Tag", [])
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
    expected = [f"{name['python']}-{name['abi']}-{one}" for one in name["platform"].split(".")]
    if sorted(tags) != sorted(expected):
        found.append(f"its metadata has the tags {tags}, its name {expected}")
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    if version is None or not version[1] == metadata["Version"] == name["version"]:
        found.append(f"its version is {metadata['Version']}; pyproject.toml has {version and version[1]}")
    if not any(one.startswith("numpy>=") for one in metadata.get_all("Requires-Dist", [])):
        found.append("it does not require NumPy")
    extensions = [one for one in names if re.fullmatch(r"cuscope/_core\..+\.so", one)]
    if len(extensions) != 1:
        found.append(f"it has {len(extensions)} extension modules: {extensions}")
    elif f"-{name['abi'].removeprefix('cp')}-" not in extensions[0]:
        found.append(f"{extensions[0]} is not for {name['abi']}")
    found += [f"{one} is missing" for one in NEEDED if one not in names]
    found += [f"{one} is missing" for one in LICENCES if f"{info}/licenses/{one}" not in names]
    found += [f"{one} does not belong in it" for one in sorted(names) if ALLOWED.fullmatch(one) is None]
    if precompiled:
        for_gpus = any(one.endswith(".fatbin") for one in names)
        found += [f"{one} is missing" for one in kernels_without_code(names, for_gpus)]
    return found


def run(python: Path, arguments: list[str], folder: Path) -> str:
    # Nothing of the caller's may change which package and which device are found. No kernel is compiled yet.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CUSCOPE_"))}
    kept |= {"CUSCOPE_DEVICE": "host:0", "CUSCOPE_CACHE_DIR": str(folder.parent / "cache")}
    done = subprocess.run(
        [python, *arguments], cwd=folder, env=kept, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments[:3])} ended with exit code {done.returncode}:\n{done.stdout}")
    return done.stdout


def install_and_run(wheel: Path) -> None:
    """Each step with its seconds, as a user of the wheel meets them."""
    with tempfile.TemporaryDirectory(prefix="cuscope-wheel-") as scratch:
        folder, environment = Path(scratch, "empty"), Path(scratch, "venv")
        folder.mkdir()
        python = environment / "bin" / "python"
        began = time.monotonic()

        def tell(step: str) -> None:
            nonlocal began
            print(f"  {step:<28}{time.monotonic() - began:6.1f} s")
            began = time.monotonic()

        venv.create(environment)  # without a pip of its own, which would take longer than all other steps
        install = ["-m", "pip", "--python", str(python), "install", "-q", str(wheel.resolve())]
        run(Path(sys.executable), install, folder)
        tell("pip install")
        demo = run(python, DEMO, folder)
        tell("demo, traced to a picture")
        picture = (folder / "timeline.svg").read_text()
        if "PASSED" not in demo or "<svg" not in picture or "vec_add" not in picture:
            raise SystemExit(f"the demonstration or its picture is not right:\n{demo}")
        (folder / "first.py").write_text(PROGRAM)
        run(python, ["first.py"], folder)
        tell("a kernel and an operation")
        info = json.loads(run(python, ["-m", "cuscope", "info", "--json"], folder))
        tell("python -m cuscope info")
        build = info["build"]
        with zipfile.ZipFile(wheel) as archive:
            for_gpus = any(one.endswith(".fatbin") for one in archive.namelist())
        if (for_gpus and build["cuda"] != "ON") or info["version"] not in wheel.name:
            raise SystemExit(f"info does not describe this wheel: {info['version']}, {build}")
        print(f"  info: {info['version']}, Python {info['python'].split()[0]}, NumPy {info['numpy']}, "
              f"{build['cxx_compiler']}, {build['cuda_reason']}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--most", type=float, default=15, metavar="MB", help="largest size (default: 15)")
    parser.add_argument("--precompiled", action="store_true", help="every kernel must be compiled")
    parser.add_argument("--install", action="store_true", help="install it and run it")
    options = parser.parse_args()
    found = faults(options.wheel, options.most, options.precompiled)
    for fault in found:
        print(f"{options.wheel.name}: {fault}")
    if found:
        return 1
    print(
        f"{options.wheel.name}: {options.wheel.stat().st_size / 1e6:.1f} MB, tag, version and files are right"
    )
    if options.install:
        install_and_run(options.wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
