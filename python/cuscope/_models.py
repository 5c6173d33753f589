"""Device models: what a simulated device has, and how long its operations take, as values that you read, change and save.

The extension has the table of the fields, with their ranges. This module makes Python values of its text.
"""

from __future__ import annotations

import difflib
import json
import math
import numbers
import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NoReturn

from . import _core
from ._core import Device
from ._model_sources import SOURCES
from ._public import show_as_public

__all__ = ["Model", "add_host_device", "model", "models"]

FORMAT, VERSION = "cuscope device model", 1
MOST_SHOWN = 8  # changed fields in a repr
MOST_NAME, MOST_SOURCE = 100, 4000  # characters


@dataclass(frozen=True)
class Field:
    """A row of the extension's table."""

    name: str
    kind: str
    unit: str
    least: float
    most: float
    meaning: str

    @property
    def allowed(self) -> str:
        span = f"{self.least:.15g} to {self.most:.15g}"
        return {
            "text": f"1 to {MOST_NAME} characters on one line",
            "bool": "True and False",
            "ints": f"any number of ints, each {span}",
            "three ints": f"three ints, each {span}",
        }.get(self.kind, f"{span} {self.unit}".rstrip())


@cache
def _table() -> tuple[dict[str, Field], tuple[str, ...]]:
    rows, names = _core.describe_device_model().split("\n\n")
    fields = {}
    for row in rows.splitlines():
        name, kind, unit, least, most, meaning = row.split("\t")
        fields[name] = Field(name, kind, unit, float(least), float(most), meaning)
    return fields, tuple(names.split())


def _fields() -> dict[str, Field]:
    return _table()[0]


def field_range(name: str) -> tuple[float, float]:
    """The least and the most that a field may be."""
    return _fields()[name].least, _fields()[name].most


def _near(name: str, known: Iterable[str]) -> str:
    """' Did you mean ...?', or nothing."""
    known = list(known)
    near = [one for one in known if name in one] if len(name) > 3 else []
    near += [one for one in difflib.get_close_matches(name, known, 3, 0.6) if one not in near]
    return f" Did you mean {' or '.join(near[:3])}?" if near else ""


def _wrong_value(field: Field, value: object) -> NoReturn:
    raise ValueError(f"{field.name}: {value!r} is not allowed; allowed is {field.allowed}")


def _int(field: Field, value: Any, whole: object) -> str:
    if isinstance(value, bool):
        raise TypeError(f"{field.name}: takes an int, not a bool")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{field.name}: takes an int, not {type(value).__name__}") from None
    if not field.least <= number <= field.most:
        _wrong_value(field, whole)
    return str(number)


def _write(field: Field, value: Any) -> str:
    """The value as the extension reads it. It checks the value, too."""
    if field.kind == "bool":
        if type(value).__name__ not in ("bool", "bool_"):
            raise TypeError(f"{field.name}: takes True or False, not {type(value).__name__}")
        return "true" if value else "false"
    if field.kind == "text":
        if not isinstance(value, str):
            raise TypeError(f"{field.name}: takes a str, not {type(value).__name__}")
        if not (1 <= len(value) <= MOST_NAME and value.isprintable() and value.isascii()):
            raise ValueError(f"{field.name}: {value!r} is not allowed; allowed is {field.allowed} of ASCII")
        return value
    if field.kind in ("ints", "three ints"):
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise TypeError(f"{field.name}: takes a sequence of ints, not {type(value).__name__}")
        value = tuple(value)
        if (field.kind == "three ints" and len(value) != 3) or len(value) > field.most:
            _wrong_value(field, value)
        return ",".join(_int(field, one, value) for one in value)
    if field.kind == "float":
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError(f"{field.name}: takes a number, not {type(value).__name__}")
        if not (math.isfinite(value) and field.least <= float(value) <= field.most):
            _wrong_value(field, value)
        return repr(float(value))
    return _int(field, value, value)


def _read(field: Field, text: str) -> Any:
    if field.kind == "bool":
        return text == "true"
    if field.kind == "text":
        return text
    if field.kind in ("ints", "three ints"):
        return tuple(int(one) for one in text.split(",") if one)
    return float(text) if field.kind == "float" else int(text)


class Model:
    """A device model: what a simulated device has, and how long its operations take.

    You get one from cuscope.models(), cuscope.model() or Model.load(). Its fields are attributes, and help(cs.model)
    tells how to change them. A model never changes. Two models are equal if all their fields are. `source` says where
    the numbers come from. docs/models.md lists the fields with their units and ranges. CUDA has no such object.

    >>> import cuscope as cs
    >>> h200 = cs.model("h200")
    >>> h200.multiprocessors, h200.copy_engines
    (132, 3)
    >>> cs.Model.from_json(h200.to_json()) == h200
    True
    """

    __slots__ = ("_source", "_values")
    _source: str
    _values: dict[str, Any]

    def __init__(self) -> None:
        raise TypeError(
            "Model cannot be made directly: cuscope.model('h200', copy_engines=1) changes a known model"
        )

    @classmethod
    def _of(cls, text: str, source: str) -> Model:
        """The model of a name or a text, after the extension's check."""
        made = object.__new__(cls)
        lines = (line.partition("=") for line in _core.describe_device_model(text).splitlines())
        object.__setattr__(made, "_values", {name: _read(_fields()[name], value) for name, _, value in lines})
        object.__setattr__(made, "_source", source)
        return made

    @property
    def source(self) -> str:
        """Where the numbers come from, and which of them are estimates."""
        return self._source

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            if name in self._values:
                return self._values[name]
            raise AttributeError(f"Model has no field '{name}'.{_near(name, _fields())}")
        raise AttributeError(name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Model never changes: cuscope.model(model, {name}={value!r}) makes another")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Model never changes")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_fields()]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self._values == other._values and self._source == other._source

    def __hash__(self) -> int:
        return hash((tuple(self._values.items()), self._source))

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_json, (self.to_json(),)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self

    def differences(self, other: Model) -> dict[str, tuple[Any, Any]]:
        """The fields in which two models differ, with both values. Raises TypeError if `other` is no Model.

        >>> import cuscope as cs
        >>> cs.model("h200", name="h200", copy_engines=1).differences(cs.model("h200"))
        {'copy_engines': (1, 3)}
        """
        if not isinstance(other, Model):
            raise TypeError(f"other: takes a Model, not {type(other).__name__}")
        mine, theirs = self._values, other._values
        return {name: (mine[name], theirs[name]) for name in mine if mine[name] != theirs[name]}

    def __repr__(self) -> str:
        v = self._values
        engines = {0: "no overlap", 1: "1 copy engine"}.get(
            v["copy_engines"], f"{v['copy_engines']} copy engines"
        )
        kernels = "concurrent kernels" if v["concurrent_kernels"] else "one kernel at a time"
        return (
            f"<Model {v['name']!r}: compute capability {v['compute_capability_major']}.{v['compute_capability_minor']}, "
            f"{v['multiprocessors']} multiprocessors, {engines}, {kernels}, "
            f"{v['host_to_device_rate']:g} GB/s in, {v['device_to_host_rate']:g} GB/s out>"
        )

    def _repr_html_(self) -> str:
        shown = list(self._values)[1:23]
        rows = "".join(
            f"<tr><td>{name}</td><td>{escape(str(self._values[name]))} {_fields()[name].unit}</td></tr>"
            for name in shown
        )
        return f"<b>{escape(repr(self)[1:-1])}</b><p>{escape(self._source)}</p><table>{rows}</table>"

    def to_dict(self) -> dict[str, Any]:
        """All fields, and the source.

        >>> import cuscope as cs
        >>> cs.model("c1060").to_dict()["copy_engines"]
        1
        """
        return {**self._values, "source": self._source}

    def to_json(self) -> str:
        """The model as JSON, which from_json() reads.

        >>> import cuscope as cs
        >>> print(cs.model("fermi").to_json()[:60])
        {
          "format": "cuscope device model",
          "version": 1,
          "nam
        """
        return json.dumps({"format": FORMAT, "version": VERSION, **self.to_dict()}, indent=2) + "\n"

    @staticmethod
    def from_json(text: str) -> Model:
        """The model that to_json() wrote. The text has to have all fields, and no other.

        Raises ValueError for text that is no such model; the message names the fields that are missing or unknown.

        >>> import cuscope as cs
        >>> cs.Model.from_json(cs.model("k20x").to_json()).name
        'k20x'
        """
        if not isinstance(text, str | bytes):
            raise TypeError(f"text: takes a str, not {type(text).__name__}")
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"text: is no JSON: {error}") from None
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise ValueError(f'text: is no device model; such a text has "format": "{FORMAT}"')
        version = values.pop("version", None)
        if version != VERSION:
            raise ValueError(f"text: version {version!r} of the format; this cuscope reads version {VERSION}")
        source = values.pop("source", "")
        if unknown := [name for name in values if name not in _fields()]:
            hints = "".join(_near(name, _fields()) for name in unknown[:3])
            raise ValueError(f"text: unknown fields {', '.join(unknown)}.{hints}")
        if missing := [name for name in _fields() if name not in values]:
            raise ValueError(f"text: missing fields {', '.join(missing)}")
        return _derive("h200", values, source)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, as JSON. Raises OSError if the file cannot be written.

        >>> import tempfile, os
        >>> import cuscope as cs
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "mine.json")
        ...     cs.model("h200", multiprocessors=20).save(path)
        ...     cs.Model.load(path).multiprocessors
        20
        """
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Read a model from a file that save() wrote.

        Raises OSError if the file cannot be read, ValueError if it has no model: see from_json().

        >>> import tempfile, os
        >>> import cuscope as cs
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "small.json")
        ...     cs.model("h200", name="small", multiprocessors=20).save(path)
        ...     cs.Model.load(path).name
        'small'
        """
        try:
            return Model.from_json(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {str(error).removeprefix('text: ')}") from None


def _derive(base: str, values: Mapping[str, Any], source: object) -> Model:
    if not isinstance(source, str):
        raise TypeError(f"source: takes a str, not {type(source).__name__}")
    if len(source) > MOST_SOURCE:
        raise ValueError(f"source: {len(source)} characters; allowed are {MOST_SOURCE}")
    lines = [f"{name}={_write(_fields()[name], value)}\n" for name, value in values.items()]
    try:
        return Model._of(f"base={base}\n{''.join(lines)}", source)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("model: ")) from None


def _named(name: str) -> str:
    names = _table()[1]
    if name not in names:
        raise ValueError(
            f"model: {name!r}: there is no device model of that name; there are: {', '.join(names)}."
            f"{_near(name, names)}"
        )
    return name


def models() -> list[Model]:
    """The device models that cuscope knows. Each has a name and a source.

    CUDA has no such function: docs/models.md explains models.

    >>> import cuscope as cs
    >>> [model.name for model in cs.models()]
    ['h200', 'h100', 'a100', 'k20x', 'fermi', 'c1060', 'no_overlap']
    """
    return [Model._of(name, SOURCES[name]) for name in _table()[1]]


def model(base: str | os.PathLike[str] | Model = "h200", **fields: Any) -> Model:
    """A device model: a known one, or another one with some of its fields changed.

    Parameters
    ----------
    base : str, path or Model
        The name of a model that cuscope.models() lists, or a model, or the file of one: a path, or a str that ends in
        ".json".
    **fields
        The fields that change; docs/models.md lists them with their units and ranges. `name` is the name of the new
        model, "... (changed)" if you give none. `source` says where your numbers come from. If you change
        `multiprocessors` alone, `multiprocessor_groups` follows.

    Raises
    ------
    TypeError
        There is no such field, or its value has a wrong type.
    ValueError
        There is no such model, a value is out of its range, or fields contradict each other. The message has the field,
        its value and the allowed values.

    CUDA has no such function.

    >>> import cuscope as cs
    >>> small = cs.model("h200", copy_engines=1, multiprocessors=20)
    >>> small.name, small.multiprocessor_groups
    ('h200 (changed)', (18, 2))
    >>> with cs.add_host_device(small) as device:
    ...     device.properties.multiprocessor_count
    20
    """
    if isinstance(base, Model):
        known = base
    elif isinstance(base, str) and not base.endswith(".json"):
        known = Model._of(_named(base), SOURCES[base])
    elif isinstance(base, str | os.PathLike):
        known = Model.load(base)
    else:
        raise TypeError(f"base: takes the name of a model, a Model or its file, not {type(base).__name__}")
    if not fields:
        return known
    for name in fields:
        if name not in _fields() and name != "source":
            raise TypeError(
                f"model() has no field '{name}'.{_near(name, _fields())} docs/models.md lists the fields"
            )
    changed = dict(fields)
    source = changed.pop("source", None)
    if source is None:
        names = ", ".join(name for name in changed if name != "name")
        source = known.source if not names else f"{known.source} Changed: {names}."[-MOST_SOURCE:]
    if "name" not in changed and changed:
        suffix = " (changed)"
        changed["name"] = known.name.removesuffix(suffix)[: MOST_NAME - len(suffix)] + suffix
    values = dict(known._values)
    if "multiprocessors" in changed and "multiprocessor_groups" not in changed:
        changed["multiprocessor_groups"] = _regrouped(
            values["multiprocessor_groups"], changed["multiprocessors"]
        )
    return _derive("h200", {**values, **changed}, source)


def _regrouped(groups: tuple[int, ...], multiprocessors: Any) -> tuple[int, ...]:
    """The groups as far as that many multiprocessors go, and more of the first size if they are not enough."""
    left = int(_write(_fields()["multiprocessors"], multiprocessors))
    kept = []
    for i in range(left if groups else 0):
        kept.append(min(left, groups[i] if i < len(groups) else groups[0]))
        left -= kept[-1]
        if left == 0:
            break
    return tuple(kept)


def add_host_device(model: str | Model = "h200") -> Device:
    """Add a simulated device of a model, such as 'h200' or one that cuscope.model() made; returns it.

    From now on devices() lists it, until the process ends. Raises ValueError for an unknown name; the message lists the
    models. CUDA has no such function: docs/models.md explains models.

    >>> import cuscope as cs
    >>> cs.add_host_device("h200").model
    'h200 model'
    >>> cs.add_host_device(cs.model("h200", name="small", multiprocessors=20)).model
    'small model'
    """
    if isinstance(model, str):
        return _core.add_host_device(_named(model))
    if not isinstance(model, Model):
        raise TypeError(f"model: takes the name of a model or a Model, not {type(model).__name__}")
    lines = [f"{name}={_write(_fields()[name], value)}\n" for name, value in model._values.items()]
    return _core.add_host_device(f"base=h200\n{''.join(lines)}")


show_as_public(Model, add_host_device, model, models)


def field_table() -> str:
    """The table of the fields in docs/models.md."""
    rows = [
        f"| `{f.name}` | {f.kind} | {'' if f.kind in ('bool', 'text') else f'{f.least:.15g} to {f.most:.15g}'}"
        f"{' ' + f.unit if f.unit else ''} | {f.meaning} |"
        for f in _fields().values()
    ]
    return "\n".join(["| field | kind | allowed | meaning |", "| --- | --- | --- | --- |", *rows, ""])
