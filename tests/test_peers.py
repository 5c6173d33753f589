"""CuPy, PyTorch, JAX and Numba on the GPU: tests/peers/exchange.py in a process for each that is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cuscope as cs

PEERS = Path(__file__).resolve().parent / "peers"
MODULES = {"cupy": "cupy", "torch": "torch", "jax": "jaxlib", "numba": "numba"}
SEES_A_GPU = {
    "cupy": "import cupy; cupy.zeros(1)",
    "torch": "import torch; torch.zeros(1).cuda()",
    "jax": "import jax; jax.devices('cuda')",
    "numba": "from numba import cuda; cuda.device_array(1)",
}


@pytest.mark.gpu_only("other libraries need a GPU")
@pytest.mark.no_sanitizer("what other libraries do is not ours to check")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", MODULES)
def test_exchange(device: cs.Device, name: str) -> None:
    if importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip(f"{name} is not installed")
    trial = run(name, device, "-c", SEES_A_GPU[name])
    if trial.returncode != 0:
        pytest.skip(f"{name} is installed, but sees no GPU: {trial.stderr.strip().splitlines()[-1]}")
    check(name, device)


@pytest.mark.no_sanitizer("what is done in it is checked where it is not in a process of its own")
def test_exchange_with_itself(device: cs.Device) -> None:
    """The tests that other libraries are put to are right."""
    check("itself", device)


def run(name: str, device: cs.Device, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "CUSCOPE_PEER": name,
        "CUSCOPE_DEVICE": device.name,
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(
        [sys.executable, *command], check=False, env=environment, text=True, capture_output=True, timeout=500
    )


def check(name: str, device: cs.Device) -> None:
    options = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", "-k"]
    done = run(name, device, *options, device.name, str(PEERS / "exchange.py"))
    assert done.returncode == 0, done.stdout + done.stderr
