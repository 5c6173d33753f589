"""What cs.info() and the doctor say of machines other than this one."""

from __future__ import annotations

import json

import pytest

import cuscope as cs
from cuscope import _cli, _demo, _doctor, _info

BUILD = {"cuda": "ON", "cuda_toolkit": "13.0.88", "cuda_reason": "CUDA 13.0.88 with nvcc"}


def answers(monkeypatch: pytest.MonkeyPatch, status: str, detail: str, **numbers: int) -> None:
    """Lets the runtime for real GPUs answer so."""
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


def test_kernel_that_does_not_compile_ends_the_demo(
    device: cs.Device, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_demo, "SOURCE", "__global__ void vec_add() { nonsense; }")
    assert _cli.main(["demo", "--device", device.name]) == 1
    assert "nonsense" in capsys.readouterr().err
