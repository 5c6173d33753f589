"""The Tab key of IPython, with jedi and without: kernels, attributes, keywords, and names within quotes."""

from __future__ import annotations

import inspect
import warnings

import pytest

import cuscope as cs
from package.object_states import OBJECTS, SIMULATED_ONLY, World

SOURCE = "template <class T> __global__ void scale(T* x) { } __global__ void add(int* x) { }"


def keywords_of(function) -> set[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a class of which cuscope alone makes objects
        return set()
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {f"{one.name}=" for one in parameters if one.kind in named}


CALLABLES = [name for name in cs.__all__ if callable(getattr(cs, name)) and keywords_of(getattr(cs, name))]


@pytest.fixture(params=[False, True], ids=["plain", "jedi"])
def complete(notebook, request, tmp_path_factory, monkeypatch):
    """The names that Tab offers behind a text."""
    if request.param:
        jedi = pytest.importorskip("jedi", reason="jedi is not installed")
        # Processes that change jedi's cache on disk at the same time disturb each other: jedi raises an exception, and
        # IPython offers nothing.
        monkeypatch.setattr(jedi.settings, "cache_directory", str(tmp_path_factory.getbasetemp() / "jedi"))
    completer = notebook.shell.Completer
    completer.use_jedi = request.param

    def names(text: str) -> set[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # IPython's interface is provisional, and jedi warns of itself
            found = list(completer.completions(text, len(text)))
        return {one.text.lstrip(".") for one in found}

    return names


def test_kernels_of_a_module(notebook, complete):
    notebook.names["m"] = cs.Module(SOURCE, name_expressions=["scale<float>"])

    assert {"add", "scale<float>"} <= {name.strip("\"']") for name in complete('m["')}
    assert {name.strip("\"']") for name in complete('m["sc')} == {"scale<float>"}
    assert "add" in complete("m.a")


@pytest.mark.parametrize("name", OBJECTS)
def test_attributes_of_every_object(notebook, complete, device, name):
    if name in SIMULATED_ONLY and not device.simulated:
        pytest.skip(f"a GPU has no {name}")
    thing = notebook.names["thing"] = OBJECTS[name](World())
    public = {one for one in dir(thing) if not one.startswith("_")}

    assert public <= complete("thing."), public - complete("thing.")


@pytest.mark.parametrize("name", CALLABLES)
def test_keywords_of_every_public_function_and_class(complete, name):
    assert keywords_of(getattr(cs, name)) <= complete(f"cs.{name}(")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s.capture(", {"mode=", "graph=", "after="}),
        ("s.wait(e, ", {"external="}),
        ("x.to_host(", {"stream=", "out="}),
        ("x.fill(1, str", {"stream="}),
    ],
)
def test_keywords_of_methods(notebook, complete, text, expected):
    notebook.run("s = cs.Stream(); e = cs.Event(); x = cs.zeros(3)")

    assert expected <= complete(text)


@pytest.mark.parametrize("operation", ["matmul", "reduce"])
@pytest.mark.parametrize("quote", "\"'")
def test_names_of_variants(complete, operation, quote):
    offered = complete(f"cs.{operation}(x, y, variant={quote}")

    assert offered == {"auto", *(variant.name for variant in getattr(cs, operation).variants())}


def test_a_variant_that_is_begun_is_completed(complete):
    assert complete('cs.matmul(x, y, variant="shared_t') == {"shared_tiles"}
    assert complete('cs.reduce(cs.matmul(x, y), "sum", variant="interleaved_m') == {"interleaved_modulo"}


def test_names_of_devices(complete):
    names = {device.name for device in cs.devices()}

    assert complete('cs.Device("') == names
    assert complete("with cs.Device('host:") == {name for name in names if name.startswith("host:")}
    assert complete("%%cuda mod --device ") >= names


def test_names_of_models(complete):
    assert complete('cs.add_host_device("h2') == {"h200"}
    assert {"fermi", "c1060"} <= complete("cs.model('")


def test_other_quotes_are_left_to_ipython(complete, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.cu").write_text("")

    assert "kernel.cu" in {name.strip("\"'") for name in complete('cs.Module.from_file("kern')}


def test_loading_the_extension_again_offers_each_name_once(notebook, complete):
    names = dict(vars(cs))  # IPython runs the module again, which makes its functions anew
    try:
        notebook.run("%reload_ext cuscope")
    finally:
        vars(cs).update(names)
    completer = notebook.shell.Completer
    text = 'cs.Device("host:0'

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [one.text for one in completer.completions(text, len(text))]

    assert found == ["host:0"]
