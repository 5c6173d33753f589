"""Makes the lines of a profile from the rows that the runtime counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .records import ProfiledAccess, ProfiledLine

__all__ = ["base_name", "lines_of"]

MEMORY = "memory"
# Counters that are added up where one instruction of the source is several of the code.
SUMS = ("requests", "threads", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts", "addresses")
EXAMPLE = ("example", "example_cost", "example_block", "example_warp", "example_begin")


class Source:
    """The texts of a kernel's source, of the headers that were given with it, and of those in its folders."""

    def __init__(self, source: Mapping[str, Any] | None) -> None:
        self.texts: dict[str, list[str]] = {}
        self.folders: list[Path] = []
        if source is not None:
            for name, text in (*source["headers"], (source["file_name"], source["text"])):
                self.texts[base_name(name)] = text.splitlines()
            self.folders = [Path(source["file_name"]).parent, *map(Path, source["include_paths"])]

    def line(self, file: str, number: int) -> str:
        lines = self._lines(file)
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def _lines(self, file: str) -> list[str]:
        known = self.texts.get(base_name(file))
        if known is not None or not file:
            return known or []
        for path in (Path(file), *(folder / file for folder in self.folders)):
            with contextlib.suppress(OSError, ValueError):
                known = path.read_text(errors="replace").splitlines()
                break
        return self.texts.setdefault(base_name(file), known or [])


def base_name(name: str) -> str:
    """The name of a file without its folder."""
    return name.rpartition("/")[2]


def _place(line: str) -> tuple[str, int]:
    file, _, number = line.rpartition(":")
    return (file, int(number)) if number.isdigit() else ("", 0)


def _access(row: Mapping[str, Any]) -> ProfiledAccess:
    names = row["arguments"] or ([row["variable"]] if row["variable"] else [])
    return ProfiledAccess(
        line=_place(row["line"])[1],
        space="shared" if row["shared"] else "global",
        memory=", ".join(names) or MEMORY,
        **{name: row[name] for name in ("kind", "bytes", *SUMS, *EXAMPLE)},
    )


def _merged(accesses: Iterable[ProfiledAccess]) -> tuple[ProfiledAccess, ...]:
    """One row for the copies of an instruction that an unrolled loop has."""
    merged: dict[tuple[object, ...], ProfiledAccess] = {}
    for one in accesses:
        known = merged.get(one.shape)
        if known is None:
            merged[one.shape] = one
            continue
        merged[one.shape] = replace(
            known, **{name: getattr(known, name) + getattr(one, name) for name in SUMS}
        )
    return tuple(merged.values())


class _Sums:
    def __init__(self) -> None:
        self.blocks: dict[int, tuple[int, int]] = {}
        self.instructions = self.thread_instructions = self.operations = 0.0
        self.branches = self.divergent = 0
        self.accesses: list[ProfiledAccess] = []

    def add(self, row: Mapping[str, Any]) -> None:
        count = sum(row["instructions"])
        self.blocks[row["block"]] = (row["warps"], row["threads"])
        self.instructions += row["warps"] * count
        self.thread_instructions += row["threads"] * count
        self.operations += row["threads"] * (row["operations32"] + row["operations64"])
        if row["branches"]:
            self.branches += row["warps"]
            self.divergent += row["divergent"]

    def line(self, file: str, number: int, text: str) -> ProfiledLine:
        requests = sum(one.requests for one in self.accesses)
        executions = [*self.blocks.values(), *((one.requests, one.threads) for one in self.accesses)]
        most = max(executions)
        return ProfiledLine(
            file=file,
            number=number,
            text=text,
            executions=most[0],
            thread_executions=most[1],
            instructions=self.instructions + requests,
            thread_instructions=self.thread_instructions + sum(one.threads for one in self.accesses),
            operations=self.operations,
            branches=self.branches,
            divergent_branches=self.divergent,
            accesses=_merged(self.accesses),
        )


def lines_of(facts: Mapping[str, Any]) -> list[ProfiledLine]:
    """In the order of the source; the kernel's own file first."""
    source = Source(facts["source"])
    sums: dict[tuple[str, int], _Sums] = {}
    for row in facts["code"]:
        sums.setdefault(_place(row["line"]), _Sums()).add(row)
    for row in facts["accesses"]:
        sums.setdefault(_place(row["line"]), _Sums()).accesses.append(_access(row))
    own = base_name(facts["source"]["file_name"]) if facts["source"] else ""
    order = sorted(sums, key=lambda place: (base_name(place[0]) != own, place[0], place[1]))
    return [sums[place].line(*place, source.line(*place)) for place in order]
