"""Every notebook runs from top to bottom in an empty folder, asserts in its cells, and is committed without outputs."""

import re
from pathlib import Path

import pytest

from support import execute_notebook

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.subprocess
@each_notebook
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_notebook_runs_and_is_committed_without_outputs(
    path: Path, device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "import matplotlib" in path.read_text():
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.setenv("CUSCOPE_DEVICE", device.name)
    monkeypatch.delenv("CUSCOPE_KERNEL_TIME", raising=False)  # the times that a reader sees
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), (
        "commit it without outputs"
    )
    assert any("assert" in cell.source for cell in code)
    execute_notebook(notebook, tmp_path)


@each_notebook
def test_links_of_a_notebook_lead_to_other_notebooks(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / link) in NOTEBOOKS, (
            f"{link}: a copied notebook has only the other notebooks beside it"
        )


@each_notebook
def test_exercise_of_a_notebook_is_open_and_has_a_folded_solution(path: Path) -> None:
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    exercises = {
        name
        for cell in code
        for name in re.findall(r"^@course\.exercise\ndef (\w+)", cell.source, re.MULTILINE)
    }
    assert exercises
    for name in exercises:
        calls = [cell for cell in code if re.search(rf"^solved = {name}\(", cell.source, re.MULTILINE)]
        assert len(calls) == 2, f"{name}: one call for the reader's answer, and one for the solution"
        stub, solution = calls
        assert re.search(r"^\w+ = None", stub.source, re.MULTILINE)
        assert solution.metadata == {"jupyter": {"source_hidden": True}, "tags": ["solution", "hide-input"]}
        assert "assert solved" in solution.source
