"""cs.info() and the doctor on machines other than this one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cuscope as cs
from cuscope import _cli, _demo, _doctor, _info

BUILD = {"cuda": "ON", "cuda_toolkit": "13.0.88", "cuda_reason": "CUDA 13.0.88 with nvcc"}


def answers(monkeypatch: pytest.MonkeyPatch, status: str, detail: str, **numbers: int) -> None:
    """Replaces the answers of the runtime for real GPUs."""
    answer = {
        "kind": "cuda",
        "status": status,
        "device_count": 0,
        "driver_version": 0,
        "runtime_version": 13000,
    }
    monkeypatch.setattr(_info._core, "build_config", BUILD)
    monkeypatch.setattr(_info._core, "runtime_answers", lambda: [answer | {"detail": detail} | numbers])


def test_no_driver_is_told_from_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "cudaErrorInsufficientDriver", "no driver: libcuda.so.1 was not found")
    assert "no driver" in _info.cuda_runtime()[1]
    assert _doctor._gpu().status == "skipped"

    answers(
        monkeypatch,
        "cudaErrorInsufficientDriver",
        "driver too old: it supports CUDA 12.4, this build needs 13.0",
    )
    assert "driver too old" in _info.cuda_runtime()[1]
    assert _doctor._gpu().status == "failed"
    assert "update" in str(_doctor._gpu().fix)

    answers(monkeypatch, "cudaErrorNoDevice", "", driver_version=13000)
    assert "cudaErrorNoDevice" in _doctor._gpu().detail
    assert "nvidia-smi" in str(_doctor._gpu().fix)

    answers(monkeypatch, "cudaSuccess", "", driver_version=13010, device_count=2)
    assert _doctor._gpu().status == "ok"
    assert "CUDA 13.1, 2 devices" in _doctor._gpu().detail


def test_build_without_cuda_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_info._core, "build_config", {"cuda": "OFF", "cuda_reason": "no nvcc on the PATH"})
    assert "no nvcc" in _info.cuda_runtime()[1]

    monkeypatch.setattr(_doctor.Path, "exists", lambda path: False)
    assert _doctor._gpu().status == "skipped"

    monkeypatch.setattr(_doctor.Path, "exists", lambda path: True)
    assert _doctor._gpu().status == "failed"
    assert "CUSCOPE_CUDA=ON" in str(_doctor._gpu().fix)


def test_info_is_plain_values() -> None:
    info = cs.info()

    assert json.loads(json.dumps(info)) == info
    assert info["build"]["cxx_compiler"]


def test_missing_compiler_is_named_with_a_fix(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUSCOPE_CXX", "/nowhere/g++")
    assert _cli.main(["doctor"]) == 1

    printed = capsys.readouterr().out
    assert "/nowhere/g++" in printed
    assert "fix:" in printed
    assert "[skipped] a kernel on host:0" in printed  # a step that depends on it is skipped and not failed


@pytest.mark.parametrize("name", ["ipykernel", "jupyterlab", "pytest"])
def test_optional_libraries_are_found_or_said_to_be_missing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "/pytest" in cs.info()["optional_libraries"]["pytest"]

    monkeypatch.setattr(_info.importlib.util, "find_spec", lambda name: None)
    assert f"pip install {name}" in cs.info()["optional_libraries"][name]


def test_current_device_that_is_not_there_fails_with_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> cs.Device:
        raise ValueError("CUSCOPE_DEVICE: there is no device 'cuda:9'; there are: host:0")

    monkeypatch.setattr(cs, "current_device", missing)

    assert "cuda:9" in cs.info()["current_device"]
    check = _doctor._current_device()
    assert check.status == "failed"
    assert "CUSCOPE_DEVICE" in str(check.fix)


def test_cache_that_is_not_used_fails_with_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(description: str) -> _doctor.Check:
        monkeypatch.setattr(_doctor._core, "cache_description", lambda: description)
        return _doctor._cache()

    assert check("off: CUSCOPE_CACHE_DIR is empty").status == "skipped"
    assert check("/").status == "ok"
    for problem in ("not used: /x may be written by other users", "/no/such/folder"):
        assert check(problem).status == "failed"
        assert "CUSCOPE_CACHE_DIR" in str(check(problem).fix)


def test_kernel_that_does_not_compile_ends_the_demo(
    device: cs.Device, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_demo, "SOURCE", "__global__ void vec_add() { nonsense; }")
    assert _cli.main(["demo", "--device", device.name]) == 1
    assert "nonsense" in capsys.readouterr().err


def test_cupti_is_found_or_the_way_to_get_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_info._core, "build_config", BUILD)
    monkeypatch.setattr(_info.ctypes.util, "find_library", lambda name: None)
    monkeypatch.setattr(_info, "wheel_folders", lambda: [str(tmp_path)])
    monkeypatch.setattr(
        _info.Path, "is_file", lambda path: str(path).startswith(str(tmp_path)) and path.exists()
    )
    monkeypatch.delenv("CUSCOPE_CUPTI", raising=False)
    missing = _doctor._cupti()
    assert missing.status == "skipped"
    assert str(missing.fix) == 'pip install "nvidia-cuda-cupti==13.*", or set CUSCOPE_CUPTI to its path'

    library = tmp_path / "cu13" / "lib" / "libcupti.so.13"
    library.parent.mkdir(parents=True)
    library.touch()
    assert (_doctor._cupti().status, _doctor._cupti().detail) == ("ok", str(library))

    chosen = tmp_path / "chosen.so"
    chosen.touch()
    monkeypatch.setenv("CUSCOPE_CUPTI", str(chosen))
    assert _info.cupti() == str(chosen)
