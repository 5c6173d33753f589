"""CuPy, PyTorch, JAX and Numba on the GPU: tests/interop/peers/exchange.py in a process for each that is installed."""

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


@pytest.mark.gpu_only("other libraries need a GPU")
@pytest.mark.no_sanitizer("cuscope does not check other libraries")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", MODULES)
def test_exchange_with_an_installed_library_passes(device: cs.Device, name: str) -> None:
    if importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip(f"{name} is not installed")
    check(name, device)


@pytest.mark.no_sanitizer("its work is a process, which is not checked; other tests make the same calls")
def test_exchange_with_cuscope_itself_passes(device: cs.Device) -> None:
    """Checks the tests of exchange.py themselves."""
    check("itself", device)


def check(name: str, device: cs.Device) -> None:
    environment = os.environ | {
        "CUSCOPE_PEER": name,
        "CUSCOPE_DEVICE": device.name,
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "PYTHONPATH": os.pathsep.join([str(PEERS.parent), os.environ.get("PYTHONPATH", "")]),
    }
    environment.pop("PYTEST_ADDOPTS", None)
    options = ["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-W", "ignore", "-k"]
    done = subprocess.run(
        [sys.executable, *options, device.name, str(PEERS / "exchange.py")],
        check=False,
        env=environment,
        text=True,
        capture_output=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if " passed" not in done.stdout:
        pytest.skip(f"{name} is installed, but of no use here: {done.stdout[-500:]}")
