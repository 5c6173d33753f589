"""The widget that zooms: the data that it gets."""

import sys
from pathlib import Path

import numpy as np
import pytest

from cuscope.tracing import Trace, widget
from cuscope.tracing.rows import rows_of
from tracing import sample_traces

pytest.importorskip("anywidget")


def unpacked(about, data):
    """The columns of a level, as widget.js reads them."""
    count, at = sum(about["counts"]), about["offset"]
    columns = {}
    for name, code in widget.COLUMNS:
        columns[name] = np.frombuffer(data, code, count, at)
        at += columns[name].nbytes
    return columns


@pytest.mark.parametrize("made", sample_traces.SAMPLES.values(), ids=sample_traces.SAMPLES.keys())
def test_the_finest_level_has_every_span(made):
    trace = made()
    view = trace.widget()
    columns = unpacked(view.head["levels"][-1], view.data)
    drawn = np.concatenate([np.concatenate([row.spans, row.ticks]) for row in rows_of(trace)])
    spans = trace.spans[drawn]
    starts = columns["start"] + view.head["begin"]
    sent = zip(starts, columns["length"], [view.head["names"][i] for i in columns["name"]], strict=True)
    assert sorted(sent) == sorted(
        zip(spans["start"], spans["end"] - spans["start"], spans["name"], strict=True)
    )
    assert view.head["levels"][-1]["resolution"] == 0


def test_rows_colours_and_hover_texts_belong_to_the_boxes():
    view = sample_traces.program().widget(show="streams")
    columns = unpacked(view.head["levels"][0], view.data)
    about = view.head["levels"][0]
    assert [row["label"] for row in view.head["rows"]] == [f"stream {i}" for i in (1, 2, 3, 4)]
    assert about["counts"] == [3, 1] * 4
    assert [view.head["colours"][i]["key"] for i in columns["colour"][:4]] == ["in", "k0", "out", "event"]
    assert columns["lane"].tolist() == [0, 0, 0, widget.MARK] * 4
    assert about["texts"][1].startswith("saxpy: 20 us\n")


def test_each_level_counts_every_span():
    view = sample_traces.training().widget()
    assert len(view.head["levels"]) > 1
    counts = [int(unpacked(level, view.data)["count"].sum()) for level in view.head["levels"]]
    assert len(set(counts)) == 1
    resolutions = [level["resolution"] for level in view.head["levels"]]
    assert resolutions == sorted(resolutions, reverse=True)


def test_a_large_trace_is_sent_in_merged_levels(monkeypatch):
    monkeypatch.setattr(widget, "MOST_BOXES", 1000)
    view = sample_traces.training().widget()
    assert all(level["resolution"] > 0 for level in view.head["levels"])


def test_a_window_of_a_large_trace_is_sent_when_the_page_asks(monkeypatch):
    monkeypatch.setattr(widget, "MOST_BOXES", 1000)
    trace = sample_traces.training()
    view = trace.widget(show="streams")
    sent = []
    monkeypatch.setattr(type(view), "send", lambda self, about, buffers: sent.append((about, buffers[0])))
    view._handle_custom_msg({"from": 1_000_000, "to": 1_200_000, "resolution": 10}, [])
    [(about, data)] = sent
    spans = trace.spans[trace.spans["device"] != ""]
    inside = (spans["end"] >= 1_000_000) & (spans["start"] <= 1_200_000)
    assert sorted(unpacked(about, data)["start"]) == spans["start"][inside].tolist()
    assert len(about["texts"]) == inside.sum() > 10


def test_it_needs_no_network():
    source = Path(widget.__file__).with_name("widget.js").read_text(encoding="utf-8")
    assert "http" not in source
    assert "import" not in source


def test_a_trace_without_spans_can_be_viewed():
    view = Trace.from_spans([]).widget()
    assert view.head["rows"] == []
    assert view.data == b""


def test_without_anywidget_the_error_says_how_to_install_it(monkeypatch):
    widget._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"Trace\.widget needs anywidget: pip install anywidget"):
        sample_traces.serial().widget()
