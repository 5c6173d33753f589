"""``Trace.save``: chooses what to write by the end of the file's name."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from . import files, perfetto

if TYPE_CHECKING:
    from .trace import Trace

__all__ = ["check_path", "save"]

ENDS = (".json", ".json.gz", ".svg")


def check_path(path: str | PathLike[str]) -> Path:
    """The path, if a trace can have this name."""
    name = fspath(path)
    if not name.lower().endswith(ENDS):
        raise ValueError(
            f"a trace cannot be saved as {name!r}: the name must end in .json or .json.gz (Perfetto and Chrome) "
            "or .svg (a picture)"
        )
    return Path(name)


def save(trace: Trace, path: str | PathLike[str]) -> None:
    target = check_path(path)
    name = target.name.lower()
    if name.endswith(".svg"):
        drawable: Any = trace
        _save_picture(drawable.svg(), target)
    else:
        perfetto.save(trace, target, compress=name.endswith(".gz"))


def _save_picture(svg: str, target: Path) -> None:
    def write(file: BinaryIO) -> None:
        file.write(svg.encode())

    files.replace(target, write)
