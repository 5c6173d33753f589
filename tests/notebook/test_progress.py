"""The bar of a long wait in a notebook."""

from __future__ import annotations

import cuscope as cs


def test_a_notebook_has_a_bar_below_the_cell(notebook, drawn, monkeypatch):
    from IPython.utils.capture import capture_output

    monkeypatch.setattr(notebook.shell, "kernel", object(), raising=False)
    stream = cs.Stream()
    cs.show_progress(after=0.05)
    with capture_output() as captured:
        stream.host_function(drawn.wait, 20)  # seconds at most, so that the test fails and does not hang
        stream.synchronize()
    pages = [output.data["text/html"] for output in captured.outputs]
    assert pages[1].startswith("<progress></progress> <small>")
    assert pages[-1] == ""
