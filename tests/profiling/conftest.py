"""Kernels for the tests of profiles, on the simulated device."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import cuscope as cs

sys.path.insert(0, str(Path(__file__).parent))

from profiled_kernels import SOURCE, VARIABLE


@pytest.fixture(scope="session")
def kernels():
    with cs.Device("host:0"):
        return cs.Module(SOURCE, options=["-DWIDTH=32"])


@pytest.fixture(scope="session")
def padded():
    with cs.Device("host:0"):
        return cs.Module(SOURCE, options=["-DWIDTH=33"])


@pytest.fixture(scope="session")
def variable():
    with cs.Device("host:0"):
        return cs.Module(VARIABLE)


@pytest.fixture(autouse=True)
def on_host():
    with cs.Device("host:0"):
        yield
