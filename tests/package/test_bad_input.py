"""Wrong arguments: the error names the argument, its value and the allowed values, and nothing has changed.

Arguments of one class of objects (kernels, shapes, files of the cache) are tested with that class; this file has the
common ones.
"""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from cuscope import _core
from support import module

pytestmark = pytest.mark.counts_memory

HUGE = 10**30


@pytest.fixture
def unchanged(device, contract, settled):
    """After the test the device has as much memory as before, no error is left over, and the device still works."""
    # A failing allocation, as in some of these tests, makes all pools give back the memory that they keep.
    assert contract.malloc(2**63)[0] == "cudaErrorMemoryAllocation"
    contract.get_last_error()
    before = device.memory_info()
    yield
    settled()
    after = device.memory_info()
    assert after.total == before.total
    # A GPU's free memory also changes by the memory that the driver keeps for itself.
    assert after.free == pytest.approx(before.free, rel=0, abs=0 if device.simulated else 8 << 20)
    assert contract.peek_at_last_error() == "cudaSuccess"
    assert cs.to_device(np.arange(3)).to_host().tolist() == [0, 1, 2]


TYPES = [
    value for value in vars(_core).values() if isinstance(value, type) and not issubclass(value, Exception)
]


@pytest.mark.parametrize("inherited", [False, True], ids=["itself", "a subclass"])
@pytest.mark.parametrize("type_", TYPES, ids=lambda t: t.__name__)
def test_an_object_that_was_never_initialised_is_refused(type_, inherited):
    made = type("Sub", (type_,), {}) if inherited else type_
    another = next(t for t in TYPES if t is not type_)

    with pytest.raises(TypeError, match="is not safe"):
        made.__new__(made)
    with pytest.raises(TypeError):
        another.__new__(made)
    with pytest.raises(TypeError):
        made.__new__(int)


def test_a_type_may_have_a_subclass(device):
    class Named(cs.Stream):
        name = "first"

    stream = Named(non_blocking=True)
    assert stream.query()
    assert (stream.name, repr(stream)) == ("first", repr(cs.as_stream(stream)))


REFUSED = {
    # a wrong type
    "Stream(priority='high')": (lambda d: cs.Stream(priority="high"), TypeError, "priority"),
    "Stream(priority=1.5)": (
        lambda d: cs.Stream(priority=1.5),
        TypeError,
        "priority: takes an int, not float",
    ),
    "Stream(device=0)": (lambda d: cs.Stream(device=0), TypeError, "device: takes a Device"),
    "Event(device='x')": (lambda d: cs.Event(device="x"), TypeError, "cuscope.Device('x')"),
    "record(3)": (lambda d: cs.Stream().record(3), TypeError, "event: takes an Event"),
    "Module(b'')": (lambda d: cs.Module(b""), TypeError, "source: takes a str, not bytes"),
    "Module(options='-DN')": (lambda d: cs.Module("", options="-DN"), TypeError, "options: takes a sequence"),
    "Module(options=[3])": (lambda d: cs.Module("", options=[3]), TypeError, "options"),
    "Module(name_expressions='f')": (
        lambda d: cs.Module("", name_expressions="f"),
        TypeError,
        "name_expressions: takes a sequence",
    ),
    "with 5": (lambda d: cs.set_device(5), TypeError, ""),
    "set_device(None)": (lambda d: cs.set_device(None), TypeError, ""),
    "synchronize('all')": (lambda d: cs.synchronize("all"), TypeError, "device: takes a Device"),
    "zeros(stream=1)": (lambda d: cs.zeros(3, stream=1), TypeError, "stream: takes a Stream"),
    "to_device(None)": (lambda d: cs.to_device(None), (TypeError, ValueError), ""),
    "to_device(dict)": (lambda d: cs.to_device({}), (TypeError, ValueError), ""),
    "empty_like(5)": (lambda d: cs.empty_like(object()), TypeError, ""),
    "zeros(b'ab')": (lambda d: cs.zeros(b"ab"), TypeError, "bytes"),
    "full(None)": (lambda d: cs.full(2, None), TypeError, "None"),
    "full('a')": (lambda d: cs.full(2, "a"), TypeError, "'a'"),
    "Device(None)": (lambda d: cs.Device(None), TypeError, "device"),
    "occupancy('a')": (lambda d: module(d).nothing.occupancy("a"), TypeError, "block"),
    "kernel()": (lambda d: module(d).nothing(), TypeError, "nothing[grid, block]"),
    "max_dynamic_shared='a'": (
        lambda d: setattr(module(d).nothing, "max_dynamic_shared", "a"),
        TypeError,
        "max_dynamic_shared",
    ),
    # a wrong value
    "empty(-1)": (lambda d: cs.empty(-1), ValueError, "-1"),
    "empty((3, -2))": (lambda d: cs.empty((3, -2)), ValueError, "-2"),
    "empty(huge)": (lambda d: cs.empty(HUGE), (ValueError, OverflowError, MemoryError), ""),
    "pinned_empty(-1)": (lambda d: cs.pinned_empty(-1), ValueError, "-1"),
    "pinned_empty(huge)": (lambda d: cs.pinned_empty(1 << 50), (ValueError, MemoryError), ""),
    "set_limit(huge)": (
        lambda d: d.set_limit("stack_size", HUGE),
        (ValueError, OverflowError, TypeError),
        "stack_size",
    ),
    "limit('')": (lambda d: d.limit(""), ValueError, "stack_size"),
    "attribute('')": (lambda d: d.attribute(""), (ValueError, AttributeError), "warp_size"),
    "host_work('1')": (lambda d: cs.host_work("1"), TypeError, ""),
    "empty(65 dimensions)": (lambda d: cs.empty((1,) * 100), ValueError, ""),
    "full(huge int)": (lambda d: cs.full(2, HUGE), OverflowError, "dtype"),
    "full(too large)": (lambda d: cs.full(2, 1e300, np.float32), OverflowError, "float32"),
    "full(too large int)": (lambda d: cs.full(2, 10**400, np.float32), OverflowError, "float32"),
    "full(half)": (lambda d: cs.full(2, 1e9, np.float16), OverflowError, "float16"),
    "occupancy(0)": (lambda d: module(d).nothing.occupancy(0), ValueError, "block"),
    "best_block_size(-1)": (lambda d: module(d).nothing.best_block_size(limit=-1), ValueError, "limit"),
    "max_dynamic_shared=-1": (
        lambda d: setattr(module(d).nothing, "max_dynamic_shared", -1),
        ValueError,
        "max_dynamic_shared",
    ),
    "from_file(folder)": (lambda d: cs.Module.from_file("/"), ValueError, "folder"),
    "Device('\\ud800')": (lambda d: cs.Device("\ud800"), ValueError, ""),
    # unknown arguments
    "Stream(nonblocking=True)": (lambda d: cs.Stream(nonblocking=True), TypeError, ""),
    "Event(flags=2)": (lambda d: cs.Event(flags=2), TypeError, ""),
    "pinned_empty(mapping=True)": (lambda d: cs.pinned_empty(3, mapping=True), TypeError, ""),
    "Module(option=[])": (lambda d: cs.Module("", option=[]), TypeError, ""),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_call_says_why_and_changes_nothing(device, unchanged, what):
    use, error, text = REFUSED[what]

    with pytest.raises(error) as caught:
        use(device)

    assert str(caught.value)
    assert text in str(caught.value)


CLOSED = {
    "DeviceArray": (
        lambda: cs.zeros(3),
        [lambda x: x.to_host(), lambda x: x[0], lambda x: x.copy(), lambda x: x.T],
    ),
    "managed": (lambda: cs.empty_managed(3), [lambda x: x.prefetch(), lambda x: x.host_view()]),
    "MemoryPool": (cs.MemoryPool, [lambda x: x.empty(3), lambda x: x.statistics, lambda x: x.trim()]),
    "Registration": (lambda: cs.register(np.zeros(9)), [lambda x: x.device_view()]),
    "CudaArray": (lambda: cs.CudaArray(3), [lambda x: x.to_host(), lambda x: cs.Texture(x)]),
}


@pytest.mark.parametrize("what", CLOSED)
def test_closed_object_refuses_uses_and_can_be_closed_again(device, what):
    make, uses = CLOSED[what]
    made = make()
    made.close()
    made.close()
    assert made.closed

    for use in uses:
        with pytest.raises(ValueError, match="closed"):
            use(made)


REFUSED_MEMORY = {
    "empty_plain('a')": (lambda d: cs.empty_plain("a"), TypeError, "shape"),
    "empty_plain(object)": (lambda d: cs.empty_plain(3, object), TypeError, "dtype"),
    "empty_plain(huge)": (lambda d: cs.empty_plain(1 << 60, np.uint8), cs.OutOfMemoryError, "bytes"),
    "empty_plain(device=0)": (lambda d: cs.empty_plain(3, device=0), TypeError, "device: takes a Device"),
    "empty_pitched(3)": (lambda d: cs.empty_pitched(3), ValueError, "2 or 3"),
    "empty_pitched(-1)": (lambda d: cs.empty_pitched((3, -1)), ValueError, "-1"),
    "empty_pitched(huge)": (lambda d: cs.empty_pitched((1 << 20, 1 << 30)), (MemoryError, cs.CudaError), ""),
    "empty_managed(huge)": (lambda d: cs.empty_managed(1 << 60, np.uint8), MemoryError, "bytes"),
    "prefetch(3)": (lambda d: cs.empty_managed(3).prefetch(3), TypeError, "'host'"),
    "advise(3)": (lambda d: cs.empty_managed(3).advise(3), TypeError, ""),
    "advise('x')": (lambda d: cs.empty_managed(3).advise("x"), ValueError, "'read_mostly'"),
    "prefetch of zeros": (lambda d: cs.zeros(3).prefetch(), ValueError, "empty_managed"),
    "host_view of zeros": (lambda d: cs.zeros(3).host_view(), TypeError, "to_host"),
    "register(bytes)": (lambda d: cs.register(b"abc"), TypeError, "array: takes a NumPy array"),
    "register(empty)": (lambda d: cs.register(np.zeros(0)), ValueError, "no elements"),
    "register(objects)": (lambda d: cs.register(np.array([d])), TypeError, "objects"),
    "device_view(pageable)": (lambda d: cs.device_view(np.zeros(3)), TypeError, "cuscope.register()"),
    "device_view(list)": (lambda d: cs.device_view([1]), TypeError, "array: takes a NumPy array"),
    "MemoryPool(limit='a')": (lambda d: cs.MemoryPool(limit="a"), TypeError, "limit"),
    "MemoryPool(limit=0)": (lambda d: cs.MemoryPool(limit=0), ValueError, "limit: 0"),
    "MemoryPool(threshold)": (lambda d: cs.MemoryPool(release_threshold=-1), ValueError, "release_threshold"),
    "pool.trim(-1)": (lambda d: cs.MemoryPool().trim(-1), ValueError, "keep"),
    "pool.empty('a')": (lambda d: cs.MemoryPool().empty("a"), TypeError, "shape"),
    "pool.empty(stream=3)": (lambda d: cs.MemoryPool().empty(3, stream=3), TypeError, "stream: takes"),
    "memory_pool=3": (lambda d: setattr(d, "memory_pool", 3), TypeError, "MemoryPool or None"),
    "memory_pool of another": (
        lambda d: setattr(d, "memory_pool", cs.MemoryPool(device=cs.add_host_device("h200"))),
        ValueError,
        "not on",
    ),
    "copy_batch(3)": (lambda d: cs.copy_batch(3), TypeError, ""),
    "copy_batch([3])": (lambda d: cs.copy_batch([3]), TypeError, "pairs"),
    "copy_batch(list)": (lambda d: cs.copy_batch([([1], [2])]), TypeError, "NumPy arrays and DeviceArrays"),
    "copy_batch(sizes)": (
        lambda d: cs.copy_batch([(cs.zeros(3), np.zeros(2))]),
        ValueError,
        "16 bytes to 12",
    ),
    "copy_batch(view)": (lambda d: cs.copy_batch([(cs.zeros((2, 2)).T, cs.zeros(4))]), ValueError, "copy()"),
    "pointer_attributes(-1)": (lambda d: cs.pointer_attributes(-1), ValueError, "-1"),
    "pointer_attributes(1.5)": (lambda d: cs.pointer_attributes(1.5), TypeError, "address"),
    "symbol(3)": (lambda d: module(d).symbol(3), TypeError, ""),
    "symbol('x')": (lambda d: module(d).symbol("x"), KeyError, "x"),
    "reshape(1.5)": (lambda d: cs.zeros(3).reshape(1.5), TypeError, "float"),
    "transpose(0, 0)": (lambda d: cs.zeros((2, 3)).transpose(0, 0), ValueError, "once"),
    "to_host(out=list)": (
        lambda d: cs.zeros(3).to_host(out=[0, 0, 0]),
        TypeError,
        "out: takes a NumPy array",
    ),
    "to_host(out=float64)": (
        lambda d: cs.zeros(3).to_host(out=np.zeros(3)),
        TypeError,
        "out: has dtype float64",
    ),
    "to_host(out=shape)": (
        lambda d: cs.zeros(3).to_host(out=np.zeros(4, np.float32)),
        ValueError,
        "out: has shape",
    ),
    "copy_to(list)": (lambda d: cs.zeros(3).copy_to([1, 2, 3]), TypeError, "destination: takes"),
}


@pytest.mark.parametrize("what", REFUSED_MEMORY)
def test_refused_memory_has_a_reason_and_changes_nothing(device, contract, settled, what):
    use, error, text = REFUSED_MEMORY[what]
    with pytest.raises(error):
        use(device)  # afterwards the runtime has allocated its memory for the first use
    settled()
    before = tuple(device.memory_info())

    with pytest.raises(error) as caught:
        use(device)

    assert text in str(caught.value)
    assert str(caught.value)
    del caught
    settled()
    assert tuple(device.memory_info()) == before
    assert contract.peek_at_last_error() == "cudaSuccess"


def test_items_outside_of_the_array_are_refused(device, unchanged):
    x = cs.zeros((2, 3))

    for index in (2, -3, HUGE, -HUGE):
        with pytest.raises(IndexError, match=f"{index} is outside"):
            x[index]
    for index in (np.array([True, False]), np.array([0, 1]), 1.0, (0, 1.0), True):
        with pytest.raises(TypeError, match=r"ints, slices, \.\.\. and None"):
            x[index]
    for index in ((0, 0, 0), (..., ...), (0, 3)):
        with pytest.raises(IndexError):
            x[index]
    x.close()


def test_value_of_a_structure_is_taken_field_by_field(device, unchanged):
    pair = np.dtype([("a", "i4"), ("b", "f8")])

    assert cs.full(2, (1, 2.5), pair).to_host().tolist() == [(1, 2.5)] * 2
    with pytest.raises(ValueError, match="3"):
        cs.full(2, (1, 2.5, 3), pair)


def test_dtype_of_none_is_the_default(device, unchanged):
    assert {a.dtype for a in (cs.empty(1, None), cs.zeros(1, None), cs.pinned_empty(1, None))} == {
        np.dtype(np.float32)
    }


@pytest.mark.host_only("a GPU's machine would wait")
def test_clock_does_not_overflow(run_python):
    done = run_python(
        """
        import cuscope as cs
        try:
            for _ in range(20):
                cs.host_work(1e9)
        except ValueError as error:
            print(error)
        print(cs.clock() > 0, cs.zeros(2).to_host().tolist())
        """
    )

    assert "clock" in done.stdout
    assert done.stdout.endswith("True [0.0, 0.0]\n"), done.stderr


@pytest.mark.parametrize("method", ["fill", "copy_from", "copy_to", "to_host"])
@pytest.mark.parametrize("stream", ["closed", "foreign", "no stream"])
def test_stream_of_a_copy_is_checked(device, unchanged, method, stream):
    x = cs.full(3, 7, np.float32)
    wrong = {
        "closed": lambda: cs.Stream(),
        "foreign": lambda: cs.Stream(device=cs.add_host_device("h200")),
        "no stream": lambda: "stream",
    }[stream]()
    if stream == "closed":
        wrong.close()
    arguments = {"fill": (1,), "copy_from": (np.ones(3, np.float32),), "copy_to": (np.ones(3, np.float32),)}

    with pytest.raises(TypeError if stream == "no stream" else ValueError, match=r"[Ss]tream|device"):
        getattr(x, method)(*arguments.get(method, ()), stream=wrong)

    assert x.to_host().tolist() == [7, 7, 7]
    x.close()


@pytest.mark.parametrize("where", ["launch", "brackets"])
@pytest.mark.parametrize("wrong", [0, "s", object()])
def test_stream_of_a_launch_is_checked(device, unchanged, where, wrong):
    kernel = module(device).nothing

    with pytest.raises(TypeError, match="stream"):
        kernel.launch(grid=1, block=1, stream=wrong) if where == "launch" else kernel[1, 1, wrong]()


def test_closed_stream_of_a_launch_is_refused(device, unchanged):
    s = cs.Stream()
    s.close()

    with pytest.raises(ValueError, match="closed"):
        module(device).nothing[1, 1, s]()


def test_closed_stream_cannot_become_current(device, unchanged):
    s = cs.Stream()
    s.close()

    with pytest.raises(ValueError, match="closed"), s:
        pass
    assert cs.current_stream() == device.default_stream


def test_source_that_does_not_compile_leaves_nothing(device, unchanged):
    with pytest.raises(cs.CompileError):
        cs.Module("__global__ void k() { nonsense }")


def test_foreign_event_is_refused_by_every_stream(device, unchanged):
    event = cs.Event(device=cs.add_host_device("h200"))

    with pytest.raises(ValueError, match="host:"):
        cs.Stream().record(event)


@pytest.mark.parametrize("flags", [0x10, 0x2, 0x80000000])
def test_unknown_flags_are_an_invalid_value(contract, unchanged, flags):
    assert contract.stream_create_with_priority(flags, 0)[0] == "cudaErrorInvalidValue"
    assert contract.get_last_error() == "cudaErrorInvalidValue"


def test_unknown_flags_of_events_and_memory_are_an_invalid_value(contract, unchanged):
    assert contract.event_create_with_flags(0x100)[0] == "cudaErrorInvalidValue"
    assert contract.host_alloc(16, 0x100)[0] == "cudaErrorInvalidValue"
    contract.get_last_error()


@pytest.mark.parametrize("kind", [-1, 5, 99])
def test_unknown_direction_of_a_copy(contract, unchanged, kind):
    _, p = contract.malloc(64)

    assert contract.memcpy(p, p + 32, 16, kind=kind) == "cudaErrorInvalidMemcpyDirection"

    contract.free(p)
    contract.get_last_error()


NULL_CALLS = {
    "event_destroy": (0,),
    "event_query": (0,),
    "event_synchronize": (0,),
    "event_record_with_flags": (0, 0, 0),
    "stream_wait_event": (0, 0, 0),
    "event_elapsed_time": (0, 0),
    "library_unload": (0,),
    "library_get_kernel": (0, "k"),
    "func_get_attributes": (0,),
    "launch_kernel": (0, 1, 1, []),
}


@pytest.mark.host_only("a real runtime may follow a null handle")
@pytest.mark.parametrize("call", NULL_CALLS)
def test_null_handle_is_an_error_and_no_crash(contract, unchanged, call):
    answer = getattr(contract, call)(*NULL_CALLS[call])

    status = answer if isinstance(answer, str) else answer[0]
    assert status in (
        "cudaErrorInvalidResourceHandle",
        "cudaErrorInvalidValue",
        "cudaErrorInvalidDeviceFunction",
    )
    contract.get_last_error()


@pytest.mark.host_only("a real runtime does not know the handles that it gave away")
def test_destroyed_handle_is_an_error_and_no_crash(contract, unchanged):
    _, event = contract.event_create_with_flags(0)
    _, stream = contract.stream_create_with_priority(0, 0)
    contract.event_destroy(event)
    contract.stream_destroy(stream)

    answers = [
        contract.event_query(event),
        contract.event_record_with_flags(event, 0, 0),
        contract.event_destroy(event),
        contract.stream_query(stream),
        contract.stream_synchronize(stream),
        contract.stream_destroy(stream),
    ]

    assert set(answers) <= {"cudaErrorInvalidResourceHandle", "cudaErrorContextIsDestroyed"}
    contract.get_last_error()


def test_default_streams_cannot_be_destroyed(contract, unchanged):
    for stream in (0, 1, 2):
        assert contract.stream_destroy(stream) != "cudaSuccess"
    contract.get_last_error()


@pytest.mark.host_only("the GPU's own answers are in semantics/")
@pytest.mark.parametrize("nbytes", [2**64 - 1, 2**63, 2**47])
def test_sizes_near_the_end_of_the_address_space(contract, unchanged, nbytes):
    _, p = contract.malloc(64)

    assert contract.malloc(nbytes)[0] == "cudaErrorMemoryAllocation"
    assert contract.memset(p, 0, nbytes) == "cudaErrorInvalidValue"
    assert contract.memcpy(p, p, nbytes, kind=3) == "cudaErrorInvalidValue"

    contract.free(p)
    contract.get_last_error()
