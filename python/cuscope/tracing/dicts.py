"""Traces as dictionaries of plain Python objects, for JSON and for other programs."""

from __future__ import annotations

import numbers
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
    if not isinstance(data, Mapping):
        raise TypeError(f"data: takes the dictionary that Trace.to_dict made, not {type(data).__name__}")
    data = {"notes": [], **data}  # cuscope 0.1 had none
    missing = [name for name in (*ATTRIBUTES, "spans") if name not in data]
    if missing:
        raise ValueError(f"the dictionary has no '{missing[0]}': it must be one that Trace.to_dict made")
    columns = data["spans"]
    if not isinstance(columns, Mapping):
        raise TypeError(f"data: 'spans' must be a dictionary of columns, not {type(columns).__name__}")
    names = SPAN.names or ()
    if set(columns) != set(names):
        raise ValueError(f"the spans have the columns {', '.join(columns)}; they must be {', '.join(names)}")
    for column in names:
        if isinstance(columns[column], (str, bytes)) or not hasattr(columns[column], "__len__"):
            raise TypeError(f"the column '{column}' must be a list, not {type(columns[column]).__name__}")
    for name in ("devices", "streams", "threads"):
        if not isinstance(data[name], Mapping):
            raise TypeError(f"data: '{name}' must be a dictionary, not {type(data[name]).__name__}")
    if not isinstance(data["duration"], numbers.Real):
        raise TypeError(
            f"data: 'duration' must be a number of nanoseconds, not {type(data['duration']).__name__}"
        )
    count = len(columns[names[0]])
    spans = np.zeros(count, SPAN)
    for column in names:
        if len(columns[column]) != count:
            raise ValueError(
                f"the column '{column}' has {len(columns[column])} spans, and '{names[0]}' {count}"
            )
        if count:
            try:
                spans[column] = columns[column]
            except (TypeError, ValueError, OverflowError) as error:
                raise type(error)(f"the column '{column}': {error}") from None
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
