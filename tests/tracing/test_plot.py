"""The trace in Matplotlib."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection

from cuscope.tracing import Trace
from cuscope.tracing.rows import rows_of
from tracing import sample_traces


@pytest.fixture(autouse=True)
def _figures():
    with mpl.rc_context({"backend": "Agg"}):
        yield
        plt.close("all")


def bars(ax):
    """(start, end, top, bottom) of each bar."""
    return [
        (*path.vertices[:, 0][[0, 1]], *path.vertices[:, 1][[0, 2]])
        for collection in ax.collections
        if isinstance(collection, PolyCollection)
        for path in collection.get_paths()
    ]


@pytest.mark.parametrize("made", sample_traces.SAMPLES.values(), ids=sample_traces.SAMPLES.keys())
def test_bars_are_the_spans(made):
    trace = made()
    ax = trace.plot()
    unit = {"time (us)": 1e3, "time (ms)": 1e6}[ax.get_xlabel()]
    expected = [
        (trace.spans["start"][i] / unit, trace.spans["end"][i] / unit)
        for row in rows_of(trace)
        for i in row.spans
    ]
    assert np.allclose(sorted(bar[:2] for bar in bars(ax)), sorted(expected))


def test_bars_do_not_overlap():
    drawn = bars(sample_traces.graph().plot())
    for i, (x0, x1, y0, y1) in enumerate(drawn):
        for a0, a1, b0, b1 in drawn[:i]:
            assert x1 <= a0 + 1e-9 or a1 <= x0 + 1e-9 or y1 <= b0 or b1 <= y0


def test_it_draws_into_the_axes_that_it_is_given():
    _, ax = plt.subplots()
    assert sample_traces.serial().plot(ax) is ax
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["stream 1", "copy to device", "copy to host", "kernels"]


def test_sections_can_be_chosen():
    ax = sample_traces.program().plot(show=("streams",))
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"stream {i}" for i in (1, 2, 3, 4)]


def test_text_follows_the_style():
    with plt.style.context("dark_background"):
        ax = sample_traces.program().plot()
        ax.figure.canvas.draw()
    names = {text.get_text(): text.get_color() for text in ax.texts}
    assert mpl.colors.to_rgb(names["cudaDeviceSynchronize"]) == (1, 1, 1)


def test_a_name_with_a_dollar_is_text():
    ax = Trace.from_spans([sample_traces.kernel(1, 0, 100, "$x")]).plot()
    ax.figure.canvas.draw()
    assert "$x" in [text.get_text() for text in ax.texts]


def test_a_trace_without_spans_says_so():
    ax = Trace.from_spans([]).plot()
    assert "This trace has no spans." in [text.get_text() for text in ax.texts]


def test_without_matplotlib_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Trace\.plot needs Matplotlib: pip install matplotlib"):
        sample_traces.serial().plot()
