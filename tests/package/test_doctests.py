"""Every example in a docstring runs, on the simulated device."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import cuscope as cs

NUMPY = np.lib.NumpyVersion(np.__version__)
MODULES = [
    "cuscope",
    *(
        module.name
        for module in pkgutil.walk_packages(cs.__path__, "cuscope.")
        if not module.name.endswith(".__main__")
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_docstring_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(name)
    # cuscope.range would hide Python's range, which examples use.
    names = {"cs": cs, "np": np, "range": range}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with cs.Device("host:0"):
        for test in doctest.DocTestFinder().find(module, extraglobs=names):
            for example in test.examples:
                if 'device="cpu"' in example.source and NUMPY < "2.1.0":
                    example.options[doctest.SKIP] = True  # np.from_dlpack has no argument `device`
            cs.synchronize()  # an example may show the commands in flight, so those of other examples have to end
            with monkeypatch.context() as patch:
                if "explain_time" in (test.docstring or ""):
                    patch.delenv("CUSCOPE_KERNEL_TIME", raising=False)
                runner.run(test)
    assert runner.failures == 0


def test_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder()
    assert (
        sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
        > 50
    )


PUBLIC = [name for name in cs.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name: str) -> None:
    assert ">>> " in getattr(cs, name).__doc__


@pytest.mark.parametrize("name", [name for name in PUBLIC if isinstance(getattr(cs, name), type)])
def test_every_member_is_described(name: str) -> None:
    silent = [
        member
        for member, value in vars(getattr(cs, name)).items()
        if not member.startswith("_") and not (value.__doc__ or "").strip()
    ]
    assert not silent
