"""The arrows between the layers of src/: bindings -> ops -> core -> runtime <- cuda, host."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
MAY_INCLUDE = {
    "runtime": {"runtime"},
    "host": {"host", "runtime"},
    "cuda": {"cuda", "runtime"},
    "core": {"core", "runtime"},
    "ops": {"ops", "core", "runtime"},
    "bindings": {"bindings", "ops", "core", "runtime"},
}
# The headers that kernels on simulated devices include belong to src/host. One of them includes nothing, so that all
# layers can include it.
OF_KERNELS = SOURCES / "host" / "include"
FOR_EVERY_LAYER = "cuscope_simt/numbers/small_format.h"
FILES = sorted(
    path for path in SOURCES.rglob("*") if path.suffix in {".cpp", ".hpp", ".h", ".cu", ".cuh", ".inc"}
)


def is_of_kernels(path: Path) -> bool:
    """Whether the header is compiled into kernels, whose language has CUDA's names."""
    return path.is_relative_to(OF_KERNELS)


def test_every_layer_is_known() -> None:
    assert {path.name for path in SOURCES.iterdir() if path.is_dir()} <= set(MAY_INCLUDE)
    assert len(FILES) > 20


def wrong_includes(path: Path) -> Iterator[str]:
    layer = path.relative_to(SOURCES).parts[0]
    text = path.read_text()
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
        if (OF_KERNELS / name).exists() and layer != "host" and name != FOR_EVERY_LAYER:
            yield f"{layer}/ must not include {name}, which is for kernels"
        if not (SOURCES / name).exists():
            continue  # a header beside the file, a generated one, or one of a library
        if name.split("/")[0] not in MAY_INCLUDE[layer]:
            yield f"{layer}/ must not include {name}"
    if layer != "cuda" and not is_of_kernels(path):
        for name in re.findall(r"#\s*include\s+<((?:cuda|nvrtc|cupti|cublas)[^>]*)>", text):
            yield f"<{name}>: CUDA's headers belong to src/cuda/"
    if layer != "bindings":
        for name in re.findall(r"#\s*include\s+<(Python\.h|pybind11/[^>]*)>", text):
            yield f"<{name}>: Python belongs to src/bindings/"


def conditions_about_cuda(path: Path) -> Iterator[str]:
    if path.relative_to(SOURCES).parts[0] == "cuda" or is_of_kernels(path):
        return
    for line in path.read_text().splitlines():
        if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", line) and re.search(r"CUDA|NVCC|__CUDACC__", line):
            yield line


def found_by(rule: Callable[[Path], Iterator[str]]) -> list[str]:
    return [f"{path.relative_to(SOURCES)}: {complaint}" for path in FILES for complaint in rule(path)]


def test_includes_follow_the_layers() -> None:
    assert found_by(wrong_includes) == []


def test_the_header_of_kernels_for_every_layer_includes_nothing() -> None:
    assert "#include" not in (OF_KERNELS / FOR_EVERY_LAYER).read_text()


def test_only_the_cuda_layer_is_compiled_conditionally_on_cuda() -> None:
    assert found_by(conditions_about_cuda) == []
