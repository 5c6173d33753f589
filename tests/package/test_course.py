"""The course: its notebooks are in the package and can be copied, and its helpers say what is wrong."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import cuscope as cs
from cuscope import _cli, course
from documents import DOCUMENTS, ROOT

# The rows of docs/course.md: | section | [05](../notebooks/05_streams.ipynb) | heading | ...
ROWS = re.findall(
    r"^\| ([^|]+) \| \[\d\d\]\(([^)]+)\) \| ([^|]+) \|",
    (DOCUMENTS / "course.md").read_text(),
    re.MULTILINE,
)


def headings(notebook: Path) -> set[str]:
    cells = json.loads(notebook.read_text())["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return set(re.findall(r"^#+ (.*)$", text, re.MULTILINE))


def test_sections_of_the_documents_lead_to_headings_of_notebooks() -> None:
    wrong = [row for row in ROWS if row[2] not in headings(DOCUMENTS / row[1])]

    assert len(ROWS) > 60
    assert wrong == []


@pytest.mark.parametrize("page", ["README.md", "docs/course.md"])
def test_page_names_every_notebook(page) -> None:
    text = (ROOT / page).read_text()

    assert [path.stem for path in course.notebooks() if path.stem not in text] == []


def test_package_has_every_notebook_of_the_repository() -> None:
    repository = sorted((ROOT / "notebooks").glob("*.ipynb"))

    assert [path.name for path in course.notebooks()] == [path.name for path in repository]
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(course.notebooks(), repository, strict=True))


def test_notebooks_are_copied_to_a_new_folder(tmp_path, capsys) -> None:
    code = _cli.main(["notebooks", str(tmp_path / "new" / "folder")])

    assert code == 0
    copies = sorted((tmp_path / "new" / "folder").iterdir())
    assert [(copy.name, copy.read_bytes()) for copy in copies] == [
        (path.name, path.read_bytes()) for path in course.notebooks()
    ]
    printed = capsys.readouterr().out
    assert all(f"written   {copy}" in printed for copy in copies)
    assert f"jupyter lab {tmp_path / 'new' / 'folder'}" in printed


def test_notebooks_go_to_a_folder_of_the_current_one_by_default(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    _cli.main(["notebooks"])

    assert len(list((tmp_path / "cuscope-notebooks").iterdir())) == len(course.notebooks())


def test_changed_notebook_is_kept_and_others_are_written_again(tmp_path, capsys) -> None:
    course.copy_notebooks(tmp_path)
    first, second, *_ = sorted(tmp_path.iterdir())
    first.write_text("my work")
    second.unlink()

    assert _cli.main(["notebooks", str(tmp_path)]) == 0

    assert first.read_text() == "my work"
    assert second.read_bytes() == course.notebooks()[1].read_bytes()
    printed = capsys.readouterr().out
    assert f"kept      {first}: you have changed it; --force overwrites it" in printed
    assert printed.count("unchanged") == len(course.notebooks()) - 2


def test_force_overwrites_a_changed_notebook(tmp_path) -> None:
    course.copy_notebooks(tmp_path)
    first = min(tmp_path.iterdir())
    first.write_text("my work")

    _cli.main(["notebooks", str(tmp_path), "--force"])

    assert first.read_bytes() == course.notebooks()[0].read_bytes()


def test_copy_has_the_permissions_of_any_new_file(tmp_path) -> None:
    (tmp_path / "other").touch()

    copied = course.copy_notebooks(tmp_path)

    assert copied[0].path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_folder_that_is_a_file_is_refused(tmp_path, capsys) -> None:
    (tmp_path / "file").touch()

    assert _cli.main(["notebooks", str(tmp_path / "file")]) == 1
    assert str(tmp_path / "file") in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission_is_refused(tmp_path, capsys) -> None:
    tmp_path.chmod(0o500)

    assert _cli.main(["notebooks", str(tmp_path)]) == 1
    assert "Permission denied" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: course.kernel_sources("matmull"), "there is no 'matmull'; there are averaging, .*matmul"),
        (lambda: course.kernel("matmul/99_best", "best"), "matmul has no '99_best'; it has .*01_naive"),
        (lambda: course.show("matmul/01_naive", "no such line", "x"), "has no line with 'no such line'"),
        (lambda: course.show("matmul/01_naive", "const int row", "@"), "no line with '@' after"),
        (
            lambda: course.results("sorting"),
            "no results 'sorting' of 'h200'; there are matmul of h100, matmul of h200",
        ),
    ],
)
def test_helper_refuses_a_wrong_name(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_exercise_is_open_wrong_or_right(capsys) -> None:
    @course.exercise
    def check(a: int, b: int) -> None:
        if a + b != 5:  # pytest adds to the messages of assert
            raise AssertionError("the sum is not 5")
        if a > b:
            raise AssertionError

    assert not check(None, 3)
    assert not check(4, 4)
    assert not check(3, 2)
    assert check(2, 3)
    assert capsys.readouterr().out.splitlines() == [
        "Not solved yet: replace None by your answer.",
        "Not right yet: the sum is not 5",
        "Not right yet: the result differs from the expected one",
        "Right!",
    ]


def test_exercise_shows_other_exceptions() -> None:
    @course.exercise
    def check(answer: object) -> None:
        raise TypeError("an error of the answer's own")

    with pytest.raises(TypeError, match="of the answer's own"):
        check(1)


def test_work_of_a_trace_can_be_chosen_by_stream() -> None:
    with cs.add_host_device("h200"), cs.trace() as trace:
        kernel = cs.Module("__global__ void kernel() {}").kernel
        one, other = cs.Stream(), cs.Stream()
        kernel.launch(grid=1, block=1, stream=one, duration=1e-4)
        kernel.launch(grid=1, block=1, stream=other, duration=2e-4)

    assert len(course.work(trace, "kernel")) == 2
    [(start, end)] = course.work(trace, "kernel", other)
    assert end - start == 200_000
    assert course.work(trace, "kernel", other.id) == [(start, end)]
