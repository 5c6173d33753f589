"""The drawing of a warp's accesses: which lane accesses which bytes.

A row has 128 bytes: a line of the cache with its four sectors, or one word in each of the 32 banks of shared memory.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from .records import ROW, SECTOR, ProfiledAccess
from .svg import finished, label

if TYPE_CHECKING:
    from .profile import Profile

__all__ = ["draw"]

WORD = 4
CELL, LEFT, TOP = 20, 112, 62  # pixels
MOST_ROWS = 32


def _lanes_text(lanes: list[int]) -> str:
    """ "5", "0-31" for several lanes, and "12+" where a cell has no room for them."""
    if len(lanes) == 1:
        return str(lanes[0])
    text = f"{lanes[0]}-{lanes[-1]}"
    return text if len(text) <= 4 else f"{lanes[0]}+"


def _position(profile: Profile, index: int) -> str:
    x, y, _ = profile.grid
    return f"({index % x}, {index // x % y}, {index // x // y})"


def _words(one: ProfiledAccess) -> dict[int, list[int]]:
    """The lanes that access each word, by the number of the word from the row with the begin of the memory on."""
    words: dict[int, list[int]] = defaultdict(list)
    for lane, at in enumerate(one.example):
        if at is None:
            continue
        first = at + one.example_begin
        for word in range(first // WORD, (first + one.bytes - 1) // WORD + 1):
            words[word].append(lane)
    return words


def _bank_style(words_of_bank: int) -> str:
    return f"csBank{next(size for size in (16, 8, 4, 2, 1) if words_of_bank >= size)}"


def draw(profile: Profile, one: ProfiledAccess) -> str:
    words = _words(one)
    shared = one.space == "shared"
    rows = sorted({word * WORD // ROW for word in words})
    shown = rows[:MOST_ROWS]
    moved = {word * WORD // SECTOR for word in words}
    # Words of 8 bytes are served to half a warp at a time, words of 16 bytes to a quarter.
    width = 32 if one.bytes <= 4 else 16 if one.bytes <= 8 else 8
    in_bank: dict[tuple[int, int], set[int]] = defaultdict(set)
    for word, lanes in words.items():
        for lane in lanes:
            in_bank[word % 32, lane // width].add(word)
    busiest = {bank: max(len(in_bank[bank, phase]) for phase in range(4)) for bank in range(32)}

    what = {"load": "load of", "store": "store to", "atomic": "atomic operation on"}[one.kind]
    title = f"line {one.line}: {what} {one.memory}, {one.bytes} byte{'s' if one.bytes > 1 else ''} a lane"
    place = f"warp {one.example_warp} of block {_position(profile, one.example_block)}"
    if one.kind == "atomic":
        cost = f"{one.example_cost} lane{'s' if one.example_cost != 1 else ''} at one address"
    elif shared:
        least = -(-sum(at is not None for at in one.example) // width)
        cost = f"{one.example_cost} wavefront{'s' if one.example_cost != 1 else ''}"
        if one.example_cost > least:
            cost += f" where {least} would do"
    else:
        least = -(-len({at for at in one.example if at is not None}) * one.bytes // SECTOR)
        cost = f"{one.example_cost} sector{'s' if one.example_cost != 1 else ''}"
        if one.example_cost > least:
            cost += f" where {least} would do"

    body = [label(12, 20, title, "csInk csBold"), label(12, 38, f"{place}: {cost}", "csSoft")]
    for column in range(32) if shared else range(0, 32, 8):
        wide = 1 if shared else 8
        name = str(column) if shared else f"sector {column // 8}"
        body.append(label(LEFT + (column + wide / 2) * CELL, TOP - 5, name, "csSoft csM"))
    if shared:
        body.append(label(LEFT - 8, TOP - 5, "bank", "csSoft csE"))
    y = float(TOP)
    before = None
    for row in shown:
        if before is not None and row != before + 1:
            y += 6
        before = row
        distance = row * ROW - one.example_begin
        body.append(label(LEFT - 8, y + CELL * 0.7, f"byte {distance:,}", "csSoft csE"))
        for column in range(32):
            word = row * 32 + column
            lanes = words.get(word, [])
            if shared:
                style = _bank_style(busiest[column]) if lanes else "csBand"
            else:
                style = "csWant" if lanes else "csMoved" if word * WORD // SECTOR in moved else "csBand"
            left = LEFT + column * CELL
            body.append(
                f'<rect class="{style}" x="{left}" y="{y:.0f}" width="{CELL - 1}" height="{CELL - 1}" rx="2"/>'
            )
            if lanes:
                body.append(label(left + (CELL - 1) / 2, y + 13, _lanes_text(lanes), "csIn"))
        y += CELL
    if len(rows) > len(shown):
        body.append(label(LEFT, y + 14, f"and {len(rows) - len(shown)} more rows of 128 bytes", "csSoft"))
        y += 18
    y += 8
    legend = (
        [
            ("csBank1", "bank serves 1 word"),
            ("csBank2", "2"),
            ("csBank4", "4"),
            ("csBank8", "8"),
            ("csBank16", "16 or more"),
        ]
        if shared
        else [
            ("csWant", "bytes that the lane with this number accesses"),
            ("csMoved", "moved in vain"),
            ("csBand", "not moved"),
        ]
    )
    x = float(LEFT)
    for style, text in legend:
        body.append(f'<rect class="{style}" x="{x:.0f}" y="{y:.0f}" width="12" height="12" rx="2"/>')
        body.append(label(x + 17, y + 10, text, "csSoft"))
        x += 17 + 6.2 * len(text) + 18
    return finished(body, LEFT + 32 * CELL + 12, y + 24, f"{title}; {cost}")
