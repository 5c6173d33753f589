"""``%gpu_timeit`` tells the time of the host and of the device apart."""

from __future__ import annotations

import numpy as np
import pytest

from support import MS, module

OWN_NAMES = {"In", "Out", "exit", "quit", "get_ipython"}


@pytest.fixture
def spinning(notebook, device):
    """A notebook with a kernel that takes 2 ms, and an array."""
    notebook.names["spin"] = module(device).spin
    notebook.run("x = cs.zeros(1000)")
    return notebook


def test_work_of_the_device_takes_no_time_of_the_host(spinning, device):
    times = spinning.run("%gpu_timeit -o -q -r 3 spin[1, 1](2_000_000)")

    assert times.device_times.min() >= 2 * MS
    assert times.device is device
    if device.simulated:
        assert times.host.max() < 0.1 * MS
        assert times.device_times.max() < 2.1 * MS


def test_work_of_the_host_takes_no_time_of_an_idle_device_but_counts_in_both(spinning, device):
    times = spinning.run("%gpu_timeit -o -q -r 3 cs.host_work(3e-3)")

    assert times.host.min() >= 3 * MS
    # Between the events the device waits for the host. A GPU may record the first event late.
    assert times.device_times.min() >= (3 if device.simulated else 2) * MS


def test_it_prints_and_says_whether_the_times_are_simulated(spinning, device):
    shown, error = spinning.shown("%gpu_timeit -r 3 x.fill(1)")

    assert error is None
    assert f"{device.name}, median of 3 runs" in shown.stdout
    assert {"host", "device"} <= set(shown.stdout.split())
    assert ("simulated" in shown.stdout) is device.simulated


def test_the_cell_form_runs_its_line_before_each_run(spinning):
    spinning.run("log = []")

    times = spinning.run("%%gpu_timeit -o -q -r 3 -w 1 -n 2 log.append('set up')\nlog.append('run')")

    assert spinning.names["log"] == ["set up", "run", "run"] * 4
    assert (len(times.host), len(times.device_times), times.repetitions) == (3, 3, 2)


def test_set_up_code_is_not_timed(spinning, device):
    times = spinning.run("%%gpu_timeit -o -q -r 3 spin[1, 1](5_000_000); cs.host_work(5e-3)\nx.shape")

    if device.simulated:
        assert times.host.max() < 1 * MS
    assert times.host.min() < 5 * MS


def test_without_a_number_the_runs_are_several(spinning):
    times = spinning.run("%gpu_timeit -o -q x.fill(1)")

    assert len(times.host) >= 3
    assert isinstance(times.host, np.ndarray)


def test_a_stream_is_chosen_by_its_name(spinning, device):
    spinning.run("s, t = cs.Stream(non_blocking=True), cs.Stream(non_blocking=True)")

    on_s = spinning.run("%gpu_timeit -o -q -r 3 -s s spin[1, 1, s](2_000_000)")
    beside = [
        spinning.run(f"%gpu_timeit -o -q -r 3 spin[1, 1, {name}](2_000_000)").device_times.max()
        for name in "st"
    ]

    assert on_s.device_times.min() >= 2 * MS
    if device.simulated:
        # One of the two may share the default stream's hardware queue, and then the events wait for the kernel.
        assert min(beside) < 1 * MS


def test_names_that_the_statement_makes_do_not_stay(spinning):
    before = set(spinning.names)

    spinning.run("%gpu_timeit -q -r 1 made = x.fill(1)")

    assert {name for name in set(spinning.names) - before if not name.startswith("_")} <= OWN_NAMES


def test_the_statement_keeps_its_braces_dollars_and_minus(spinning):
    assert spinning.run("%gpu_timeit -o -q -r 1 -{'a': 1}['a']").repetitions == 1
    assert spinning.run("%gpu_timeit -o -q -r 1 f'${1}'").repetitions == 1


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("", "there is no statement"),
        ("-r 0 x.fill(1)", "-n and -r are 1 or more"),
        ("-n many x.fill(1)", "invalid int value: 'many'"),
        ("-s x x.fill(1)", "-s x: takes the name of a Stream"),
        ("-s nonsense x.fill(1)", "-s nonsense: takes the name of a Stream"),
    ],
)
def test_a_wrong_line_is_refused(spinning, line, text):
    _, error = spinning.shown(f"%gpu_timeit {line}")

    assert type(error).__name__ == "UsageError"
    assert text in str(error)


def test_an_error_of_the_statement_is_shown_alone(spinning):
    shown, error = spinning.shown("%gpu_timeit 1 / 0")

    assert isinstance(error, ZeroDivisionError)
    assert "_notebook" not in shown.stdout


def test_the_times_are_the_same_in_every_run_of_a_simulation(spinning, device):
    if not device.simulated:
        pytest.skip("the times of a GPU vary")

    times = spinning.run("%gpu_timeit -o -q -r 5 spin[1, 1](1000)")

    assert len(set(times.host.tolist())) == len(set(times.device_times.tolist())) == 1
