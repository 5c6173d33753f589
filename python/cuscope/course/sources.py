"""The sources of the package's kernels, which the notebooks show, compile and count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._core import Kernel, Module

__all__ = ["kernel", "kernel_sources", "kernels", "show"]

# Behind these lines a file lists its instances for all element types, which take long to compile.
_INSTANCES = ("#ifndef CUSCOPE_ONE_INSTANCE", "#define INSTANCE", "\nOFFER", "\ntemplate __global__")


def kernel_sources(topic: str | None = None) -> Path:
    """The folder with the CUDA C++ sources of the package's kernels, or the folder of one topic.

    Raises ValueError for an unknown topic.

    >>> from cuscope import course
    >>> sorted(path.name for path in course.kernel_sources("vec_add").glob("*.cu"))
    ['01_vec_add.cu', '02_grid_stride.cu', '03_vectorised.cu']
    """
    folder = Path(__file__).parent.parent / "kernels"
    if topic is None:
        return folder
    topics = sorted(path.name for path in folder.iterdir() if any(path.glob("*.cu")))
    if topic not in topics:
        raise ValueError(f"topic: there is no {topic!r}; there are {', '.join(topics)}")
    return folder / topic


def show(file: str, start: str, end: str) -> None:
    """Print a part of a kernel's source: from the line that contains ``start`` to the next one that contains ``end``.

    ``file`` is the topic and the name, without ".cu" or with another ending. Raises ValueError if there are no such lines.

    >>> from cuscope import course
    >>> course.show("vec_add/01_vec_add", "const long long i", "c[i] =")
        const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
        if (i < n) c[i] = a[i] + b[i];
    """
    lines = _path(file).read_text().splitlines()
    first = next((i for i, line in enumerate(lines) if start in line), None)
    if first is None:
        raise ValueError(f"start: {file} has no line with {start!r}")
    last = next((i for i, line in enumerate(lines) if end in line and i > first), None)
    if last is None:
        raise ValueError(f"end: {file} has no line with {end!r} after the one with {start!r}")
    print("\n".join(lines[first : last + 1]))


def kernel(file: str, name: str) -> Kernel:
    """Compile one kernel of a file for the current device: quicker than all instances that the file lists.

    ``name`` is the instance, such as ``"naive<float>"``. Raises ValueError for an unknown file, and `CompileError`.

    >>> from cuscope import course
    >>> course.kernel("vec_add/01_vec_add", "vec_add<float>").parameters[0].name
    'a'
    """
    return kernels(file, [name])[0]


def kernels(file: str, names: Sequence[str]) -> list[Kernel]:
    """Compile several kernels of a file, as `kernel` does one.

    >>> from cuscope import course
    >>> [one.name for one in course.kernels("vec_add/01_vec_add", ["vec_add<float>", "vec_add<int>"])]
    ['vec_add<float>', 'vec_add<int>']
    """
    path = _path(file)
    source = path.read_text()
    for line in _INSTANCES:
        source = source.partition(line)[0]
    module = Module(
        source, name_expressions=list(names), include_paths=[str(path.parent)], file_name=path.name
    )
    return [module[name] for name in names]


def _path(file: str) -> Path:
    topic, _, name = file.partition("/")
    path = kernel_sources(topic) / (name if "." in name else f"{name}.cu")
    if not path.is_file():
        names = ", ".join(sorted(one.stem for one in path.parent.glob("*.cu")))
        raise ValueError(f"file: {topic} has no {name!r}; it has {names}")
    return path
