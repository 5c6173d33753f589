"""What cs.info() and the doctor say of machines other than this one."""

from __future__ import annotations

import json

import pytest

import cuscope as cs
from cuscope import _cli, _demo, _doctor, _info

NEW = {"cuda": "ON", "cuda_toolkit": "13.0.88", "cuda_reason": "CUDA 13.0.88 with nvcc"}
OLD = {"cuda": "OFF", "cuda_reason": "no nvcc on the PATH"}


def test_no_driver_is_told_from_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_info._core, "build_config", NEW)
    monkeypatch.setattr(_info, "driver", lambda: (None, "no driver: libcuda.so.1 is not there"))
    assert "no driver" in _info._cuda_runtime()
    assert _doctor._gpu().status == "skipped"

    monkeypatch.setattr(_info, "driver", lambda: (12080, "driver for CUDA 12.8"))
    assert "driver too old" in _info._cuda_runtime()
    assert _doctor._gpu().status == "failed"
    assert "update" in str(_doctor._gpu().fix)


def test_build_without_cuda_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_info._core, "build_config", OLD)
    assert "no nvcc" in _info._cuda_runtime()

    monkeypatch.setattr(_info, "driver", lambda: (None, "no driver"))
    assert _doctor._gpu().status == "skipped"

    monkeypatch.setattr(_info, "driver", lambda: (13000, "driver for CUDA 13.0"))
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
