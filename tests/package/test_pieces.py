"""benchmarks/pieces.py: every piece is measured, and the results have their structure."""

from __future__ import annotations

import json

import pytest

import cuscope as cs
from support import load_program

pytestmark = pytest.mark.no_sanitizer("it measures times")


@pytest.fixture
def pieces():
    module = load_program("benchmarks/pieces.py")
    module.on_one_processor = lambda: None  # other tests of this process use all processors
    return module


def test_every_piece_of_cuscope_is_measured(device: cs.Device, pieces, capsys) -> None:
    assert pieces.main(["--device", device.name, "--rounds", "2", "--count", "2", "--json"]) == 0

    result = json.loads(capsys.readouterr().out)
    absent = {"from_torch", "to_torch"} if "torch" in result["missing"] or device.simulated else set()
    absent |= {"from_cupy", "to_cupy"} if "cupy" in result["missing"] or device.simulated else set()
    assert (result["device"], result["simulated"]) == (device.name, device.simulated)
    assert (result["rounds"], result["count"]) == (2, 2)
    assert list(result["microseconds"]) == list(pieces.PIECES)
    assert {name for name, row in result["microseconds"].items() if "cuscope" not in row} == absent
    assert all(time >= 0 for row in result["microseconds"].values() for time in row.values())
    assert all("cuscope" not in row for row in result["ratio"].values())


def test_chosen_pieces_are_shown_as_a_table(device: cs.Device, pieces, capsys) -> None:
    arguments = ["--device", device.name, "--rounds", "1", "--count", "1", "--only", "slice", "record"]
    assert pieces.main(arguments) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{device.name}: microseconds a call")
    assert [line.split()[0] for line in lines[2:4]] == ["slice", "record"]
