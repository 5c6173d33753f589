"""NumPy arrays over memory that streams use as well, made while a check runs: they tell when the host reads or writes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

__all__ = ["WatchedArray", "watch"]

# An array in more pieces than this is left out.
_MOST_PIECES = 1024

# Functions of NumPy that look at an array, but not at its elements.
_LOOKS = {
    "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "byte_bounds",
    "can_cast", "empty_like", "expand_dims", "full_like", "hsplit", "may_share_memory", "moveaxis", "ndim", "ones_like",
    "ravel", "reshape", "result_type", "rollaxis", "shape", "shares_memory", "size", "split", "squeeze", "swapaxes",
    "transpose", "vsplit", "zeros_like",
}  # fmt: skip
# Functions that write their first argument.
_WRITES_FIRST = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}


def _pieces(array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Contiguous parts of the array."""
    if array.flags.c_contiguous or array.flags.f_contiguous or array.ndim == 0:
        return [array]
    if len(array) > _MOST_PIECES:
        return []
    return list(itertools.islice((part for row in array for part in _pieces(row[...])), _MOST_PIECES + 1))


def _note(array: npt.NDArray[Any], what: str, *, writes: bool) -> None:
    plain = array.view(np.ndarray)
    if plain.size == 0 or not _core.checking():
        return
    pieces = _pieces(plain)
    if len(pieces) > _MOST_PIECES:
        return
    for piece in pieces:
        _core.note_host_access(piece.ctypes.data, piece.nbytes, writes, what)


class WatchedArray(np.ndarray):
    """A view of memory that streams use: page-locked or managed.

    Inside of a check, `pinned_empty` and `DeviceArray.host_view` return such arrays. Uses of the elements by way of
    ``np.asarray(array)``, of a buffer, or of C are not seen.
    """

    def __getitem__(self, key: Any) -> Any:
        plain = self.view(np.ndarray)
        found = plain[key]
        if isinstance(found, np.ndarray) and found.base is not None and np.may_share_memory(found, plain):
            return found.view(WatchedArray)
        try:
            element = plain[(*key, ...) if isinstance(key, tuple) else (key, ...)]
        except (IndexError, TypeError):
            element = plain
        _note(element if np.may_share_memory(element, plain) else plain, "array[...]", writes=False)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        plain = self.view(np.ndarray)
        plain[key] = _seen(value, "array[...] = ...")
        try:
            part = plain[(*key, ...) if isinstance(key, tuple) else (key, ...)]
        except (IndexError, TypeError):
            part = plain[key] if key is Ellipsis else plain
        _note(part if np.may_share_memory(part, plain) else plain, "array[...] = ...", writes=True)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        name = f"numpy.{ufunc.__name__}()"
        given: tuple[Any, ...] = keywords.get("out") or ()
        if method == "at":
            _note(np.asanyarray(inputs[0]), name, writes=True)
        plain = [_seen(value, name) for value in inputs]
        keywords = {key: _seen(value, name) for key, value in keywords.items() if key != "out"}
        if given:
            keywords["out"] = tuple(_plain(value) for value in given)
        result = getattr(ufunc, method)(*plain, **keywords)
        for value in given:
            if isinstance(value, WatchedArray):
                _note(value, name, writes=True)
        return given[0] if len(given) == 1 else result

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: Any, keywords: Any
    ) -> Any:
        name = function.__name__
        if name in _LOOKS:
            return super().__array_function__(function, types, arguments, keywords)
        out = keywords.get("out")
        written = out if isinstance(out, tuple) else (out,)
        written += tuple(arguments[:1]) if name in _WRITES_FIRST else ()
        rest = arguments[1:] if name in _WRITES_FIRST else arguments
        plain = [_seen(value, f"numpy.{name}()") for value in rest]
        if name in _WRITES_FIRST:
            plain.insert(0, _plain(arguments[0]))
        others = {
            key: _plain(value) if key == "out" else _seen(value, f"numpy.{name}()")
            for key, value in keywords.items()
        }
        result = function(*plain, **others)
        for value in written:
            if isinstance(value, WatchedArray):
                _note(value, f"numpy.{name}()", writes=True)
        return out if isinstance(out, WatchedArray) else result


def _plain(value: Any) -> Any:
    """The value with plain arrays in place of watched ones."""
    if isinstance(value, WatchedArray):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value


def _seen(value: Any, what: str) -> Any:
    """The same, for a value that is read."""
    if isinstance(value, WatchedArray):
        _note(value, what, writes=False)
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(_seen(one, what) for one in value)
    return value


def _watched_method(name: str, *, writes: bool) -> Callable[..., Any]:
    plain = getattr(np.ndarray, name)
    what = f"array.{name}()"

    def method(self: WatchedArray, *arguments: Any, **keywords: Any) -> Any:
        if not writes:
            _note(self, what, writes=False)
        arguments = tuple(_seen(value, what) for value in arguments)
        result = plain(
            self.view(np.ndarray), *arguments, **{key: _plain(value) for key, value in keywords.items()}
        )
        if writes:
            _note(self, what, writes=True)
        return result

    method.__name__ = name
    return method


for _name in (
    "__bool__", "__complex__", "__contains__", "__copy__", "__deepcopy__", "__float__", "__format__", "__index__",
    "__int__", "__reduce__", "__reduce_ex__", "__repr__", "__str__", "all", "any", "argmax", "argmin", "argsort",
    "astype", "choose", "clip", "compress", "copy", "cumprod", "cumsum", "dot", "dump", "dumps", "flatten", "item",
    "max", "mean", "min", "nonzero", "prod", "repeat", "round", "searchsorted", "std", "sum", "take", "tobytes",
    "tofile", "tolist", "trace", "var",
):  # fmt: skip
    setattr(WatchedArray, _name, _watched_method(_name, writes=False))
for _name in ("fill", "partition", "put", "sort"):
    setattr(WatchedArray, _name, _watched_method(_name, writes=True))


def watch(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, as one that tells checks about its uses."""
    return array.view(WatchedArray)
