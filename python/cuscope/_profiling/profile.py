"""What `Kernel.profile()` returns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from .._core import Counts, Device, KernelTime
from . import page, roofline, text, warp
from .building import base_name, lines_of
from .counters import counters_of
from .records import ProfiledLine, ProfileFinding
from .rules import findings_of

__all__ = ["Profile"]


class Profile:
    """The counters of one launch by source line, explained; from `Kernel.profile()`.

    ``print(profile)`` shows a table of the lines and the findings. A notebook shows the annotated source with drawings.
    Requests, sectors, wavefronts and bank conflicts equal those of `Kernel.count()`. Instructions, operations and the time
    are estimates: docs/profiling.md says how they are made. Nsight Compute shows such a profile of a GPU.

    >>> import numpy as np, cuscope as cs
    >>> with cs.Device("host:0"):
    ...     kernel = cs.Module('''__global__ void turn(const float* x, float* y) {
    ...         y[32 * threadIdx.x + threadIdx.y] = x[32 * threadIdx.y + threadIdx.x];
    ...     }''').turn
    ...     profile = kernel.profile(cs.zeros(1024, np.float32), cs.zeros(1024, np.float32), grid=1, block=(32, 32))
    >>> print(profile.findings[0].text)
    32.0 sectors a request where 4.0 would do: neighbouring lanes store to y 128 bytes apart, a stride of 32 elements
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts

    @property
    def kernel(self) -> str:
        """The name of the kernel."""
        return str(self._facts["kernel"])

    @property
    def device(self) -> Device:
        """The simulated device that ran the kernel."""
        device: Device = self._facts["device"]
        return device

    @property
    def grid(self) -> tuple[int, int, int]:
        """The blocks of the grid, (x, y, z)."""
        grid: tuple[int, int, int] = self._facts["grid"]
        return grid

    @property
    def block(self) -> tuple[int, int, int]:
        """The threads of a block, (x, y, z)."""
        block: tuple[int, int, int] = self._facts["block"]
        return block

    @property
    def blocks(self) -> int:
        """The number of blocks in the grid."""
        return int(self._facts["blocks"])

    @property
    def counted_blocks(self) -> int:
        """The number of blocks that were counted. All counters are sums over these blocks."""
        return int(self._facts["counted_blocks"])

    @property
    def note(self) -> str:
        """Where the numbers come from, if the kernel was to run on a GPU; else empty."""
        return str(self._facts.get("note", ""))

    @property
    def counts(self) -> Counts:
        """The counters of the whole kernel, as `Kernel.count()` returns them."""
        counts: Counts = self._facts["counts"]
        return counts

    @property
    def time(self) -> KernelTime | None:
        """The estimated time of the launch on the device, and the part of the device that bounds it.

        It comes from the counted blocks. None if no block was counted to its end.
        """
        time: KernelTime | None = self._facts["time"]
        return time

    @property
    def peaks(self) -> Mapping[str, float]:
        """The most that the device's model does in a second.

        'dram_bytes', 'l2_bytes', 'instructions' (of warps), and 'operations32' and 'operations64': operations with floats
        and doubles, where a fused multiplication and addition counts twice.
        """
        return MappingProxyType(dict(self._facts["peaks"]))

    @property
    def lines(self) -> tuple[ProfiledLine, ...]:
        """The lines of the source that ran, in order. Lines of headers come last."""
        return self._lines

    @cached_property
    def _lines(self) -> tuple[ProfiledLine, ...]:
        return tuple(lines_of(self._facts))

    def line(self, number: int, file: str | None = None) -> ProfiledLine:
        """The line with this number: of the kernel's own source, or of the header ``file``.

        Raises ValueError if no code of the line ran, with the lines that did.
        """
        own = self._own_file if file is None else base_name(file)
        lines = {line.number: line for line in self.lines if line.number and base_name(line.file) == own}
        if number in lines:
            return lines[number]
        raise ValueError(
            f"profile of {self.kernel}: no code of line {number} of {own} ran; these lines have code that ran: "
            f"{', '.join(map(str, lines)) or 'none'}"
        )

    @property
    def _own_file(self) -> str:
        source = self._facts["source"]
        return base_name(source["file_name"]) if source else ""

    @property
    def counters(self) -> Mapping[str, float]:
        """The counters of the kernel by name; docs/profiling.md explains each, and names Nsight Compute's."""
        return self._counters

    @cached_property
    def _counters(self) -> Mapping[str, float]:
        return MappingProxyType(counters_of(self))

    @property
    def different_load_sectors(self) -> Mapping[str, int]:
        """For each argument that points to memory: the sectors of 32 bytes that were loaded, each counted once."""
        return MappingProxyType(dict(self._facts["different_load_sectors"]))

    @property
    def findings(self) -> tuple[ProfileFinding, ...]:
        """What makes the kernel slow, the most important first; empty if no rule applies."""
        return self._findings

    @cached_property
    def _findings(self) -> tuple[ProfileFinding, ...]:
        return tuple(findings_of(self))

    def accesses(self, line: int, number: int = 0) -> ProfilePicture:
        """A drawing of the accesses of one warp at a line: lanes and the addresses that they access.

        Each row has the 128 bytes of a cache line, or of one word in each of the 32 banks of shared memory. The request is
        the one that needs most sectors or wavefronts. ``number`` chooses between the instructions of the line, in the order
        of ``profile.line(line).accesses``.

        Raises ValueError if the line does not access memory.

        >>> import numpy as np, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     kernel = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }").twice
        ...     picture = kernel.profile(cs.zeros(64, np.float32), grid=1, block=64).accesses(1)
        >>> picture.svg.startswith("<svg")
        True
        """
        accesses = self.line(line).accesses
        if not accesses:
            having = sorted({one.number for one in self.lines if one.accesses and one.number})
            raise ValueError(
                f"profile of {self.kernel}: line {line} does not access memory; these lines do: "
                f"{', '.join(map(str, having)) or 'none'}"
            )
        if not 0 <= number < len(accesses):
            raise ValueError(
                f"profile of {self.kernel}: line {line} has no instruction {number} that accesses memory; "
                f"its instructions are 0 to {len(accesses) - 1}"
            )
        return ProfilePicture(warp.draw(self, accesses[number]))

    def roofline(self) -> ProfilePicture:
        """A roofline: the operations per second of the launch, and those that the device allows for its bytes.

        A kernel without operations of floats and doubles is drawn with its instructions. See Williams, Waterman and
        Patterson, "Roofline: an insightful visual performance model for multicore architectures".

        Raises ValueError if the time of the launch is not known.

        >>> import numpy as np, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     kernel = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }").twice
        ...     picture = kernel.profile(cs.zeros(64, np.float32), grid=1, block=64).roofline()
        >>> picture.svg.startswith("<svg")
        True
        """
        return ProfilePicture(roofline.draw(self))

    def explain(self) -> str:
        """The table of lines and the findings, as text for a terminal. ``str(profile)`` is the same."""
        return text.explain(self)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        found = len(self.findings)
        return (
            f"<Profile of {self.kernel}: {self.counted_blocks} of {self.blocks} blocks, {len(self.lines)} lines, "
            f"{found} finding{'' if found == 1 else 's'}>"
        )

    # A profile never changes, so a copy is the profile itself.
    def __copy__(self) -> Profile:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Profile:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "Profile cannot be pickled, because its counts and its time belong to this process; keep str(profile), or "
            "pickle profile.lines and dict(profile.counters)"
        )

    def _repr_html_(self) -> str:
        return page.page(self)


class ProfilePicture:
    """An SVG, which notebooks show; from `Profile.accesses()` and `Profile.roofline()`.

    It has no scripts, and colours for light and dark pages. CUDA has no such class.

    >>> import numpy as np, cuscope as cs
    >>> with cs.Device("host:0"):
    ...     kernel = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }").twice
    ...     picture = kernel.profile(cs.zeros(64, np.float32), grid=1, block=64).accesses(1)
    >>> len(picture.svg) < 100_000
    True
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg
        """The text of the drawing, for a file or a page."""

    def save(self, path: str) -> None:
        """Write the drawing to a file whose name ends with .svg; ValueError for another one."""
        if not str(path).lower().endswith(".svg"):
            raise ValueError(f"path: {str(path)!r} does not end with .svg, and the picture is an SVG")
        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<ProfilePicture of {len(self.svg)} characters>"

    def _repr_html_(self) -> str:
        return f"<div>{self.svg}</div>"
