"""The bars of waits that take long: cs.show_progress()."""

from __future__ import annotations

import io
import re
import sys
import threading
import time

import numpy as np
import pytest

import cuscope as cs
from cuscope import _progress

SOURCE = """
__global__ void hold(const volatile int* go) { while (*go == 0) {} }
"""
RESCUE = 20  # seconds, after which the work ends although no bar was drawn, so that the test fails and does not hang

pytestmark = pytest.mark.usefixtures("drawn")  # it also sets the bars back after each test


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def hold(device, drawn):
    """Launches a kernel that runs until the bar is drawn, and waits for it."""
    kernel = cs.Module(SOURCE).hold
    go = cs.pinned_empty(1, np.int32)

    def run(blocks: int = 4) -> None:
        def end() -> None:
            drawn.wait(RESCUE)
            go[0] = 1

        go[0] = 0
        ends = threading.Thread(target=end)
        ends.start()
        try:
            kernel[blocks, 32](cs.device_view(go))
            cs.synchronize()
        finally:
            drawn.set()
            ends.join()
            cs.synchronize()

    return run


@pytest.fixture
def long_wait(device, drawn):
    """Waits for a host function that runs until the bar is drawn."""

    def run() -> None:
        stream = cs.Stream()
        stream.host_function(drawn.wait, RESCUE)
        stream.synchronize()

    return run


def short_wait() -> None:
    stream = cs.Stream()
    stream.host_function(time.sleep, 0.2)
    stream.synchronize()


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\r")]


@pytest.mark.host_only("a GPU does not say which kernel runs")
def test_a_bar_names_the_kernel_and_the_blocks_that_have_begun(device, hold, capsys):
    cs.show_progress(True, after=0.05)
    hold(blocks=4)
    shown = lines(capsys.readouterr().err)
    assert re.fullmatch(r"running hold, \d of 4 blocks, \d s", shown[1])


@pytest.mark.gpu_only("a simulated device says which kernel runs")
def test_a_bar_of_a_gpu_says_that_the_device_is_waited_for(device, hold, capsys):
    cs.show_progress(True, after=0.05)
    hold()
    assert re.fullmatch(r"waiting for the device, \d s", lines(capsys.readouterr().err)[1])


@pytest.mark.host_only("NVRTC may be done before the first bar")
def test_a_bar_names_a_compilation(device, capsys):
    cs.show_progress(True, after=0)
    cs.Module(SOURCE, options=[f"-DAT={time.time_ns()}"], file_name="hold.cu")
    assert lines(capsys.readouterr().err)[1] == "compiling hold.cu, 0 s"


@pytest.mark.host_only("a GPU measures times")
@pytest.mark.usefixtures("times_from_counts")
def test_a_bar_names_the_second_compilation_for_the_simulated_time(device, capsys):
    source = "__global__ void clear(int* x) { x[threadIdx.x] = 0; }"
    kernel = cs.Module(source, options=[f"-DAT={time.time_ns()}"], file_name="clear.cu").clear
    x = cs.empty(32, np.int32)
    cs.show_progress(True, after=0)
    kernel[1, 32](x)
    assert lines(capsys.readouterr().err)[1] == "compiling clear.cu once more, 0 s"


@pytest.mark.host_only("a GPU does not say what runs")
def test_a_bar_names_a_host_function(long_wait, capsys):
    cs.show_progress(True, after=0.05)
    long_wait()
    assert re.fullmatch(r"running a host function, \d s", lines(capsys.readouterr().err)[1])


def test_the_bar_is_erased_after_the_wait(long_wait, capsys):
    cs.show_progress(True, after=0.05)
    long_wait()
    shown = capsys.readouterr().err
    drawn = lines(shown)[-3]
    assert drawn != ""
    assert shown.endswith("\r" + " " * len(drawn) + "\r")


def test_a_wait_that_ends_sooner_has_no_bar(device, capsys):
    cs.show_progress(True, after=60)
    short_wait()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("on", [False, None])
def test_there_is_no_bar_where_none_is_wanted_or_seen(device, capsys, on):
    cs.show_progress(on, after=0.05)
    short_wait()
    assert capsys.readouterr().err == ""


def test_waits_of_other_threads_have_no_bar(device, capsys):
    cs.show_progress(True, after=0.05)
    thread = threading.Thread(target=short_wait)
    thread.start()
    thread.join()
    assert capsys.readouterr().err == ""


@pytest.mark.host_only("a GPU does not say what runs")
@pytest.mark.parametrize(
    ("drawn_by", "missing", "bar"),
    [
        ("rich", [], _progress._RichBar),
        ("tqdm", ["rich.progress"], _progress._TqdmBar),
        ("sys", ["rich.progress", "tqdm"], _progress._TextBar),
    ],
)
def test_a_terminal_has_a_bar_with_and_without_other_packages(long_wait, monkeypatch, drawn_by, missing, bar):
    pytest.importorskip(drawn_by, reason=f"{drawn_by} is not installed")
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    made, new_bar = [], _progress._new_bar
    monkeypatch.setattr(_progress, "_new_bar", lambda: made.append(new_bar()) or made[-1])
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    cs.show_progress(after=0.05)
    long_wait()
    assert [type(one) for one in made] == [bar]
    assert "running a host function" in terminal.getvalue()


@pytest.mark.host_only("a GPU takes its own time")
def test_bars_change_no_simulated_time(device, drawn, capsys):
    def takes(seconds: float) -> float:
        begin, end = cs.Event(), cs.Event()
        stream = cs.Stream()
        begin.record(stream)
        stream.host_function(drawn.wait, seconds)
        end.record(stream)
        end.synchronize()
        return end - begin

    cs.show_progress(False)
    without = takes(0.1)
    cs.show_progress(True, after=0)
    assert takes(RESCUE) == without
    assert drawn.is_set()


def test_ctrl_c_while_the_bar_is_drawn_ends_the_wait(device, monkeypatch):
    class Interrupting(_progress._NoBar):
        def update(self, text: str, done: int, total: int) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(_progress, "_new_bar", Interrupting)
    stream, go = cs.Stream(), threading.Event()
    stream.host_function(go.wait, RESCUE)
    cs.show_progress(True, after=0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            stream.synchronize()
        assert not stream.query()
    finally:
        go.set()
        cs.show_progress(False)
        stream.synchronize()


def test_ctrl_c_while_the_bar_is_removed_is_raised_after_the_wait(device, drawn, monkeypatch):
    class Interrupting(_progress._NoBar):
        def close(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(_progress, "_new_bar", Interrupting)
    stream = cs.Stream()
    stream.host_function(drawn.wait, RESCUE)
    cs.show_progress(True, after=0.05)
    with pytest.raises(KeyboardInterrupt):
        stream.synchronize()
    assert drawn.is_set()
    assert stream.query()


def test_an_error_of_the_drawing_is_reported_and_the_wait_goes_on(long_wait, monkeypatch):
    reported = []

    def fail() -> None:
        raise OSError("no room")

    monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(str(report.exc_value)))
    monkeypatch.setattr(_progress, "_new_bar", fail)
    cs.show_progress(True, after=0.05)
    long_wait()
    assert reported == ["no room"]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"on": 1}, TypeError, "on: 1; it is True, False or None"),
        ({"after": -1}, ValueError, "after: -1 seconds; it is 0 or more"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, says):
    with pytest.raises(error, match=re.escape(says)):
        cs.show_progress(**arguments)
