"""Device models as values: reading, changing and saving them, and devices that have them."""

from __future__ import annotations

import copy
import gc
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import cuscope as cs
from cuscope import _models

NAMES = ["h200", "h100", "a100", "k20x", "fermi", "c1060", "no_overlap"]
EMPTY = "__global__ void empty() {} __global__ void work(unsigned char*) {}"


def seconds_of_chunks(model: str | cs.Model, order: str, streams: int = 4) -> float:
    """Copy in, kernel and copy out of four equal chunks: the simulated time of the documents' figures."""
    with cs.add_host_device(model):
        work = cs.Module(EMPTY).work
        host = [cs.pinned_empty(1 << 22, np.uint8) for _ in range(4)]
        device = [cs.zeros(1 << 22, np.uint8) for _ in range(4)]
        lanes = [cs.Stream(non_blocking=True) for _ in range(streams)]
        copy_time = (1 << 22) / cs.model(model).host_to_device_rate * 1e-9
        steps = [
            lambda i, s: device[i].copy_from(host[i], stream=s),
            lambda i, s: work.launch(device[i], grid=1, block=32, stream=s, duration=copy_time),
            lambda i, s: device[i].copy_to(host[i], stream=s),
        ]
        pairs = [(i, step) for i in range(4) for step in steps]
        if order == "breadth":
            pairs = [(i, step) for step in steps for i in range(4)]
        cs.synchronize()
        begin = cs.clock()
        for i, step in pairs:
            step(i, lanes[i % streams])
        cs.synchronize()
        return (cs.clock() - begin) / copy_time


@pytest.mark.parametrize("name", NAMES)
def test_known_models_have_a_source_and_make_devices(name: str) -> None:
    model = cs.model(name)

    device = cs.add_host_device(model)

    assert model in cs.models()
    assert len(model.source) > 50
    assert device.model == f"{name} model"
    assert device.properties.multiprocessor_count == model.multiprocessors
    assert device.properties.async_engine_count == model.copy_engines


def test_the_models_are_listed() -> None:
    assert [model.name for model in cs.models()] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_model_survives_json_files_pickle_and_copies(name: str, tmp_path: Path) -> None:
    model = cs.model(name)

    model.save(tmp_path / "model.json")

    assert cs.Model.load(tmp_path / "model.json") == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert copy.copy(model) is copy.deepcopy(model) is model
    assert hash(cs.Model.from_json(model.to_json())) == hash(model)


def test_a_changed_model_differs_in_these_fields_alone() -> None:
    changed = cs.model("h200", copy_engines=1, multiprocessors=20)

    assert set(changed.differences(cs.model("h200"))) == {
        "name", "copy_engines", "multiprocessors", "multiprocessor_groups",
    }  # fmt: skip
    assert "Changed: copy_engines, multiprocessors." in changed.source
    assert cs.model("h200") != changed
    assert cs.model(changed, copy_engines=3, name="h200", multiprocessors=132).copy_engines == 3


def test_more_multiprocessors_get_more_groups() -> None:
    assert sum(cs.model("h200", multiprocessors=1000).multiprocessor_groups) == 1000
    assert cs.model("k20x", multiprocessors=1000).multiprocessor_groups == ()


def test_a_model_never_changes() -> None:
    model = cs.model("h200")

    with pytest.raises(AttributeError, match=r"cuscope\.model\(model, copy_engines=1\)"):
        model.copy_engines = 1
    with pytest.raises(AttributeError):
        del model.copy_engines
    with pytest.raises(TypeError, match=r"cuscope\.model"):
        cs.Model()
    assert model.copy_engines == 3


def test_a_missing_attribute_names_near_fields() -> None:
    with pytest.raises(AttributeError, match="copy_engines"):
        _ = cs.model("h200").copy_engine


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"multiprocessors": 0}, ["multiprocessors: 0", "1 to 4096"]),
        ({"multiprocessors": 10**30}, ["1 to 4096"]),
        ({"host_to_device_rate": -1}, ["host_to_device_rate: -1", "0.001 to 1000000 GB/s"]),
        ({"host_to_device_rate": float("nan")}, ["nan"]),
        ({"host_to_device_rate": float("inf")}, ["inf"]),
        ({"warp_size": 64}, ["warp_size: 64", "32 to 32"]),
        ({"max_threads_per_multiprocessor": 512}, ["max_threads_per_block=1024", "at least one block"]),
        ({"registers_per_multiprocessor": 65536, "registers_per_block": 65537}, ["registers_per_block=65537"]),
        ({"registers_per_multiprocessor": 1024, "registers_per_block": 1024}, ["does not hold such a block"]),
        ({"shared_memory_per_block_optin": 228 * 1024}, ["reserves 1024"]),
        ({"shared_memory_per_block_optin": 1024}, ["shared_memory_per_block=49152"]),
        ({"multiprocessor_groups": (1, 2)}, ["have 3 multiprocessors", "multiprocessors=132"]),
        ({"multiprocessor_groups": ()}, ["clusters"]),
        ({"compute_capability_major": 8}, ["clusters"]),
        ({"l2_cache_size": 0}, ["l2_cache_size=0"]),
        ({"texture_alignment": 100}, ["no power of two"]),
        ({"kernel_latency_ns": 5000}, ["kernel_latency_ns=5000", "minimum_kernel_ns=2000"]),
        ({"graph_kernel_ns": 5000}, ["graph_kernel_ns=5000"]),
        ({"greatest_priority": 1}, ["greatest_priority=1"]),
        ({"max_grid_dim": (1, 2)}, ["three ints"]),
        ({"name": "two\nlines"}, ["on one line"]),
        ({"name": ""}, ["1 to 100"]),
    ],
)  # fmt: skip
def test_models_that_cannot_be_simulated_are_refused_with_the_reason(fields: dict, words: list[str]) -> None:
    with pytest.raises(ValueError, match=r": |=") as caught:
        cs.model("h200", **fields)

    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"copy_engine": 1}, ["copy_engine", "copy_engines"]),
        ({"multiprocessor_count": 1}, ["multiprocessors"]),
        ({"copy_engines": True}, ["copy_engines", "int"]),
        ({"copy_engines": 1.0}, ["copy_engines", "float"]),
        ({"concurrent_kernels": 1}, ["concurrent_kernels", "True or False"]),
        ({"host_to_device_rate": "fast"}, ["host_to_device_rate", "str"]),
        ({"name": 5}, ["name", "str"]),
        ({"source": 5}, ["source", "str"]),
        ({"multiprocessor_groups": 5}, ["multiprocessor_groups", "sequence"]),
        ({"multiprocessor_groups": [1.5]}, ["multiprocessor_groups", "float"]),
    ],
)
def test_wrong_fields_and_types_are_type_errors(fields: dict, words: list[str]) -> None:
    with pytest.raises(TypeError) as caught:
        cs.model("h200", **fields)

    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("base", [None, 5, b"h200", ["h200"]])
def test_a_base_of_another_type_is_a_type_error(base: object) -> None:
    with pytest.raises(TypeError, match="name of a model"):
        cs.model(base)
    with pytest.raises(TypeError, match="name of a model"):
        cs.add_host_device(base)


def test_unknown_names_list_the_models() -> None:
    for function in (cs.model, cs.add_host_device):
        with pytest.raises(ValueError, match="fermi") as caught:
            function("h20")
        assert "Did you mean h200" in str(caught.value)
        with pytest.raises(ValueError, match="there is no device model"):
            function("base=h200\ncopy_engines=0")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v: v.pop("copy_engines"), ["missing fields copy_engines"]),
        (lambda v: v.update(copy_engine=1), ["unknown fields copy_engine", "copy_engines"]),
        (lambda v: v.update(version=2), ["version 2", "version 1"]),
        (lambda v: v.pop("format"), ["no device model"]),
        (lambda v: v.update(copy_engines=-1), ["copy_engines: -1"]),
        (lambda v: v.clear(), ["no device model"]),
    ],
)
def test_a_damaged_file_says_what_is_wrong(change, words: list[str], tmp_path: Path) -> None:
    values = json.loads(cs.model("h200").to_json())
    change(values)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(values))

    with pytest.raises(ValueError, match=r": |=") as caught:
        cs.Model.load(path)

    assert all(word in str(caught.value) for word in [*words, "model.json"]), str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", pytest.param("[" * 100_000, id="deep")])
def test_text_that_is_no_model_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="text: "):
        cs.Model.from_json(text)


def test_the_table_of_the_documentation_is_that_of_the_extension() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "models.md"

    assert _models.field_table() in page.read_text(), "docs/models.md: print(cuscope._models.field_table())"


def test_without_overlap_every_order_takes_the_sum() -> None:
    # Besides the 12 steps, each of the 8 copies has a latency of 12 us: 0.16 of a step.
    assert seconds_of_chunks("no_overlap", "depth") == pytest.approx(12 + 8 * 0.16, rel=0.05)
    assert seconds_of_chunks("no_overlap", "breadth") == pytest.approx(12 + 8 * 0.16, rel=0.05)


def test_the_order_of_issue_matters_on_old_devices_as_the_documents_say() -> None:
    depth = {name: seconds_of_chunks(name, "depth") for name in ("c1060", "fermi", "k20x", "h200")}
    breadth = {name: seconds_of_chunks(name, "breadth") for name in depth}
    serial = {name: seconds_of_chunks(name, "depth", streams=1) for name in depth}

    # One copy engine: in depth-first order each copy out keeps the next copy in waiting.
    assert depth["c1060"] == pytest.approx(serial["c1060"], rel=0.05)
    assert breadth["c1060"] < 0.8 * depth["c1060"]
    # Kernels back to back signal late, so that breadth-first order delays the copies out.
    assert depth["fermi"] < 0.65 * serial["fermi"]
    assert breadth["fermi"] > 1.2 * depth["fermi"]
    # Later devices have queues enough: the order does not matter.
    for name in ("k20x", "h200"):
        assert depth[name] < 0.65 * serial[name]
        assert breadth[name] == pytest.approx(depth[name], rel=0.1)


def test_a_changed_field_changes_the_simulated_time() -> None:
    slow = cs.model("h200", host_to_device_rate=5.58, device_to_host_rate=5.56)

    assert seconds_of_chunks(cs.model("h200", copy_engines=1), "depth") > 1.2 * seconds_of_chunks(
        "h200", "depth"
    )
    assert slow.host_to_device_rate == 5.58


def value_of(field: _models.Field) -> st.SearchStrategy:
    if field.kind == "bool":
        return st.booleans()
    if field.kind == "float":
        return st.floats(field.least, field.most)
    if field.kind == "three ints":
        return st.tuples(*[st.integers(int(field.least), int(field.most))] * 3)
    return st.integers(int(field.least), int(field.most))


# Without the compute capability, for which each kernel would be compiled again.
CHANGEABLE = [
    f for f in _models._fields().values() if f.kind not in ("text", "ints") and "capability" not in f.name
]


@st.composite
def valid_models(draw: st.DrawFn) -> cs.Model:
    base = draw(st.sampled_from(NAMES))
    chosen = draw(st.lists(st.sampled_from(CHANGEABLE), max_size=8, unique_by=lambda f: f.name))
    try:
        return cs.model(base, **{field.name: draw(value_of(field)) for field in chosen})
    except ValueError:
        assume(False)
        raise


def times_of_a_small_program(model: cs.Model) -> list[float]:
    """Streams, events, kernels, copies and a graph; the results are checked, the simulated times returned."""
    gc.collect()  # the release of objects that earlier tests left takes simulated time, too
    with cs.add_host_device(model) as device:
        # A device counts from the host's clock, which only moves on, so all times are differences.
        begin = cs.clock()
        source = "__global__ void add(int* x, int v) { for (int i = threadIdx.x; i < 32; i += blockDim.x) x[i] += v; }"
        kernel = cs.Module(source).add
        block = min(32, model.max_block_dim[0], model.max_threads_per_block)  # a model may allow one thread
        streams = [cs.Stream(), cs.Stream(non_blocking=True), cs.Stream(priority=-1)]
        host = cs.pinned_empty(32, np.int32)
        host[:] = np.arange(32)
        arrays, events = [], [cs.Event().record(streams[0])]
        for i, stream in enumerate(streams):
            x = cs.empty(32, np.int32, stream=stream)
            x.copy_from(host, stream=stream)
            kernel[1, block, stream](x, i)
            stream.wait(events[-1])
            kernel.launch(x, 1, grid=1, block=block, stream=stream, duration=1e-5)
            events.append(stream.record())
            arrays.append(x)
        with streams[1].capture() as graph:
            kernel[1, block, streams[1]](arrays[1], 5)
        graph.instantiate().launch(streams[1])
        device.synchronize()
        results = [x.to_host() for x in arrays]
        for i, result in enumerate(results):
            assert result.tolist() == list(range(i + 1 + 5 * (i == 1), 33 + i + 5 * (i == 1)))
        times = [e - events[0] for e in events[1:]]
        return [*times, round((cs.clock() - begin) * 1e9)]


@settings(max_examples=20, deadline=None)
@given(valid_models())
@example(cs.model("h200", max_block_dim=(1, 1, 1)))
def test_random_models_run_a_program_and_take_the_same_time_again(model: cs.Model) -> None:
    times_of_a_small_program(
        model
    )  # also releases objects that earlier tests left, which takes simulated time
    first = times_of_a_small_program(model)

    assert times_of_a_small_program(model) == first
