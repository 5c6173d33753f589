"""The kernels of tests/cuda/ check themselves; the README there explains the notes in their comments."""

from __future__ import annotations

import ctypes
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs
from support import TESTS

KERNELS = TESTS / "cuda"


def notes(path: Path, word: str) -> list[str]:
    return re.findall(rf"^// {word} ?(.*)$", path.read_text(), re.MULTILINE)


def skip_on_a_gpu(device, path: Path) -> None:
    for reason in notes(path, "host only:"):
        if not device.simulated:
            pytest.skip(reason)


def names(folder: str = "") -> list[str]:
    return sorted(p.stem for p in (KERNELS / folder).glob("*.cu") if folder or notes(p, "launch"))


def launches(path: Path) -> list[tuple[str, tuple, tuple, int, dict]]:
    def three(text: str) -> tuple[int, ...]:
        return tuple(int(x) for x in text.split(","))

    parts = re.compile(
        r"(?:([A-Za-z_].*?) )?([\d,]+) ([\d,]+)(?: (\d+))?( cooperative)?(?: cluster=([\d,]+))?"
    )
    matches = [parts.fullmatch(line) for line in notes(path, "launch")]
    return [
        (
            m[1] or "fault",
            three(m[2]),
            three(m[3]),
            int(m[4] or 0),
            ({"cooperative": True} if m[5] else {}) | ({"cluster": three(m[6])} if m[6] else {}),
        )
        for m in matches
        if m
    ]


def compiled(path: Path) -> cs.Module:
    try:
        return cs.Module(
            path.read_text(),
            name_expressions=notes(path, "instance"),
            options=notes(path, "option"),
            file_name=path.name,
        )
    except cs.CompileError as error:
        if "which is not on this machine" in error.log:
            pytest.skip("the toolkit's C++ library is not on this machine")
        raise


def handle(contract, path: Path, kernel: str) -> int:
    """The handle of a kernel, for a launch by the contract."""
    status, image, kernels, log = contract.compile(path.read_text(), file_name=path.name)
    assert status == "cudaSuccess", log
    status, library = contract.library_load_data(image)
    assert status == "cudaSuccess"
    status, found = contract.library_get_kernel(library, dict(kernels)[kernel])
    assert status == "cudaSuccess"
    return found


# Kernels whose threads get their order from objects in memory, from flags that they read in a loop, from barriers that
# each warp reaches at another place of the source, or across a cluster. racecheck does not see such an order.
UNSEEN = {"barrier_objects", "cooperative_groups", "early_exit", "grid_sync"}
NO_RACECHECK = pytest.mark.no_racecheck(
    "it knows no order but that of __syncthreads and the warp's functions"
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=NO_RACECHECK if name in UNSEEN else ()) for name in names()]
)
def test_kernels_find_no_failure(device, capfd, name):
    path = KERNELS / f"{name}.cu"
    skip_on_a_gpu(device, path)
    mod = compiled(path)
    contract = cs._core.contract(device.name)

    for kernel, grid, block, shared, attributes in launches(path):
        failures = cs.zeros(4, np.uint32)
        if attributes:
            cs.synchronize()
            argument = np.uint64(failures.pointer).tobytes()
            found = handle(contract, path, kernel)
            status = contract.launch_kernel(found, grid, block, [argument], shared, **attributes)
            assert (kernel, status) == (kernel, "cudaSuccess")
            assert (kernel, contract.device_synchronize()) == (kernel, "cudaSuccess")
        else:
            mod[kernel][grid, block, None, shared](failures)
        count, line, *_ = failures.to_host().tolist()
        assert count == 0, f"{kernel}: {count} checks failed, one of them at {path.name}:{line}"
    device.synchronize()

    ctypes.CDLL(None).fflush(None)  # a driver prints through the C library, which buffers output to a file
    printed = capfd.readouterr().out.splitlines()
    if device.simulated:
        assert printed == notes(path, "prints")
    else:  # in any order
        assert Counter(printed) == Counter(notes(path, "prints"))


def test_module_reports_the_declarations_of_its_source(device):
    path = KERNELS / "declarations.cu"
    mod = compiled(path)

    for note in notes(path, "kernel"):
        name, names_ = re.fullmatch(r"(\S+?(?:<[^>]*>)?)(?: (\S+))?", note).groups()
        assert [p.name for p in mod[name].parameters] == (names_.split(",") if names_ else [])
    for note in notes(path, "bounds"):
        name, threads, _ = note.rsplit(None, 2)
        assert mod[name].attributes.max_threads_per_block == int(threads)
    if device.simulated:
        for note in notes(path, "shared"):
            name, nbytes = note.rsplit(None, 1)
            assert mod[name].attributes.shared_size == int(nbytes)


@pytest.mark.host_only("of the host runtime's compiler")
@pytest.mark.parametrize("name", names("errors"))
def test_source_that_is_wrong_does_not_compile_and_the_log_has_the_reason(device, name):
    path = KERNELS / "errors" / f"{name}.cu"

    with pytest.raises(cs.CompileError) as caught:
        compiled(path)

    for note in notes(path, "error"):
        line, text = note.split(None, 1)
        assert text in caught.value.log
        if line != "0":
            assert re.search(rf"{re.escape(path.name)}:{line}\b", caught.value.log)


FAULT = """
import numpy as np
import cuscope as cs
from cuscope import _core
c = _core.contract({device!r})
mod = cs.Module({source!r}, file_name={name!r})
c.get_last_error()
p = cs.zeros(1024 // np.dtype(mod.fault.parameters[0].element or "uint8").itemsize,
             mod.fault.parameters[0].element or "uint8")
cs.synchronize()
mod.fault[{grid!r}, {block!r}, None, {shared!r}](p)
try:
    cs.synchronize()
    print("cudaSuccess")
except cs.CudaError as error:
    print(error.name)
    print(error.detail or "")
    print(error)
"""


@pytest.mark.parametrize("name", names("faults"))
def test_fault_ends_in_the_status_that_a_gpu_gives(device, run_python, name):
    path = KERNELS / "faults" / f"{name}.cu"
    skip_on_a_gpu(device, path)
    for reason in notes(path, "not with clang:"):
        if device.simulated and "clang" in os.environ.get("CUSCOPE_CXX", ""):
            pytest.skip(reason)
    ((_, grid, block, shared, _),) = launches(path)
    (status,) = notes(path, "status")
    done = run_python(
        FAULT.format(
            device=device.name,
            source=path.read_text(),
            name=path.name,
            grid=grid,
            block=block,
            shared=shared,
        )
    )

    assert done.returncode == 0, done.stderr
    said = [x for x in done.stdout.splitlines() if x.startswith("cuda")]
    assert said, done.stdout
    assert said[0] == status
    if device.simulated:
        for detail in notes(path, "detail"):
            assert detail in done.stdout
