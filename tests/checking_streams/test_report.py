"""The words of a finding about the order of calls: lines, names of streams, the missing line; and when a check sees what."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import cuscope as cs


@pytest.fixture(autouse=True)
def on_the_device(device):
    device.synchronize()


def the_finding(report: cs.CheckReport) -> cs.Finding:
    (finding,) = report.findings
    return finding


def test_a_finding_names_both_calls_and_the_missing_line(tmp_path, device):
    file = tmp_path / "program.py"
    file.write_text(
        "uploads, work = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)\n"
        "x = cs.empty((4, 8), np.int16, stream=uploads)\n"
        "x.fill(1, stream=uploads)\n"
        "y = x.to_host(stream=work)\n"
    )
    with cs.check() as report:
        exec(compile(file.read_text(), str(file), "exec"), {"cs": cs, "np": np})
    finding = the_finding(report)
    assert finding.kind == "race between streams"
    assert finding.severity == "error"
    assert finding.kernel == ""
    assert finding.block is finding.thread is None
    assert finding.calls == ("the memset", "the copy to the host")
    assert finding.streams == ("uploads", "work")
    assert finding.other_line.endswith("program.py:3")
    assert finding.line.endswith("program.py:4")
    assert finding.code == "work.wait(uploads)"
    assert finding.code_before == finding.line
    assert finding.memory.startswith("int16, shape (4, 8), 64 bytes, made in ")
    assert "writes all of the array (int16, shape (4, 8), 64 bytes, made in " in finding.text
    first, second = finding.drawing.splitlines()
    assert first.startswith("uploads  --[the memset, ")
    assert second.startswith("work     ---")
    assert second.index("[") > first.index("[")
    text = str(report)
    assert text.startswith("1 finding in ")
    assert "error: race between streams\n" in text
    assert f"missing before {finding.line}:  work.wait(uploads)" in text


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("s = [cs.Stream(non_blocking=True) for _ in range(3)]\na, b = s[1], s[2]", ("s[1]", "s[2]")),
        ("a, b = (cs.Stream(non_blocking=True) for _ in range(2))", ("a", "b")),
        (
            "a = cs.Stream(\n    non_blocking=True,\n)\nb: cs.Stream = cs.Stream(non_blocking=True)",
            ("a", "b"),
        ),
        (
            "with cs.Stream(non_blocking=True) as a, cs.Stream(non_blocking=True) as b:\n    pass",
            ("a", "b"),
        ),
        ("a = device.default_stream\nb = cs.Stream(non_blocking=True)", ("the default stream", "b")),
    ],
)
def test_streams_have_the_names_of_the_program(program, names, tmp_path, device):
    file = tmp_path / "names.py"
    file.write_text(program + "\nx = cs.zeros(8, stream=a)\ny = x.to_host(stream=b)\n")
    with cs.check() as report:
        exec(compile(file.read_text(), str(file), "exec"), {"cs": cs, "device": device})
    finding = the_finding(report)
    assert finding.streams == names
    code = names[0] if " " not in names[0] else "device.default_stream"
    assert finding.code == f"{names[1]}.wait({code})"


def test_streams_without_a_name_are_numbered(device):
    def race(a, b):
        x = cs.zeros(8, stream=a)
        x.to_host(stream=b)

    with cs.check() as report:
        race(cs.Stream(non_blocking=True), cs.Stream(non_blocking=True))
    finding = the_finding(report)
    assert all(name.startswith("Stream #") for name in finding.streams)
    assert finding.code == "later_stream.wait(earlier_stream)"


def test_the_same_mistake_is_counted(device):
    with cs.check() as report:
        a, b = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        x, h = cs.empty(8, stream=a), cs.pinned_empty(8)
        for _ in range(5):
            b.wait(a)
            x.fill(1, stream=a)
            x.copy_to(h, stream=b)
            device.synchronize()
    assert the_finding(report).count == 5
    assert "(5 times)" in str(report)


def test_streams_of_before_the_check_are_known(device):
    blocking, other = cs.Stream(), cs.Stream(non_blocking=True)
    with cs.check() as report:
        x = cs.zeros(8)
        x.to_host(stream=blocking)
    assert not report, str(report)
    with cs.check() as report:
        x = cs.zeros(8)
        x.to_host(stream=other)
    assert the_finding(report).kind == "race between streams"


def test_work_of_before_the_check_is_not_compared(device):
    a, b = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
    x = cs.zeros(8, stream=a)
    with cs.check() as report:
        x.to_host(stream=b)
    assert not report, str(report)


def test_a_check_within_a_check(device):
    with cs.check() as outer:
        a, b = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        with cs.check() as inner:
            x = cs.zeros(8, stream=a)
            x.to_host(stream=b)
    assert the_finding(outer).kind == the_finding(inner).kind == "race between streams"


@pytest.mark.parametrize("order", ["trace in check", "check in trace"])
def test_a_check_and_a_trace(device, order):
    def race():
        a, b = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        x = cs.zeros(8, stream=a)
        x.to_host(stream=b)

    if order == "trace in check":
        with cs.check() as report:
            with cs.trace() as trace:
                race()
            race()
    else:
        with cs.trace() as trace:
            with cs.check() as report:
                race()
            race()
    assert the_finding(report).count == (2 if order == "trace in check" else 1)
    assert len(trace.spans) > 0


def test_commands_are_counted(device):
    with cs.check() as report:
        s = cs.Stream()
        cs.zeros(8, stream=s).to_host(stream=s)
    assert report.commands >= 3
    assert report.findings == []
    assert str(report).startswith(f"no mistake found in {report.commands} commands")


def test_calls_of_several_threads_count_as_those_of_one_host(device):
    """What orders threads is not seen, so that it cannot be missed either."""
    with cs.check() as report:
        s = cs.Stream(non_blocking=True)
        h, x = cs.pinned_empty(64), cs.zeros(64, stream=s)
        x.copy_to(h, stream=s)
        thread = threading.Thread(target=s.synchronize)
        thread.start()
        thread.join()
        assert h.sum() == 0
    assert report.findings == [], str(report)


def test_a_program_with_a_race_ends_with_code_1(run_python, tmp_path):
    (tmp_path / "racing.py").write_text(
        "import cuscope as cs\n"
        "one, two = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)\n"
        "x = cs.zeros(8, stream=one)\n"
        "x.to_host(stream=two)\n"
    )
    ended = run_python("""
        import subprocess, sys
        sys.exit(subprocess.run([sys.executable, "-m", "cuscope", "check", "racing.py"]).returncode)
    """)
    assert ended.returncode == 1
    assert "race between streams" in ended.stderr
    assert "missing before racing.py:4:  two.wait(one)" in ended.stderr


def test_simulated_times_are_those_without_the_check(device):
    if not device.simulated:
        pytest.skip("a real GPU has no simulated time")

    def duration() -> float:
        s, t = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        h = np.ones(1 << 16, np.float32)
        begin = cs.clock()
        x = cs.to_device(h, stream=s)
        t.wait(s)
        event = t.record()
        x.to_host(stream=t)
        event.synchronize()
        device.synchronize()
        return round((cs.clock() - begin) * 1e9)

    duration()
    without = duration()
    with cs.check() as report:
        duration()
        with_check = duration()
    assert with_check == without
    assert not report, str(report)
