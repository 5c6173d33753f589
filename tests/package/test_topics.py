"""The benchmark of the kernels of CUDA's documents, and the tables made from its results."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support import TESTS, load_program

pytestmark = pytest.mark.no_sanitizer("it measures times")
TOPICS = ("vec_add", "transpose", "memory_walks", "averaging")


def run(module, monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", [module.__name__, *arguments])
    return module.main()


@pytest.fixture
def measured(device, monkeypatch, tmp_path) -> Path:
    """The results of the benchmark, which checks every rung before it measures it."""
    path = tmp_path / "topics.json"
    topics = load_program("benchmarks/topics.py")
    if device.simulated:
        monkeypatch.setattr(topics, "CHUNK", 1 << 14)  # the averages of all elements take seconds
    options = ("--device", device.name, "--quick", "--seconds", "0.05", "--json", str(path))
    assert run(topics, monkeypatch, *options) == 0
    return path


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """The tool, with copies of the READMEs."""
    tool = load_program("tools/kernel_results.py")
    for topic in TOPICS:
        (tmp_path / topic).mkdir()
        (tmp_path / topic / "README.md").write_text((tool.KERNELS / topic / "README.md").read_text())
    monkeypatch.setattr(tool, "KERNELS", tmp_path)
    return tool


def test_every_rung_is_measured_and_gets_a_row(device, measured, tables, monkeypatch, capsys):
    rungs = {
        topic: [path.stem for path in sorted((TESTS.parent / "cuda_kernels" / topic).glob("*.cu"))]
        for topic in TOPICS
    }
    report = json.loads(measured.read_text())
    assert report["simulated"] is device.simulated
    measured.write_text(json.dumps(report | {"simulated": False}))

    for topic in TOPICS:
        assert run(tables, monkeypatch, topic, str(measured)) == 0
        text = (tables.KERNELS / topic / "README.md").read_text()
        table = text.partition(tables.BEGIN)[2].partition(tables.END)[0]
        if topic == "averaging":
            assert "| one stream, pageable memory |" in table
            assert table.count("page-locked") == 2
        else:
            assert all(f"| {rung} |" in table for rung in [*rungs[topic], "copy"])
            assert all(row[2] > 0 for row in report["topics"][topic])


def test_simulated_times_are_refused(tables, monkeypatch, tmp_path):
    path = tmp_path / "topics.json"
    path.write_text(json.dumps({"simulated": True, "topics": {"transpose": [[512, "copy", 1.0, 1.0, 1.0]]}}))

    with pytest.raises(SystemExit, match="simulated"):
        run(tables, monkeypatch, "transpose", str(path))
