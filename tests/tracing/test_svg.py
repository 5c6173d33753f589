"""The picture of a trace in a notebook."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuscope.tracing import Trace
from cuscope.tracing.colours import FIXED, KERNELS, Colour, _luminance
from cuscope.tracing.style import THEMES
from tracing import sample_traces
from tracing.sample_traces import kernel, span

SVG = "{http://www.w3.org/2000/svg}"
LIMIT = 100_000


def bars(picture):
    """(x, width) and hover text of each bar and mark, in the order of the picture."""
    for row in ET.fromstring(picture).iter(f"{SVG}g"):
        if row.get("class", "").startswith("csRow"):
            for bar in row:
                rect = bar.find(f"{SVG}rect")
                place = (float(rect.get("x")), float(rect.get("width"))) if rect is not None else None
                yield place, bar.find(f"{SVG}title").text


def texts(picture):
    return [text.text or "" for text in ET.fromstring(picture).iter(f"{SVG}text")]


def many(count, streams=8, longest=3000):
    random = np.random.default_rng(1)
    starts = np.sort(random.integers(0, count * 1000, count)).tolist()
    ends = (np.array(starts) + random.integers(100, longest, count)).tolist()
    return Trace.from_spans(
        [
            kernel(i % streams, s, e, f"kernel_{i % 9}")
            for i, (s, e) in enumerate(zip(starts, ends, strict=True))
        ]
    )


@pytest.mark.parametrize("made", sample_traces.SAMPLES.values(), ids=sample_traces.SAMPLES.keys())
def test_samples_are_well_formed_small_and_the_same_each_time(made):
    picture = made().svg()
    ET.fromstring(picture)
    assert picture == made().svg()
    assert len(picture.encode()) < LIMIT
    assert "<script" not in picture


def test_breadth_first_is_staggered_in_streams_and_overlaps_in_engines():
    rows = [place for place, _ in bars(sample_traces.breadth_first().svg())]
    by_stream = [rows[i : i + 3] for i in range(0, 12, 3)]
    step = by_stream[1][0][0] - by_stream[0][0][0]
    for i, stream in enumerate(by_stream):
        assert [x for x, _ in stream] == pytest.approx([(i + k) * step for k in range(3)], abs=0.3)
    copies_in, copies_out, kernels = ([x for x, _ in rows[12 + 4 * k : 16 + 4 * k]] for k in range(3))
    assert copies_in[2:] == copies_out[:2] == kernels[1:3]


def test_the_hover_text_explains_the_span():
    hovers = [text for _, text in bars(sample_traces.breadth_first().svg())]
    assert hovers[0].split("\n") == [
        "host to device: 20 us",
        "starts at 0 us",
        "1 MiB at 52.4 GB/s",
        "started as soon as it was issued",
        "pipeline.py:14",
    ]
    assert "grid 1024, block 256" in hovers[1]
    assert (
        "started when host to device of stream 1 before it in its stream ended, 20 us after it was issued"
        in hovers[1]
    )
    assert "waited for its copy engine, busy with host to device of stream 1" in hovers[3]
    assert any(
        "waited until device to host of stream 4 ended" in t for _, t in bars(sample_traces.program().svg())
    )


def test_neighbours_narrower_than_a_pixel_are_one_box():
    rows = [kernel(1, 10 * i, 10 * i + 9) for i in range(37)]
    picture = Trace.from_spans([*rows, kernel(1, 999_000, 1_000_000, "last")]).svg("streams")
    first, last = bars(picture)
    assert first[1].split("\n")[:2] == ["37 kernels (37 saxpy)", "333 ns in all, 9 ns each on average"]
    assert last[1].startswith("last: 1 us")


@pytest.mark.parametrize(
    "rows", [(200_000,), (200_000, 500, 90_000), (3000, 300)], ids=["short", "long", "few"]
)
def test_a_large_trace_has_a_small_picture(rows):
    trace = many(*rows)
    picture = trace.svg()
    ET.fromstring(picture)
    assert len(picture.encode()) < LIMIT
    counted = [re.match(r"([\d,]+) kernels? \(|(kernel_)", text) for _, text in bars(trace.svg("streams"))]
    assert sum(1 if found[2] else int(found[1].replace(",", "")) for found in counted) == len(trace)


def test_many_devices_threads_and_long_names_stay_below_the_limit():
    rows = [kernel(i, 0, 10 + i, "x" * 5000 + str(i), device=f"host:{i}", line="y" * 5000) for i in range(64)]
    rows += [span("call", "z" * 5000, 0, 10, thread=i) for i in range(300)]
    picture = Trace.from_spans(rows).svg()
    ET.fromstring(picture)
    assert len(picture.encode()) < LIMIT


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_name_makes_a_well_formed_picture(name, label):
    rows = [
        kernel(1, 0, 100, name, line=name),
        span("range", name, 0, 90, thread=0),
        span("copy", name, 100, 200, device="host:0", engine=label, stream=2),
    ]
    about = {"streams": {1: {"label": label}}, "devices": {"host:0": {"model": name}}, "threads": {0: label}}
    picture = Trace.from_spans(rows, **about).svg()
    ET.fromstring(picture.encode())


def test_hostile_names_are_text():
    name = "</title><script>alert('1')</script>&\"\x00]]>"
    picture = Trace.from_spans([kernel(1, 0, 1000, name)]).svg()
    assert "<script" not in picture
    assert any("<script>alert('1')</script>&\"\ufffd]]>" in text for _, text in bars(picture))


def test_rules_concern_one_picture_of_a_page():
    one, other = sample_traces.serial().svg(), sample_traces.graph().svg()
    identity, other_identity = (ET.fromstring(p).get("id") for p in (one, other))
    assert identity != other_identity
    style = ET.fromstring(one).find(f"{SVG}style").text.replace("}}", "}")
    for selectors in re.findall(r"(?:^|[}{])([^{}@]+)\{", style.replace("\n", "")):
        assert all(f"#{identity}" in s for s in re.split(r",(?![^(]*\))", selectors)), selectors


def test_there_are_rules_for_light_and_dark_pages():
    style = ET.fromstring(sample_traces.serial().svg()).find(f"{SVG}style").text
    assert "@media (prefers-color-scheme:dark)" in style
    for page in (
        '[data-jp-theme-light="true"]',
        '[data-jp-theme-light="false"]',
        ".vscode-light",
        ".vscode-dark",
    ):
        assert page in style


def contrast(a, b):
    a, b = sorted((_luminance(a), _luminance(b)))
    return (b + 0.05) / (a + 0.05)


def test_text_is_legible_in_both_themes():
    for rules in THEMES.values():
        fills = {one: value for classes, _, value in rules for one in classes.split(",")}
        for back in ("csPaper", "csBand", "csCall", "csRange", "csGraph", "csHatchB"):
            assert contrast(fills["csInk"], fills[back]) >= 4.5, back
        assert contrast(fills["csSoft"], fills["csPaper"]) >= 4.5
    for colour in [*FIXED, *(Colour("", "", "", "", fill) for fill in KERNELS)]:
        if colour.fill:
            ink = "#ffffff" if colour.ink == "#fff" else "#111111"
            assert contrast(ink, colour.fill) >= 4.5, colour


def test_names_stay_within_their_bars():
    rows = [kernel(1, 0, 100_000, "a_rather_long_name_of_a_kernel"), kernel(1, 100_000, 3_000_000, "other")]
    picture = ET.fromstring(Trace.from_spans(rows).svg("streams"))
    in_bars = [text.text for row in picture.iter(f"{SVG}g") for text in row.findall(f"{SVG}text")]
    assert in_bars == ["other"]


def test_the_legend_has_the_colours_that_no_bar_names():
    assert "copy to device" not in " ".join(texts(sample_traces.breadth_first().svg("streams")))
    assert "copy to device (H2D)" in texts(sample_traces.depth_first_on_one_engine().svg("streams"))
    assert "event record" in texts(sample_traces.program().svg())


def test_ticks_of_the_axis_are_round():
    names = texts(sample_traces.breadth_first().svg())
    assert [t for t in names if t.endswith(" us")] == [
        "0 us",
        "20 us",
        "40 us",
        "60 us",
        "80 us",
        "100 us",
        "120 us",
    ]


def test_a_late_trace_counts_from_its_first_span():
    names = texts(Trace.from_spans([kernel(1, 5_000_000_000, 5_000_010_000)]).svg())
    assert "from 5.000000 s" in names
    assert "+2 us" in names


def test_spans_that_were_dropped_are_counted():
    names = texts(Trace.from_spans([kernel(1, 0, 9)], dropped=1234).svg())
    assert "1,234 more spans not kept: the trace had reached its limit." in names


def test_a_trace_without_spans_says_so():
    names = texts(Trace.from_spans([]).svg())
    assert "Nothing to draw: this trace has no spans." in names


def test_a_notebook_gets_the_picture():
    trace = sample_traces.serial()
    assert trace._repr_svg_() == trace.svg()
    assert trace._repr_html_() == f"<div>{trace.svg()}</div>"


def test_a_width_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="width is 20; a picture is at least 300 pixels wide"):
        sample_traces.serial().svg(width=20)
