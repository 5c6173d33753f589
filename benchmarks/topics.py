"""Measures the rungs of kernels of CUDA's documents: python benchmarks/topics.py [--quick] [--only TOPIC ...] [--json FILE].

Additions, transposes and walks over pitched memory are compared with a copy within the device that reads and writes as
many bytes. The averages of twenty chunks run in one stream and in two. The method is that of `python -m cuscope bench`
(docs/benchmarks.md): every result is checked first, all rungs of a size take turns with the copy, in memory that is not
in the cache, between two events, while the stream is held. `tools/kernel_results.py TOPIC FILE` writes the tables into
the READMEs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cuscope as cs
from cuscope._check import check_close
from cuscope.bench._clocks import clocks
from cuscope.bench._measure import measure
from cuscope.bench._subject import OURS, Case, Contender, Run

CHUNKS, CHUNK = 20, 1 << 20
Call = Callable[..., object]


def kernel(device: cs.Device, file: str, element: str = "") -> cs.Kernel:
    """The kernel as the package has it, compiled when it was built."""
    ending = ".image" if device.kind == "host" else ".fatbin"
    path = Path(cs.__file__).parent / "kernels" / (file + ending)
    name = file.partition("/")[2].partition("_")[2]
    return cs.Module.from_file(path, device=device)[f"{name}<{element}>" if element else name]


def blocks(count: int, block: int) -> int:
    return -(-count // block)


def beside_a_copy(name: str, size: int, amount: int, rungs: dict[str, Call], **others: Any) -> Case:
    """Rungs whose sets of operands end with the source and the target of the copy: it moves the same number of bytes."""

    def copy(*operands: Any) -> None:
        operands[-1].copy_from(operands[-2])

    contenders = {OURS: Contender(copy)} | {rung: Contender(call) for rung, call in rungs.items()}
    return Case(name, size, amount, contenders, **others)


def additions(run: Run) -> Iterator[Case]:
    """Additions: 12 bytes an element. The copy's source begins with the sums, so that its result is right, too."""

    def operands(n: int, sets: int) -> Sequence[Sequence[Any]]:
        a, b = run.random(2 * n).reshape(2, n)
        source = np.concatenate([a + b, run.random(blocks(n, 2))])
        with run.stream:
            made = [
                (cs.to_device(a), cs.to_device(b), cs.to_device(source), cs.empty(source.size, np.float32))
                for _ in range(sets)
            ]
        run.stream.synchronize()
        return made

    def check(set_: Sequence[Any]) -> None:
        a, b, _, result = set_
        check_close(result[: a.size], a.to_host() + b.to_host())

    def add(launch: cs.KernelLaunch, a: Any, b: Any, _: Any, result: Any) -> None:
        launch(a, b, result[: a.size], a.size)

    for n in run.sizes:
        rungs = {}
        for file in ("01_vec_add", "02_grid_stride", "03_vectorised"):
            function = kernel(run.device, f"vec_add/{file}", "float")
            grid, block = function.best_block_size()
            if file.startswith("01"):
                grid, block = blocks(n, 256), 256
            rungs[file] = partial(add, function[grid, block, run.stream])
        yield beside_a_copy(
            "vec_add", n, 12 * n, rungs, operands=partial(operands, n), footprint=12 * n, check=check
        )


def transposes(run: Run) -> Iterator[Case]:
    """Transposes of squares of 4-byte elements. The copy's source is the transpose."""

    def operands(n: int, sets: int) -> Sequence[Sequence[Any]]:
        a = run.random(n * n).reshape(n, n)
        turned = np.ascontiguousarray(a.T)
        with run.stream:
            made = [
                (cs.to_device(a), cs.to_device(turned), cs.empty((n, n), np.float32)) for _ in range(sets)
            ]
        run.stream.synchronize()
        return made

    def check(set_: Sequence[Any]) -> None:
        check_close(set_[-1], set_[1].to_host())

    def transpose(launch: cs.KernelLaunch, a: Any, _: Any, result: Any) -> None:
        launch(a, result, *a.shape)

    for n in run.sizes:
        tiles = blocks(n, 32)
        rungs: dict[str, Call] = {
            file: partial(
                transpose,
                kernel(run.device, f"transpose/{file}", "unsigned int")[(tiles, tiles), (32, 8), run.stream],
            )
            for file in ("01_straight", "02_tiled", "03_padded")
        }
        yield beside_a_copy(
            "transpose", n, 8 * n * n, rungs, operands=partial(operands, n), footprint=8 * n * n, check=check
        )


def walks(run: Run) -> Iterator[Case]:
    """Walks that multiply every element by -1, in place. With three axes, ten slices have as many rows in all."""

    def operands(n: int, sets: int) -> Sequence[Sequence[Any]]:
        made = []
        data = run.random(n * n).reshape(n, n)
        with run.stream:
            for _ in range(sets):
                plane, box = cs.empty_pitched((n, n)), cs.empty_pitched((10, n // 10, n))
                plane.copy_from(data)
                box.copy_from(data.reshape(box.shape))
                # A walk reads and writes the same memory; the copy has a target of its own.
                made.append((plane, box, cs.to_device(data), cs.empty_like(data)))
        run.stream.synchronize()
        return made

    def over_rows(launch: cs.KernelLaunch, plane: Any, *_: Any) -> None:
        launch(plane, plane.pitch, plane.shape[1], plane.shape[0], -1)

    def over_slices(launch: cs.KernelLaunch, _: Any, box: Any, *__: Any) -> None:
        depth, height, width = box.shape
        launch(box, box.pitch, height, width, height, depth, -1)

    for n in run.sizes:
        rows, columns, slices = (
            kernel(run.device, f"memory_walks/{file}", "float")
            for file in ("01_rows", "02_columns", "03_slices")
        )
        wide = blocks(n, 32)
        rungs: dict[str, Call] = {
            "01_rows": partial(over_rows, rows[blocks(n, 128), 128, run.stream]),
            "02_columns": partial(over_rows, columns[(wide, blocks(n, 8)), (32, 8), run.stream]),
            "03_slices": partial(over_slices, slices[(wide, blocks(n // 10, 8), 10), (32, 8, 1), run.stream]),
        }
        walked = operands(n, 1)[0]
        for name, call in rungs.items():
            array = walked[name == "03_slices"]
            expected = -array.to_host()
            call(*walked)
            run.stream.synchronize()
            check_close(array, expected)
        yield beside_a_copy(
            "memory_walks", n, 8 * n * n, rungs, operands=partial(operands, n), footprint=4 * n * n
        )


def averages(run: Run) -> Iterator[Case]:
    """Averages of all chunks, copied in and out; a case for each way, because they use different kinds of memory."""
    averaging = kernel(run.device, "averaging/01_averaging")
    streams = cs.Stream(), cs.Stream()
    began, ended = cs.Event(timing=False), [cs.Event(timing=False) for _ in streams]
    grid = blocks(CHUNK, 256)

    def average(used: int, buffers: Any, host_a: Any, host_b: Any, host_c: Any) -> None:
        began.record(run.stream)
        for stream in streams[:used]:
            stream.wait(began)
        for i in range(CHUNKS):
            a, b, c = buffers[i % used]
            with streams[i % used] as stream:
                a.copy_from(host_a[i])
                b.copy_from(host_b[i])
                averaging[grid, 256, stream](a, b, c, CHUNK)
                c.copy_to(host_c[i])
        for stream, event in zip(streams[:used], ended, strict=False):
            event.record(stream)
            run.stream.wait(event)

    def operands(make: Callable[..., Any], _: int) -> Sequence[Sequence[Any]]:
        host = [make((CHUNKS, CHUNK), np.int32) for _ in range(3)]
        for array in host[:2]:
            array[:] = run.random(CHUNKS * CHUNK, np.int32).reshape(array.shape) >> 8
        buffers = [[cs.empty(CHUNK, np.int32, stream=stream) for _ in range(3)] for stream in streams]
        cs.synchronize()
        return [(buffers, *host)]

    def smoothed(x: np.ndarray) -> np.ndarray:
        following = (np.arange(CHUNK)[:, None] + (1, 2)) % 256
        return (x.astype(np.int64) + x[following].sum(1)).astype(np.float32) / np.float32(3)

    def check(set_: Sequence[Any]) -> None:
        _, host_a, host_b, host_c = set_
        for i in (0, CHUNKS - 1):
            mean = (smoothed(host_a[i]) + smoothed(host_b[i])) / np.float32(2)
            check_close(host_c[i], np.trunc(mean).astype(np.int32))

    for name, used, make in (
        ("one stream, pageable memory", 1, np.empty),
        ("one stream, page-locked memory", 1, cs.pinned_empty),
        ("two streams, page-locked memory", 2, cs.pinned_empty),
    ):
        yield Case(
            name,
            CHUNK,
            12 * CHUNKS * CHUNK,
            {OURS: Contender(partial(average, used))},
            operands=partial(operands, make),
            footprint=12 * CHUNKS * CHUNK,
            check=check,
            asynchronous=False,
        )


TOPICS: dict[str, tuple[Callable[[Run], Iterator[Case]], tuple[int, ...]]] = {
    "vec_add": (additions, (1 << 16, 1 << 20, 1 << 24, 1 << 27)),
    "transpose": (transposes, (512, 2048, 8192)),
    "memory_walks": (walks, (1000, 3000, 10_000)),
    "averaging": (averages, (CHUNK,)),
}


def rows_of(topic: str, run: Run, seconds: float) -> list[tuple[int, str, float, float, float]]:
    """Size, name, microseconds, GB/s, and the share of the copy's rate in the same rounds (of averages: 1)."""
    rows = []
    for case in TOPICS[topic][0](run):
        row = measure(run, case, seconds)
        alone = len(case.contenders) == 1
        for name, microseconds in row.microseconds.items():
            called = name if name != OURS else case.name if alone else "copy"
            share = 1 / row.ratio.get(name, 1.0)
            rows.append(
                (row.size, called, round(microseconds, 3), round(row.rate[name] / 1e9, 1), round(share, 4))
            )
            print(f"{topic:14}{row.size:>12}  {called:32}{microseconds:12.2f} us", end="")
            print(f"{row.rate[name] / 1e9:10.1f} GB/s" + ("" if alone else f"{share:8.3f}"), flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the smallest size of each topic")
    parser.add_argument("--only", nargs="*", choices=TOPICS, default=list(TOPICS), metavar="TOPIC")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each size (default: 1)")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--device", help="cuda:0 unless given, or host:0 where there is none")
    options = parser.parse_args()
    names = [device.name for device in cs.devices()]
    name = options.device or ("cuda:0" if "cuda:0" in names else "host:0")
    with cs.Device(name) as device, cs.Stream() as stream:
        before, topics = clocks(device), {}
        for topic in options.only:
            sizes = TOPICS[topic][1][: 1 if options.quick or device.simulated else None]
            run = Run(device, sizes, options.seconds, stream, lambda *_: None)
            topics[topic] = rows_of(topic, run, options.seconds)
        report = {
            "device": device.properties.name,
            "what": "benchmarks/topics.py: [size, rung, microseconds, GB/s, share of the copy's rate]",
            "simulated": device.simulated,
            "clocks": {"before": before, "after": clocks(device)},
            "topics": topics,
        }
    if device.simulated:
        print("simulated times: the device model's, not a GPU's")
    if options.json:
        Path(options.json).write_text(lines(report) + "\n")
    return 0


def lines(report: dict[str, Any]) -> str:
    """JSON with a line for each row."""
    text = json.dumps(report | {"topics": None}, indent=1)
    topics = ",\n".join(
        f' "{topic}": [\n  ' + ",\n  ".join(json.dumps(row) for row in rows) + "]"
        for topic, rows in report["topics"].items()
    )
    return text.replace('"topics": null', f'"topics": {{\n{topics}}}')


if __name__ == "__main__":
    sys.exit(main())
