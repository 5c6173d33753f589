"""tools/sanitizer_runs.py finds the kernel, the lines and the end of each launch in outputs of compute-sanitizer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import sanitizer_runs
from planted import Sources
from planted_kernels import CASES

TABLE = {case.kernel: case for case in CASES}
BATCH = ["neighbour", "reduction", "last_steps"]
SOURCES = Sources([TABLE[name] for name in BATCH])


def output(*said: str, messages: str = "") -> sanitizer_runs.Output:
    text = "planted: form wrong\nplanted: batch " + " ".join(BATCH) + "\n"
    text += "".join(f"planted: {words}\n" for words in said)
    return sanitizer_runs.read(text + "========= COMPUTE-SANITIZER\n" + messages, TABLE)


def number(name: str, comment: str) -> int:
    return int(SOURCES.line(TABLE[name], comment).removeprefix("planted.cu:"))


def test_message_belongs_to_the_kernel_of_its_lines():
    write, read = number("neighbour", "here"), number("neighbour", "other")
    message = (
        f"========= Error: Race reported between Write access at neighbour(int *)+0x1b0 in planted.cu:{write}\n"
        f"=========     and Read access at neighbour(int *)+0x170 in planted.cu:{read} [252 hazards]\n"
        "========= \n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
    )

    seen = output("begin neighbour", "end neighbour", "begin reduction", "end reduction", messages=message)

    here, other = (TABLE["neighbour"].line(comment) for comment in ("here", "other"))
    assert seen.seen["neighbour"].lines == {f"neighbour:{here}", f"neighbour:{other}"}
    assert len(seen.seen["neighbour"].findings) == 1
    assert seen.seen["reduction"].findings == []
    assert seen.complete
    assert seen.other == []


def test_message_of_a_shared_function_belongs_to_the_kernel_that_it_names():
    message = (
        "========= Barrier error detected. Divergent thread(s) in warp.\n"
        "=========     at sum_of_warp(float)+0x70 in planted.cu:3\n"
        "=========     Device Frame: reduction(const float *, float *)+0x20\n"
    )

    seen = output("begin reduction", "end reduction", messages=message)

    assert len(seen.seen["reduction"].findings) == 1


def test_message_without_a_kernel_is_kept_apart():
    seen = output(
        "begin reduction",
        "end reduction",
        messages="========= Internal Sanitizer Error: out of memory\n",
    )

    assert seen.other == ["Internal Sanitizer Error: out of memory"]
    assert not seen.complete


@pytest.mark.parametrize("end", ["", "endless reduction"])
def test_launch_without_an_end_is_known(end):
    seen = output("begin neighbour", "end neighbour", "begin reduction", *([end] if end else [])).seen

    assert {name: of_kernel.state for name, of_kernel in seen.items()} == {
        "neighbour": "ended",
        "reduction": "no end",
    }
