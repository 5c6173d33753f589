"""Every case that was put to a real GPU, put to the device under test: the same answer, label by label."""

from __future__ import annotations

import re

import pytest

from cuscope import _core
from semantics.asking import CASES, answers, ask, load_cases
from support import TESTS

load_cases()
ANSWERS = answers()

# The cases of this file that are skipped, and the reasons.
NOT_ASKED: dict[str, str] = {}

# The contract on cuda:0 first calls the driver, and the library only if that fails. The answers that differ from the
# library's for this reason, by case and label.
OTHERWISE_ON_CUDA = {
    # The first try has invalidated the capture, so the second one gets this error.
    ("cap_launch_bad_configuration", "launch"): "cudaErrorStreamCaptureInvalidated",
    # The driver's answer does not set the library's last error.
    ("cap_launch_in_invalidated", "last"): "cudaSuccess",
}
# Cases that are put only to simulated devices, and the reasons.
NOT_ON_CUDA = {
    "cap_stream_of_a_graph_destroyed": "the graph goes too, and what the driver reads there was given back",
    "graph_of_a_spoilt_capture": "the graph is gone, and its handle may be another graph's by then",
    "reset_then_query": "the driver is asked first, and ends in a SIGSEGV; the public classes refuse such objects",
}

# Cases about two devices. A simulated second one is made by the case.
TWO_DEVICES = {case for case in CASES if case.startswith("two_devices_")}

# Cases that lose the device, read a fresh process' state, or need an environment of their own.
OWN_PROCESS = {
    "alignment",
    # These cases leave many objects and settings behind.
    "cap_beside_in_relaxed",
    "cap_beside_other",
    "cap_beside_other_relaxed",
    "cap_beside_own",
    "cap_beside_own_relaxed",
    "device_edges",
    "device_flags_and_graphs",
    "graph_dot",  # counts the graphs of the process
    "launch_blocking_env",
    "launch_config",
    "flags_of_shared_chunks",  # these three depend on the earlier allocations of the process
    "flags_of_host_memory",
    "host_flags",
    "mem_info",
    "memory_operation_launches",  # freed memory may be written while its chunk has other allocations
    "reset_then_query",
    "sticky_assert",
    "sticky_illegal_address",
    "sticky_misaligned",
    *TWO_DEVICES,
}
NOT_SANITIZED = {
    "async_pageable_d2h": "it asks how long something takes",
    "async_pageable_h2d": "it asks how long something takes",
    "stream_destroy_pending": "it asks how long something takes",
    "event_elapsed_pending": "it asks how long something takes",
    "graph_if_else_switch": "memcheck calls the memory that is there out of bounds, in the body of a conditional node",
    "graph_bodies": "memcheck calls the memory that is there out of bounds, in the body of a conditional node",
    "graph_device_nodes": "under memcheck it did not end",
    "sync_pageable_h2d_waits": "it asks how long something takes",
    "stream_default_orders_blocking": "it runs one kernel at a time",
    "stream_ptds_vs_blocking": "it runs one kernel at a time",
}
ENVIRONMENT = {"launch_blocking_env": {"CUDA_LAUNCH_BLOCKING": "1"}}

# Answers that are times: the measured times hold for one machine. A simulation of that machine comes within a twentieth
# of them; a real device only has to take some time at all. The consequence of a time for a program (returned early or
# not) is a label of its own and compared as it is.
TIMES = {"pinned_total_ms", "ret_ms", "total_ms"}
TIME_TOLERANCE = 0.05

# Answers that depend on the machine's GPU.
OF_THE_DEVICE = {"device_props": "an NVIDIA H200's numbers", "func_attributes": "an NVIDIA H200's numbers"}

# A simulation says that it is one.
NAMES = {"name=NVIDIA H200": "name=h200 model"}

ASK = """
import os, sys
sys.path.insert(0, {tests!r})
from semantics.asking import ask, load_cases
load_cases()
print("\\n".join(ask({device!r}, {case!r})), flush=True)
os._exit(0)
"""


def comparable(line: str) -> str:
    """An assertion's message without the file and line, because they are not part of the case."""
    return re.sub(r"^\S+:\d+: (?=.*Assertion )", "<file>:<line>: ", line)


def otherwise_on_cuda(case: str, line: str) -> str:
    label = line.partition("=")[0]
    answer = OTHERWISE_ON_CUDA.get((case, label))
    return line if answer is None else f"{label}={answer}"


def is_time(line: str) -> bool:
    return line.partition("=")[0] in TIMES


def asked(device, case: str, request: pytest.FixtureRequest) -> list[str]:
    if case not in OWN_PROCESS:
        return ask(device.name, case)
    run_python = request.getfixturevalue("run_python")
    source = ASK.format(tests=str(TESTS), device=device.name, case=case)
    process = run_python(source, env=ENVIRONMENT.get(case, {}))
    assert process.returncode == 0, process.stderr
    # The runtime writes a device's message to its own stream, at its own time.
    messages = [line for line in process.stderr.splitlines() if "Assertion" in line]
    lines = process.stdout.splitlines()
    messages += [line for line in lines if "Assertion" in line]
    return messages + [line for line in lines if "Assertion" not in line]


def marks(case: str) -> list[pytest.MarkDecorator]:
    found = []
    if case in NOT_SANITIZED:
        found.append(pytest.mark.no_sanitizer(NOT_SANITIZED[case]))
    if case.startswith("memory_operation"):
        found.append(pytest.mark.no_sanitizer("under it no stream goes on while another waits"))
    if case in OWN_PROCESS:
        found.append(pytest.mark.own_process)
    if case == "mem_info":
        found.append(pytest.mark.counts_memory)
    return found


@pytest.mark.parametrize("case", [pytest.param(case, marks=marks(case)) for case in sorted(CASES)])
def test_answers_as_the_gpu_did(device, case, request):
    if case in OF_THE_DEVICE and not device.simulated and "H200" not in device.model:
        pytest.skip(f"the answers are {OF_THE_DEVICE[case]}")
    if case in NOT_ON_CUDA and not device.simulated:
        pytest.skip(NOT_ON_CUDA[case])
    if case in TWO_DEVICES and not device.simulated and _core.contract(device.name).get_device_count()[1] < 2:
        pytest.skip("there is one GPU")

    got = asked(device, case, request)

    answered = [NAMES.get(x, x) if device.simulated else otherwise_on_cuda(case, x) for x in ANSWERS[case]]
    assert [comparable(x) for x in got if not is_time(x)] == [
        comparable(x) for x in answered if not is_time(x)
    ]
    expected = dict(x.split("=") for x in ANSWERS[case] if is_time(x))
    times = {label: float(value) for label, _, value in (x.partition("=") for x in got if is_time(x))}
    assert times.keys() == expected.keys()
    for label, value in times.items():
        assert value > 0
        if device.simulated:
            assert value == pytest.approx(float(expected[label]), rel=TIME_TOLERANCE), label


def test_every_case_is_tested_or_has_a_reason():
    assert CASES.keys() | NOT_ASKED.keys() == ANSWERS.keys()
    assert not CASES.keys() & NOT_ASKED.keys()
    assert len(NOT_ASKED) <= 3
