"""Small programs with one mistake in the order of their calls, and the same programs without it.

Lines that end with `#1` and `#2` are those of the earlier and the later call. A line that begins with `+` belongs to the
mended program alone, one with `-` to the wrong one alone. Each program has two streams s and t that do not wait for the
default stream, a module k with the kernels below, and NumPy's ones as `ones`.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import cuscope as cs

N = 256

KERNELS = """
__global__ void copy(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
__global__ void set(float* x, float value) { x[threadIdx.x] = value; }
__global__ void read_only(const float* x) { if (x[threadIdx.x] == -1) printf("none"); }
__global__ void set_one(float* x, int at) { x[at] = 1; }
__global__ void count(unsigned* x) { atomicAdd(x, 1u); }
__global__ void by_address(void* x) { static_cast<float*>(x)[threadIdx.x] = 1; }
"""


def view_of(x: cs.DeviceArray) -> cs.DeviceArray:
    """The array, as another library would hand it out: it keeps nothing alive."""
    interface = {"shape": x.shape, "typestr": x.dtype.str, "data": (x.pointer, False), "version": 3}
    return cs.asarray(SimpleNamespace(__cuda_array_interface__=interface))


@dataclass(frozen=True)
class Program:
    name: str
    kind: str
    text: str
    says: str = ""
    """A part of the report."""
    host_only: bool = False
    """Only a simulated device knows what the kernels access."""

    def form(self, *, mended: bool) -> str:
        keep, drop = ("+", "-") if mended else ("-", "+")
        lines = []
        for line in textwrap.dedent(self.text).strip("\n").splitlines():
            if line.startswith(drop):
                lines.append("")
            else:
                lines.append(line.removeprefix(keep).removeprefix(" ") if line.startswith(keep) else line)
        return "\n".join(lines) + "\n"

    def line(self, number: int, *, mended: bool = False) -> int | None:
        lines = self.form(mended=mended).splitlines()
        return next((n for n, line in enumerate(lines, 1) if line.endswith(f"#{number}")), None)


def run(program: Program, folder: Path, module: cs.Module, *, mended: bool) -> cs.CheckReport:
    """Run one form of the program, as a file of this folder, and return the report."""
    source = program.form(mended=mended)
    file = folder / f"{program.name.replace(' ', '_')}_{'mended' if mended else 'wrong'}.py"
    file.write_text(source)
    code = compile(source, str(file), "exec")
    with cs.check() as report:
        s, t = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        names: dict[str, Any] = {
            "cs": cs,
            "np": np,
            "k": module,
            "s": s,
            "t": t,
            "n": N,
            "device": module.device,
            "ones": np.ones(N, np.float32),
            "view_of": view_of,
        }
        exec(code, names)
        module.device.synchronize()
    return report
