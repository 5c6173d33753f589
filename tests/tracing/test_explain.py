"""``explain``: its order, its text, and that no trace makes it fail."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cuscope.tracing import Trace
from cuscope.tracing.findings import Finding, Findings
from cuscope.tracing.rules import ADVICE, HEADLINES
from cuscope.tracing.spans import ENGINES, KINDS, REASONS


def pageable(line, start, end):
    return {
        "kind": "copy",
        "engine": "copy to device",
        "device": "cuda:0",
        "stream": 7,
        "start": start,
        "end": end,
        "bytes": 10 * (end - start),
        "pageable": True,
        "line": line,
    }


def test_statements_about_the_program_come_first_then_the_largest_saving():
    trace = Trace.from_spans(
        [pageable("p.py:1", 0, 3000), pageable("p.py:2", 3000, 9500)],
        duration=10_000,
        dropped=5,
        devices={"cuda:0": {"pcie_bandwidth": 50.0}},
    )
    findings = trace.explain().findings
    assert [(finding.rule, finding.line) for finding in findings] == [
        ("dropped spans", ""),
        ("bounding engine", "p.py:2"),
        ("pageable copies", "p.py:2"),
        ("pageable copies", "p.py:1"),
    ]
    assert [finding.weight for finding in findings] == [None, None, 6500 - 1300, 3000 - 600]
    assert trace.spans["line"][findings[2].spans].tolist() == ["p.py:2"]


def test_the_text_is_a_list_of_short_lines_with_the_savings():
    text = str(Findings([Finding("a", "One sentence.", weight=2000), Finding("b", "word " * 50)]))
    assert text.startswith("- One sentence. This saves 2 us at most.\n- word")
    assert max(map(len, text.splitlines())) <= 100


def test_the_page_of_a_notebook_is_escaped():
    html = Findings([Finding("a", "The kernel 'f<int>' & more.")])._repr_html_()
    assert html == "<ul><li>The kernel &#x27;f&lt;int&gt;&#x27; &amp; more.</li></ul>"


def test_a_trace_without_work_says_so():
    assert [finding.rule for finding in Trace.from_spans([]).explain()] == ["no work"]
    calls = Trace.from_spans([{"kind": "call", "name": "cudaMalloc", "start": 0, "end": 9}])
    assert str(calls.explain()) == "- The trace has no kernel, copy or memset."


def test_each_rule_has_tests():
    # The tests of a rule are in a class of its name, in a file of this folder.
    from pathlib import Path

    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_rules_*.py"))
    missing = [
        rule.__name__
        for rule in (*HEADLINES, *ADVICE)
        if f"class Test{rule.__name__.title().replace('_', '')}:" not in text
    ]
    assert missing == []


ROWS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS),
        "name": st.sampled_from(
            ["add", "cudaMalloc", "cudaFree", "cudaDeviceSynchronize", "cudaLaunchKernel"]
        ),
        "start": st.integers(0, 100),
        "end": st.integers(0, 60),
        "device": st.sampled_from(["", "cuda:0", "cuda:1"]),
        "stream": st.integers(-1, 2),
        "engine": st.sampled_from(ENGINES),
        "bytes": st.integers(0, 1000),
        "grid": st.sampled_from([(0, 0, 0), (1, 1, 1), (8, 4, 1)]),
        "issued": st.integers(-1, 100),
        "ready": st.integers(-1, 100),
        "reason": st.sampled_from(REASONS),
        "thread": st.integers(-1, 1),
        "line": st.sampled_from(["", "p.py:1", "p.py:2"]),
        "pageable": st.booleans(),
    }
)


@given(
    st.lists(ROWS, max_size=25),
    st.randoms(use_true_random=False),
    st.sampled_from(["simulation", "cupti", "events"]),
)
@settings(max_examples=300, deadline=None)
def test_no_trace_makes_it_fail_and_no_saving_is_negative(rows, random, source):
    for row in rows:
        row["end"] += row["start"]
        for relation in ("cause", "call", "graph", "range"):
            row[relation] = random.randrange(-1, len(rows))
    trace = Trace.from_spans(
        rows,
        source=source,
        duration=random.randrange(200),
        devices={"cuda:0": {"multiprocessors": 16, "copy_engines": 1, "pcie_bandwidth": 50.0}, "cuda:1": {}},
        streams={0: {"label": "legacy default"}},
    )
    for finding in trace.explain():
        assert finding.sentence.endswith(".")
        assert "nan" not in finding.sentence
        assert finding.weight is None or finding.weight >= 0
        assert ((finding.spans >= 0) & (finding.spans < len(trace))).all()
    assert str(trace.explain()) == str(trace.explain())


def test_many_spans_take_a_vectorised_way():
    # Each rule gets rows; none of them loops over spans in Python. 100,000 spans are slow if one does.
    count = 50_000
    rows = np.arange(count)
    trace = Trace.from_spans(
        [{"kind": "call", "name": "cudaLaunchKernel", "start": 10 * i, "end": 10 * i + 8, "thread": 0} for i in rows]
        + [
            {"kind": "kernel", "engine": "kernels", "device": "cuda:0", "start": 10 * i + 8, "end": 10 * i + 12, "call": i}
            for i in rows
        ]
    )  # fmt: skip
    assert "launch bound" in [finding.rule for finding in trace.explain()]
