"""The arrows between the layers of src/: bindings -> core -> runtime <- cuda, host."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
MAY_INCLUDE = {
    "runtime": {"runtime"},
    "host": {"host", "runtime"},
    "cuda": {"cuda", "runtime"},
    "core": {"core", "runtime"},
    "ops": {"ops", "core", "runtime"},
    "bindings": {"bindings", "ops", "core", "runtime"},
}
FILES = sorted(
    path for path in SOURCES.rglob("*") if path.suffix in {".cpp", ".hpp", ".h", ".cu", ".cuh", ".inc"}
)


def is_of_kernels(path: Path) -> bool:
    """Is it what kernels are compiled with, where CUDA's names are the language's own?"""
    return path.is_relative_to(SOURCES / "host" / "simt" / "include")


def test_every_layer_is_known() -> None:
    assert {path.name for path in SOURCES.iterdir() if path.is_dir()} <= set(MAY_INCLUDE)
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_includes(path: Path) -> None:
    layer = path.relative_to(SOURCES).parts[0]
    text = path.read_text()
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
        if not (SOURCES / name).exists():
            continue  # beside the file, generated, or of a library
        assert name.split("/")[0] in MAY_INCLUDE[layer], f"{layer}/ must not include {name}"
    if layer != "cuda" and not is_of_kernels(path):
        assert not re.search(r"#\s*include\s+<(cuda|nvrtc|cupti|cublas)[^>]*>", text), (
            "CUDA headers belong to src/cuda/"
        )
    if layer != "bindings":
        assert not re.search(r"#\s*include\s+<(Python\.h|pybind11/)", text), "Python belongs to src/bindings/"


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.relative_to(SOURCES).parts[0] != "cuda"],
    ids=lambda path: str(path.relative_to(SOURCES)),
)
def test_no_conditional_compilation_about_cuda(path: Path) -> None:
    if is_of_kernels(path):
        return
    for line in path.read_text().splitlines():
        if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", line):
            assert not re.search(r"CUDA|NVCC|__CUDACC__", line), line
