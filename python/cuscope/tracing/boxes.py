"""Boxes: the spans of a row as they are drawn. Neighbours too narrow to be seen are merged into one box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Boxes", "boxes_of"]

CHUNK = (
    16  # merged boxes are joined in steps of so many resolutions, so that a box shows one mixture of spans
)


@dataclass
class Boxes:
    """Boxes of one row, sorted by lane and start. The tables have a row for each box and a column for each colour."""

    start: np.ndarray
    end: np.ndarray
    lane: np.ndarray
    first: np.ndarray  # the row of `Trace.spans` that the box draws, or its first one
    count: np.ndarray  # spans in the box
    codes: np.ndarray  # the colours of the row: the columns of the tables
    counts: np.ndarray  # spans by colour
    busy: np.ndarray  # nanoseconds by colour

    def __len__(self) -> int:
        return len(self.start)

    @property
    def code(self) -> np.ndarray:
        """The colour that took most of the time of each box."""
        if not len(self.codes):
            return np.empty(0, np.int8)
        weight = self.busy * 1.0 + self.counts * 1e-6  # marks take no time: the colour of most of them
        code: np.ndarray = self.codes[np.argmax(weight, axis=1)]
        return code


def boxes_of(
    spans: np.ndarray,
    of: np.ndarray,
    lanes: np.ndarray,
    codes: np.ndarray,
    resolution: float,
    most_lanes: int = 1 << 30,
) -> Boxes:
    """The boxes of the spans ``of``; neighbours narrower and nearer than ``resolution`` nanoseconds are merged.

    ``codes`` are the colours of all spans. Lanes from ``most_lanes`` on become one lane, and overlapping spans in it
    become one box.
    """
    lanes = np.minimum(lanes, most_lanes - 1)
    if lanes.any():
        order = np.lexsort((spans["start"][of], lanes))
        of, lanes = of[order], lanes[order]
    start, end = spans["start"][of], spans["end"][of]
    present, code = np.unique(codes[of], return_inverse=True)
    n = len(of)
    counts = np.ones(n, np.int64)
    if n < 2:
        table = np.equal.outer(code, np.arange(len(present))).astype(np.int64)
        return Boxes(start, end, lanes, of, counts, present, table, table * (end - start)[:, None])
    small = end - start < resolution
    same = lanes[1:] == lanes[:-1]
    join = small[1:] & small[:-1] & same & (start[1:] - end[:-1] < resolution)
    if resolution > 0:
        chunk = ((start - start.min()) / (resolution * CHUNK)).astype(np.int64)
        join &= chunk[1:] == chunk[:-1]
    folded = np.flatnonzero(lanes == most_lanes - 1)
    if len(folded) > 1:
        latest = np.maximum.accumulate(end[folded])
        join[folded[0] :] |= start[folded[1:]] < latest[:-1]
    head = np.flatnonzero(np.concatenate(([True], ~join)))
    busy = _by_colour(end - start, code, len(present), head)
    number = _by_colour(counts, code, len(present), head)
    boxes = Boxes(
        start[head],
        np.maximum.reduceat(end, head),
        lanes[head],
        of[head],
        np.diff(np.append(head, n)),
        present,
        number,
        busy,
    )
    return _join_alike(boxes, resolution) if len(head) < n else boxes


def _by_colour(values: np.ndarray, code: np.ndarray, colours: int, head: np.ndarray) -> np.ndarray:
    table = np.zeros((len(head), colours), np.int64)
    for c in range(colours):
        table[:, c] = np.add.reduceat(np.where(code == c, values, 0), head)
    return table


def _join_alike(boxes: Boxes, resolution: float) -> Boxes:
    """Join neighbouring merged boxes that have the same colours."""
    mask = (boxes.counts > 0) @ (1 << np.arange(len(boxes.codes), dtype=np.int64))
    code = boxes.code
    merged = boxes.count > 1
    join = (
        merged[1:]
        & merged[:-1]
        & (boxes.lane[1:] == boxes.lane[:-1])
        & (mask[1:] == mask[:-1])
        & (code[1:] == code[:-1])
        & (boxes.start[1:] - boxes.end[:-1] < resolution)
    )
    head = np.flatnonzero(np.concatenate(([True], ~join)))
    if len(head) == len(boxes):
        return boxes
    return Boxes(
        boxes.start[head],
        np.maximum.reduceat(boxes.end, head),
        boxes.lane[head],
        boxes.first[head],
        np.add.reduceat(boxes.count, head),
        boxes.codes,
        np.add.reduceat(boxes.counts, head, axis=0),
        np.add.reduceat(boxes.busy, head, axis=0),
    )
