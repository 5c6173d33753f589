"""If a source has many instances of templates, each is compiled alone to be counted, timed or checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cuscope as cs

pytestmark = [
    pytest.mark.host_only("a real GPU measures times, and counts nothing"),
    pytest.mark.usefixtures("device", "times_from_counts"),
]

TEMPLATE = """
namespace sums {
template <class T, int steps>
__global__ void add(const T* x, T* y) {
    T sum = 0;
    for (int i = 0; i < steps; ++i) sum += x[i * 32 + threadIdx.x];
    y[threadIdx.x] = sum;
}
"""
STEPS = (1, 2, 4, 8, 16, 32, 64, 128)
INSTANCES = "".join(f"template __global__ void add<T, {steps}>(const T*, T*);\n" for steps in STEPS)
PLAIN = "__global__ void plain(float* x) { x[threadIdx.x] += 1; }\n"
MANY = TEMPLATE + INSTANCES.replace("T", "float") + INSTANCES.replace("T", "double") + "}\n" + PLAIN


def seconds(module: cs.Module, element: str, steps: int) -> float:
    x = cs.to_device(np.arange(32 * steps, dtype=element).reshape(steps, 32))
    y = cs.zeros(32, element)
    name = {"float32": "float", "float64": "double"}[element]
    told = module[f"sums::add<{name}, {steps}>"].explain_time(x, y, grid=1, block=32)
    np.testing.assert_array_equal(y.to_host(), x.to_host().sum(axis=0))
    return told.seconds


@pytest.mark.parametrize("element", ["float32", "float64"])
def test_every_instance_has_its_own_time(element):
    module = cs.Module(MANY)
    times = [seconds(module, element, steps) for steps in STEPS]
    assert times == sorted(times)
    assert times[-1] > times[0]


def test_time_does_not_depend_on_the_other_instances():
    alone = cs.Module(TEMPLATE + "template __global__ void add<float, 64>(const float*, float*);\n}")
    assert seconds(cs.Module(MANY), "float32", 64) == seconds(alone, "float32", 64)


def test_kernels_that_are_no_instances_have_times_beside_many_instances():
    module = cs.Module(MANY)
    x = cs.zeros(32, np.float32)
    assert module.plain.explain_time(x, grid=1, block=32).instructions > 0
    assert (x.to_host() == 1).all()


def test_instances_by_name_expressions_have_times():
    names = [f"sums::add<float, {steps}>" for steps in STEPS]
    module = cs.Module(TEMPLATE + "}", name_expressions=names)
    assert seconds(module, "float32", 32) == seconds(cs.Module(MANY), "float32", 32)


def images_of_a_second_instance(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many files the compile cache gets for the time of a second instance."""
    monkeypatch.setenv("CUSCOPE_CACHE_DIR", str(folder))
    module = cs.Module(source)
    seconds(module, "float32", 1)
    before = {path for path in folder.rglob("*") if path.is_file()}
    seconds(module, "float32", 2)
    after = {path for path in folder.rglob("*") if path.is_file()}
    return len(after - before)


def test_each_of_many_instances_gets_an_image_of_its_own(tmp_path, monkeypatch):
    assert images_of_a_second_instance(MANY, tmp_path, monkeypatch) == 1


def test_few_instances_share_an_image(tmp_path, monkeypatch):
    few = "".join(
        f"template __global__ void add<float, {steps}>(const float*, float*);" for steps in STEPS[:4]
    )
    assert images_of_a_second_instance(TEMPLATE + few + "}", tmp_path, monkeypatch) == 0


def test_counts_do_not_depend_on_the_other_instances():
    alone = cs.Module(TEMPLATE + "template __global__ void add<float, 64>(const float*, float*);\n}")
    x, y = cs.zeros(64 * 32, np.float32), cs.zeros(32, np.float32)
    many, one = (m["sums::add<float, 64>"].count(x, y, grid=1, block=32) for m in (cs.Module(MANY), alone))
    assert str(many) == str(one)


def test_check_names_the_instance_with_the_mistake():
    module = cs.Module(MANY)
    x, y = cs.zeros(63 * 32, np.float32), cs.zeros(32, np.float32)  # one row less than the instance reads
    with cs.check() as report:
        module["sums::add<float, 32>"].launch(x, y, grid=1, block=32)
        module["sums::add<float, 64>"].launch(x, y, grid=1, block=32)
    assert {found.kernel for found in report.findings} == {"sums::add<float, 64>"}
