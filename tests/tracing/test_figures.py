"""The figures of the documents: what overlaps, what does not, and what starts when what ends, in simulated nanoseconds."""

import numpy as np
import pytest

import cuscope as cs
from cuscope import figures
from cuscope.figures.program import COPY

MODELS = ("c1060", "fermi", "k20x", "h200")
CONCURRENT = ("fermi", "k20x", "h200")  # kernels run at the same time
MS = 1_000_000


def work(t, name, stream=None):
    """The spans of this name, in the order of their starts."""
    chosen = (t.spans["name"] == name) & (t.spans["device"] != "")
    if stream is not None:
        chosen &= t.spans["stream"] == stream
    return t.spans[chosen]


def only(t, name, stream=None):
    [span] = work(t, name, stream)
    return span


def call(t, span):
    """The runtime call that issued it."""
    return t.spans[span["call"]]


def chunk(t, stream):
    """The copy in, the kernel and the copy out of a stream with one chunk."""
    return only(t, "host to device", stream), only(t, "kernel", stream), only(t, "device to host", stream)


def took(span):
    return span["end"] - span["start"]


def engine_free(model, copy):
    """When the engine has moved the bytes of a copy and takes the next one; the copy may end a little later."""
    return copy["end"] - cs.model(model).copy_finish_ns


@pytest.mark.parametrize("model", MODELS)
def test_one_stream_does_one_thing_after_the_other(model):
    t = figures.one_stream(model, chunks=3)

    steps = t.spans[t.spans["device"] == model]
    assert steps["name"].tolist() == ["host to device", "kernel", "device to host"] * 3
    assert (steps["start"][1:] == steps["end"][:-1]).all()
    assert set(steps["stream"].tolist()) == {1}
    assert steps["start"][0] == call(t, steps[0])["end"] + cs.model(model).submit_latency_ns


@pytest.mark.parametrize("model", MODELS)
def test_the_steps_of_all_models_take_a_similar_time(model):
    copied_in, computed, copied_out = chunk(figures.one_stream(model, chunks=1), 1)

    assert took(computed) == COPY
    assert abs(took(copied_in) - COPY) < 0.1 * COPY
    assert abs(took(copied_out) - COPY) < 0.1 * COPY


@pytest.mark.parametrize("order", [figures.depth_first, figures.breadth_first])
@pytest.mark.parametrize("model", MODELS)
def test_chunks_run_in_the_order_of_their_stream(model, order):
    t = order(model)

    for stream in (1, 2):
        copied_in, computed, copied_out = chunk(t, stream)
        assert computed["start"] >= copied_in["end"]
        assert copied_out["start"] >= computed["end"]


def test_one_copy_engine_and_depth_first_order_overlap_nothing():
    t = figures.depth_first("c1060")

    steps = t.spans[t.spans["device"] == "c1060"]
    assert (steps["start"][1:] == steps["end"][:-1]).all()
    assert steps["stream"].tolist() == [1, 1, 1, 2, 2, 2]
    assert t.duration == figures.one_stream("c1060").duration


def test_one_copy_engine_and_breadth_first_order_copy_in_while_a_kernel_runs():
    t = figures.breadth_first("c1060")

    (in_1, kernel_1, out_1), (in_2, _, out_2) = chunk(t, 1), chunk(t, 2)
    assert kernel_1["start"] == in_1["end"]
    assert in_2["start"] == in_1["end"]
    assert out_1["start"] == in_2["end"]  # the engine was busy; its kernel had ended before
    assert out_1["start"] > kernel_1["end"]
    assert out_2["start"] == out_1["end"]
    assert t.overlap(1, "kernel") > 0.3
    assert t.duration < figures.depth_first("c1060").duration - COPY


@pytest.mark.parametrize("model", ["fermi", "k20x", "h200"])
def test_two_copy_engines_and_depth_first_order_copy_in_while_a_kernel_runs_and_out_while_the_next_runs(
    model,
):
    t = figures.depth_first(model)

    (in_1, kernel_1, out_1), (in_2, kernel_2, out_2) = chunk(t, 1), chunk(t, 2)
    assert in_2["start"] == engine_free(model, in_1) < kernel_1["end"]
    assert kernel_1["start"] == in_1["end"]
    assert kernel_2["start"] == in_2["end"]
    assert out_1["start"] == kernel_1["end"]
    assert out_1["end"] > kernel_2["start"]
    assert out_2["start"] == max(engine_free(model, out_1), kernel_2["end"])
    assert t.duration < 0.75 * figures.one_stream(model).duration


def test_fermi_sees_the_end_of_a_kernel_behind_which_it_has_another_one_late():
    depth, breadth = figures.depth_first("fermi"), figures.breadth_first("fermi")

    (_, kernel_1, out_1), (_, kernel_2, out_2) = chunk(breadth, 1), chunk(breadth, 2)
    assert out_1["start"] == kernel_2["end"] > kernel_1["end"]
    assert out_2["start"] == out_1["end"]
    assert breadth.duration > depth.duration + 0.9 * COPY


@pytest.mark.parametrize("model", ["k20x", "h200"])
def test_with_many_queues_the_order_of_issue_does_not_matter(model):
    depth, breadth = figures.depth_first(model), figures.breadth_first(model)

    for name in ("host to device", "kernel", "device to host"):
        for column in ("stream", "start", "end"):
            assert np.array_equal(work(depth, name)[column], work(breadth, name)[column])


@pytest.mark.parametrize("order", [figures.depth_first, figures.breadth_first])
@pytest.mark.parametrize("model", ["k20x", "h200"])
def test_long_kernels_of_two_streams_overlap(model, order):
    t = order(model, kernel=2)

    kernel_1, kernel_2 = work(t, "kernel")
    assert kernel_2["start"] == only(t, "host to device", 2)["end"] < kernel_1["end"]


@pytest.mark.parametrize("order", [figures.depth_first, figures.breadth_first])
def test_on_a_device_without_concurrent_kernels_the_second_kernel_waits_for_the_first(order):
    kernel_1, kernel_2 = work(order("c1060", kernel=2), "kernel")

    assert kernel_2["start"] >= kernel_1["end"]


def test_more_chunks_keep_the_engines_of_a_new_device_busy():
    t = figures.depth_first("h200", chunks=8)

    copies = work(t, "host to device")
    assert copies["stream"].tolist() == [1, 2] * 4
    # A stream copies its next chunk in when its last one is out: three steps a chunk, on two streams.
    assert t.duration < 0.6 * figures.one_stream("h200", chunks=8).duration


@pytest.mark.parametrize("model", ["k20x", "h200"])
def test_four_streams_make_the_staircase_of_the_documents(model):
    t = figures.depth_first(model, chunks=4, streams=4)

    for stream in (1, 2, 3):
        (copied_in, kernel, _), (next_in, _, next_out) = chunk(t, stream), chunk(t, stream + 1)
        assert next_in["start"] == engine_free(model, copied_in)
        assert kernel["start"] == copied_in["end"]
        assert next_out["start"] > only(t, "device to host", stream)["start"]


def test_there_is_at_least_one_chunk_and_one_stream():
    with pytest.raises(ValueError, match="chunks: 0; there is at least one"):
        figures.one_stream(chunks=0)
    with pytest.raises(ValueError, match="streams: 0; there is at least one"):
        figures.breadth_first(streams=0)


@pytest.mark.parametrize("streams", ["default", "default and created"])
@pytest.mark.parametrize("model", MODELS)
def test_kernels_with_the_default_stream_follow_each_other(model, streams):
    first, second = work(figures.half_kernels(model, streams=streams), "kernel")

    assert (took(first), took(second)) == (MS, MS)
    assert second["start"] == first["end"]
    assert first["stream"] == 0


@pytest.mark.parametrize("streams", ["default and non-blocking", "two created"])
@pytest.mark.parametrize("model", CONCURRENT)
def test_kernels_on_streams_that_do_not_wait_for_each_other_overlap(model, streams):
    t = figures.half_kernels(model, streams=streams)

    for kernel in work(t, "kernel"):
        assert kernel["start"] == call(t, kernel)["end"] + cs.model(model).submit_latency_ns
        assert took(kernel) == MS


@pytest.mark.parametrize("streams", ["default and non-blocking", "two created"])
def test_a_device_without_concurrent_kernels_runs_one_at_a_time_on_any_streams(streams):
    first, second = work(figures.half_kernels("c1060", streams=streams), "kernel")

    assert second["start"] == first["end"]


@pytest.mark.parametrize("model", MODELS)
def test_the_call_of_a_page_locked_copy_returns_before_the_copy(model):
    t = figures.host_memory(model)

    copy, kernel = only(t, "host to device"), only(t, "kernel")
    assert not copy["pageable"]
    assert call(t, copy)["end"] < copy["start"]
    assert kernel["start"] == call(t, kernel)["end"] + cs.model(model).submit_latency_ns < copy["end"]


@pytest.mark.parametrize("model", MODELS)
def test_the_call_of_a_pageable_copy_ends_after_the_copy_which_is_slower(model):
    t = figures.host_memory(model, pageable=True)

    copy, kernel = only(t, "host to device"), only(t, "kernel")
    assert copy["pageable"]
    assert call(t, copy)["end"] == copy["end"] + cs.model(model).wake_up_ns
    assert call(t, kernel)["start"] == call(t, copy)["end"]
    assert kernel["start"] == call(t, kernel)["end"] + cs.model(model).submit_latency_ns
    assert took(copy) > 1.5 * took(only(figures.host_memory(model), "host to device"))


@pytest.mark.parametrize("model", MODELS)
def test_after_a_synchronous_copy_the_host_issues_the_kernel(model):
    t = figures.copy_and_kernel(model, copy="synchronous")

    copy, kernel = only(t, "host to device"), only(t, "kernel")
    wait = t.spans[t.spans["name"] == "cudaStreamSynchronize"][0]
    assert wait["end"] == copy["end"] + cs.model(model).wake_up_ns
    assert call(t, kernel)["start"] == wait["end"]
    assert kernel["start"] > copy["end"] + cs.model(model).wake_up_ns


@pytest.mark.parametrize("model", MODELS)
def test_behind_a_copy_in_the_same_stream_the_kernel_starts_at_its_end(model):
    t = figures.copy_and_kernel(model, copy="same stream")

    copy, kernel = only(t, "host to device"), only(t, "kernel")
    assert kernel["start"] == copy["end"]
    assert call(t, kernel)["end"] < copy["end"]  # the host did not wait


@pytest.mark.parametrize("model", MODELS)
def test_beside_a_copy_in_another_stream_the_kernel_starts_at_once(model):
    t = figures.copy_and_kernel(model, copy="different streams")

    copy, kernel = only(t, "host to device"), only(t, "kernel")
    assert kernel["start"] == call(t, kernel)["end"] + cs.model(model).submit_latency_ns
    assert copy["start"] < kernel["start"] < copy["end"]


@pytest.mark.parametrize(
    ("operation", "name"),
    [("memset", "memset"), ("copy on device", "device to device"), ("default stream", "kernel")],
)
@pytest.mark.parametrize("model", MODELS)
def test_an_operation_of_the_default_stream_stands_between_the_kernels_of_two_streams(model, operation, name):
    t = figures.implicit_synchronization(model, operation=operation)

    first, second = only(t, "kernel", 1), only(t, "kernel", 2)
    between = only(t, name, 0)
    assert between["start"] == first["end"]
    assert second["start"] == between["end"]


@pytest.mark.parametrize(
    "operation", ["none", "page-locked allocation", "device allocation", "shared memory configuration"]
)
@pytest.mark.parametrize("model", CONCURRENT)
def test_an_operation_without_work_for_the_device_keeps_no_kernel_waiting(model, operation):
    t = figures.implicit_synchronization(model, operation=operation)

    first, second = only(t, "kernel", 1), only(t, "kernel", 2)
    assert second["start"] == call(t, second)["end"] + cs.model(model).submit_latency_ns < first["end"]


@pytest.mark.parametrize("model", ["k20x", "h200"])
def test_waiting_blocks_of_the_greater_priority_go_first(model):
    t = figures.priorities(model)

    large, small = only(t, "kernel", 1), only(t, "kernel", 2)
    assert t.streams[2]["priority"] < t.streams[1]["priority"]
    assert small["start"] == large["start"] + COPY  # a quarter of the blocks has ended
    assert small["end"] == small["start"] + COPY
    assert large["end"] > large["start"] + 4 * COPY  # it gave some of its places away


@pytest.mark.parametrize("model", ["k20x", "h200"])
def test_without_a_priority_all_blocks_of_the_first_kernel_go_first(model):
    t = figures.priorities(model, prioritized=False)

    large, small = only(t, "kernel", 1), only(t, "kernel", 2)
    assert t.streams[2]["priority"] == t.streams[1]["priority"]
    assert took(large) == 4 * COPY
    assert small["start"] == large["end"]


@pytest.mark.parametrize("model", ["fermi", "c1060"])
def test_devices_without_priorities_ignore_them(model):
    assert figures.priorities(model) == figures.priorities(model, prioritized=False)


def test_a_dependent_kernel_starts_at_the_trigger_and_waits_for_the_end():
    t = figures.dependent_launch()

    primary, secondary = only(t, "primary"), only(t, "secondary")
    assert primary["start"] + 100_000 <= secondary["start"] < primary["start"] + 105_000
    # Its second part takes 100 us, after the end of the first kernel.
    assert primary["end"] + 100_000 <= secondary["end"] < primary["end"] + 105_000


def test_without_the_attribute_the_second_kernel_starts_at_the_end_of_the_first():
    t = figures.dependent_launch(programmatic=False)

    primary, secondary = only(t, "primary"), only(t, "secondary")
    assert secondary["start"] == primary["end"]
    assert took(secondary) > 180_000


def test_the_nodes_of_a_graph_run_when_the_nodes_before_them_have_ended():
    t = figures.graph_beside_stream()

    [graph] = np.flatnonzero(t.spans["kind"] == "graph")
    copied_in, *kernels, copied_out = t.spans[t.spans["graph"] == graph]
    assert [kernel["start"] for kernel in kernels] == [copied_in["end"]] * 2
    assert copied_out["start"] == max(kernel["end"] for kernel in kernels)
    assert t.spans["end"][graph] == copied_out["end"]


def test_a_stream_does_not_wait_for_a_graph_beside_it():
    t = figures.graph_beside_stream()

    beside = only(t, "kernel", 2)
    assert beside["start"] == call(t, beside)["end"] + cs.model("h200").submit_latency_ns
    assert beside["start"] < only(t, "host to device")["end"]
    assert took(beside) == 3 * COPY


def every_figure():
    yield figures.one_stream()
    yield figures.depth_first("fermi")
    yield figures.breadth_first("c1060")
    yield figures.half_kernels(streams="default and created")
    yield figures.host_memory(pageable=True)
    yield figures.copy_and_kernel()
    yield figures.implicit_synchronization(operation="device allocation")
    yield figures.priorities()
    yield figures.dependent_launch()
    yield figures.graph_beside_stream()


def test_a_figure_is_the_same_whatever_the_process_did_before():
    first = list(every_figure())
    with cs.add_host_device("h200"):
        cs.Stream(non_blocking=True)

    again = list(every_figure())

    assert first == again
    assert [t.svg() for t in first] == [t.svg() for t in again]


def test_a_figure_leaves_the_current_device_and_other_traces_alone():
    before = cs.current_device()
    with cs.trace() as t:
        inner = figures.one_stream(chunks=1)

    assert cs.current_device() == before
    assert len(inner.spans) < len(t.spans)


def test_the_work_of_other_devices_is_not_part_of_a_figure():
    with cs.Device("host:0"):
        kernel = cs.Module("__global__ void other() {}").other
        stream = cs.Stream()
        kernel.launch(grid=1, block=1, stream=stream, duration=10)

        t = figures.one_stream(chunks=1)

        stream.synchronize()
    assert len(work(t, "other")) == 0
    assert set(t.devices) == set(t.spans["device"].tolist()) - {""} == {"h200"}


@pytest.mark.parametrize("name", figures.__all__)
def test_figures_take_models_and_refuse_unknown_ones(name):
    figure = getattr(figures, name)
    mine = cs.model("h200", name="mine", multiprocessors=20)

    assert set(figure(mine).devices) == {"mine"}
    with pytest.raises(ValueError, match="there is no device model"):
        figure("h2000")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: figures.half_kernels(streams="three"), ["streams: 'three'", "'two created'"]),
        (lambda: figures.copy_and_kernel(copy="fast"), ["copy: 'fast'", "'same stream'"]),
        (lambda: figures.implicit_synchronization(operation="free"), ["operation: 'free'", "'memset'"]),
    ],
)
def test_unknown_variants_list_the_known_ones(make, words):
    with pytest.raises(ValueError, match="is not allowed") as caught:
        make()

    assert all(word in str(caught.value) for word in words)


@pytest.mark.subprocess
def test_figures_are_imported_when_they_are_asked_for(run_python):
    done = run_python(
        "import sys, cuscope as cs; print('cuscope.figures' in sys.modules, len(cs.figures.one_stream()) > 0)"
    )

    assert done.stdout.split() == ["False", "True"]
