"""Threads that use the package at the same moment: tests/stress/together.py, with each scene in short."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support import TESTS


@pytest.mark.subprocess
@pytest.mark.own_process
@pytest.mark.host_only("the bindings are asked, which are the same for both runtimes")
def test_threads_use_tables_plans_closed_objects_traces_and_capsules_at_once(device):
    # A process of its own: tables are filled at their first use.
    program = TESTS / "stress" / "together.py"
    done = subprocess.run(
        [sys.executable, str(program), "--device", device.name, "--seconds", "0.5", "--threads", "6"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": well") == 5
