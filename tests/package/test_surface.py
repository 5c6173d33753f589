"""The public surface as help(), inspect.signature, tracebacks and type checkers show it."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import inspect
import pickle
import pydoc
import re
import typing
from pathlib import Path

import pytest

import cuscope as cs
from cuscope import _core
from package import surface
from package.object_states import OBJECTS, SIMULATED_ONLY, World

PUBLIC = {name: getattr(cs, name) for name in cs.__all__ if name != "__version__"}
CLASSES = {name: value for name, value in PUBLIC.items() if isinstance(value, type)}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isroutine(value)}
# Names that only the implementation of pybind11, or a user of its types, could read.
PRIVATE_NAMES = re.compile(r"typing\.|_core|_protocols|collections\.abc|Supports(Int|Index|Float)")
METHODS = {
    f"{kind}.{name}": getattr(type_, name)
    for kind, type_ in CLASSES.items()
    if type_ in vars(_core).values()
    for name in vars(type_)
    if not name.startswith("_") and callable(getattr(type_, name))
}
EXTENSION_FUNCTIONS = {
    name: value for name, value in FUNCTIONS.items() if vars(_core).get(name) is value
} | METHODS
CONSTRUCTED = {
    name: type_
    for name, type_ in CLASSES.items()
    if type_ in vars(_core).values() and type(vars(type_)["__init__"]).__name__ == "instancemethod"
}


CALLABLES = {**EXTENSION_FUNCTIONS, **CONSTRUCTED}


def is_static(name: str) -> bool:
    kind, _, method = name.partition(".")
    return isinstance(inspect.getattr_static(CLASSES[kind], method), staticmethod)


def test_public_classes_and_functions_are_in_module_cuscope():
    assert {name: value.__module__ for name, value in {**CLASSES, **FUNCTIONS}.items()} == dict.fromkeys(
        [*CLASSES, *FUNCTIONS], "cuscope"
    )


def test_classes_show_their_public_names():
    for name, type_ in CLASSES.items():
        assert repr(type_) == f"<class 'cuscope.{name}'>"
        assert pickle.loads(pickle.dumps(type_)) is type_


def test_messages_of_python_show_the_public_name():
    with pytest.raises(TypeError, match=r"'cuscope\.Stream' and 'int'"):
        cs.Stream() + 1


def test_signatures_have_types_with_the_names_that_a_program_writes():
    for name, function in EXTENSION_FUNCTIONS.items():
        signature = inspect.signature(function)
        assert PRIVATE_NAMES.search(str(signature)) is None, str(signature)
        assert not re.search(r": '|-> '", str(signature)), str(signature)  # types have no quotes
        assert signature.return_annotation is not inspect.Signature.empty, name
        untyped = [
            one.name
            for one in signature.parameters.values()
            if one.annotation is inspect.Parameter.empty and one.name != "self"
        ]
        assert untyped == [], name


def test_signatures_read_as_a_person_writes_them(device):
    assert str(inspect.signature(cs.Stream)) == (
        "(*, priority: int = 0, non_blocking: bool = False, device: Device | None = None) -> None"
    )
    assert str(inspect.signature(cs.zeros)) == (
        "(shape: int | Sequence[int], dtype: DTypeLike = 'float32', *, stream: Stream | CudaStream | None = None) "
        "-> DeviceArray"
    )
    assert str(inspect.signature(cs.Device.attribute)) == "(self, /, name: int | str) -> int"
    stream = cs.Stream()
    # The first is a method of pybind11, the second has a fast path with a type of its own.
    assert str(inspect.signature(stream.synchronize)) == "() -> None"
    assert str(inspect.signature(stream.query)) == "() -> bool"
    wait = "what: Event | Stream | CudaStream, *, external: bool = False) -> None"
    assert str(inspect.signature(stream.wait)) == f"({wait}"
    assert str(inspect.signature(cs.Stream.wait)) == f"(self, /, {wait}"
    assert str(inspect.signature(cs.Device.name.fget)) == "(self, /) -> str"


def test_every_public_function_has_a_signature():
    assert [name for name, function in FUNCTIONS.items() if not inspect.signature(function)] == []


def test_help_shows_the_types():
    for name, type_ in CONSTRUCTED.items():
        shown = str(inspect.signature(type_)).removesuffix(" -> None")
        assert "self" not in shown
        # Python 3.14 writes each parameter in a line of its own.
        described = re.sub(r"[\s|]", "", pydoc.plain(pydoc.render_doc(type_)))
        assert re.sub(r"[\s|]", "", name + shown) in described
    assert "query(self, /) -> bool" in pydoc.plain(pydoc.render_doc(cs.Stream))


def test_a_docstring_does_not_repeat_the_signature():
    for name, function in EXTENSION_FUNCTIONS.items():
        assert function.__doc__
        assert not function.__doc__.startswith(function.__name__ + "("), name


def test_annotations_can_be_evaluated():
    for name, function in CALLABLES.items():
        if isinstance(function, type):
            function = function.__init__
        known = set(inspect.signature(function).parameters) - {"self"}
        assert known | {"return"} == set(function.__annotations__), name
        assert known | {"return"} == set(typing.get_type_hints(function)), name
    for name, function in FUNCTIONS.items():
        if name not in EXTENSION_FUNCTIONS:
            assert set(typing.get_type_hints(function)) == set(function.__annotations__), name
    hints = typing.get_type_hints(cs.Event.record)
    assert hints["external"] is bool
    assert hints["return"] is cs.Event
    assert cs.Stream in typing.get_args(hints["stream"])


def test_a_derived_class_shows_its_own_constructor():
    class Named(cs.Stream):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Plain(cs.Stream):
        pass

    assert str(inspect.signature(Named)) == "(name: 'str') -> 'None'"
    assert inspect.signature(Plain) == inspect.signature(cs.Stream)
    assert not hasattr(Named("x"), "__signature__")  # it would be shown for objects that can be called


def test_functions_have_the_names_by_which_they_are_found_and_pickled(device):
    for name, function in EXTENSION_FUNCTIONS.items():
        assert function.__qualname__ == name
    for function in FUNCTIONS.values():
        assert pickle.loads(pickle.dumps(function)) is function
    # A bound method is pickled with its object, if that can be pickled.
    assert pickle.loads(pickle.dumps(device.memory_info))().total == device.memory_info().total
    with pytest.raises(TypeError, match="Stream cannot be copied or pickled"):
        pickle.dumps(cs.Stream().query)


def test_functions_written_in_python_have_their_source():
    for name, function in FUNCTIONS.items():
        if name in EXTENSION_FUNCTIONS:
            continue
        assert inspect.getsource(function).startswith(f"def {name}(")
        assert Path(cs.__file__).parent in Path(inspect.getsourcefile(function)).parents


def test_classes_written_in_python_show_no_wrong_source():
    # inspect looks for a class in the file of its module, which is cuscope/__init__.py for the public ones.
    for type_ in CLASSES.values():
        if type_ not in vars(_core).values():
            with pytest.raises(OSError, match=r"class definition|source code"):
                inspect.getsource(type_)


def test_pydoc_shows_the_package():
    text = pydoc.plain(pydoc.render_doc(cs))
    assert all(name in text for name in cs.__all__)


# The record of the surface


def test_the_surface_is_the_recorded_one():
    recorded, now = surface.RECORD.read_text().splitlines(), surface.text().splitlines()

    changes = list(difflib.unified_diff(recorded, now, "recorded", "now", lineterm="", n=2))

    assert changes == [], f"the public surface has changed; if you mean it: {surface.RENEW}"


# Wrong arguments

# Their keywords are for the function that they call later.
TAKES_ANY_KEYWORD = {"Stream.host_function", "Graph.add_host", "GraphExec.set_host"}


def instances(device: cs.Device) -> dict[str, object]:
    world, made = World(), {}
    for name, make in OBJECTS.items():
        if device.simulated or name not in SIMULATED_ONLY:
            thing = make(world)
            made.setdefault(type(thing).__name__, thing)
    return made


def test_a_wrong_keyword_is_named_with_the_allowed_ones(device):
    own, called = instances(device), 0
    for name, call in CALLABLES.items():
        if name in TAKES_ANY_KEYWORD:
            continue
        if name in METHODS and not is_static(name):
            kind, _, method = name.partition(".")
            if kind not in own:
                assert not device.simulated, name
                continue
            call = getattr(own[kind], method)
        with pytest.raises(TypeError) as caught:
            call(nonsense=1)
        message = str(caught.value)
        assert (
            f"{call.__name__}(): there is no argument 'nonsense'; given is (nonsense=int); allowed is "
            in message
        )
        assert PRIVATE_NAMES.search(message) is None, message
        called += 1

    assert called > 100


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: cs.Device(3), r"Device\(\): 'device' takes str \| Device, not int; allowed is Device\("),
        (
            lambda: cs.Device(None),
            r"Device\(\): 'device' takes str \| Device, not NoneType; allowed is Device\(",
        ),
        (lambda: cs.Device(), r"^Device\(\): 'device' is missing; allowed is Device\("),
        (lambda: cs.zeros(), r"^zeros\(\): 'shape' is missing; allowed is zeros\(shape: int"),
        (lambda: cs.full(3), r"full\(\): 'value' is missing; given is \(int\); allowed is full\("),
        (
            lambda: cs.full(3, shape=3),
            r"full\(\): 'shape' is given twice; given is \(int, shape=int\); allowed is",
        ),
        (
            lambda: cs.Event(5),
            r"Event\(\): takes no arguments without a name; given is \(int\); allowed is Event\(",
        ),
        (
            lambda: cs.copy_batch(1, 2),
            r"takes at most 1 without a name, not 2; given is \(int, int\); allowed is",
        ),
        (lambda: cs.host_work("x"), r"host_work\(\): 'seconds' takes float, not str; allowed is"),
        (
            lambda: cs.Stream().wait(external=True),
            r"'what' is missing; given is \(external=bool\); allowed is",
        ),
        (
            lambda: cs.current_device().can_access_peer(cs.Stream()),
            "'other' takes Device, not Stream; allowed",
        ),
        (lambda: cs.sum(object()), "x: takes an array, or numbers that NumPy makes one of, not object"),
        (lambda: cs.matmul(None, [1]), "a: takes an array, or numbers that NumPy makes one of, not NoneType"),
        (
            lambda: cs.zeros_like(object()),
            "array: takes an array, or numbers that NumPy makes one of, not object",
        ),
        (lambda: cs.zeros(3, object()), "dtype: takes a NumPy dtype or its name, not object"),
        (lambda: cs.zeros(3, "float31"), "dtype: takes a NumPy dtype or its name, not 'float31'"),
        (lambda: cs.full(3, object()), "value: takes a number, not object"),
        (lambda: cs.Graph().add_memset(cs.zeros(3), None), "value: takes a number, not NoneType"),
        (lambda: cs.zeros(3).copy_from(object()), "source: takes an array, or numbers .*, not object"),
        (lambda: cs.zeros(3).copy_from(None), "source: takes an array, or numbers .*, not NoneType"),
    ],
)
def test_a_message_names_the_wrong_argument(device, call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_a_wrong_value_of_a_property_names_the_property(device):
    kernel = instances(device)["Kernel"]

    with pytest.raises(TypeError, match=r"^non_portable_cluster_size_allowed: takes bool, not object$"):
        kernel.non_portable_cluster_size_allowed = object()


# The stub

STUB = Path(importlib.util.find_spec("cuscope").origin).with_name("_core.pyi")


def test_the_stub_reads_as_a_person_writes_types():
    text = STUB.read_text()

    assert not re.search(r"SupportsI|typing\.|cuscope\.|_core\.", text)
    assert not [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and ast.get_docstring(node)
    ]
    assert "class Contract" not in text


def test_the_stub_has_every_member_of_every_class():
    classes = {node.name: node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ClassDef)}
    for name, type_ in CLASSES.items():
        if type_ not in vars(_core).values():
            continue
        declared = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
        assert {member for member in vars(type_) if not member.startswith("_")} <= declared
