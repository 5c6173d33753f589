"""``%%cuda`` compiles a cell, and its messages name the lines of the cell."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cuscope as cs

FILL = """
__global__ void fill(float* x) { x[threadIdx.x] = VALUE; }
template <class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }
__global__ void put(int* x) { *x = 1; }
__global__ void put(float* x) { *x = 2; }
__constant__ int table[4];
"""


def test_kernels_become_names_of_the_notebook(notebook):
    notebook.run("%%cuda\n__global__ void add(int* x, int v) { x[threadIdx.x] += v; }")

    notebook.run("x = cs.zeros(4, np.int32)\nadd[1, 4](x, 3)")

    assert notebook.run("x.to_host().tolist()") == [3, 3, 3, 3]


def test_options_of_the_line_go_to_the_module(notebook, device):
    notebook.run(f"%%cuda mod -D VALUE=7 --std c++17 -i 'scale<float>' --device {device.name}{FILL}")

    notebook.run("x = cs.zeros(2)\nfill[1, 2](x)\nmod['scale<float>'][1, 2](x, np.float32(2))")

    assert notebook.run("x.to_host().tolist()") == [14, 14]
    assert isinstance(notebook.names["mod"], cs.Module)
    assert notebook.names["mod"].symbol("table", np.int32).shape == (4,)


def test_only_kernels_with_a_plain_name_become_names(notebook):
    before = set(notebook.names)

    notebook.run(f"%%cuda -D VALUE=7 -i 'scale<float>'{FILL}")

    assert {name for name in set(notebook.names) - before if not name.startswith("_")} == {"fill"}


def test_include_folders_and_further_options_are_passed_on(notebook, tmp_path):
    (tmp_path / "values.h").write_text("#define FIRST 5\n")

    notebook.run(
        f"%%cuda -I {tmp_path} --option=-DSECOND=6 --no-cache\n"
        '#include "values.h"\n__global__ void sum(int* x) { *x = FIRST + SECOND; }'
    )
    notebook.run("x = cs.zeros(1, np.int32)\nsum[1, 1](x)")

    assert notebook.run("int(x.to_host()[0])") == 11


@pytest.mark.parametrize("above", ["", "\n\n"])
def test_an_error_is_shown_at_the_line_of_the_cell_with_a_caret(notebook, above):
    shown, error = notebook.shown(f"{above}%%cuda\n__global__ void k(float* x) {{\n    x[0] = nonsense;\n}}")

    line = 3 + len(above)
    assert isinstance(error, cs.CompileError)
    assert re.search(rf"cell[:(]{line}\D", shown.stdout), shown.stdout
    assert "x[0] = nonsense;" in shown.stdout
    assert re.search(r"^ *\|? *\^", shown.stdout, re.MULTILINE), shown.stdout
    assert "Traceback" not in shown.stdout
    assert "_notebook" not in shown.stdout


def test_a_named_cell_has_its_name_in_the_message(notebook):
    shown, _ = notebook.shown("%%cuda mod\n__global__ void k() { nonsense(); }")

    assert "cell mod" in shown.stdout
    assert "mod" not in notebook.names


def test_an_error_leaves_the_kernels_of_before(notebook):
    notebook.run("%%cuda mod\n__global__ void k() { }")
    before = notebook.names["k"]

    notebook.shown("%%cuda mod\n__global__ void k() { nonsense(); }")

    assert notebook.names["k"] is before


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("--nonsense", "unrecognized arguments: --nonsense"),
        ("a b", "unrecognized arguments: b"),
        ("2x", "'2x' cannot be the name of a variable"),
    ],
)
def test_a_wrong_line_is_refused_without_a_traceback(notebook, line, text):
    shown, error = notebook.shown(f"%%cuda {line}\n__global__ void k() {{ }}")

    assert type(error).__name__ == "UsageError"
    assert text in str(error)
    assert "Traceback" not in shown.stdout


def test_an_unknown_device_is_named(notebook):
    _, error = notebook.shown("%%cuda --device host:99999\n__global__ void k() { }")

    assert "host:99999" in str(error)


def test_output_of_kernels_is_in_order_in_the_cell_that_waits(notebook):
    notebook.run('%%cuda\n__global__ void say(int n) { printf("kernel %d\\n", n); }')

    first, _ = notebook.shown("print('a')\nsay[1, 1](1)\ncs.synchronize()\nprint('b')")
    second, _ = notebook.shown("say[1, 1](2)")
    third, _ = notebook.shown("cs.synchronize()")

    assert (first.stdout, second.stdout, third.stdout) == ("a\nkernel 1\nb\n", "", "kernel 2\n")


def test_help_shows_the_options(notebook):
    text = notebook.shell.find_cell_magic("cuda").__doc__

    assert all(option in text for option in ("--std", "--device", "--define", "--instance", "%%cuda mod"))
