"""Compares the rungs of cuda_kernels/matmul with cuBLAS: python benchmarks/matmul_rungs.py [--quick] [--only TEXT ...].

First every instance is checked against float64 on uniform numbers from -1 to 1, at odd and at even sizes. Then all
instances of an element type and size take turns, round after round. Their operands together do not fit into the
second-level cache. The time of a round is the time between two events around a few launches. The table shows the median
of the rates, and the median of the ratios to cuBLAS in the same round. cuBLAS is called through CuPy for float32
(without TF32) and float64, and through torch for the other types.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

os.environ["CUPY_TF32"] = "0"

import numpy as np

import cuscope as cs

FOLDER = Path(__file__).resolve().parent.parent / "cuda_kernels" / "matmul"
PROBLEM = np.dtype(
    [(x, "i4") for x in "mnk"]
    + [(f"{x}_{of}", "i8") for of in ("row", "batch") for x in "abc"]
    + [(x, "i8") for x in ("k_batch", "a_column", "c_column")],
    align=True,
)
STORAGE: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "__half": np.float16,
    "__nv_bfloat16": np.uint16,
    "__nv_fp8_e4m3": np.uint8,
    "signed char": np.int8,
    "int": np.int32,
}
# The numbers of __nv_fp8_e4m3 without a sign, in order.
FLOAT8 = np.array([(e and 8) + f for e in range(16) for f in range(8)][:-1]) * 2.0 ** (
    np.maximum(np.arange(127) // 8, 1) - 10
)
# Simple rungs are measured up to this size.
LARGEST = {"01": 1024, "02": 2048, "03": 2048, "04": 4096, "05": 4096}
CACHE = 192 << 20  # bytes that operands take together, three second-level caches


class Instance(NamedTuple):
    rung: str
    name: str
    source: str  # element types of A and B, and of C
    out: str
    tile: tuple[int, int]
    block: tuple[int, int]
    shared: int
    cluster: int = 0  # the blocks of a cluster, for the kernels that take tensor maps

    @property
    def columns_of_b(self) -> bool:
        """Is B stored transposed?"""
        return self.source == "__nv_fp8_e4m3"

    @property
    def group(self) -> str:
        """The name under which instances are measured together: the type of A and B, where tf32 has a name of its own."""
        return "tf32" if self.rung[:2] == "09" and self.source == "float" else self.source


def instance(rung: str, name: str) -> Instance | None:
    kernel, arguments = re.fullmatch(r"(\w+)<(.*)>", name).groups()  # type: ignore[union-attr]
    parts = [x.strip() for x in arguments.split(",")]
    if parts[0] not in STORAGE or parts[0] == "int" or (rung[:2] < "08" and parts[0] != "float"):
        return None
    size = np.dtype(STORAGE[parts[0]]).itemsize
    if kernel == "warp_tiles":
        m, n, k, tm, tn, stages, _ = map(int, parts[1:])
        threads = m // (4 * tm) * (n // (8 * tn)) * 32
        return Instance(
            rung, name, parts[0], parts[0], (m, n), (threads, 1), stages * k * (m + 16 // size + n) * size
        )
    if kernel == "tensor_cores":
        m, n, wm, wn, stages = map(int, parts[2:])
        threads = m // wm * (n // wn) * 32
        return Instance(rung, name, parts[0], parts[1], (m, n), (threads, 1), stages * 128 * (m + n))
    if kernel == "wgmma":
        n, stages = map(int, parts[2:])
        return Instance(rung, name, parts[0], parts[1], (128, n), (256, 1), stages * 128 * (128 + n))
    if kernel in ("tma", "float8"):
        if parts[5:] != ["false", "true" if parts[0] == "__nv_fp8_e4m3" else "false"]:
            return None  # for operands that are stored transposed
        n, stages, cluster = map(int, parts[2:5])
        slabs, warps, box = stages * (128 * (128 + n) + 16), 8, 16 * 128
        boxes, room = n * np.dtype(STORAGE[parts[1]]).itemsize // 128, ((227 << 10) - slabs) // (warps * box)
        shared = slabs + warps * box * min(boxes, room if room >= boxes else room // 2 * 2)
        return Instance(rung, name, parts[0], parts[1], (128, n), (384, 1), shared, cluster)
    side = {"04": 64}.get(rung[:2], 16 if rung[:2] < "04" else 128)
    block = {"04": (512, 1)}.get(rung[:2], (16, 16) if rung[:2] < "04" else (256, 1))
    return Instance(rung, name, parts[0], parts[0], (side, side), block, 0)


def encode(kind: str, numbers: np.ndarray) -> np.ndarray:
    """Numbers from -1 to 1 as elements of a kind: bytes from -127 to 127."""
    if kind == "__nv_bfloat16":
        return (np.ascontiguousarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind == "signed char":
        return (numbers * 127).astype(np.int8)
    if kind == "__nv_fp8_e4m3":
        code = np.searchsorted((FLOAT8[1:] + FLOAT8[:-1]) / 2, abs(numbers))
        return (code | (numbers < 0) << 7).astype(np.uint8)
    return numbers.astype(STORAGE[kind])


def decode(kind: str, elements: np.ndarray) -> np.ndarray:
    if kind == "__nv_bfloat16":
        return (elements.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind == "__nv_fp8_e4m3":
        return FLOAT8[elements & 0x7F] * np.where(elements >= 0x80, -1, 1)
    return elements.astype(np.float64)


def compiled(path: Path, device: cs.Device) -> cs.Module:
    # Only this architecture has wgmma, so NVRTC must be told its name.
    hopper = path.stem[:2] in ("10", "11", "13", "14", "15") and not device.simulated
    options = ["--gpu-architecture=sm_90a"] if hopper else []
    return cs.Module.from_file(path, options=options, device=device)


class Rungs:
    """The compiled kernels, and their launches."""

    def __init__(self, only: list[str]) -> None:
        self.kernels: dict[str, cs.Kernel] = {}
        self.instances: list[Instance] = []
        paths = [
            path
            for path in sorted(FOLDER.glob("[0-9]*.cu"))
            if not only or any(text in path.stem or text.split("<")[0] == path.stem[3:] for text in only)
        ]
        device = cs.current_device()
        begin = time.perf_counter()
        with ThreadPoolExecutor() as pool:  # compilers of several files at once
            modules = list(pool.map(lambda path: compiled(path, device), paths))
        print(f"{len(paths)} files compiled in {time.perf_counter() - begin:.1f} s", flush=True)
        for path, module in zip(paths, modules, strict=True):
            for name in module.kernels:
                found = instance(path.stem, name)
                if found is None or (only and not any(text in path.stem or text in name for text in only)):
                    continue
                kernel = module[name]
                if found.shared > 48 << 10:
                    kernel.max_dynamic_shared = found.shared
                self.kernels[name] = kernel
                self.instances.append(found)

    def launch(self, i: Instance, m: int, n: int, stream: cs.Stream) -> cs.KernelLaunch:
        across = -(-n // i.tile[1])
        if i.cluster:
            held = stream.device.properties.multiprocessor_count // i.cluster * i.cluster
            blocks = min(held, -(-m // (i.tile[0] * i.cluster)) * i.cluster * across)
            return self.kernels[i.name].configure(
                grid=blocks,
                block=i.block,
                stream=stream,
                shared=i.shared,
                programmatic=not stream.device.simulated,
            )
        blocks = -(-m // i.tile[0]) * across
        return self.kernels[i.name][blocks, i.block, stream, i.shared]


def arguments(i: Instance, a: Any, b: Any, c: Any, p: np.ndarray) -> tuple:
    """The arguments of a launch on arrays that lie in memory as the problem says."""
    if not i.cluster:
        return a, b, c, p
    m, n, k = (int(p[x]) for x in "mnk")
    rows_of_b = 64 if i.tile[1] // 64 % i.cluster == 0 else 64 // i.cluster
    along_k = 128 // a.itemsize
    views = [
        (a.reshape(1, m, int(p["a_row"]))[..., :k], (1, 128, along_k)),
        (b.reshape(1, n, int(p["b_row"]))[..., :k], (1, i.tile[1] // i.cluster, along_k))
        if i.columns_of_b
        else (b.reshape(1, k, int(p["b_row"]))[..., :n], (1, rows_of_b, 64)),
        (c.reshape(1, m, int(p["c_row"])), (1, 16, 128 // c.itemsize)),
    ]
    if int(p["c_row"]) * c.itemsize % 16 != 0:  # C has no map; the kernel does not read this one
        views[2] = views[0]
    maps = [cs.TensorMap(view, box=box, swizzle="128B", l2_promotion="256B") for view, box in views]
    return *maps, c, p, np.int32(1), np.int32(8)


def problem(m: int, n: int, k: int, a_row: int, b_row: int, c_row: int) -> np.ndarray:
    p = np.zeros((), PROBLEM)
    for name, value in zip(
        ("m", "n", "k", "a_row", "b_row", "c_row", "a_column", "c_column"),
        (m, n, k, a_row, b_row, c_row, 1, 1),
        strict=True,
    ):
        p[name] = value
    return p


def padded(array: np.ndarray) -> np.ndarray:
    """The matrix with rows that are multiples of 16 bytes; the padding is NaN, if the type has one."""
    step = 16 // array.itemsize
    out = np.full((array.shape[0], -(-array.shape[1] // step) * step), 127, array.dtype)
    if array.dtype.kind == "f":
        out[:] = np.nan
    out[:, : array.shape[1]] = array
    return out


def check(rungs: Rungs, m: int, n: int, k: int, stream: cs.Stream) -> tuple[int, dict[str, float]]:
    """How many instances are wrong, and the largest error of each: relative to the product of magnitudes."""
    rng = np.random.default_rng(m)
    numbers = rng.uniform(-1, 1, (m, k)), rng.uniform(-1, 1, (k, n))
    references: dict[str, tuple[np.ndarray, ...]] = {}
    wrong, errors = 0, {}
    for i in rungs.instances:
        if i.source not in references:
            a, b = (encode(i.source, x) for x in numbers)
            wide = decode(i.source, a), decode(i.source, b)
            references[i.source] = a, b, wide[0] @ wide[1], abs(wide[0]) @ abs(wide[1])
        a, b, product, magnitude = references[i.source]
        stored = padded(a), padded(b.T if i.columns_of_b else b)
        d_a, d_b = (cs.to_device(x.ravel(), stream=stream) for x in stored)
        poison = np.full(
            (m, n), np.nan if i.out in ("float", "double", "__half") else 0x7FC0 & 0x7F, STORAGE[i.out]
        )
        if i.out == "__nv_bfloat16":
            poison[:] = 0x7FC0
        d_c = cs.to_device(poison.ravel(), stream=stream)
        p = problem(m, n, k, stored[0].shape[1], stored[1].shape[1], n)
        rungs.launch(i, m, n, stream)(*arguments(i, d_a, d_b, d_c, p))
        c = d_c.to_host(stream=stream).reshape(m, n)
        if i.source == "signed char":
            good = np.array_equal(c, product.astype(np.int64).astype(STORAGE[i.out]))
            errors[i.name] = 0.0 if good else float("inf")
        else:
            arithmetic = k * (2**-53 if i.source == "double" else 2**-24) + (
                {"tf32": 2**-10, "__nv_fp8_e4m3": 2**-8}.get(i.group, 0)
            )
            rounding = {"__half": 2**-11, "__nv_bfloat16": 2**-8}.get(
                i.out, 2**-24 if i.out == "float" else 0
            )
            difference = abs(decode(i.out, c) - product)
            slack = (
                arithmetic * magnitude + rounding * abs(product) + 2**-24 * (i.out == "__half") + k * 2**-52
            )
            good = bool((difference <= slack).all())
            errors[i.name] = float(np.max(difference / magnitude))
        if not good:
            wrong += 1
            print(f"WRONG at {m}x{n}x{k}: {i.name}: largest error {errors[i.name]:.3g}", flush=True)
    return wrong, errors


Call = Callable[[int], None]  # with the number of the operands


class Peers:
    """cuBLAS through CuPy and torch, where they are installed."""

    def __init__(self, stream: cs.Stream) -> None:
        self.cupy: Any = None
        self.torch: Any = None
        self.missing: dict[str, str] = {}
        try:
            import cupy

            cupy.zeros(1)
            self.cupy, self.cupy_stream = cupy, cupy.cuda.ExternalStream(stream.handle)
        except Exception as error:  # an error of another package must not end the measurement
            self.missing["cupy"] = f"{type(error).__name__}: {error}"
        try:
            import torch

            torch.zeros(1).cuda()
            self.torch, self.torch_stream = torch, torch.cuda.ExternalStream(stream.handle)
        except Exception as error:
            self.missing["torch"] = f"{type(error).__name__}: {error}"

    def call(self, group: str, n: int, sets: int, base: np.ndarray) -> tuple[str, Call] | None:
        if group in ("float", "double") and self.cupy:
            cupy = self.cupy
            type_ = STORAGE[group]
            arrays = [
                (cupy.asarray(base, type_), cupy.asarray(base[::-1], type_), cupy.empty((n, n), type_))
                for _ in range(sets)
            ]
            cupy.cuda.Device().synchronize()

            def multiply(at: int) -> None:
                a, b, c = arrays[at % sets]
                with self.cupy_stream:
                    cupy.matmul(a, b, out=c)

            return "cuBLAS (CuPy)", multiply
        if group in ("float", "double") or not self.torch:
            return None
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = group == "tf32"
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        numbers = torch.from_numpy(base).cuda()
        kinds = {"__half": torch.float16, "__nv_bfloat16": torch.bfloat16, "tf32": torch.float32}
        kinds["signed char"] = torch.int8
        if group == "__nv_fp8_e4m3":
            return "cuBLAS (torch)", self.product_of_float8(numbers.to(torch.float8_e4m3fn), sets)
        numbers = (numbers * (127 if group == "signed char" else 1)).to(kinds[group])
        operands = [(numbers.clone(), numbers.flip(0).contiguous()) for _ in range(sets)]
        out = None if group == "signed char" else [torch.empty_like(numbers) for _ in range(sets)]
        torch.cuda.synchronize()

        def product(at: int) -> None:
            a, b = operands[at % sets]
            with torch.cuda.stream(self.torch_stream):
                if out is None:
                    torch._int_mm(a, b)
                else:
                    torch.mm(a, b, out=out[at % sets])

        return "cuBLAS (torch)", product

    def product_of_float8(self, numbers: Any, sets: int) -> Call:
        """In bfloat16, with the sums of rung 15."""
        torch = self.torch
        operands = [(numbers.clone(), numbers.flip(0).contiguous()) for _ in range(sets)]
        one = torch.ones((), device="cuda")
        torch.cuda.synchronize()

        def product(at: int) -> None:
            a, b = operands[at % sets]
            with torch.cuda.stream(self.torch_stream):
                torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=False)

        return product

    def free(self) -> None:
        if self.cupy:
            self.cupy.get_default_memory_pool().free_all_blocks()
        if self.torch:
            self.torch.cuda.empty_cache()


def ours(rungs: Rungs, i: Instance, n: int, operands: list[tuple], c: list[Any], stream: cs.Stream) -> Call:
    launch, p = rungs.launch(i, n, n, stream), problem(n, n, n, n, n, n)
    sets = [arguments(i, a, b, to, p) for (a, b), to in zip(operands, c, strict=True)]

    def multiply(at: int) -> None:
        launch(*sets[at % len(sets)])

    return multiply


def seconds(call: Call, count: int, at: int, stream: cs.Stream) -> float:
    start = stream.record()
    for j in range(count):
        call(at + j)
    stop = stream.record()
    stop.synchronize()
    return (stop - start) * 1e-3 / count


def measure(
    rungs: Rungs,
    peers: Peers,
    group: str,
    n: int,
    base: np.ndarray,
    stream: cs.Stream,
    target: float,
    rounds: int,
):
    """Rows (n, name, TFLOP/s, ratio to the peer or None) of a type and size."""
    chosen = [i for i in rungs.instances if i.group == group and n <= LARGEST.get(i.rung[:2], 1 << 30)]
    if not chosen:
        return []
    a = encode(chosen[0].source, base)
    sets = min(64, max(2, -(-CACHE // (3 * a.nbytes))))
    operands = [tuple(cs.to_device(x.ravel(), stream=stream) for x in (a, np.ascontiguousarray(a[::-1])))]
    for _ in range(sets - 1):
        copies = tuple(cs.empty(x.size, x.dtype) for x in operands[0])
        for copy, x in zip(copies, operands[0], strict=True):
            copy.copy_from(x, stream=stream)
        operands.append(copies)
    results = {out: [cs.empty(n * n, STORAGE[out]) for _ in range(sets)] for out in {i.out for i in chosen}}
    calls: dict[str, Call] = {i.name: ours(rungs, i, n, operands, results[i.out], stream) for i in chosen}
    peer = None
    try:
        peer = peers.call(group, n, sets, np.ascontiguousarray(base, np.float32))
        if peer:
            seconds(peer[1], 1, 0, stream)
            calls[peer[0]] = peer[1]
    except Exception as error:
        peers.missing[f"{group} at {n}"] = f"{type(error).__name__}: {error}"
        peer = None
    stream.synchronize()

    counts = {}
    for name, call in calls.items():
        seconds(call, 1, 0, stream)
        once = min(seconds(call, 1, 1, stream), seconds(call, 2, 2, stream))
        counts[name] = max(1, min(200, round(target / max(once, 1e-6))))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for r in range(rounds):
        for name, call in calls.items():
            samples[name].append(seconds(call, counts[name], r * 7, stream))
    flop = 2.0 * n**3
    rows = []
    for name, times in samples.items():
        ratio = None
        if peer:
            ratio = statistics.median(p / t for p, t in zip(samples[peer[0]], times, strict=True))
        rows.append((n, name, flop / statistics.median(times) / 1e12, ratio))
    return rows


def table(rows: dict[str, list[tuple]]) -> None:
    for group, found in rows.items():
        sizes = sorted({n for n, *_ in found})
        print(f"\n{group}: TFLOP/s (of the peer)")
        print(f"{'':60}" + "".join(f"{n:>16}" for n in sizes))
        for name in dict.fromkeys(name for _, name, *_ in found):
            cells = {n: (rate, ratio) for n, of, rate, ratio in found if of == name}
            line = ""
            for n in sizes:
                if n not in cells:
                    line += f"{'':>16}"
                    continue
                rate, ratio = cells[n]
                line += f"{rate:9.2f}" + (f" ({ratio:4.2f})" if ratio is not None else " " * 7)
            print(f"{name:60}{line}")


def accuracy(rungs: Rungs, peers: Peers, stream: cs.Stream, k: int) -> None:
    """The error of float sums of k products, beside cuBLAS."""
    few = [i for i in rungs.instances if i.group == "float" and i.rung[:2] in ("02", "08")]
    if not few:
        return
    rng = np.random.default_rng(7)
    a, b = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((256, k), (k, 256)))
    exact, magnitude = a.astype(np.float64) @ b, abs(a.astype(np.float64)) @ abs(b)

    def error(c: np.ndarray) -> str:
        relative = abs(c - exact) / magnitude
        return f"largest {relative.max():.3g}, root mean square {np.sqrt((relative**2).mean()):.3g}"

    print(f"\nerror of float sums of {k} products, relative to the sum of magnitudes")
    d_a, d_b, d_c = cs.to_device(a.ravel()), cs.to_device(b.ravel()), cs.zeros(256 * 256, np.float32)
    stream.device.synchronize()
    for i in few:
        rungs.launch(i, 256, 256, stream)(d_a, d_b, d_c, problem(256, 256, k, k, 256, 256))
        print(f"{i.name:60}{error(d_c.to_host(stream=stream).reshape(256, 256))}")
    if peers.cupy:
        print(
            f"{'cuBLAS (CuPy)':60}{error(peers.cupy.asnumpy(peers.cupy.matmul(peers.cupy.asarray(a), peers.cupy.asarray(b))))}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="float, half and bytes, n = 1024 and 4096, three rounds"
    )
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        metavar="TEXT",
        help="rungs (08) or instances ('warp_tiles<float, 128') with this in their name",
    )
    parser.add_argument("--sizes", nargs="*", type=int, default=[])
    parser.add_argument(
        "--groups",
        nargs="*",
        default=[],
        help="float, double, __half, __nv_bfloat16, __nv_fp8_e4m3, 'signed char', tf32",
    )
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0, help="measure nothing new after so many")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--device", help="cuda:0 unless given, or host:0 where there is none")
    arguments = parser.parse_args()
    begin = time.perf_counter()
    names = [d.name for d in cs.devices()]
    name = arguments.device or ("cuda:0" if "cuda:0" in names else "host:0")
    sizes = arguments.sizes or ([4096, 1024] if arguments.quick else [4096, 2048, 8192, 1024, 512])
    groups = arguments.groups or (
        ["float", "__half", "signed char"]
        if arguments.quick
        else ["float", "__half", "__nv_bfloat16", "signed char", "double", "tf32"]
    )
    rounds = arguments.rounds or (3 if arguments.quick else 5)
    limit = arguments.seconds or (18 if arguments.quick else 55)
    target = 4e-3 if arguments.quick else 8e-3

    with cs.Device(name) as device, cs.Stream(non_blocking=True) as stream:
        rungs = Rungs(arguments.only)
        peers = Peers(stream)
        for package, reason in peers.missing.items():
            print(f"without {package}: {reason}")
        wrong = 0
        if not arguments.no_check:
            for m, n, k in (
                ((257, 131, 193), (1, 1, 1))
                if device.simulated
                else ((257, 131, 193), (384, 512, 256), (1, 1, 1))
            ):
                wrong += check(rungs, m, n, k, stream)[0]
            print(
                f"checked {len(rungs.instances)} instances: {wrong} wrong answers; {time.perf_counter() - begin:.1f} s"
            )
        accuracy(rungs, peers, stream, 256 if device.simulated else 4096)

        largest = max(sizes)
        base = np.random.default_rng(1).random((largest, largest), np.float32) * 2 - 1
        rows: dict[str, list[tuple]] = {}
        for group in groups:
            for n in sizes:
                if time.perf_counter() - begin > limit:
                    print(f"not measured for lack of time: {group} at {n}")
                    continue
                found = measure(rungs, peers, group, n, base[:n, :n], stream, target, rounds)
                rows.setdefault(group, []).extend(found)
                peers.free()
    table({group: found for group, found in rows.items() if found})
    print(f"\n{time.perf_counter() - begin:.1f} s; peers that are missing: {peers.missing or 'none'}")
    if arguments.json:
        Path(arguments.json).write_text(
            json.dumps({"device": name, "rows": rows, "missing": peers.missing}, indent=1)
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
