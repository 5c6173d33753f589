"""``%%check`` runs a cell in a check, and shows the report."""

from __future__ import annotations

import re
from html import unescape

import pytest

import cuscope as cs
from support import pages

LATE = """%%cuda
__global__ void late(int* x) {
    x[threadIdx.x] = 1;
}"""
STREAMS = """%%check report
s, t = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
x = cs.zeros(64, stream=s)
y = x.to_host(stream=t)"""


def reports(shown) -> list[str]:
    """The texts that a reader sees."""
    return [
        unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)) for page in pages(shown)
    ]


@pytest.fixture
def with_kernel(notebook, device):
    if not device.simulated:
        pytest.skip("kernels of a GPU are not checked")
    notebook.run(LATE)
    return notebook


def test_the_report_is_below_the_cell_with_the_lines_of_the_source(with_kernel):
    shown, error = with_kernel.shown("%%check report\nlate[1, 33](cs.empty(32, 'int32'))")

    (text,) = reports(shown)
    assert error is None
    assert "1 error" in text
    assert "out of bounds" in text
    assert re.search(r"cell:3\s+x\[threadIdx\.x\] = 1;", text)
    (finding,) = with_kernel.names["report"].findings
    assert finding.advice in text
    assert finding.line == "cell:3"


def test_a_mistake_in_the_order_of_calls_shows_both_lines_and_the_missing_one(notebook):
    shown, _ = notebook.shown(STREAMS)

    (text,) = reports(shown)
    count = len(notebook.shell.history_manager.input_hist_raw) - 1
    assert re.search(rf"Cell In\[{count}\]:3\s+x = cs\.zeros\(64, stream=s\)", text)
    assert re.search(rf"Cell In\[{count}\]:4\s+y = x\.to_host\(stream=t\)", text)
    assert "Missing before" in text
    assert "t.wait(s)" in text


def test_a_right_cell_says_so_and_keeps_its_value(notebook):
    shown, _ = notebook.shown("%%check\nx = cs.zeros(3)\nx.to_host()")

    assert "no mistake found" in reports(shown)[0]
    assert notebook.run("%%check -q\n3 + 4") == 7


def test_html_in_the_source_stays_text(with_kernel):
    with_kernel.run(
        "%%cuda\n__global__ void tagged(int* x) { x[blockIdx.x<3 ? threadIdx.x : 0] = 1; /*<b>*/ }"
    )
    shown, _ = with_kernel.shown("%%check\ntagged[1, 33](cs.empty(32, 'int32'))")

    (html,) = pages(shown)
    assert "/*&lt;b&gt;*/" in html


def test_a_cell_that_fails_shows_its_report_and_its_own_lines(with_kernel):
    shown, error = with_kernel.shown("%%check report\nlate[1, 33](cs.empty(32, 'int32'))\n1 / 0")

    assert isinstance(error, ZeroDivisionError)
    assert "out of bounds" in reports(shown)[0]
    assert isinstance(with_kernel.names["report"], cs.CheckReport)
    assert "_notebook" not in shown.stdout


@pytest.mark.parametrize("quiet", ["", "-q"])
def test_stop_fails_if_there_is_a_mistake(with_kernel, quiet):
    shown, error = with_kernel.shown(f"%%check --stop {quiet}\nlate[1, 33](cs.empty(32, 'int32'))")
    _, of_right = with_kernel.shown("%%check --stop\nlate[1, 32](cs.empty(32, 'int32'))")

    assert "1 mistake" in str(error)
    assert len(reports(shown)) == (quiet == "")
    assert of_right is None


@pytest.mark.parametrize(("line", "text"), [("2x", "cannot be the name of a variable"), ("--what", "--what")])
def test_a_wrong_line_is_refused_before_the_cell_runs(notebook, line, text):
    _, error = notebook.shown(f"%%check {line}\nran = True")

    assert type(error).__name__ == "UsageError"
    assert text in str(error)
    assert "ran" not in notebook.names


def test_the_line_of_a_kernel_in_a_string_is_shown(with_kernel):
    with_kernel.run('far = cs.Module("""\n__global__ void far(int* x) {\n    x[999] = 5;\n}""").far')
    shown, _ = with_kernel.shown("%%check\nfar[1, 1](cs.empty(32, 'int32'))")

    assert re.search(r"kernel\.cu:3\s+x\[999\] = 5;", reports(shown)[0])
