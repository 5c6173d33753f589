"""tools/differential.py on runtimes that answer alike, and on planted differences, crashes and hangs, which it finds."""

import random
import sys
from pathlib import Path

import pytest

from support import TESTS

TOOLS = TESTS.parent / "tools"
sys.path.insert(0, str(TOOLS))

import differential  # noqa: E402
import differential_record  # noqa: E402
import differential_table  # noqa: E402

pytestmark = pytest.mark.own_process

# A runtime with a planted difference: {before} and {after} run before and after each call of the contract.
WRAPPER = """
import os, threading

class Wrapped:
    def __init__(self, contract):
        self.contract = contract
        self.seen = set()

    def __getattr__(self, name):
        method = getattr(self.contract, name)

        def call(*args):
            {before}
            answer = method(*args)
            {after}
            return answer

        return call

def wrap(contract):
    return Wrapped(contract)
"""


@pytest.fixture
def wrapped(tmp_path: Path):
    def wrap(*, before: str = "pass", after: str = "pass") -> str:
        path = tmp_path / "wrapper.py"
        path.write_text(WRAPPER.format(before=before, after=after))
        return f"{path}@host:0"

    return wrap


def compared(
    second: str, capsys, *, calls: int = 100, known=(), limit: float = 20, most: int = 1, shrink: float = 60
) -> tuple[int, str]:
    options = differential.Options("host:0", second, devices=2, limit=limit, shrink=shrink)
    found = differential.compare(options, 1, calls, 25, most, 300, list(known))
    return found, capsys.readouterr().out


def program_of(out: str) -> list[str]:
    """The calls of the shrunk program, in the order of the list."""
    lines = [line.strip() for line in out.splitlines()]
    return [line for line in lines if line.startswith(("r", "[thread")) and " = " in line]


def test_one_seed_draws_one_program():
    def draw(seed):
        return differential.random_program(random.Random(seed), 1, 50, 2).steps

    assert draw("1/2") == draw("1/2")
    assert draw("1/2") != draw("1/3")


def test_one_runtime_does_not_differ_from_itself(capsys):
    found, out = compared("host:0", capsys, calls=400)
    assert found == 0
    assert "0 differences that are not listed" in out


def test_a_planted_answer_is_found_and_shrunk_to_its_calls(capsys, wrapped):
    # Asking for an event that was recorded: the calls that make the event and a stream, record and ask.
    plant = """
            if name == "event_record_with_flags" and answer == "cudaSuccess": self.seen.add(args[0])
            if name == "event_destroy": self.seen.discard(args[0])
            if name == "event_query" and args[0] in self.seen: answer = "cudaErrorUnknown"
    """
    found, out = compared(wrapped(after=plant.strip()), capsys, calls=2000)
    assert found == 1
    assert "event_query | cudaSuccess | cudaErrorUnknown" in out
    calls = program_of(out)
    assert len(calls) <= 4
    assert "event_query" in calls[-1]
    assert "BUT   cudaErrorUnknown" in calls[-1]
    assert "event_record_with_flags" in calls[-2]


def test_a_listed_difference_is_counted_with_its_reason(capsys, wrapped, tmp_path):
    lines = tmp_path / "known.txt"
    lines.write_text("# why\nstream_get_flags | cudaSuccess * | cudaErrorUnknown | planted\n")
    known = differential.read_known(lines)
    second = wrapped(after='answer = ("cudaErrorUnknown",) if name == "stream_get_flags" else answer')
    found, out = compared(second, capsys, calls=200, known=known)
    assert found == 0
    assert "times, listed: planted" in out


def test_a_crash_is_a_finding(capsys, wrapped):
    found, out = compared(
        wrapped(before='os.abort() if name == "event_synchronize" else None'), capsys, calls=400
    )
    assert found == 1
    assert "event_synchronize | an answer | the process ended with SIGABRT" in out
    assert len(program_of(out)) <= 2


def test_a_call_that_does_not_return_is_a_finding(capsys, wrapped):
    hang = 'threading.Event().wait() if name == "stream_synchronize" else None'
    found, out = compared(wrapped(before=hang), capsys, limit=1, shrink=0)
    assert found == 1
    assert "stream_synchronize | an answer | the call did not return" in out


def test_the_clean_up_leaves_graphs_alone_that_may_have_gone_with_a_invalidated_capture(wrapped):
    note = 'self.seen.add(args[1]) if name == "stream_begin_capture_to_graph" else None'
    end = 'os.abort() if name == "graph_destroy" and args[0] in self.seen else None'
    options = differential.Options("host:0", wrapped(before=f"{note}; {end}"), 1, 20, 20)
    calls = [
        ("stream_create_with_priority", [0, 0]),
        ("graph_create", [0]),
        ("stream_begin_capture_to_graph", [["step", 1, 0], ["step", 2, 0], [], 2]),
        ("stream_query", [["step", 1, 0]]),
        ("clean_up", []),
    ]
    steps = [
        {"id": number, "thread": 0, "call": call, "args": args}
        for number, (call, args) in enumerate(calls, start=1)
    ]

    plain, watched = differential.run(options, steps)

    assert watched.end == ""
    assert watched.by_step == plain.by_step
    assert plain.by_step[4] == ["cudaErrorStreamCaptureUnsupported"]


def test_the_table_contains_the_answers_of_gpus(monkeypatch):
    for name, kept in (
        ("STATES", ["idle", "captured global", "forked"]),
        ("CALLS", ["stream_query", "malloc", "event_record", "stream_end_capture", "wait_event_unrecorded"]),
    ):
        table = getattr(differential_table, name)
        monkeypatch.setattr(differential_table, name, {key: table[key] for key in kept})
    options = differential.Options("host:0", "host:0", 1, 20, 20)
    lines = [" ".join(line.split()) for line in differential_table.table(options)]
    assert len(lines) == 15
    assert "captured global stream_query cudaErrorStreamCaptureUnsupported invalidated" in lines
    assert "captured global malloc cudaErrorStreamCaptureUnsupported invalidated" in lines
    assert "captured global wait_event_unrecorded cudaSuccess active" in lines
    assert "forked stream_end_capture cudaErrorStreamCaptureUnmatched invalidated" in lines
    assert "idle event_record cudaSuccess none" in lines


def test_the_whole_table_has_its_calls_and_states():
    assert len(differential_table.STATES) == 17
    assert len(differential_table.CALLS) >= 80


def test_recorded_answers_show_a_planted_difference_later(wrapped, tmp_path: Path, capsys):
    kept = tmp_path / "answers.json.gz"
    planted = wrapped(
        after='answer = "cudaErrorUnknown" if name == "event_query" and answer == "cudaSuccess" else answer'
    )
    differential_record.record("host:0", kept, 1, 400, 25, 1, 20, 2)

    same = differential.compare_recorded(differential.Options(str(kept), "host:0", 1, 20, 20), 5, [])
    other = differential.compare_recorded(differential.Options(str(kept), planted, 1, 20, 20), 5, [])

    assert (same, other) == (0, 1)
    assert "event_query | cudaSuccess | cudaErrorUnknown" in capsys.readouterr().out


@pytest.mark.parametrize("recorded", ["answers_random", "answers_two_devices"])
def test_host_0_answers_random_calls_as_h200s_did(capsys, recorded: str):
    options = differential.Options(str(TESTS / f"semantics/{recorded}.json.gz"), "host:0", 1, 20, 20)

    found = differential.compare_recorded(options, 5, differential.read_known(differential.KNOWN))

    assert found == 0, capsys.readouterr().out
