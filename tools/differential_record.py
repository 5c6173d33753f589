"""Answers of one runtime to random programs, kept in a file, so that another can be compared where the first is not.

    python tools/differential.py cuda:0 --record h200.json.gz --calls 100000 --jobs 4     # where there is a GPU
    python tools/differential.py h200.json.gz host:0                                      # anywhere

The file has the programs too: it stays good when others are drawn. A difference cannot be shrunk, for which the first
runtime would have to be asked again; its program is shown up to there.
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

BATCH = 40  # programs of one process


class Recorded(NamedTuple):
    """A program, and for each of its steps the answer, or None from where the process ended."""

    steps: list[Step]
    answers: list[list[Any] | None]
    end: str = ""


def draw(seed: int, calls: int, length: int, devices: int) -> Iterator[list[list[Step]]]:
    """Batches of programs, of at least so many calls."""
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
    """The batch's programs with the runtime's answers. Where the process ends, the rest is asked in a new one."""
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
    """Another runtime's answers, in new processes where those began that were recorded: what calls leave behind for
    the programs after them (flags of the device, statistics of pools) ended with the process."""
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
    """How many devices take part, and the batches."""
    with gzip.open(path) as file:
        kept = json.load(file)
    return kept["devices"], [[Recorded(*program) for program in batch] for batch in kept["batches"]]
