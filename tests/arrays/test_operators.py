"""Operators of device arrays: each gives the right result, or raises an error that names the function to use instead."""

from __future__ import annotations

import operator
from unittest import mock

import numpy as np
import pytest

import cuscope as cs

BINARY = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "divmod": divmod,
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
}
UNARY = {
    "-x": operator.neg,
    "+x": operator.pos,
    "~x": operator.invert,
    "abs": abs,
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "round": round,
    "not": operator.not_,
}
OTHERS = {
    "an equal array": lambda x: cs.to_device(x.to_host()),
    "itself": lambda x: x,
    "an array without axes": lambda x: cs.zeros((), np.int32),
    "an array of another shape": lambda x: cs.zeros((2, 3), np.int32),
    "an int": lambda x: 3,
    "True": lambda x: True,
    "a float": lambda x: 3.0,
    "a complex": lambda x: 3j,
    "a NumPy scalar": lambda x: np.int32(3),
    "a NumPy array": lambda x: np.arange(6, dtype=np.int32),
    "a list": lambda x: [0, 1, 2, 3, 4, 5],
    "a tuple": lambda x: (0, 1, 2, 3, 4, 5),
}
# NumPy before 1.25 turns an error of its == and != into a warning, which is an error in tests.
REFUSED = dict.fromkeys(BINARY, TypeError)
if np.lib.NumpyVersion(np.__version__) < "1.25.0":
    REFUSED["=="] = REFUSED["!="] = (TypeError, DeprecationWarning)
SHAPES = {"six": (6,), "none": (), "empty": (0,)}


def made(shape) -> cs.DeviceArray:
    return cs.to_device(np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("symbol", BINARY)
def test_binary_operators_with_values_are_refused_from_either_side(device, symbol, other, shape):
    x = made(shape)
    y = other(x)
    for left, right in [(x, y), (y, x)]:
        if isinstance(left, list) and symbol in ("+=", "*="):
            continue  # the list's own operator, which takes any sequence, also a NumPy array
        by_numpy = isinstance(y, (np.ndarray, np.generic)) and (left is y or symbol == "divmod")
        if x.nbytes == 0 and by_numpy:
            continue  # NumPy reads an array without elements, and its result has no elements either
        with pytest.raises(REFUSED[symbol]):
            BINARY[symbol](left, right)


@pytest.mark.parametrize(
    "symbol", ["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%", "**", "&", "^"]
)
@pytest.mark.parametrize(
    "other", [3, np.int32(3), np.arange(6), [1, 2]], ids=["int", "int32", "ndarray", "list"]
)
def test_message_names_the_function_to_use_instead(device, symbol, other):
    with pytest.raises(TypeError) as caught:
        BINARY[symbol](made((6,)), other)

    assert f"x.to_host() {symbol} y" in str(caught.value)


def test_message_of_matrix_products_names_the_function(device):
    with pytest.raises(TypeError, match=r"cuscope\.matmul\(x, y\)"):
        cs.zeros((2, 2)) @ cs.zeros((2, 2))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("symbol", UNARY)
def test_unary_operators_are_refused(device, symbol, shape):
    with pytest.raises(TypeError):
        UNARY[symbol](made(shape))


@pytest.mark.parametrize("value", [3, 7, None, "3", np.int32(3), [3]], ids=repr)
def test_in_is_refused(device, value):
    x = made((6,))

    with pytest.raises(TypeError, match=r"value in x\.to_host\(\)"):
        _ = value in x
    with pytest.raises(TypeError, match=r"value in x\.to_host\(\)"):
        _ = value not in x


@pytest.mark.parametrize("other", [None, "x", object(), ..., int, b"x", {}], ids=lambda v: type(v).__name__)
def test_arrays_without_elements_equal_no_array(device, other):
    x = made((6,))

    assert (x == other, other == x, x != other, other != x) == (False, False, True, True)
    with pytest.raises(TypeError):
        _ = x < other
    with pytest.raises(TypeError):
        _ = x + other


def test_operators_leave_the_comparison_to_objects_that_define_it(device):
    assert made((6,)) == mock.ANY


def test_arrays_are_keys_and_members_by_identity(device):
    x, y = made((6,)), made((6,))
    names = {x: "x", y: "y"}

    assert (names[x], names[y]) == ("x", "y")
    both, one = {x, y, made((6,))}, set(names)
    assert (x in both, y in both, len(both)) == (True, True, 3)
    assert one == {y, x}
    assert hash(x) == hash(x)
    assert cs.to_device(np.zeros(1)) not in names


def test_closed_arrays_are_still_keys(device):
    x = made((6,))
    names = {x: 1}
    x.close()

    assert names[x] == 1


def test_an_array_is_found_in_a_list_unless_another_has_to_be_compared(device):
    x, y = made((6,)), made((6,))

    assert x in [x, y]
    assert [x, y].index(x) == 0
    with pytest.raises(TypeError, match="is y"):
        _ = y in [x, 3]
    with pytest.raises(TypeError, match="is y"):
        [x, y].index(y)
    assert any(y is each for each in [x, y])


def test_memory_that_the_host_reaches_is_combined_by_numpy(device):
    x, h = cs.empty_managed(3, np.int32), np.array([1, 5, 3], np.int32)
    x.copy_from(np.array([1, 2, 3], np.int32))

    assert (x == h).tolist() == [True, False, True]
    assert (h == x).tolist() == [True, False, True]
    assert (x + h).tolist() == [2, 7, 6]
    with pytest.raises(TypeError):
        _ = x == cs.to_device(h)


# Items


def test_an_array_without_axes_is_not_iterated(device):
    x = cs.zeros(())

    with pytest.raises(TypeError, match="without axes"):
        list(x)
    with pytest.raises(TypeError, match="without axes"):
        _ = [*x]
    with pytest.raises(TypeError):
        len(x)


def test_iteration_gives_the_items_of_the_first_axis(device):
    x = made((2, 3))

    assert [row.to_host().tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]
    assert [item.to_host()[()] for item in made((3,))] == [0, 1, 2]
    assert list(cs.zeros(0)) == []
    assert [item.to_host()[()] for item in reversed(made((3,)))] == [2, 1, 0]
