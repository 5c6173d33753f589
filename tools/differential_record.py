"""Keeps one runtime's answers to random programs in a file, to compare another runtime on a machine without the first.

    python tools/differential.py cuda:0 --record h200.json.gz --calls 100000 --jobs 4     # on a machine with a GPU
    python tools/differential.py h200.json.gz host:0                                      # on any machine

The file has the programs too, so it stays valid when the test draws other programs. A difference cannot be shrunk,
because that needs new answers of the first runtime. In place of that, the program is shown up to the difference.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from differential_draw import Step, random_program

BATCH = 40  # programs in one process


class Recorded(NamedTuple):
    """A program, and the answer to each of its steps, or None from the step at which the process ended."""

    steps: list[Step]
    answers: list[list[Any] | None]
    end: str = ""


def draw(seed: int, calls: int, length: int, devices: int) -> Iterator[list[list[Step]]]:
    """Batches of programs with at least so many calls."""
    number, drawn = 0, 0
    while drawn < calls:
        batch: list[list[Step]] = []
        first = 1
        while len(batch) < BATCH and drawn < calls:
            program = random_program(random.Random(f"{seed}/{number}"), first, length, devices)
            first, number = program.next, number + 1
            batch.append(program.steps)
            drawn += len(program.steps)
        yield batch


def asked(name: str, devices: int, limit: float, batch: list[list[Step]]) -> list[Recorded]:
    """The batch's programs with the runtime's answers. If the process ends, the rest of the batch runs in a new one."""
    from differential import finish, start

    recorded: list[Recorded] = []
    while len(recorded) < len(batch):
        left = batch[len(recorded) :]
        steps = [step for program in left for step in program]
        given = json.dumps({"devices": devices, "steps": steps})
        answers = finish(start(name, limit), given, 60 + 3 * limit + len(steps) / 20)
        for program in left:
            by_step = [answers.by_step.get(step["id"]) for step in program]
            ended = by_step[-1] is None
            recorded.append(Recorded(program, by_step, answers.end if ended else ""))
            if ended:
                break
    return recorded


def asked_alike(name: str, devices: int, limit: float, batch: list[Recorded]) -> list[Recorded]:
    """Another runtime's answers. New processes begin at the same programs as in the record, because the effects of
    calls on later programs (flags of the device, statistics of pools) ended with the process.
    """
    parts: list[list[list[Step]]] = [[]]
    for program in batch:
        parts[-1].append(program.steps)
        if program.end:
            parts.append([])
    return [answered for part in parts if part for answered in asked(name, devices, limit, part)]


def record(
    name: str, path: Path, seed: int, calls: int, length: int, devices: int, limit: float, jobs: int
) -> None:
    with ThreadPoolExecutor(jobs) as threads:
        batches = list(
            threads.map(lambda batch: asked(name, devices, limit, batch), draw(seed, calls, length, devices))
        )
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(json.dumps({"devices": devices, "batches": batches}).encode())
    ends = [program.end for batch in batches for program in batch if program.end]
    answered = sum(answer is not None for batch in batches for program in batch for answer in program.answers)
    print(
        f"{answered} answers of {name}; {len(ends)} processes ended before their programs: {sorted(set(ends))}"
    )


def read(path: Path) -> tuple[int, list[list[Recorded]]]:
    """The number of devices, and the batches."""
    with gzip.open(path) as file:
        kept = json.load(file)
    return kept["devices"], [[Recorded(*program) for program in batch] for batch in kept["batches"]]
