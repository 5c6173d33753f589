"""Random kernels, and an oracle that knows their mistakes: it looks at all pairs of accesses, in Python alone.

A kernel is a list of steps: an access of some threads to some elements, or a barrier. The oracle knows the steps, and
nothing of the check.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

import cuscope as cs

WARP = 32
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
Touch = tuple[int, int, int, str]  # block, thread, step, kind


@dataclass(frozen=True)
class Access:
    array: str  # "x": global, "s": shared
    kind: str  # "read", "write" or "atomic"
    bytes: int  # of an element
    factor: int
    offset: int
    modulus: int
    whole_grid: bool  # the index depends on the block
    every: int
    which: int
    repeat: int = 1  # neighbouring elements, one after the other

    def indices(self, block: int, thread: int, threads: int) -> Iterator[int]:
        """The elements that a thread accesses; none if it takes no part."""
        if thread % self.every == self.which:
            number = block * threads + thread if self.whole_grid else thread
            for i in range(self.repeat):
                yield (self.factor * number + self.offset + i) % self.modulus

    def source(self, value: int) -> str:
        number = "g" if self.whole_grid else "t"
        place = f"({self.factor} * {number} + {self.offset} + i) % {self.modulus}"
        element = f"(({TYPES[self.bytes]}*){self.array})[{place}]"
        action = {
            "read": f"v += {element};",
            "write": f"{element} = g * 1000 + i + {value};",
            "atomic": f"atomicAdd(&{element}, 1u);",
        }[self.kind]
        # Clang moves the load out of a loop of one step, and then does not know its line.
        repeat = "{ const int i = 0; " if self.repeat == 1 else f"for (int i = 0; i < {self.repeat}; ++i) {{ "
        return f"if (t % {self.every} == {self.which}) {repeat}{action} }}"


@dataclass
class Mistakes:
    outside: set[int] = field(default_factory=set)
    """The steps that access elements behind the end of x."""
    unwritten: dict[int, set[int]] = field(default_factory=dict)
    """For each byte of x that is unwritten at the launch: the steps that read it with no write ordered before."""
    never_written: set[int] = field(default_factory=set)
    """The bytes among them that no other access writes, so that a read of them must be found."""
    races: dict[str, dict[int, set[frozenset[int]]]] = field(default_factory=lambda: {"x": {}, "s": {}})
    """For each array and byte, the pairs of steps that race. Bytes of s are numbered through all blocks."""


@dataclass
class Kernel:
    name: str
    blocks: int
    threads: int
    bytes: int  # of x, a multiple of 8
    written: int  # bytes of x that are written before the launch
    shared: int  # bytes of s
    steps: list[Access | str] = field(default_factory=list)  # an access to memory, "block" or "warp"

    def source(self) -> str:
        lines = [
            f"__global__ void {self.name}(unsigned char* x, unsigned* y) {{",
            f"    __shared__ alignas(8) unsigned char s[{self.shared}];",
            "    const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;",
            f"    for (int i = t; i < {self.shared}; i += blockDim.x) s[i] = i;",
            "    __syncthreads();",
            "    unsigned v = 0;",
        ]
        for number, step in enumerate(self.steps):
            match step:
                case "block":
                    lines.append("    __syncthreads();")
                case "warp":
                    lines.append("    __syncwarp();")
                case Access():
                    lines.append("    " + step.source(number + 7))
        # Compilers leave out stores to shared memory that nobody reads.
        lines += ["    __syncthreads();", f"    y[g] = v + s[7 * t % {self.shared}];", "}"]
        return "\n".join(lines) + "\n"

    def line(self, step: int) -> int:
        """The line of a step in source()."""
        return 7 + step

    def mistakes(self) -> Mistakes:
        found = Mistakes()
        touched: dict[tuple[str, int], list[Touch]] = {}
        for number, step in enumerate(self.steps):
            if isinstance(step, str):
                continue
            for block, thread in itertools.product(range(self.blocks), range(self.threads)):
                for index in step.indices(block, thread, self.threads):
                    first = index * step.bytes
                    if step.array == "x" and first + step.bytes > self.bytes:
                        found.outside.add(number)
                        continue
                    base = block * self.shared if step.array == "s" else 0
                    for byte in range(base + first, base + first + step.bytes):
                        touches = touched.setdefault((step.array, byte), [])
                        if touches[-1:] != [(block, thread, number, step.kind)]:
                            touches.append((block, thread, number, step.kind))
        for (array, byte), touches in touched.items():
            pairs = {
                frozenset((one[2], other[2]))
                for one, other in itertools.combinations(touches, 2)
                if self._race(one, other)
            }
            if pairs:
                found.races[array][byte] = pairs
            if array == "x" and byte >= self.written:
                self._note_unwritten(byte, touches, found)
        return found

    def _note_unwritten(self, byte: int, touches: list[Touch], found: Mistakes) -> None:
        for read in touches:
            if read[3] == "write":
                continue
            writes = [other for other in touches if other[3] != "read" and other != read]
            if any(write[2] <= read[2] and self._ordered(write, read) for write in writes):
                continue
            found.unwritten.setdefault(byte, set()).add(read[2])
            if not writes:
                found.never_written.add(byte)

    def _race(self, one: Touch, other: Touch) -> bool:
        kinds = {one[3], other[3]}
        return kinds not in ({"read"}, {"atomic"}) and not self._ordered(one, other)

    def _ordered(self, one: Touch, other: Touch) -> bool:
        if one[:2] == other[:2]:
            return True
        if one[0] != other[0]:
            return False
        between = self.steps[min(one[2], other[2]) : max(one[2], other[2])]
        return "block" in between or (one[1] // WARP == other[1] // WARP and "warp" in between)


def random_kernel(seed: int, name: str) -> Kernel:
    draw = random.Random(seed)
    size = 8 * draw.choice([4, 16, 32, 50, 150])
    kernel = Kernel(
        name,
        blocks=draw.choice([1, 1, 2, 3]),
        threads=draw.choice([8, 32, 33, 64, 96]),
        bytes=size,
        written=size if draw.random() < 0.8 else 8 * draw.randrange(size // 8),
        shared=8 * draw.choice([8, 32, 50]),
    )
    usual = draw.choice([1, 2, 4, 4, 4, 8])  # most accesses of a kernel have the same size
    for _ in range(draw.randint(2, 9)):
        if draw.random() < 0.45:
            kernel.steps.append(draw.choice(["block", "block", "warp"]))
        else:
            kernel.steps.append(_random_access(draw, kernel, usual))
    return kernel


def _random_access(draw: random.Random, kernel: Kernel, usual: int) -> Access:
    array = draw.choice("xs")
    kind = draw.choice(["read", "read", "write", "write", "atomic"])
    width = 4 if kind == "atomic" else usual if draw.random() < 0.8 else draw.choice([1, 2, 4, 8])
    modulus = (kernel.bytes if array == "x" else kernel.shared) // width
    if array == "x" and draw.random() < 0.25:
        modulus += draw.choice([1, 1, 5, 64])
    every = draw.choice([1, 1, 1, 2, 3, kernel.threads])
    return Access(
        array,
        kind,
        width,
        draw.choice([0, 1, 1, 1, 1, 2, 5]),
        draw.choice([0, 0, 0, 1, 2, 31]),
        modulus,
        array == "x" and draw.random() < 0.7,
        every,
        draw.randrange(every),
        draw.choice([1, 1, 1, 2, 3]),
    )


def checked(kernels: list[Kernel]) -> Iterator[tuple[Kernel, cs.CheckReport, int]]:
    """Each kernel, its report, and the number of lines before it in the source of all."""
    module = cs.Module("".join(kernel.source() for kernel in kernels), file_name="random.cu")
    begin = 0
    for kernel in kernels:
        with cs.check() as report:
            x = cs.empty(kernel.bytes, np.uint8)
            if kernel.written:
                x[: kernel.written].fill(5)
            y = cs.zeros(kernel.blocks * kernel.threads, np.uint32)
            module[kernel.name][kernel.blocks, kernel.threads](x, y)
        yield kernel, report, begin
        begin += kernel.source().count("\n")


def differences(kernel: Kernel, report: cs.CheckReport, begin: int) -> list[str]:
    """A line for each mistake that the report misses, and for each finding that the oracle does not know."""
    mistakes = kernel.mistakes()
    wrong: list[str] = []

    def step(line: str) -> int:
        return int(line.split(":")[1]) - begin - kernel.line(0)

    kinds = {finding.kind for finding in report.findings}
    if kinds - {"out of bounds", "never written", "race"}:
        wrong.append(f"invented: {kinds}")
    outside = {step(f.line) for f in report.findings if f.kind == "out of bounds"}
    wrong += [f"missed: step {n} is out of bounds" for n in mistakes.outside - outside]
    wrong += [f"invented: step {n} is out of bounds" for n in outside - mistakes.outside]
    unwritten = {step(f.line) for f in report.findings if f.kind == "never written"}
    # The first read of a byte is found.
    wrong += [
        f"missed: byte {byte} is read by the steps {mistakes.unwritten[byte]}, and was never written"
        for byte in sorted(mistakes.never_written)
        if not mistakes.unwritten[byte] & unwritten
    ][:1]
    possible = set().union(*mistakes.unwritten.values())
    wrong += [f"invented: step {n} reads memory that was never written" for n in unwritten - possible]
    for array, places in mistakes.races.items():
        races = [f for f in report.findings if f.kind == "race" and (f.memory != "") == (array == "x")]
        # The line of the other access is empty if it is not known.
        reported = [frozenset(step(line) for line in (f.line, f.other_line) if line) for f in races]
        half = [race.other_line == "" for race in races]
        pairs = set().union(*places.values()) if places else set()
        for found, is_half in zip(reported, half, strict=True):
            if not (any(found <= pair for pair in pairs) if is_half else found in pairs):
                wrong.append(f"invented: {array}, race of the steps {sorted(found)}")
        for byte, racing in places.items():
            if not any(
                any(found <= pair for pair in racing) if is_half else found in racing
                for found, is_half in zip(reported, half, strict=True)
            ):
                wrong.append(f"missed: {array}, byte {byte}, race of the steps {sorted(map(sorted, racing))}")
                break
    return wrong
