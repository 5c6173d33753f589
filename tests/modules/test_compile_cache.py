"""The cache of compiled kernels: the files that it keeps, and the files that it never loads."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

SOURCE = "__global__ void put(int* p) { *p = 47; }"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "cache"
    monkeypatch.setenv("CUSCOPE_CACHE_DIR", str(directory))
    return directory


def files(directory: Path) -> list[Path]:
    return sorted(p for p in directory.rglob("*") if p.is_file())


def answer(mod: cs.Module) -> int:
    p = cs.zeros(1, np.int32)
    mod.put[1, 1](p)
    return int(p.to_host()[0])


def test_second_compilation_is_taken_from_the_cache(device, cache):
    first, second = cs.Module(SOURCE), cs.Module(SOURCE)

    assert (first.cached, second.cached) == (False, True)
    assert answer(second) == 47
    assert files(cache)


@pytest.mark.parametrize(
    "header", ["cublas_v2.h", "cuda_profiler_api.h", "thrust/device_vector.h", "helper_cuda.h"]
)
def test_sources_with_headers_of_host_libraries_are_cached(device, cache, header):
    source = f"#include <{header}>\n{SOURCE}"

    first, second = cs.Module(source), cs.Module(source)

    assert (first.cached, second.cached) == (False, True)
    assert answer(second) == 47


@pytest.mark.parametrize(("source", "options"), [(SOURCE + "__device__ int x;", []), (SOURCE, ["-DX=1"])])
def test_inputs_that_change_the_result_change_the_entry(device, cache, source, options):
    cs.Module(SOURCE)

    assert cs.Module(source, options=options).cached is False


def test_another_text_of_a_header_is_another_entry(device, cache):
    source = '#include "value.h"\n__global__ void put(int* p) { *p = VALUE; }'

    assert [answer(cs.Module(source, headers={"value.h": f"#define VALUE {i}"})) for i in (1, 2, 1)] == [
        1,
        2,
        1,
    ]


def test_cache_may_be_declined(device, cache):
    for _ in range(2):
        assert cs.Module(SOURCE, cache=False).cached is False
    assert not cache.exists() or not files(cache)


def test_cache_may_be_turned_off(device, monkeypatch):
    monkeypatch.setenv("CUSCOPE_CACHE_DIR", "")

    for _ in range(2):
        assert cs.Module(SOURCE).cached is False


def test_cache_is_private_to_its_user(device, cache):
    cs.Module(SOURCE)

    for path in (cache, *files(cache)):
        assert path.stat().st_mode & 0o077 == 0


DAMAGE = {
    "empty": lambda b: b"",
    "truncated": lambda b: b[: len(b) // 2],
    "one byte short": lambda b: b[:-1],
    "a bit in the middle": lambda b: b[: len(b) // 2] + bytes([b[len(b) // 2] ^ 1]) + b[len(b) // 2 + 1 :],
    "the first bit": lambda b: bytes([b[0] ^ 1]) + b[1:],
    "the last bit": lambda b: b[:-1] + bytes([b[-1] ^ 1]),
    "longer": lambda b: b + b"\0" * 10,
    "garbage": lambda b: os.urandom(len(b)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_file_is_rebuilt(device, cache, damage):
    cs.Module(SOURCE)
    (path,) = files(cache)
    whole = path.read_bytes()
    path.write_bytes(DAMAGE[damage](whole))

    mod = cs.Module(SOURCE)

    assert mod.cached is False
    assert answer(mod) == 47
    assert cs.Module(SOURCE).cached is True


def test_file_of_another_entry_is_rebuilt(device, cache):
    cs.Module(SOURCE)
    (mine,) = files(cache)
    cs.Module(SOURCE.replace("47", "48"))
    (other,) = [p for p in files(cache) if p != mine]
    mine.write_bytes(other.read_bytes())

    assert answer(cs.Module(SOURCE)) == 47


@pytest.mark.parametrize("mode", [0o622, 0o620, 0o602])
def test_file_that_others_may_write_is_not_loaded(device, cache, mode):
    cs.Module(SOURCE)
    (path,) = files(cache)
    path.chmod(mode)

    assert cs.Module(SOURCE).cached is False


def test_directory_that_others_may_write_is_not_used(device, cache):
    cs.Module(SOURCE)
    cache.chmod(0o777)

    assert cs.Module(SOURCE).cached is False
    assert answer(cs.Module(SOURCE)) == 47


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_file_of_another_user_is_not_loaded(device, cache):
    cs.Module(SOURCE)
    (path,) = files(cache)
    os.chown(path, 12345, 12345)

    assert cs.Module(SOURCE).cached is False


@pytest.mark.parametrize("what", ["a link to a file", "a link to a directory"])
def test_link_is_not_followed_out_of_the_cache(device, cache, tmp_path, what):
    cs.Module(SOURCE)
    (path,) = files(cache)
    target = tmp_path / "elsewhere"
    if what == "a link to a file":
        target.write_bytes(path.read_bytes())
        target.chmod(0o666)
    else:
        target.mkdir()
    path.unlink()
    path.symlink_to(target)

    assert answer(cs.Module(SOURCE)) == 47
    assert cs.Module(SOURCE).cached is False or not path.is_symlink()


def test_directory_that_cannot_be_made_is_no_error(device, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("CUSCOPE_CACHE_DIR", str(tmp_path / "file" / "cache"))

    assert answer(cs.Module(SOURCE)) == 47


def test_directory_with_spaces_and_quotes(device, monkeypatch, tmp_path):
    monkeypatch.setenv("CUSCOPE_CACHE_DIR", str(tmp_path / 'it\'s a $(cache) "dir"'))
    cs.Module(SOURCE)

    assert cs.Module(SOURCE).cached is True
    assert answer(cs.Module(SOURCE)) == 47


def test_two_processes_may_fill_it_at_once(cache, run_python):
    child = """
import cuscope as cs, numpy as np
p = cs.zeros(1, np.int32)
cs.Module("__global__ void put(int* p) { *p = 47; }").put[1, 1](p)
assert p.to_host().tolist() == [47]
"""
    done = run_python(
        f"""
        import subprocess, sys
        children = [subprocess.Popen([sys.executable, "-c", {child!r}]) for _ in range(4)]
        print([c.wait() for c in children])
        """,
    )

    assert done.stdout.strip() == "[0, 0, 0, 0]", done.stderr
