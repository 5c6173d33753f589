"""python -m cuscope bench: the command, its output, and the protocol."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from cuscope import _cli
from cuscope._check import Mismatch, check_close, poison
from cuscope.bench import _measure, _plot, _progress, _report, reduce
from cuscope.bench._command import SUBJECTS
from cuscope.bench._operation_calls import CASES, LAUNCH
from cuscope.bench._subject import OURS, Case, Contender, Roof, Row, Run, Subject

pytestmark = pytest.mark.no_sanitizer("it measures times")
KINDS = [
    "host to device, pageable",
    "device to host, pageable",
    "host to device, pinned",
    "device to host, pinned",
    "device to device",
]


def bench(capsys, *arguments: str) -> dict:
    assert _cli.main(["bench", *arguments, "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        _cli.main(["bench", *arguments])
    assert caught.value.code == 2
    return capsys.readouterr().err


# The command


def test_bench_copy_reports_rates_of_every_direction(device, capsys):
    report = bench(capsys, "copy", "--device", device.name, "--sizes", "4K,60007", "--seconds", "0.5")

    assert [report[name] for name in ("subject", "device", "unit", "size")] == [
        "copy",
        device.name,
        "GB/s",
        "bytes",
    ]
    assert report["simulated"] is device.simulated
    assert report["time"] == ("simulated" if device.simulated else "measured")
    assert [(row["case"], row["size"]) for row in report["rows"]] == [
        (k, n) for k in KINDS for n in (4096, 60007)
    ]
    for row in report["rows"]:
        moved = row["size"] * (2 if row["case"] == "device to device" else 1)
        assert row["microseconds"][OURS] > 0
        assert row["rate"][OURS] == pytest.approx(moved / row["microseconds"][OURS] / 1e3)
        assert row["ratio"].keys() == row["microseconds"].keys() - {OURS}
        assert not (device.simulated and row["ratio"])


def test_bench_operations_reports_times_of_every_call(device, capsys):
    report = bench(capsys, "operations", "--device", device.name, "--sizes", "1K,4K", "--seconds", "0.1")

    rows = {(row["case"], row["size"]): row for row in report["rows"]}
    assert {case for case, size in rows if size == 1024} == set(CASES)
    assert {case for case, size in rows if size == 4096} == {
        LAUNCH, "sum", "sum, out", "sum, out, until done"
    }  # fmt: skip
    for row in rows.values():
        assert row["microseconds"][OURS] > 0
        assert row["ratio"].keys() == row["microseconds"].keys() - {OURS}
        assert not (device.simulated and row["ratio"])
    if device.simulated:  # its times do not vary: the device takes longer than the calls
        of_host, until_done = (rows[case, 4096] for case in ("sum, out", "sum, out, until done"))
        assert until_done["microseconds"][OURS] > of_host["microseconds"][OURS]


def test_benchmark_of_operations_has_the_same_cases_in_real_time(device):
    script = Path(__file__).parents[2] / "benchmarks" / "operations.py"
    arguments = ["--device", device.name, "--sizes", "64", "--seconds", "0.01", "--count", "1", "--json"]

    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=True)

    report = json.loads(done.stdout)
    names = [row["case"] for row in report["rows"]]
    assert names == [*CASES, "sum of a NumPy array"][: len(names)]
    assert report["device"] == device.name
    for row in report["rows"]:
        assert row["elements"] == 64
        assert row["rounds"] >= 1
        assert row["microseconds"][OURS] > 0


def test_bench_launch_reports_times_of_every_call(device, capsys):
    report = bench(capsys, "launch", "--device", device.name, "--sizes", "8", "--seconds", "0.1")

    assert [row["case"] for row in report["rows"]] == [
        "launch",
        "event record",
        "stream wait",
        "stream query",
    ]
    for row in report["rows"]:
        assert row["microseconds"][OURS] > 0
        assert row["size"] == 8
        assert row["ratio"].keys() == row["microseconds"].keys() - {OURS}
        assert not (device.simulated and row["ratio"])


def test_bench_graph_reports_times_of_every_case(device, capsys):
    report = bench(capsys, "graph", "--device", device.name, "--sizes", "4,20", "--seconds", "0.1")

    names = [
        "replay, until done",
        "kernel by kernel, until done",
        "launch of the graph",
        "capture, per kernel",
    ]
    assert [(row["case"], row["size"]) for row in report["rows"]] == [(n, s) for s in (4, 20) for n in names]
    times = {(row["case"], row["size"]): row["microseconds"][OURS] for row in report["rows"]}
    assert min(times.values()) > 0
    if device.simulated:
        assert times[names[0], 20] < times[names[1], 20]


def test_bench_matmul_reports_rates_of_auto_and_rungs(device, capsys):
    report = bench(capsys, "matmul", "--device", device.name, "--sizes", "64,100", "--seconds", "0.5")

    assert [report[name] for name in ("unit", "size", "simulated")] == ["TFLOP/s", "n", device.simulated]
    assert {row["case"] for row in report["rows"]} >= {"float32, auto", "float32, warp_tiles"}
    for row in report["rows"]:
        assert row["rate"][OURS] == pytest.approx(2 * row["size"] ** 3 / row["microseconds"][OURS] / 1e6)
        assert row["intensity"] == pytest.approx(row["size"] / 6)


def test_bench_reduce_reports_rates_of_every_operation(device, capsys):
    report = bench(capsys, "reduce", "--device", device.name, "--sizes", "1K,5000", "--seconds", "0.5")

    assert [report[name] for name in ("unit", "size")] == ["GB/s", "elements"]
    assert [(row["case"], row["size"]) for row in report["rows"]] == [
        (case, n)
        for case, sizes in (
            ("sum", (1024, 5000)),
            ("argmax", (1024, 5000)),
            ("dot", (1024, 5000)),
            ("sum of rows", (1024, 71 * 71)),
            ("sum of columns", (1024, 71 * 71)),
        )
        for n in sizes
    ]
    for row in report["rows"]:
        read = 4 * row["size"] * (2 if row["case"] == "dot" else 1)
        assert row["rate"][OURS] == pytest.approx(read / row["microseconds"][OURS] / 1e3)


def test_clocks_before_and_after_are_reported(device, capsys):
    clocks = bench(capsys, "copy", "--device", device.name, "--sizes", "4K", "--seconds", "0.1")["clocks"]

    assert clocks.keys() == {"before", "after"}
    if device.simulated:
        assert clocks == {"before": {}, "after": {}}
    elif shutil.which("nvidia-smi"):
        assert clocks["before"]["sm_mhz"] > 0


def test_rungs_that_a_simulated_device_takes_minutes_for_are_left_out(capsys):
    report = bench(capsys, "matmul", "--device", "host:0", "--sizes", "16,513")

    assert [row["case"] for row in report["rows"] if row["size"] == 513] == ["float32, auto"]
    assert len(report["rows"]) > 2
    assert "thread" in report["missing"]["rungs beyond n = 512"]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_simulated_times_are_the_same_on_every_run(capsys, subject):
    once, twice = (bench(capsys, subject, "--device", "host:0", "--sizes", "16,64") for _ in range(2))

    assert once == twice


@pytest.mark.parametrize("name", reduce._KINDS)
@pytest.mark.parametrize("wrong", ["last", "unwritten"])
def test_wrong_reduction_is_not_measured(device, name, wrong):
    (case,) = [case for case in reduce._cases(run_on(device, sizes=(961,))) if case.name == name]

    def spoilt(*operands):
        case.contenders[OURS].call(*operands)
        end = operands[-1].reshape(-1)[-1:]
        poison(end) if wrong == "unwritten" else end.fill(np.float32(1e3) if end.dtype == "f4" else 5000)

    with pytest.raises(Mismatch):
        _measure.measure(run_on(device), replace(case, contenders={OURS: Contender(spoilt)}), 0.05)


def test_large_sums_are_checked_part_by_part(device, monkeypatch):
    monkeypatch.setattr(reduce, "_WIDENED", 100)
    run = run_on(device, sizes=(961,))  # CuPy works in its stream
    for case in reduce._cases(run):
        assert _measure.measure(run, case, 0.05).microseconds[OURS] > 0


def test_more_bytes_take_longer_and_pinned_memory_is_faster(capsys):
    rows = bench(capsys, "copy", "--device", "host:0", "--sizes", "64K,1M")["rows"]
    times = {(row["case"], row["size"]): row["microseconds"][OURS] for row in rows}

    for kind in KINDS:
        assert times[kind, 1 << 16] < times[kind, 1 << 20]
    assert times["host to device, pinned", 1 << 20] < times["host to device, pageable", 1 << 20]


def test_table_says_whose_times_they_are(capsys):
    assert _cli.main(["bench", "copy", "--device", "host:0", "--sizes", "8,4K"]) == 0
    table = capsys.readouterr().out

    assert "simulated times" in table
    assert "host to device, pageable" in table
    assert "4 KiB" in table
    assert "x " not in table.splitlines()[2]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_files_are_written(capsys, tmp_path, subject):
    pytest.importorskip("matplotlib")
    files = "--json", f"{tmp_path}/x.json", "--plot", f"{tmp_path}/x.png"

    assert _cli.main(["bench", subject, "--device", "host:0", "--sizes", "16,64", *files]) == 0

    assert "simulated times" in capsys.readouterr().out
    report = json.loads((tmp_path / "x.json").read_text())
    assert {row["size"] for row in report["rows"]} == {16, 64}
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "SUBJECT"),
        (("dance",), "dance"),
        (("copy", "--sizes", "many"), "'many' is no size"),
        (("copy", "--sizes", "0"), "'0' is no size"),
        (("copy", "--sizes", "4K,,8K"), "'' is no size"),
        (("copy", "--sizes=-4"), "'-4' is no size"),
        (("copy", "--seconds", "0"), "'0' is no time"),
        (("copy", "--seconds", "nan"), "'nan' is no time"),
        (("copy", "--seconds", "soon"), "'soon' is no time"),
        (("copy", "--device", "host:99999"), "host:99999"),
        (("launch", "--json", "/there/is/no/folder.json"), "no folder"),
        (("launch", "--plot", "/"), "is a folder"),
    ],
)
def test_wrong_arguments_are_named(capsys, arguments, said):
    error = refused(capsys, *arguments)

    assert "usage" in error
    assert said in error


def test_plot_without_matplotlib_names_the_fix(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)

    assert _cli.main(["bench", "copy", "--device", "host:0", "--plot", f"{tmp_path}/x.png"]) == 1
    assert "pip install matplotlib" in capsys.readouterr().err


def test_plot_of_an_unknown_kind_says_which_there_are(capsys, tmp_path):
    pytest.importorskip("matplotlib")

    assert _cli.main(["bench", "copy", "--device", "host:0", "--plot", f"{tmp_path}/x.tea"]) == 1
    assert "png" in capsys.readouterr().err


def test_too_large_a_size_fails_without_a_traceback(capsys):
    assert _cli.main(["bench", "copy", "--device", "host:0", "--sizes", "60000G"]) == 1
    assert "choose smaller --sizes" in capsys.readouterr().err


# The protocol


def run_on(device: cs.Device, seconds: float = 0.05, sizes: tuple[int, ...] = (1,)) -> Run:
    return Run(device, sizes, seconds, cs.Stream(), lambda *_: None)


def fill_case(*fills, size: int = 1000, **others) -> Case:
    """Contenders that each fill the result with the second operand in their own way; the result has to become 1."""
    return Case(
        name="fill",
        size=size,
        amount=4 * size,
        contenders={name: Contender(fill) for name, fill in zip((OURS, "peer"), fills, strict=False)},
        operands=lambda sets: [(1.0, cs.empty(size, np.float32)) for _ in range(sets)],
        footprint=1 << 24,
        check=lambda operands: check_close(operands[-1], np.ones(size, np.float32)),
        **others,
    )


def fill(value, result):
    result.fill(value)


def test_contenders_are_measured_in_turn(device):
    row = _measure.measure(run_on(device), fill_case(fill, fill), 0.05)

    assert row.rounds >= 3
    assert row.microseconds.keys() == row.rate.keys() == {OURS, "peer"}
    assert row.ratio.keys() == {"peer"}
    assert row.rate[OURS] == pytest.approx(4000 / (row.microseconds[OURS] / 1e6))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda value, result: None, "1000 of 1000 elements are wrong, 1000 of them were never written"),
        (
            lambda value, result: result[:-1].fill(value),
            r"1 of 1000 elements is wrong, .* the first is \(999,\)",
        ),
        (lambda value, result: result.fill(float("nan")), "nan, not 1.0"),
        (lambda value, result: result.fill(2 * value), "2.0, not 1.0"),
    ],
    ids=["nothing", "all but the last", "not a number", "another value"],
)
@pytest.mark.parametrize("who", [OURS, "peer"])
def test_wrong_result_of_any_contender_is_not_measured(device, who, wrong, said):
    case = fill_case(wrong, fill) if who == OURS else fill_case(fill, wrong)

    with pytest.raises(Mismatch, match=said):
        _measure.measure(run_on(device), case, 0.05)


def test_every_call_of_a_rotation_takes_the_next_set():
    seen = []
    rotation = _measure._Rotation([partial(seen.append, i) for i in range(3)])
    for count in (2, 2, 5):
        for call in rotation.take(count):
            call()

    assert seen == [0, 1, 2, 0, 1, 2, 0, 1, 2]


def test_sets_of_operands_exceed_the_cache(device):
    cache = device.properties.l2_cache_size
    for footprint in (1 << 12, 1 << 20, 1 << 30):
        sets = _measure._sets(device, Case("", 1, 1, {}, lambda sets: [], footprint))
        assert sets == 1 if device.simulated else sets * footprint >= min(2 * cache, footprint << 15)


def test_samples_take_turns_until_the_time_is_over():
    order = []

    class Calls:
        def __init__(self, name, seconds):
            self.name, self.seconds = name, seconds

        def take(self, count):
            order.append(self.name)
            return [self] * count

    calls = {"a": Calls("a", 1e-3), "b": Calls("b", 2e-3)}
    times = _measure._measured(lambda taken: taken[0].seconds, calls, 0.001)

    assert len(times["a"]) == len(times["b"]) >= _measure.LEAST_ROUNDS
    counted = order[-2 * len(times["a"]) :]
    assert all({*counted[i : i + 2]} == {"a", "b"} for i in range(0, len(counted), 2))
    assert counted[:4] == ["a", "b", "b", "a"]


@pytest.mark.gpu_only("a simulated stream is never held")
def test_call_that_waits_for_a_held_stream_is_measured_all_the_same(device):
    run = run_on(device)

    def wait(value, result):
        result.fill(value)
        run.stream.synchronize()

    assert _measure.measure(run, fill_case(wait), 0.05).microseconds[OURS] > 0


# The report


def report_of(kind: str, rows: list[Row], roof: Roof | None = None) -> _report.Report:
    unit = "" if kind == "times" else "TFLOP/s"
    subject = Subject("example", "", (1,), "n", lambda run: rows, unit, plot=kind)
    return _report.Report(
        subject, cs.Device("host:0"), rows, {"other": "not here"}, {"before": {"sm_mhz": 1980}}, roof
    )


def example_rows() -> list[Row]:
    return [
        Row("one", n, {OURS: 2.0, "peer": 3.0}, {OURS: 5e12, "peer": 4e12}, {"peer": 1.5}, intensity=n / 6)
        for n in (64, 128, 4096)
    ]


def test_table_has_rates_ratios_reasons_and_clocks():
    text = str(report_of("rates", example_rows()))

    for part in (
        "cuscope us",
        "peer TFLOP/s",
        "x peer",
        "1.50",
        "5.000",
        "other: not measured: not here",
        "1980",
    ):
        assert part in text


def test_small_rates_are_no_zeros():
    rows = [Row("one", 1, {OURS: 6.0}, {OURS: 3.3e5})]

    assert str(report_of("rates", rows)).splitlines()[3].split() == ["one", "1", "6.000", "3.3e-07"]


def test_table_has_room_for_cases_that_a_peer_does_not_have():
    rows = [Row("one", 1, {OURS: 2.0, "peer": 3.0}, ratio={"peer": 1.5}), Row("two", 1, {OURS: 2.0})]

    assert str(report_of("times", rows)).splitlines()[4].split() == ["two", "1", "2.000"]


@pytest.mark.parametrize("kind", ["rates", "times", "roofline"])
def test_plots_are_drawn(tmp_path, kind):
    pytest.importorskip("matplotlib")
    roof = Roof(67e12, 4.8e12) if kind == "roofline" else None

    _plot.save(report_of(kind, example_rows(), roof), tmp_path / "x.svg")

    assert "example" in (tmp_path / "x.svg").read_text()


def test_roof_is_in_the_unit_of_the_rates():
    lines = {}

    class Axes:
        def plot(self, places, rates, *, label, **style):
            lines[label] = list(zip(places, rates, strict=True))

        def __getattr__(self, name):
            return lambda *arguments, **keywords: None

    _plot._roofline(report_of("roofline", example_rows(), Roof(64e12, 4e12)), Axes())

    assert lines["one: cuscope"] == [(n / 6, 5.0) for n in (64, 128, 4096)]
    roof = dict(lines["the most that the device can do"])
    assert roof[16] == 64
    assert roof[4] == 16
    assert max(roof.values()) == 64


def test_sizes_are_printed_with_binary_units():
    copies = SUBJECTS["copy"]

    assert [_report.size_text(n, copies) for n in (7, 4096, 5000, 1 << 20, 3 << 30)] == [
        "7 B", "4 KiB", "5000 B", "1 MiB", "3 GiB",
    ]  # fmt: skip


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("rich", [True, False])
def test_progress_is_shown_on_a_terminal(monkeypatch, rich):
    if rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())

    with _progress.progress("copy") as told:
        told("host to device", 0, 2)

    assert "copy: host to device" in terminal.getvalue() or "1 of 2: host to device" in terminal.getvalue()


def test_json_is_alone_on_standard_output_while_progress_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())

    report = bench(capsys, "launch", "--device", "host:0", "--sizes", "8")

    assert report["subject"] == "launch"
    assert "launch" in terminal.getvalue()


def test_progress_is_silent_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())

    with _progress.progress("copy") as told:
        told("host to device", 0, 2)

    assert stream.getvalue() == ""
