"""Traces as dictionaries of plain Python objects, for JSON and for other programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .spans import RELATIONS, SPAN

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["ATTRIBUTES", "from_dict", "to_dict", "with_attributes"]

ATTRIBUTES = ("source", "duration", "dropped", "devices", "streams", "threads", "notes")


def to_dict(trace: Trace) -> dict[str, Any]:
    attributes = {name: getattr(trace, name) for name in ATTRIBUTES}
    for name in ("devices", "streams"):
        attributes[name] = {key: dict(about) for key, about in attributes[name].items()}
    attributes["threads"] = dict(attributes["threads"])
    attributes["notes"] = list(attributes["notes"])
    columns = {column: trace.spans[column].tolist() for column in SPAN.names or ()}
    return {**attributes, "spans": columns}


def from_dict(data: Mapping[str, Any]) -> Trace:
    data = {"notes": [], **data}  # cuscope 0.1 had none
    missing = [name for name in (*ATTRIBUTES, "spans") if name not in data]
    if missing:
        raise ValueError(f"the dictionary has no '{missing[0]}': it must be one that Trace.to_dict made")
    columns = data["spans"]
    names = SPAN.names or ()
    if set(columns) != set(names):
        raise ValueError(f"the spans have the columns {', '.join(columns)}; they must be {', '.join(names)}")
    count = len(columns[names[0]])
    spans = np.zeros(count, SPAN)
    for column in names:
        if len(columns[column]) != count:
            raise ValueError(
                f"the column '{column}' has {len(columns[column])} spans, and '{names[0]}' {count}"
            )
        if count:
            spans[column] = columns[column]
    for column in RELATIONS:
        if ((spans[column] < -1) | (spans[column] >= count)).any():
            raise ValueError(f"the column '{column}' has a row that is not in the table of {count} spans")
    return with_attributes(spans, {name: data[name] for name in ATTRIBUTES})


def with_attributes(spans: np.ndarray, attributes: Mapping[str, Any]) -> Trace:
    """A trace of these spans. In JSON, the keys of dictionaries are strings."""
    from .trace import Trace  # it imports this module

    return Trace(
        spans,
        duration=attributes["duration"],
        source=attributes["source"],
        dropped=attributes["dropped"],
        devices=attributes["devices"],
        streams={int(number): about for number, about in attributes["streams"].items()},
        threads={int(number): name for number, name in attributes["threads"].items()},
        notes=attributes["notes"],
    )
