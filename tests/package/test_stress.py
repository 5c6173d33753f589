"""A short part of tests/stress: each operation once, and some seconds of threads with fixed seeds."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cuscope as cs
from support import TESTS

FOLDER = TESTS / "stress"
sys.path.insert(0, str(FOLDER))

from operations import EXEMPT, OPERATIONS, RACES, Objects, Worker, covered, surface  # noqa: E402


def test_every_public_operation_is_in_the_table():
    assert surface() - covered() == set(), (
        "tests/stress needs an operation for each, or a reason in EXEMPT (tests/stress/table.py)"
    )


def test_the_table_exempts_only_existing_operations():
    assert set(EXEMPT) - surface() == set()


@pytest.mark.no_initcheck("graphs copy memory that was never written")
def test_the_objects_of_one_thread_take_every_operation(device):
    worker = Worker(1, Objects(), device)
    for name, operation in OPERATIONS.items():
        if operation.simulated_only and not device.simulated:
            continue
        for _ in range(5):
            try:
                operation.run(worker)
            except (cs.CudaError, ValueError) as error:
                known = getattr(error, "name", None) in operation.errors or any(
                    text in str(error) for text in RACES
                )
                assert known, (name, error)
    device.memory_pool = None


@pytest.mark.subprocess
@pytest.mark.own_process
@pytest.mark.parametrize("threads", [2, 6])
def test_threads_do_random_operations_on_shared_objects(device, threads, tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            str(FOLDER),
            "--device",
            device.name,
            "--seconds",
            "6",
            "--seed",
            "1,2",
            "--threads",
            str(threads),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
