"""Importing the package: it is quiet, quick, and works with few other packages and libraries."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import cuscope as cs

OPTIONAL = ("matplotlib", "IPython", "rich", "cuda.pathfinder", "cupy", "torch", "pandas", "scipy")


def test_import_prints_nothing(run_python):
    done = run_python("import cuscope")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.subprocess
@pytest.mark.parametrize("flags", [["-O"], ["-OO"], ["-W", "error"], ["-X", "dev"]])
def test_import_under_other_interpreter_flags(tmp_path, flags):
    done = subprocess.run(
        [sys.executable, *flags, "-c", "import cuscope as cs; cs.zeros(3).to_host()"],
        check=False, capture_output=True, text=True, cwd=tmp_path, timeout=120, env={"CUSCOPE_DEVICE": "host:0"},
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_import_loads_nothing_optional(run_python):
    done = run_python(
        f"import sys, cuscope; print([m for m in {OPTIONAL!r} if m in sys.modules])",
    )

    assert done.stdout.strip() == "[]"


def test_import_touches_no_device(run_python):
    done = run_python(
        """
        import os, sys, threading
        import numpy
        before = len(os.listdir("/proc/self/task"))
        import cuscope
        maps = open("/proc/self/maps").read()
        print("libcuda.so" in maps, "libnvrtc" in maps, len(os.listdir("/proc/self/task")) - before)
        """
    )

    assert done.stdout.split() == ["False", "False", "0"]


def test_import_needs_nothing_optional(run_python):
    done = run_python(
        f"""
        import sys
        blocked = {OPTIONAL!r}
        class Blocker:
            def find_spec(self, name, path=None, target=None):
                if name in blocked or name.split(".")[0] in blocked:
                    raise ModuleNotFoundError(name, name=name)
        sys.meta_path.insert(0, Blocker())
        import cuscope as cs
        with cs.Device("host:0"):
            print(cs.full(3, 2.0, "float32").to_host().tolist(), len(repr(cs.info())) > 0)
        """
    )

    assert done.stdout.strip() == "[2.0, 2.0, 2.0] True", done.stderr


def test_classes_have_their_public_name_before_a_program_asks_for_it(run_python):
    done = run_python(
        """
        import cuscope as cs
        with cs.Device("host:0"):
            profile = cs.Module("__global__ void f(int* x) { x[0] = 1; }").f.profile(cs.zeros(1, "int32"), grid=1, block=1)
        print(type(profile), "Profile" in vars(cs), cs.Profile is type(profile))
        """
    )

    assert done.stdout == "<class 'cuscope.Profile'> False True\n", done.stderr


@pytest.mark.subprocess  # a build with a sanitizer takes longer, and NumPy has none
def test_import_takes_little_over_numpys_own(tmp_path):
    """The bound is a ratio to NumPy's own import in the same process, which does not depend on the machine's speed."""
    ratios = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", "import numpy; import cuscope"],
            check=True, capture_output=True, text=True, cwd=tmp_path, timeout=120,
        )  # fmt: skip
        total = {
            m[2].strip(): int(m[1])
            for m in re.finditer(r"import time:\s+\d+ \|\s+(\d+) \|( *\S+)", done.stderr)
        }
        ratios.append(total["cuscope"] / total["numpy"])

    assert statistics.median(ratios) < 0.6


@pytest.mark.subprocess
@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"),
    reason="only a free-threaded Python has a switch for the GIL",
)
def test_import_leaves_the_gil_of_a_free_threaded_python_off(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import sys, cuscope; print(sys._is_gil_enabled())"],
        check=False, capture_output=True, text=True, cwd=tmp_path, timeout=120,
        env={"CUSCOPE_DEVICE": "host:0", "PYTHONPATH": str(Path(cs.__file__).parents[1])},
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")


def test_version_is_the_distributions():
    from importlib.metadata import version

    assert cs.__version__ == version("cuscope")


def test_package_is_typed():
    package = Path(cs.__file__).parent

    assert (package / "py.typed").exists()
    assert (package / "_core.pyi").exists()


def test_all_names_exist_and_are_documented():
    for name in cs.__all__:
        thing = getattr(cs, name)
        assert name == "__version__" or thing.__doc__, name
