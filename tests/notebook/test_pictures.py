"""The pictures of objects in notebooks: HTML that tells the state of an object, and changes nothing."""

from __future__ import annotations

import re
import threading
from html import unescape

import numpy as np
import pytest

import cuscope as cs
from cuscope import _core
from package.object_states import OBJECTS, SIMULATED_ONLY, World
from support import MS, forks_with_threads, module, spin


def text_of(thing) -> str:
    """The text that a reader sees."""
    html = thing._repr_html_()
    assert html is not None
    return unescape(re.sub(r"<(style|title)>.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL))


def show(thing) -> object:
    """As a notebook shows it."""
    html = getattr(type(thing), "_repr_html_", None)
    shown = None if html is None or isinstance(thing, np.ndarray) else html(thing)
    return shown or repr(thing)


def values_in(thing) -> str:
    (found,) = re.findall(r"<pre>(.*)</pre>", thing._repr_html_(), re.DOTALL)
    return unescape(found)


def done(array: cs.DeviceArray) -> cs.DeviceArray:
    array.device.synchronize()
    return array


# Arrays


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.int16).reshape(3, 4),
        np.array(2.5),
        np.array([True, False]),
        np.array([1 + 2j, np.nan], np.complex64),
        np.array([(1, 2.5)], [("a", np.int8), ("b", np.float64)]),
        np.linspace(0, 1, 40).reshape(2, 4, 5),
    ],
    ids=lambda array: str(array.dtype),
)
def test_a_small_array_shows_its_values_as_numpy_does(device, array):
    assert values_in(done(cs.to_device(array))) == np.array2string(array, threshold=1000)


def test_an_array_shows_dtype_shape_strides_and_device(device):
    text = text_of(done(cs.zeros((3, 4), np.int16))[:, ::2])

    assert all(part in text for part in ("int16", "(3, 2)", "(8, 4)", "with gaps", device.name, "12 bytes"))


@pytest.mark.parametrize(
    "cut",
    [lambda x: x[::-1, ::-2], lambda x: x.T, lambda x: x[1:, None, 3], lambda x: x[2, 3], lambda x: x[5:5]],
)
def test_views_show_their_own_elements(device, cut):
    array = np.arange(56, dtype=np.float32).reshape(8, 7)

    assert values_in(cut(done(cs.to_device(array)))) == np.array2string(cut(array))


@pytest.mark.parametrize("shape", [(1000,), (300, 400), (5, 1000), (40, 50, 60), (7, 8, 9, 10)])
def test_a_large_array_shows_its_corners_as_numpy_does(device, shape):
    array = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    edge = next(e for e in (3, 2, 1) if np.prod([min(n, 2 * e) for n in shape]) <= 200)

    assert values_in(done(cs.to_device(array))) == np.array2string(array, threshold=0, edgeitems=edge)


def test_only_the_corners_of_a_large_array_are_read(device, monkeypatch):
    array, read = done(cs.zeros((4096, 4096))), []
    peek = _core.peek
    monkeypatch.setattr(_core, "peek", lambda x, offsets: read.append(offsets) or peek(x, offsets))

    assert "0." in values_in(array)

    assert [len(offsets) for offsets in read] == [36]


@pytest.mark.parametrize(
    "make",
    [
        lambda: cs.zeros(8),
        lambda: cs.MemoryPool().empty(8),
        lambda: cs.empty_plain(8),
        lambda: cs.empty_pitched((2, 4)),
        lambda: cs.empty_managed(8),
        lambda: cs.device_view(cs.pinned_empty(8, mapped=True)),
    ],
)
def test_memory_of_every_kind_is_shown(device, make):
    array = make()
    array.fill(3)
    device.synchronize()

    assert values_in(array).count("3.") == 8


def test_variables_of_modules_are_shown(device):
    mod = cs.Module("__constant__ int table[3] = {5, 6, 7}; __global__ void k() { }")

    assert values_in(mod.symbol("table", np.int32)) == "[5 6 7]"


def test_types_of_ml_dtypes_are_shown(device):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")

    assert values_in(done(cs.full(2, 1.5, ml_dtypes.bfloat16))) == "[1.5 1.5]"


def test_an_array_with_a_pending_producer_says_pending_and_waits_for_nothing(device):
    x, s = done(cs.zeros(4)), cs.Stream(non_blocking=True)
    spin(device, 50 * MS, s)
    x.fill(1, stream=s)

    text = text_of(x)

    assert "pending" in text
    assert "1." not in text
    assert s.query() is False
    s.synchronize()
    assert values_in(x) == "[1. 1. 1. 1.]"


@pytest.mark.parametrize("which", ["default_stream", "per_thread_stream"])
def test_work_of_the_default_streams_is_pending_too(device, which):
    x, s = done(cs.zeros(4)), getattr(device, which)
    spin(device, 50 * MS, s)
    x.fill(1, stream=s)

    array, stream = text_of(x), text_of(s)
    s.synchronize()

    assert "pending" in array
    assert "in flight" in stream
    assert "done" in text_of(s)


def test_work_of_the_per_thread_stream_of_another_thread_is_pending(device):
    if not device.simulated:
        pytest.skip("a GPU does not tell")
    x = done(cs.zeros(4))

    def work():
        spin(device, 50 * MS, device.per_thread_stream)
        x.fill(1, stream=device.per_thread_stream)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert "pending" in text_of(x)
    assert "done" in text_of(device.per_thread_stream)
    device.synchronize()
    assert values_in(x) == "[1. 1. 1. 1.]"


def test_elements_that_are_too_large_are_left_out(device):
    x = done(cs.zeros(3, np.dtype((np.void, 100_000))))

    assert "too large to be shown" in text_of(x)


def test_the_values_of_an_array_of_a_graph_are_not_read(device):
    _, x = cs.Graph().add_alloc(4)

    assert "belongs to a graph" in text_of(x)


# Streams


def test_waits_of_a_capture_are_no_commands_of_its_streams(device):
    first, second = cs.Stream(), cs.Stream()
    with first.capture():
        second.wait(first)
        first.wait(second)

    assert "last command" not in text_of(first)
    assert "last command" not in text_of(second)


def test_a_stream_is_done_or_has_work_and_tells_its_last_command(device):
    mod, s, x = module(device), cs.Stream(), done(cs.zeros(1000))
    assert "done" in text_of(s)
    assert "last command" not in text_of(s)
    spin(device, 50 * MS, s)
    x.fill(1, stream=s)

    working = text_of(s)
    s.synchronize()
    mod.nothing[2, 32, s]()
    s.synchronize()
    after = text_of(s)

    assert "in flight" in working
    assert "spin<<<1, 1>>>" in working
    assert re.search(r"last command\s+memset of 3\.9 KiB", working), working
    assert "done" in after
    assert "nothing<<<2, 32>>>" in after


def test_a_captured_stream_says_so_and_the_capture_goes_on(device):
    s, x = cs.Stream(), done(cs.zeros(4))
    with s.capture() as graph:
        x.fill(1, stream=s)
        assert "being captured" in text_of(s)
    assert len(graph.nodes) == 1


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
@pytest.mark.parametrize("name", OBJECTS)
def test_no_picture_disturbs_a_capture(device, name, mode):
    if name in SIMULATED_ONLY and not device.simulated:
        pytest.skip(f"a GPU has no {name}")
    thing, x, s = OBJECTS[name](World()), done(cs.zeros(4)), cs.Stream()

    with s.capture(mode) as graph:
        x.fill(1, stream=s)
        assert show(thing)
        assert show(x)
        assert show(s)
        x.fill(2, stream=s)

    assert [node.type for node in graph.nodes] == ["memset", "memset"]
    graph.instantiate().launch(s)
    s.synchronize()
    assert values_in(x) == "[2. 2. 2. 2.]"


# Events


def test_an_event_tells_whether_and_when_it_happened(device):
    s, e = cs.Stream(), cs.Event()
    assert "never recorded" in text_of(e)
    spin(device, 50 * MS, s)
    e.record(s)

    pending = text_of(e)
    e.synchronize()
    happened = text_of(e)

    assert "has not happened yet" in pending
    assert "happened" in happened
    if device.simulated:
        first = cs.Event().record(s)
        first.synchronize()
        (at,) = re.findall(r"cs\.clock\(\) = ([\d.]+)", happened)
        assert float(at) <= cs.clock()
        cs.host_work(3 * MS)
        (ago,) = re.findall(r"([\d,.]+) µs ago", text_of(first))
        assert float(ago.replace(",", "")) >= 3000


def test_an_event_of_a_capture_says_so(device):
    s, e = cs.Stream(), cs.Event()
    with s.capture():
        e.record(s)
        assert "recorded in a capture" in text_of(e)


# Other objects


def test_a_device_shows_multiprocessors_memory_and_engines(device):
    text = text_of(device)
    properties = device.properties

    assert all(
        part in text
        for part in (
            device.name,
            device.model,
            "multiprocessors",
            str(properties.multiprocessor_count),
            "copy engines",
            "GiB",
        )
    )
    assert ("simulated" in text) is device.simulated


def test_a_pool_shows_its_use(device):
    pool = cs.MemoryPool(limit=64 << 20)
    x = pool.empty(1 << 20)

    assert re.search(r"in use\s+4 MiB", text_of(pool))
    assert "64 MiB" in text_of(pool)
    x.close()
    pool.close()
    assert "closed" in text_of(pool)


def test_modules_and_kernels_show_signatures(device):
    mod = cs.Module(
        "template <class T> __global__ void scale(T* x, T by) { } __global__ void add(const int* x) { }",
        name_expressions=["scale<float>"],
    )

    text = text_of(mod)
    assert "scale<float>" in text
    assert re.search(r"add\s*\(", text)
    assert "block" in text_of(mod.add)
    assert mod._ipython_key_completions_() == list(mod.kernels)


def test_a_graph_is_drawn_within_the_page_and_its_executable_is_a_card(device):
    graph = cs.Graph()
    graph.add_memset(done(cs.zeros(4)), 0)

    assert graph._repr_html_().startswith("<div><svg")
    assert "memset" in text_of(graph)
    assert "ready to launch" in text_of(graph.instantiate())


def test_a_trace_that_is_still_recording_has_no_picture(device):
    with cs.trace() as t:
        assert t._repr_html_() is None
        assert t._repr_svg_() is None
        assert "Trace" in show(t)


def test_values_are_a_table(device):
    text = text_of(device.properties)

    assert re.search(rf"multiprocessor_count\s+{device.properties.multiprocessor_count}\s", text)


# Nothing changes


@pytest.mark.parametrize("name", OBJECTS)
def test_a_picture_takes_no_simulated_time_and_no_trace_has_it(device, name):
    if not device.simulated:
        pytest.skip("the time of a GPU goes on")
    thing = OBJECTS[name](World())
    device.synchronize()
    before = cs.clock()
    cost = cs.clock() - before

    with cs.trace(wait=False) as t:
        before = cs.clock()
        assert show(thing)
        after = cs.clock()

    assert after - before == pytest.approx(cost, abs=1e-12)
    assert t.spans["name"].tolist() == []


def test_pictures_in_a_host_function_neither_fail_nor_wait(device):
    world, s = World(), cs.Stream()
    things = [make(world) for name, make in OBJECTS.items() if device.simulated or name not in SIMULATED_ONLY]
    failures = []

    def look():
        for thing in things:
            try:
                show(thing)
            except Exception as error:
                failures.append((thing, error))

    s.host_function(look)
    s.synchronize()

    assert failures == []


def test_pictures_can_be_made_by_several_threads(device):
    x, s = done(cs.zeros(100)), cs.Stream()
    failures = []

    def look():
        for _ in range(50):
            text = text_of(x)
            if not any(words in text for words in ("0.", "another thread", "pending")):
                failures.append(text)
            text_of(s)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


@pytest.mark.subprocess
def test_objects_of_a_lost_device_say_so(device, run_python):
    done = run_python(
        """
        import re
        import cuscope as cs
        mod = cs.Module("__global__ void wild(int* p) { p[1LL << 40] = 1; }")
        x, s = cs.zeros(1, "i4"), cs.Stream()
        e = s.record()
        mod.wild[1, 1](x)
        try:
            cs.synchronize()
        except cs.CudaError:
            pass
        for thing in (x, s, e):
            print(re.search("[a-z ]*lost[a-z ]*", thing._repr_html_())[0].strip())
        """
    )

    assert done.stdout.splitlines() == ["its device is lost by an error"] * 3, done.stderr


@pytest.mark.subprocess
def test_objects_after_a_reset_say_so(device, run_python):
    done = run_python(
        """
        import re
        import cuscope as cs
        x, s, e = cs.zeros(1), cs.Stream(), cs.Event()
        cs.current_device().reset()
        for thing in (x, s, e):
            print(re.search("its device was reset", thing._repr_html_())[0])
        """
    )

    assert done.stdout.splitlines() == ["its device was reset"] * 3, done.stderr


@pytest.mark.subprocess
@forks_with_threads
def test_a_forked_child_knows_no_state(device, run_python):
    done = run_python(
        """
        import os, re, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: fork with threads
        import cuscope as cs
        x, s, e = cs.zeros(1), cs.Stream(), cs.Event()
        child = os.fork()
        if child == 0:
            for thing in (x, s, e, cs.current_device()):
                print(re.search("state unknown|not to be read from here", thing._repr_html_())[0], flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        """
    )

    assert done.stdout.splitlines() == [
        "not to be read from here",
        "state unknown",
        "state unknown",
        "state unknown",
    ], done.stderr


# Hostile names

HOSTILE = "<hostile onclick='x()'>&\"</td></script><script>"


def test_names_are_escaped(device):
    def function():
        pass

    function.__name__ = function.__qualname__ = HOSTILE
    x = done(cs.zeros(2, np.dtype([(HOSTILE, np.int8)])))
    s, wait = cs.Stream(non_blocking=True), threading.Event()
    s.host_function(wait.wait, 100)
    s.host_function(function)
    x.fill((1,), stream=s)
    try:
        for thing in (s, x, cs.pending(device)):
            assert "<hostile" not in thing._repr_html_()
            assert "<script" not in thing._repr_html_()
    finally:
        wait.set()
        s.synchronize()
    assert "<hostile" not in x._repr_html_()


def test_names_of_models_are_escaped():
    d = cs.add_host_device(cs.model("h200", name="<hostile>&amp;"))

    assert "<hostile>&amp; model" in text_of(d)


def test_a_card_escapes_its_parts():
    from cuscope._display.cards import card

    html = card(HOSTILE, [(HOSTILE, HOSTILE)], about=HOSTILE, state=("#000", HOSTILE))

    assert "<hostile" not in html
    assert "<script" not in html
    assert html.count("&lt;hostile") == 5
