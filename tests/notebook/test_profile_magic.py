"""``%%profile`` runs a cell and shows a profile of each of its launches."""

from __future__ import annotations

import pytest

import cuscope as cs
from support import pages

pytestmark = pytest.mark.host_only("a real GPU does not count")

SETUP = """
mod = cs.Module("__global__ void twice(float* x, int stride) { x[threadIdx.x * stride] *= 2; }"
                "__global__ void nothing() {}")
x = cs.to_device(np.ones(1024, np.float32))
"""


@pytest.fixture
def cells(notebook):
    notebook.run(SETUP)
    return notebook


def test_each_launch_of_the_cell_is_shown_and_does_its_work(cells):
    shown, error = cells.shown("%%profile\nmod.twice[1, 32](x, 1)\nmod.twice.launch(x, 32, grid=1, block=32)")

    assert error is None
    first, second = pages(shown)
    assert "neighbouring lanes" not in first
    assert "32.0 sectors a request where 4.0 would do" in second
    assert cells.names["x"].to_host()[[0, 1, 31, 32, 33]].tolist() == [4, 2, 2, 2, 1]


def test_equal_launches_are_shown_once_with_their_number(cells):
    shown, _ = cells.shown("%%profile p\nfor _ in range(3): mod.twice[1, 32](x, 1)")

    (page,) = pages(shown)
    assert page.startswith("<div>3 launches like this:</div>")
    assert len(cells.names["p"]) == 3


def test_only_the_first_profiles_of_many_are_shown(cells):
    shown, _ = cells.shown("%%profile p\nfor n in range(1, 13): mod.twice[1, n](x, 1)")

    assert len(pages(shown)) == 10
    assert "2 other profiles are not shown" in shown.stdout
    assert len(cells.names["p"]) == 12


def test_launches_of_functions_that_the_cell_calls_are_profiled(cells):
    cells.run("def work():\n    mod.twice[1, 32](x, 1)")

    cells.run("%%profile p -q\nwork()")

    assert isinstance(cells.names["p"], cs.Profile)


def test_launches_behind_the_cell_are_not_profiled(cells):
    cells.run("%%profile p -q\nmod.twice[1, 32](x, 1)")
    before = cells.names["p"]

    cells.run("mod.twice[1, 32](x, 1)")

    assert cells.names["p"] is before
    assert cells.names["x"].to_host()[0] == 4


def test_the_value_of_the_cell_stays(cells):
    assert cells.run("%%profile -q\nmod.twice[1, 32](x, 1)\n1 + 1") == 2


def test_a_cell_that_fails_shows_the_launches_before_and_profiles_no_more(cells):
    shown, error = cells.shown("%%profile p\nmod.twice[1, 32](x, 1)\n1 / 0")

    assert isinstance(error, ZeroDivisionError)
    assert len(pages(shown)) == 1
    cells.run("del p\nmod.twice[1, 32](x, 1)")
    assert "p" not in cells.names


def test_one_kernel_and_text_can_be_chosen(cells):
    shown, _ = cells.shown("%%profile p -k twice --text\nmod.nothing[1, 1]()\nmod.twice[1, 32](x, 1)")

    assert pages(shown) == []
    assert "twice: grid 1, block 32" in shown.stdout
    assert "nothing: grid" not in shown.stdout
    assert cells.names["p"].kernel == "twice"


def test_some_blocks_can_be_chosen(cells):
    cells.run("%%profile p -q --blocks 2\nmod.twice[8, 32](x, 1)")

    assert cells.names["p"].counted_blocks == 2


def test_launches_into_a_captured_stream_stay_launches(cells):
    cells.run("s = cs.Stream()")

    cells.run("%%profile p -q\nwith s.capture() as g: mod.twice[1, 32, s](x, 1)\nmod.twice[1, 32](x, 1)")

    assert isinstance(cells.names["p"], cs.Profile)
    assert len(cells.names["g"].nodes) == 1


def test_a_cell_without_launches_says_so(cells):
    shown, _ = cells.shown("%%profile\ny = 1")

    assert "the cell made no launch that can be profiled" in shown.stdout


@pytest.mark.parametrize("line", ["1x", "--blocks 0"])
def test_a_wrong_line_is_explained(cells, line):
    _, error = cells.shown(f"%%profile {line}\nmod.twice[1, 32](x, 1)")

    assert "%%profile: " in str(error)
    assert cells.names["x"].to_host()[0] == 1
