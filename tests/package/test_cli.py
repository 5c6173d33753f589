"""python -m cuscope: info, doctor, demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import cuscope as cs
from cuscope import _demo


def command(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cuscope", *arguments],
        check=False, capture_output=True, text=True, timeout=240, env=os.environ | env,
    )  # fmt: skip


def test_demo_passes_and_shows_its_steps(device):
    done = command("demo", "--device", device.name)

    assert done.returncode == 0, done.stderr
    assert "PASSED" in done.stdout
    assert device.name in done.stdout
    for step in ("allocate", "copy in", "launch", "copy out"):
        (line,) = [x for x in done.stdout.splitlines() if x.strip().startswith(step)]
        assert "ms" in line
        assert ("simulated" if device.simulated else "measured") in line


def test_demo_speaks_json(device):
    done = command("demo", "--device", device.name, "--json")
    report = json.loads(done.stdout)

    assert report["passed"] is True
    assert report["device"] == device.name
    assert report["simulated"] is device.simulated
    assert report["elements"] == 1 << 22
    assert [s["name"] for s in report["steps"]] == ["allocate", "copy in", "launch", "copy out"]
    assert all(s["milliseconds"] >= 0 for s in report["steps"])


def test_demo_runs_on_the_current_device_by_default():
    report = json.loads(command("demo", "--json", CUSCOPE_DEVICE="host:0").stdout)

    assert report["device"] == "host:0"


def test_simulated_demo_takes_the_same_time_every_time():
    assert command("demo", "--device", "host:0").stdout == command("demo", "--device", "host:0").stdout


WRONG = _demo.SOURCE.replace("a[i] + b[i]", "i == 12345 ? 7.5f : a[i] + b[i]")


def test_wrong_element_is_found_and_printed(device):
    report = _demo.run(device, elements=1 << 16, source=WRONG)

    assert not report.passed
    assert "FAILED" in str(report)
    assert "12345" in str(report)
    assert "7.5" in str(report)


def test_wrong_element_makes_the_command_fail(monkeypatch, capsys):
    from cuscope import _cli

    real = _demo.run
    monkeypatch.setattr(_demo, "run", lambda d: real(d, elements=1 << 16, source=WRONG))

    assert _cli.main(["demo", "--device", "host:0"]) == 1
    assert "12345" in capsys.readouterr().out
    assert _cli.main(["demo", "--device", "host:0", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["difference"]["index"] == 12345


@pytest.mark.parametrize(
    ("got", "index"),
    [
        ([1.0, 2.0, 3.0], None),
        ([1.0, 2.0, 4.0], 2),
        ([np.nan, 2.0, 3.0], 0),
        ([1.0, np.inf, 3.0], 1),
        ([0.0, 0.0, 0.0], 0),
    ],
)
def test_checker_finds_every_kind_of_difference(got, index):
    difference = _demo.first_difference(np.array(got), np.array([1.0, 2.0, 3.0]))

    assert (difference and difference["index"]) == index


def test_demo_on_a_device_that_is_not_there_fails_without_a_traceback():
    done = command("demo", "--device", "host:99999")

    assert done.returncode != 0
    assert "host:99999" in done.stderr
    assert "Traceback" not in done.stderr


def test_info_is_readable():
    done = command("info")

    assert done.returncode == 0, done.stderr
    assert cs.__version__ in done.stdout
    assert "host:0" in done.stdout


def test_info_speaks_json():
    info = json.loads(command("info", "--json").stdout)

    assert info["version"] == cs.__version__
    assert "host:0" in json.dumps(info)


def test_info_says_why_there_is_no_gpu():
    if any(d.kind == "cuda" for d in cs.devices()):
        pytest.skip("there is a GPU")

    text = repr(cs.info())

    assert "driver" in text or "CUDA" in text


def test_info_is_the_same_from_python_and_from_the_command_line():
    assert repr(cs.info()) in command("info").stdout or cs.__version__ in command("info").stdout


def test_doctor_checks_in_order_and_says_how_it_went():
    done = command("doctor")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()


def test_doctor_speaks_json():
    report = json.loads(command("doctor", "--json").stdout)

    assert report["ok"] is True
    assert len(report["checks"]) >= 3


def test_doctor_fails_with_a_fix_where_there_is_no_compiler(tmp_path):
    """The host runtime compiles kernels with the machine's C++ compiler."""
    done = command(
        "doctor",
        "--json",
        PATH=str(tmp_path),
        CXX="",
        CUSCOPE_DEVICE="host:0",
        CUSCOPE_CACHE_DIR=str(tmp_path / "c"),
    )
    report = json.loads(done.stdout)

    failed = [c for c in report["checks"] if c["status"] == "failed"]
    assert done.returncode == 1
    assert failed
    assert all(c.get("fix") for c in failed)
    assert "compiler" in json.dumps(failed)


@pytest.mark.parametrize("arguments", [[], ["dance"], ["demo", "--no-such-option"], ["demo", "extra"]])
def test_wrong_command_line_says_how(arguments):
    done = command(*arguments)

    assert done.returncode == 2
    assert "usage" in done.stderr


def test_version_is_printed():
    assert cs.__version__ in command("--version").stdout


def test_reader_that_leaves_early_gets_no_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "cuscope", "info"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(timeout=60)
