"""Arguments of wrong types: cuscope's own TypeError or ValueError, which names the function or the argument."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from cuscope.tracing import Trace
from support import module

# Messages of pybind11 and CPython: they have names of private types, or names that no program has written.
FOREIGN = re.compile(
    r"incompatible|Invoked with|SupportsIndex|object is not iterable|without format"
    r"|cannot be interpreted as an integer|index-sized|must be real number|an integer is required"
    r"|could not be converted|Unable to cast|only integer scalar arrays|ambiguous"
)
VALUES = {
    "None": None,
    "a str": "x",
    "bytes": b"x",
    "an object": object(),
    "a float": 1.5,
    "minus one": -1,
    "2**70": 2**70,
    "a complex": 1j,
    "a dict": {"a": 1},
    "a list": ["x", None],
    "a list of arrays": [np.zeros(2), np.zeros(3)],
    "a NumPy array": np.array([[1, 2], [3, 4]]),
    "an array of floats": np.array([1.5, 2.5]),
    "an array of objects": np.array([None, "x"], object),
    "a 0-d array of a float": np.array(1.5),
    "a type": int,
    "a function": len,
    "a generator": (i for i in ()),
    "a stream": lambda: cs.Stream(),
    "an event": lambda: cs.Event(),
    "a device": lambda: cs.current_device(),
    "a device array": lambda: cs.zeros((2, 2)),
}
# NumPy before 1.24 warns of lists of unequal lengths, which newer ones refuse.
pytestmark = pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged nested sequences")
SKIPPED = {"info", "doctor", "check"}  # these functions take no values
SKIPPED |= {
    "calibrate"
}  # measures a GPU for seconds with each value it takes: tests/package/test_calibrate.py
FUNCTIONS = sorted(
    name
    for name in cs.__all__
    if callable(getattr(cs, name))
    and name not in SKIPPED
    and not (isinstance(getattr(cs, name), type) and issubclass(getattr(cs, name), BaseException))
)


def value_of(given: object) -> object:
    return given() if inspect.isfunction(given) else given


def said(call, *arguments, **keywords) -> str:
    """The message of the call; '' if it takes the arguments."""
    try:
        call(*arguments, **keywords)
    except (TypeError, ValueError, OverflowError, IndexError, KeyError, AttributeError, BufferError) as error:
        return str(error)
    except (cs.CudaError, OSError, MemoryError):
        return ""
    return ""


def foreign(where: str, message: str) -> list[str]:
    return [f"{where}: {message}"] if FOREIGN.search(message) else []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_constructors_refuse_with_our_own_messages(device, name):
    call, wrong = getattr(cs, name), []
    for label, given in VALUES.items():
        for count in (1, 2, 3):
            values = [value_of(given) for _ in range(count)]
            wrong += foreign(f"{name}({label} x {count})", said(call, *values))
        wrong += foreign(f"{name}(stream={label})", said(call, 2, stream=value_of(given)))
        wrong += foreign(f"{name}(device={label})", said(call, device=value_of(given)))
        wrong += foreign(f"{name}(nonsense={label})", said(call, nonsense=value_of(given)))

    assert wrong == []


def objects(device: cs.Device) -> dict[str, object]:
    mod = module(device, "__global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }")
    graph = cs.Graph()
    node = graph.add_empty()
    return {
        "Stream": cs.Stream(),
        "Event": cs.Event(),
        "DeviceArray": cs.zeros((2, 3)),
        "MemoryPool": cs.MemoryPool(),
        "Device": device,
        "Module": mod,
        "Kernel": mod.scale,
        "KernelLaunch": mod.scale[1, 1],
        "Graph": graph,
        "GraphNode": node,
        "GraphExec": graph.instantiate(),
        "CudaArray": cs.CudaArray((4, 4), np.float32),
        "MipmappedArray": cs.MipmappedArray((4, 4), np.float32),
    }


OBJECTS = [
    "Stream",
    "Event",
    "DeviceArray",
    "MemoryPool",
    "Device",
    "Module",
    "Kernel",
    "KernelLaunch",
    "Graph",
]
OBJECTS += ["GraphNode", "GraphExec", "CudaArray", "MipmappedArray"]
LEFT_ALONE = {"close", "reset", "capture", "begin_capture", "end_capture", "host_function", "add_host"}


@pytest.mark.parametrize("kind", OBJECTS)
def test_methods_and_properties_refuse_with_our_own_messages(device, kind):
    own, wrong = objects(device)[kind], []
    names = [name for name in dir(type(own)) if not name.startswith("_") and name not in LEFT_ALONE]
    for name in names:
        defined = inspect.getattr_static(type(own), name)
        for label, given in VALUES.items():
            if isinstance(defined, property):
                if defined.fset is not None:
                    wrong += foreign(f"{kind}.{name} = {label}", said(setattr, own, name, value_of(given)))
                continue
            for count in (1, 2):
                values = [value_of(given) for _ in range(count)]
                wrong += foreign(f"{kind}.{name}({label} x {count})", said(getattr(own, name), *values))
            wrong += foreign(f"{kind}.{name}(nonsense=)", said(getattr(own, name), nonsense=1))

    assert wrong == []


EMPTY = "__global__ void nothing() {}"


def trace_with(**changes: object) -> Trace:
    return Trace.from_dict({**Trace.from_spans([{"name": "a", "start": 0, "end": 10}]).to_dict(), **changes})


def trace_with_column(**columns: object) -> Trace:
    spans = Trace.from_spans([{"name": "a", "start": 0, "end": 10}]).to_dict()["spans"]
    return trace_with(spans={**spans, **columns})


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: cs.Stream("x"), TypeError, r"Stream\(\).*\(str\).*priority: int = 0"),
        (lambda: cs.Event(5), TypeError, r"Event\(\).*\(int\).*allowed is Event\("),
        (lambda: cs.Device(3), TypeError, r"Device\(\).*not int.*Device\(device: str"),
        (lambda: cs.Stream(urgent=True), TypeError, r"Stream\(\).*urgent=bool"),
        (lambda: cs.copy_batch(3), TypeError, "copies: takes pairs .*not int"),
        (
            lambda: cs.Module(EMPTY, headers={"a.h": 3}),
            TypeError,
            r"headers: the text of 'a\.h' is a str, not int",
        ),
        (
            lambda: cs.Module(EMPTY, headers={3: ""}),
            TypeError,
            "headers: the name of a header is a str, not int",
        ),
        (
            lambda: cs.Module(EMPTY, headers=["a.h"]),
            TypeError,
            "headers: takes a dict of str to str.*not list",
        ),
        (lambda: cs.Module(EMPTY, include_paths="/tmp"), TypeError, r"include_paths: .*not str: \['/tmp'\]"),
        (
            lambda: cs.Module(EMPTY, include_paths=Path("/")),
            TypeError,
            "include_paths: takes a sequence of folders",
        ),
        (
            lambda: cs.Module(EMPTY, include_paths=3),
            TypeError,
            "include_paths: takes a sequence of folders, not int",
        ),
        (lambda: cs.Module(EMPTY, include_paths=[3]), TypeError, "include_paths: .*a str or a path, not int"),
        (lambda: cs.CudaArray(2**20), cs.CudaError, "up to 131072 elements along one axis"),
        (lambda: cs.CudaArray((4, 2**20)), cs.CudaError, "131072 x 65536"),
        (lambda: cs.MipmappedArray((4, 2**20)), cs.CudaError, "mipmapped arrays allow 32768"),
        (
            lambda: cs.zeros(4).copy_from(cs.zeros(4, "i4")),
            TypeError,
            r"pass source\.to_host\(\)\.astype\(numpy.float32\)",
        ),
        (
            lambda: cs.zeros(4).copy_from(np.zeros(4)),
            TypeError,
            r"convert it: source\.astype\(numpy.float32\)",
        ),
        (
            lambda: cs.zeros(4).copy_to(cs.zeros(4, "i4")),
            TypeError,
            "destination: .*pass an array of float32 to write to",
        ),
        (
            lambda: cs.zeros(4).to_host(out=np.zeros(4)),
            TypeError,
            "out: .*pass an array of float32 to write to",
        ),
        (
            lambda: Trace.from_dict(3),
            TypeError,
            "data: takes the dictionary that Trace.to_dict made, not int",
        ),
        (lambda: trace_with(spans=3), TypeError, "'spans' must be a dictionary of columns, not int"),
        (lambda: trace_with(streams=3), TypeError, "'streams' must be a dictionary, not int"),
        (lambda: trace_with(duration="x"), TypeError, "'duration' must be a number of nanoseconds, not str"),
        (lambda: trace_with_column(start=3), TypeError, "the column 'start' must be a list, not int"),
        (lambda: trace_with_column(start=["x"]), ValueError, "the column 'start': "),
        (lambda: Trace.from_spans(3), TypeError, "rows: takes mappings, such as a list of dicts, not int"),
        (lambda: Trace.from_spans({"name": "a"}), TypeError, "rows: takes mappings.*not dict"),
        (
            lambda: Trace.from_spans([3]),
            TypeError,
            "rows: row 0 must be a mapping from columns to values, not int",
        ),
        (lambda: Trace.from_spans([{"start": "x"}]), ValueError, "rows: row 0 has start='x'"),
        (lambda: Trace.from_spans([{}, {"cause": 5}]), ValueError, "cause=5; allowed are -1 .* the 2 rows"),
        (lambda: cs.asarray(None), TypeError, "object: takes an array.*not NoneType"),
        (lambda: cs.to_device(object()), TypeError, "source: takes an array.*not object"),
        (lambda: cs.to_device(["x"]), TypeError, "source: takes an array.*not list"),
        (lambda: cs.empty(np.array([1.5])), TypeError, "shape: takes an int, not numpy.float64"),
        (
            lambda: cs.empty(np.array(1.5)),
            TypeError,
            r"shape: .*numpy.ndarray of shape \(\) and dtype float64",
        ),
        (lambda: cs.empty(np.zeros((2, 2), int)), TypeError, r"shape: .*numpy.ndarray of shape \(2, 2\)"),
        (
            lambda: cs.zeros((2, 2)).transpose(0, 0),
            ValueError,
            r"axes: \(0, 0\) is no order of the array's 2 axes",
        ),
        (lambda: cs.zeros((2, 2)).transpose("01"), TypeError, "axes: takes ints or a tuple of ints, not str"),
        (lambda: cs.zeros((2, 2)).transpose(1.5, 0), TypeError, "axes: takes ints, not float"),
        (lambda: cs.zeros((2, 2)).transpose(2**70, 0), ValueError, "axes: 1180591620717411303424 needs more"),
        (lambda: cs.zeros(4).reshape(2.0, 2), TypeError, "shape: takes ints, not float"),
        (lambda: cs.zeros(4).reshape({2}), TypeError, "shape: takes ints or a tuple of ints, not set"),
        (lambda: cs.zeros(4)[np.array([1, 2])], TypeError, r"index: .*numpy.ndarray of shape \(2,\)"),
        (lambda: cs.zeros(4)[1.5], TypeError, "index: takes ints, .*not float"),
    ],
)
def test_message_has_the_value_and_the_allowed_values(device, call, error, text):
    with pytest.raises(error, match=text):
        call()


# Shapes


@pytest.mark.parametrize(
    "shape",
    [
        (2, 3),
        [2, 3],
        range(2, 4),
        np.array([2, 3]),
        np.array([2, 3], np.uint8),
        (np.int64(2), np.uint8(3)),
        [np.array(2), np.array(3)],
        np.zeros((2, 3)).shape,
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "call", [cs.empty, cs.zeros, lambda s: cs.full(s, 1), lambda s: cs.empty(6).reshape(s)]
)
def test_shapes_are_taken_as_by_numpy(device, shape, call):
    assert call(shape).shape == (2, 3)


@pytest.mark.parametrize("shape", [4, np.int32(4), np.array(4), (4,), np.array([4])], ids=repr)
def test_one_extent_may_be_a_number(device, shape):
    assert cs.zeros(shape).shape == (4,)


def test_shape_without_extents_has_one_element(device):
    assert cs.zeros(()).shape == cs.zeros([]).shape == cs.zeros(np.array([], int)).shape == ()


@pytest.mark.parametrize("axes", [(1, 0), [1, 0], np.array([1, 0]), (np.int64(-1), np.array(0))], ids=repr)
def test_axes_are_taken_as_by_numpy(device, axes):
    assert cs.zeros((2, 3)).transpose(axes).shape == (3, 2)


@pytest.mark.parametrize("extents", [(2, 1), [2, 1], np.array([2, 1]), (np.int32(2), np.uint8(1))], ids=repr)
def test_grids_are_taken_as_shapes_are(device, extents):
    launch = module(device).nothing[extents, extents]

    assert "grid=(2, 1, 1) block=(2, 1, 1)" in repr(launch)
