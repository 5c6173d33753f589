"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO, BinaryIO, cast

__all__ = ["open_text", "replace"]

_GZIP = b"\x1f\x8b"


def replace(path: Path, write: Callable[[BinaryIO], None], *, compress: bool = False) -> None:
    """Let ``write`` write a file, and give it the name ``path`` only when it is complete.

    If writing fails, a file that had this name is as it was. Compressed bytes have no time and no name, so that equal
    contents are equal files.
    """
    target = Path(os.path.realpath(path))  # a link goes on to lead to the file
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    part = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        file = part.open("xb")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with file:
            if compress:
                # Level 4 takes half the time of the usual level 9 and a tenth more bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=4, mtime=0) as packed:
                    write(cast(BinaryIO, packed))
            else:
                write(file)
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def open_text(path: Path) -> IO[str]:
    """Open a file to read its text, whether it is compressed or not."""
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
    if compressed:
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")
