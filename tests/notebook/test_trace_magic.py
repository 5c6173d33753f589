"""``%%trace`` runs a cell in a trace, and shows its picture."""

from __future__ import annotations

import pytest

from cuscope.tracing import Trace
from support import pages


def test_the_picture_is_below_the_cell(notebook):
    notebook.run("x = cs.zeros(1000)")

    shown, error = notebook.shown("%%trace t\nx.fill(1)")

    (picture,) = pages(shown)
    assert error is None
    assert picture.startswith("<div><svg")
    assert "memset" in notebook.names["t"].spans["kind"]


def test_the_value_of_the_cell_and_its_names_stay(notebook):
    assert notebook.run("%%trace\ny = 3\ny + 1") == 4
    assert notebook.names["y"] == 3


def test_spans_have_the_lines_of_the_cell(notebook):
    notebook.run("x = cs.zeros(1000)\ncs.synchronize()")

    notebook.run("%%trace t -q\n\nx.fill(1)")

    count = len(notebook.shell.history_manager.input_hist_raw) - 1
    assert set(notebook.names["t"].spans["line"].tolist()) == {f"Cell In[{count}]:3"}


def test_a_cell_that_fails_shows_its_trace_and_its_own_lines(notebook):
    shown, error = notebook.shown("%%trace t\nx = cs.zeros(10)\n1 / 0")

    assert isinstance(error, ZeroDivisionError)
    assert len(pages(shown)) == 1
    assert isinstance(notebook.names["t"], Trace)
    assert "1 / 0" in shown.stdout
    assert "_notebook" not in shown.stdout


def test_syntax_errors_are_those_of_the_cell(notebook):
    _, error = notebook.shown("%%trace t\nx = = 3")

    assert isinstance(error, SyntaxError)
    assert error.lineno == 2


def test_options_choose_the_parts_of_the_picture_and_leave_it_out(notebook):
    notebook.run("x = cs.zeros(1000)")

    calls, _ = notebook.shown("%%trace --show calls\nx.fill(1)")
    none, _ = notebook.shown("%%trace t -q\nx.fill(1)")

    (picture,) = pages(calls)
    assert "STREAMS" not in picture.upper()
    assert pages(none) == []


@pytest.mark.parametrize(
    ("line", "text"),
    [("--show nonsense", "nonsense"), ("2x", "cannot be the name of a variable"), ("--what", "--what")],
)
def test_a_wrong_line_is_refused_before_the_cell_runs(notebook, line, text):
    _, error = notebook.shown(f"%%trace {line}\nran = True")

    assert type(error).__name__ == "UsageError"
    assert text in str(error)
    assert "ran" not in notebook.names
