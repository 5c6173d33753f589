"""Right programs, of the documents and the notebooks and small ones, have no finding about the order of their calls."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from documents import PAGES, ROOT, name_of, prepare, programs

# The pages whose programs have mistakes on purpose.
WRONG_ON_PURPOSE = ("checking", "find-a-mistake", "ten-minutes")
PROGRAMS = [
    pytest.param(program, id=f"{name_of(page)}-{number}")
    for page in PAGES
    if page.stem not in WRONG_ON_PURPOSE
    for number, program in enumerate(programs(page))
    if "calibrate" not in program  # it measures copies that race on purpose
]
NOTEBOOKS = [
    ROOT / "notebooks" / f"{name}.ipynb"
    for name in ("02_memory", "05_streams", "06_events_priorities", "07_default_streams", "09_graphs")
]
SHOWS = ROOT / "notebooks" / "01_memory_kernels_errors.ipynb"


def about_order(report: cs.CheckReport) -> list[cs.Finding]:
    return [finding for finding in report.findings if finding.calls]


def alarms(report: cs.CheckReport, device: cs.Device) -> list[cs.Finding]:
    # On a GPU, a kernel counts as using the whole of an array. Such findings are warnings, which say so.
    return [f for f in about_order(report) if device.simulated or f.severity == "error"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_of_the_documents(program, device, monkeypatch):
    prepare(program, monkeypatch)
    with cs.check() as report:
        exec(compile(program, "program.py", "exec"), {"__name__": "program"})
    assert alarms(report, device) == [], str(report)


def run_notebook(path: Path, monkeypatch: pytest.MonkeyPatch) -> cs.CheckReport:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    if "matplotlib" in text:
        pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("Agg")
    if re.search(r"^\s*[%!]", text, re.MULTILINE):
        pytest.skip("it needs IPython")
    monkeypatch.chdir(path.parent)
    with cs.check() as report:
        exec(compile(text, "notebook.py", "exec"), {"__name__": "notebook"})
    return report


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path, device, monkeypatch):
    if not device.simulated and path.stem in ("05_streams", "09_graphs"):
        pytest.skip("it compares times, and tests share the GPU")
    report = run_notebook(path, monkeypatch)
    assert alarms(report, device) == [], str(report)


def test_the_notebook_that_shows_a_read_without_a_wait(device, monkeypatch):
    report = run_notebook(SHOWS, monkeypatch)
    assert {finding.kind for finding in about_order(report)} == {"read too early"}, str(report)


def test_a_first_wait_in_a_loop_may_come_before_the_first_record(device):
    """As in a loop with two buffers: the event of a buffer is recorded at the end of the first round."""
    with cs.check() as report:
        stream, copies = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        done = [cs.Event(), cs.Event()]
        for step in range(6):
            copies.wait(done[step % 2])
            stream.wait(copies)
            stream.record(done[step % 2])
    assert report.findings == [], str(report)


def test_a_host_function_may_tell_the_program_that_a_copy_has_ended(device):
    with cs.check() as report:
        stream, h, ended = cs.Stream(), cs.pinned_empty(16), threading.Event()
        x = cs.zeros(16, stream=stream)
        x.copy_to(h, stream=stream)
        stream.host_function(ended.set)
        stream.query()
        assert ended.wait(60)
        assert h.sum() == 0
    assert report.findings == [], str(report)


def test_a_number_in_memory_may_order_two_streams(device):
    with cs.check() as report:
        one, two, flag = (
            cs.Stream(non_blocking=True),
            cs.Stream(non_blocking=True),
            cs.pinned_empty(1, np.uint32),
        )
        flag[0] = 0
        x = cs.empty(16, stream=one)
        y = cs.empty(16, stream=two)
        device.synchronize()
        two.wait_value(flag, 1)
        y.copy_from(x, stream=two)
        x.fill(1, stream=one)
        one.write_value(flag, 1)
        device.synchronize()
        assert y.to_host().sum() == 16
    assert about_order(report) == [], str(report)


def test_arrays_that_are_dropped_while_another_stream_uses_them(device):
    """The package frees them when that is safe."""
    with cs.check() as report:
        one, two = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        for _ in range(8):
            x, y = cs.zeros(1 << 16, stream=one), cs.empty(1 << 16, stream=two)
            two.wait(one)
            y.copy_from(x, stream=two)
            del x, y
        device.synchronize()
    assert report.findings == [], str(report)


def test_page_locked_arrays_behave_as_others(device):
    with cs.check() as report:
        h = cs.pinned_empty((4, 6), np.int32)
        h[:] = np.arange(24).reshape(4, 6)
        h[1:3, ::2] += 1
        assert isinstance(h, np.ndarray)
        assert type(h + 1) is np.ndarray
        assert h[1, 2] == 9
        assert h.sum() == h.copy().sum() == np.sum(h) == sum(h.ravel().tolist())
        assert np.concatenate([h, h]).shape == (8, 6)
        assert np.array_equal(h[[0, 2]], np.asarray(h)[[0, 2]])
        np.copyto(h, 5)
        assert (h == 5).all()
        assert float(h[0, 0]) == 5.0
        assert "5" in repr(h)
        h.sort()
        out = np.add(h, 1, out=h)
        assert out is h
        x = cs.to_device(h)
        assert (x.to_host() == 6).all()
        assert np.einsum("ij->", h) == 24 * 6
    assert report.findings == [], str(report)


@pytest.mark.host_only("only a simulated device knows which bytes a kernel accesses")
def test_chunks_of_one_array_in_several_streams(device):
    """The kernel gets the whole array and an offset, as in CUDA's samples."""
    module = cs.Module(
        "__global__ void twice(float* x, int at, int n) {"
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[at + i] *= 2; }"
    )
    n, chunks = 1 << 12, 4
    with cs.check() as report:
        h, d = cs.pinned_empty(n), cs.empty(n)
        h.fill(1)
        streams = [cs.Stream() for _ in range(chunks)]
        size = n // chunks
        for _ in range(2):
            for chunk, stream in enumerate(streams):
                part = slice(chunk * size, (chunk + 1) * size)
                d[part].copy_from(h[part], stream=stream)
                module.twice[size // 256, 256, stream](d, chunk * size, size)
                d[part].copy_to(h[part], stream=stream)
            device.synchronize()
        assert (h == 4).all()
    assert report.findings == [], str(report)


def test_two_buffers_with_events_in_both_directions(device):
    with cs.check() as report:
        copies, work = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        h = cs.pinned_empty(64)
        h.fill(1)
        buffers = [cs.empty(64), cs.empty(64)]
        full, free = [cs.Event(), cs.Event()], [cs.Event(), cs.Event()]
        device.synchronize()
        for step in range(6):
            i = step % 2
            copies.wait(free[i])
            buffers[i].copy_from(h, stream=copies)
            copies.record(full[i])
            work.wait(full[i])
            buffers[i].fill(2, stream=work)
            work.record(free[i])
        device.synchronize()
    assert report.findings == [], str(report)


def test_operations_read_one_array_in_two_streams(device):
    with cs.check() as report:
        a, b = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        x = cs.to_device(np.ones((16, 16), np.float32))
        device.synchronize()
        cs.sum(x, stream=a)
        cs.sum(x, axis=0, stream=b)
        cs.argmax(x, stream=a)
        cs.matmul(x, x, stream=a)
        cs.matmul(x, x, stream=b)
    assert about_order(report) == [], str(report)


def test_branches_of_a_captured_graph_that_use_two_arrays(device):
    with cs.check() as report:
        a, b = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)
        x, h = cs.empty(64), cs.pinned_empty(64)
        h.fill(1)
        device.synchronize()
        with a.capture() as graph:
            b.wait(a)
            x[:32].copy_from(h[:32], stream=a)
            x[32:].copy_from(h[32:], stream=b)
            a.wait(b)
            x.copy_to(h, stream=a)
        exe = graph.instantiate()
        for _ in range(3):
            exe.launch(a)
        a.synchronize()
        assert h.sum() == 64
    assert report.findings == [], str(report)
