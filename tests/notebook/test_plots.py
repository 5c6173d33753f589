"""Figures of Matplotlib after `course.follow_theme()`: SVG in the colours of the page, without a background."""

from __future__ import annotations

import re

import pytest

from support import execute_notebook

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

CELLS = [
    "import matplotlib.pyplot as plt\nfrom cuscope import course\ncourse.follow_theme()",
    "fig, ax = plt.subplots()\nax.plot([1, 2], color='#ff0000')\nax.set_title('a & b')\nplt.show()",
    "plt.figure()\nplt.plot([2, 1])\nplt.show()",
]


@pytest.mark.subprocess
@pytest.mark.host_only("Matplotlib does not use the device")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_figure_is_svg_in_the_colours_of_the_page(device, tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    execute_notebook(notebook, tmp_path)

    [first], [second] = notebook.cells[1].outputs, notebook.cells[2].outputs
    assert set(first.data) == {"text/html", "text/plain"}
    html = first.data["text/html"]
    assert "var(--cs-ink)" in html  # axes and text
    assert "#ff0000" in html  # a colour of the program
    assert "a &amp; b" in html
    assert "<script" not in html
    for theme in ('[data-jp-theme-light="false"]', "prefers-color-scheme:dark", ".vscode-dark"):
        assert theme in html
    names = [re.match(r'<div id="(\w+)"', one.data["text/html"])[1] for one in (first, second)]
    assert names[0] != names[1]


def test_default_colours_can_be_read_on_both_pages(monkeypatch):
    import matplotlib as mpl

    from cuscope import course

    with mpl.rc_context():
        course.follow_theme()
        colours = {mpl.rcParams[name] for name in ("text.color", "axes.edgecolor", "xtick.color")}
        assert mpl.rcParams["axes.facecolor"] == "none"
    [grey] = colours
    lightness = int(grey[1:3], 16)
    assert 0x60 < lightness < 0xA0
