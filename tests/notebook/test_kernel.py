"""The magics in a real notebook: output, errors and pictures arrive in the cell that made them."""

from __future__ import annotations

import pytest

from support import execute_notebook

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

CELLS = [
    "import cuscope as cs\n%load_ext cuscope",
    '%%cuda\n__global__ void say(int n) { printf("kernel %d\\n", n); }',
    "print('a')\nsay[1, 1](1)\ncs.synchronize()\nprint('b')",
    "%%cuda\n__global__ void k(int* x) {\n    *x = nonsense;\n}",
    "%%trace\nx = cs.zeros(10)",
    "cs.synchronize()\nx",
    "%gpu_timeit -r 3 x.fill(1)",
]


@pytest.mark.subprocess
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_outputs_are_in_their_cells(device, tmp_path, monkeypatch):
    monkeypatch.setenv("CUSCOPE_DEVICE", device.name)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])

    execute_notebook(notebook, tmp_path, allow_errors=True)

    outputs = [cell.outputs for cell in notebook.cells]
    text = ["".join(one.get("text", "") for one in some) for some in outputs]
    assert text[:3] == ["", "", "a\nkernel 1\nb\n"]
    (error,) = outputs[3]
    assert error.ename == "CompileError"
    assert "*x = nonsense;" in "\n".join(error.traceback)
    assert "_notebook" not in "\n".join(error.traceback)
    assert outputs[4][0].data["text/html"].startswith("<div><svg")
    assert "0. 0. 0." in outputs[5][0].data["text/html"]
    assert outputs[5][0].data["text/plain"].startswith("DeviceArray(shape=(10,)")
    assert "median of 3 runs" in text[6]
