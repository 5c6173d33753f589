"""cs.calibrate: the model that it measures of a simulated device is the model of that device."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from cuscope._cli import main

pytestmark = pytest.mark.host_only("a simulated device has a model to compare with")

INVENTED = {
    "name": "invented",
    "multiprocessors": 20,
    "copy_engines": 2,
    "hardware_queues": 5,
    "resident_grids": 40,
    "signal_delay": True,
    "host_to_device_rate": 12.5,
    "device_to_host_rate": 11.0,
    "pageable_host_to_device_rate": 4.4,
    "pageable_device_to_host_rate": 3.3,
    "device_to_device_rate": 300.0,
    "memset_rate": 700.0,
    "kernel_rate": 512.0,
    "cache_rate": 2500.0,
    "cached_bytes": 20_000_000,
    "both_directions_rate": 0.8,
    "submit_latency_ns": 1800,
    "copy_lead_ns": 3000,
    "copy_latency_ns": 700,
    "copy_finish_ns": 4000,
    "copy_ramp_ns": 1800,
    "copy_ramp_bytes": 700_000,
    "small_copy_bytes": 9000,
    "small_to_device_ns": 2100,
    "small_to_host_ns": 9000,
    "device_copy_latency_ns": 1700,
    "device_copy_finish_ns": 900,
    "small_memset_bytes": 3000,
    "small_memset_ns": 640,
    "kernel_latency_ns": 2500,
    "minimum_kernel_ns": 3100,
    "graph_start_ns": 3000,
    "graph_kernel_ns": 800,
    "graph_copy_latency_ns": 1100,
    "memory_operations_ns": 1500,
    "write_value_ns": 300,
    "wait_value_ns": 120,
    "memory_barrier_ns": 410,
    "host_function_ns": 4200,
    "wake_up_ns": 7000,
    "call_launch_ns": 2222,
    "call_event_record_ns": 333,
    "call_memset_async_ns": 777,
    "call_device_copy_ns": 1500,
    "call_graph_launch_node_ns": 7,
    "call_memory_operation_ns": 23,
}
# A simulated device has at most half of the machine's memory. Links need a second device.
NOT_MEASURED = {"total_global_memory", "link_rate"}
# Events and fits round: a thousandth, or this many nanoseconds or bytes.
RELATIVE, ABSOLUTE = 1e-3, 3
# It follows from a few hundred nanoseconds.
ROUGH = {"small_memset_bytes": 2e-2}


def known(name: str) -> cs.Model:
    if name == "without a cache":
        return cs.model("c1060", graph_copy_latency_ns=3000)
    return cs.model("h200", **INVENTED) if name == "invented" else cs.model(name)


def is_close(field: str, measured: object, true: object) -> bool:
    if isinstance(true, bool) or not isinstance(true, int | float):
        return measured == true
    relative = ROUGH.get(field, RELATIVE)
    return measured == pytest.approx(true, rel=relative, abs=ABSOLUTE if isinstance(true, int) else 0)


@pytest.mark.parametrize("name", ["k20x", "h200", "c1060", "fermi", "invented", "without a cache"])
def test_a_simulated_device_gives_back_its_model(name: str) -> None:
    model = known(name)

    measured = cs.calibrate(cs.add_host_device(model), name=model.name)

    different = {
        field: values
        for field, values in measured.differences(model).items()
        if field not in NOT_MEASURED and not is_close(field, *values)
    }
    assert different == {}
    assert "Measured on host:" in measured.source


def test_without_overlap_the_order_is_the_same() -> None:
    """Queues and the parts of latencies make no difference on such a device, and do not show."""
    measured = cs.calibrate(cs.add_host_device("no_overlap"))

    assert measured.name == "no_overlap"
    assert (measured.copy_engines, measured.concurrent_kernels) == (0, False)
    assert measured.copy_lead_ns + measured.copy_finish_ns == pytest.approx(8000, abs=ABSOLUTE)
    assert measured.host_to_device_rate == pytest.approx(55.8, rel=RELATIVE)


def test_the_default_is_the_current_device_which_stays_as_it_is() -> None:
    with cs.add_host_device("c1060") as device:
        array = cs.to_device(np.arange(4))

        measured = cs.calibrate()

        assert cs.current_device() == device
        assert array.to_host().tolist() == [0, 1, 2, 3]
    assert measured.name == "c1060"
    assert measured.copy_engines == 1


def test_wrong_arguments_are_refused_before_anything_is_measured() -> None:
    with cs.add_host_device("c1060"):
        begin = cs.clock()
        with pytest.raises(TypeError, match="device: takes a Device or None, not str"):
            cs.calibrate("host:0")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="name: takes a str, not int"):
            cs.calibrate(name=3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="name: '' is not allowed"):
            cs.calibrate(name="")
        assert cs.clock() - begin < 1e-5


def test_the_command_writes_a_file_that_model_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device, path = cs.add_host_device("c1060"), tmp_path / "mine.json"

    code = main(["calibrate", "--device", device.name, "--out", str(path), "--name", "mine"])

    assert code == 0
    assert "<Model 'mine'" in capsys.readouterr().out
    for file in (path, str(path)):
        model = cs.model(file)
        assert (model.name, model.copy_engines, model.multiprocessors) == ("mine", 1, 30)
    assert cs.model(path, copy_engines=2).copy_engines == 2


def test_the_command_prints_the_model_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["calibrate", "--device", cs.add_host_device("c1060").name])

    printed = capsys.readouterr().out
    assert code == 0
    assert json.loads(printed)["name"] == "c1060"
    assert cs.Model.from_json(printed).copy_engines == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "host:99999"], "host:99999"),
        (["--out", "/no/such/folder/mine.json"], "there is no folder /no/such/folder"),
        (["--name", "n" * 101], "name: "),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["calibrate", *arguments])

    error = capsys.readouterr().err
    assert code == 1
    assert error.startswith("FAILED: ")
    assert message in error


def test_a_missing_file_of_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.json"):
        cs.model(tmp_path / "nothing.json")
    (tmp_path / "wrong.json").write_text("[]")
    with pytest.raises(ValueError, match=r"wrong\.json: is no device model"):
        cs.model(str(tmp_path / "wrong.json"))
