"""The table of calls and states that was put to a real GPU, put to the device under test: the same answers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support import TESTS

sys.path.insert(0, str(TESTS.parent / "tools"))

from differential import Options
from differential_table import CALLS, STATES, rows

pytestmark = pytest.mark.own_process

# The contract on cuda:0 first calls the driver, whose refusal invalidates the capture, and then the library, which reports
# that. The library alone, and a simulated device, report the first reason.
REFUSED_LAUNCHES = {"launch_kernel_bad_block", "launch_kernel_bad_shared"}
OF_THE_SECOND_CALL = "cudaErrorStreamCaptureInvalidated invalidated"
OF_THE_LIBRARY = "cudaErrorInvalidValue invalidated"


def answers() -> dict[str, dict[str, str]]:
    states: dict[str, dict[str, str]] = {}
    for line in Path(__file__).with_name("answers_states.txt").read_text().splitlines():
        if line.startswith("## "):
            states[line[3:]] = current = {}
        elif line and not line.startswith("#"):
            call, _, answer = line.partition("=")
            current[call] = answer
    return states


ANSWERS = answers()


@pytest.mark.parametrize("state", list(STATES))
def test_a_state_answers_as_the_gpu_did(device, state):
    expected = dict(ANSWERS[state])
    if device.simulated and not state.startswith("spoilt"):
        for call in REFUSED_LAUNCHES:
            if expected[call] == OF_THE_SECOND_CALL:
                expected[call] = OF_THE_LIBRARY

    got = dict(rows(Options(device.name, "", 1, 60, 0), state))

    assert got == expected


def test_every_call_was_asked_in_every_state():
    assert ANSWERS.keys() == STATES.keys()
    assert all(asked.keys() == CALLS.keys() for asked in ANSWERS.values())
