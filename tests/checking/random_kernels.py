"""Random kernels, and an oracle that knows their mistakes: it looks at all pairs of accesses, in Python alone."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

WARP = 32


@dataclass(frozen=True)
class Access:
    array: str  # "x": global, "s": shared
    kind: str  # "read", "write" or "atomic"
    factor: int
    offset: int
    modulus: int
    whole_grid: bool  # the index depends on the block
    every: int
    which: int

    def index(self, block: int, thread: int, threads: int) -> int | None:
        """The element that a thread accesses; None if it takes no part."""
        if thread % self.every != self.which:
            return None
        number = block * threads + thread if self.whole_grid else thread
        return (self.factor * number + self.offset) % self.modulus

    def source(self, value: int) -> str:
        number = "g" if self.whole_grid else "t"
        element = f"{self.array}[({self.factor} * {number} + {self.offset}) % {self.modulus}]"
        action = {
            "read": f"v += {element};",
            "write": f"{element} = g * 1000 + {value};",
            "atomic": f"atomicAdd(&{element}, 1);",
        }[self.kind]
        return f"if (t % {self.every} == {self.which}) {action}"


@dataclass
class Kernel:
    name: str
    blocks: int
    threads: int
    elements: int  # of x
    shared: int  # elements of s
    steps: list[Access | str] = field(default_factory=list)  # an access to memory, "block" or "warp"

    def source(self) -> str:
        lines = [
            f"__global__ void {self.name}(int* x, int* y) {{",
            f"    __shared__ int s[{self.shared}];",
            "    const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;",
            f"    for (int i = t; i < {self.shared}; i += blockDim.x) s[i] = -1 - i;",
            "    __syncthreads();",
            "    int v = 0;",
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

    def mistakes(self) -> tuple[set[int], dict[str, set[frozenset[int]]]]:
        """The steps out of bounds, and for each array the pairs of steps that race."""
        outside: set[int] = set()
        races: dict[str, set[frozenset[int]]] = {"x": set(), "s": set()}
        touched: dict[tuple[str, int, int], list[tuple[int, int, int, str]]] = {}
        for number, step in enumerate(self.steps):
            if isinstance(step, str):
                continue
            for block, thread in itertools.product(range(self.blocks), range(self.threads)):
                index = step.index(block, thread, self.threads)
                if index is None:
                    continue
                if step.array == "x" and index >= self.elements:
                    outside.add(number)
                    continue
                place = (step.array, block if step.array == "s" else 0, index)
                touched.setdefault(place, []).append((block, thread, number, step.kind))
        for (array, _, _), accesses in touched.items():
            for one, other in itertools.combinations(accesses, 2):
                if self._races(one, other):
                    races[array].add(frozenset((one[2], other[2])))
        return outside, races

    def _races(self, one: tuple[int, int, int, str], other: tuple[int, int, int, str]) -> bool:
        kinds = {one[3], other[3]}
        if one[:2] == other[:2] or kinds in ({"read"}, {"atomic"}):
            return False
        if one[0] != other[0]:
            return True
        between = self.steps[min(one[2], other[2]) : max(one[2], other[2])]
        if "block" in between:
            return False
        return not (one[1] // WARP == other[1] // WARP and "warp" in between)


def random_kernel(seed: int, name: str) -> Kernel:
    draw = random.Random(seed)
    threads = draw.choice([8, 32, 33, 64, 96])
    kernel = Kernel(
        name,
        draw.choice([1, 1, 2, 3]),
        threads,
        draw.choice([7, 32, 64, 100, 300]),
        draw.choice([16, 64, 100]),
    )
    for _ in range(draw.randint(2, 8)):
        if draw.random() < 0.45:
            kernel.steps.append(draw.choice(["block", "block", "warp"]))
            continue
        array = draw.choice("xs")
        size = kernel.elements if array == "x" else kernel.shared
        modulus = size
        if array == "x" and draw.random() < 0.25:
            modulus += draw.choice([1, 1, 5, 64])
        every = draw.choice([1, 1, 1, 2, 3, threads])
        kernel.steps.append(
            Access(
                array,
                draw.choice(["read", "read", "write", "write", "atomic"]),
                draw.choice([0, 1, 1, 1, 1, 2, 5]),
                draw.choice([0, 0, 0, 1, 2, 31]),
                modulus,
                array == "x" and draw.random() < 0.7,
                every,
                draw.randrange(every),
            )
        )
    return kernel
