"""The notebooks in the installed package, and their copies in a folder of the reader."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Copied", "copy_notebooks", "notebooks"]


def notebooks() -> list[Path]:
    """The notebooks of the course in the installed package, in the order of learning.

    >>> from cuscope import course
    >>> len(course.notebooks()) > 5
    True
    """
    return sorted((Path(__file__).parent / "notebooks").glob("*.ipynb"))


@dataclass(frozen=True)
class Copied:
    """One notebook in the reader's folder, and what has become of it.

    >>> import tempfile
    >>> from cuscope import course
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     {copied.state for copied in course.copy_notebooks(folder)}
    {'written'}
    """

    path: Path
    #: "written"; "unchanged": it was there; "kept": it was there with changes, and stays as it is.
    state: str


def copy_notebooks(folder: str | os.PathLike[str], *, force: bool = False) -> list[Copied]:
    """Copy the notebooks to a folder, which is made if need be.

    A notebook that is there and differs is kept, because it may have the reader's changes; ``force=True`` overwrites it.
    Each notebook is written whole or not at all. Raises OSError if the folder or a notebook cannot be written.

    >>> import tempfile
    >>> from cuscope import course
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     copied = course.copy_notebooks(folder)
    ...     _ = copied[0].path.write_text("changed")
    ...     [one.state for one in course.copy_notebooks(folder)][:2]
    ['kept', 'unchanged']
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    return [_copy(source, target / source.name, force=force) for source in notebooks()]


def _copy(source: Path, path: Path, *, force: bool) -> Copied:
    content = source.read_bytes()
    if os.path.lexists(path):
        if path.is_file() and path.read_bytes() == content:
            return Copied(path, "unchanged")
        if not force:
            return Copied(path, "kept")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)  # mkstemp's files are the owner's alone
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Copied(path, "written")
