"""Streams of other libraries, and the order that each protocol asks for: every test fails if a wait is missing."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import cuscope as cs
from others import Interface, Tensor, TheirStream, TorchStream, on_the_host
from support import in_threads, module

SPIN = 50_000_000  # nanoseconds: far longer than a program needs to enqueue the next work
STREAMS = {"protocol": TheirStream, "torch": TorchStream}


@pytest.fixture
def producer(device: cs.Device) -> cs.Stream:
    return cs.Stream(non_blocking=True)


@pytest.fixture
def consumer(device: cs.Device) -> cs.Stream:
    return cs.Stream(non_blocking=True)


def ready(device: cs.Device) -> None:
    """Loads the kernels and fills the arrays before times are measured."""
    mod, scratch, natural = module(device), cs.zeros(1, np.int32), cs.zeros(1, np.uint32)
    mod.spin[1, 1](1)
    mod.store[1, 1](scratch, 1)
    mod.add_one[1, 1](scratch)
    mod.multiply_add[1, 1](natural, 1, 0)
    scratch.copy_from(scratch.copy())
    device.synchronize()


def write_late(device: cs.Device, array: cs.DeviceArray, value: int, stream: cs.Stream) -> None:
    module(device).spin[1, 1, stream](SPIN)
    module(device).store[1, 1, stream](array, value)


# ---- arrays taken in


@pytest.mark.parametrize("stated", [True, False])
def test_we_wait_for_the_stream_of_an_interface(
    device: cs.Device, producer: cs.Stream, consumer: cs.Stream, stated: bool
) -> None:
    theirs, result = cs.full(1, 1, np.int32), cs.zeros(1, np.int32)
    ready(device)
    write_late(device, theirs, 2, producer)
    ours = cs.asarray(Interface(theirs, stream=producer.handle if stated else None))
    result.copy_from(ours, stream=consumer)
    consumer.synchronize()
    assert result.to_host(stream=consumer).tolist() == [2 if stated else 1]
    producer.synchronize()


def test_every_stream_of_ours_waits(device: cs.Device, producer: cs.Stream) -> None:
    theirs = cs.full(1, 1, np.int32)
    results = [cs.zeros(1, np.int32) for _ in range(3)]
    ready(device)
    write_late(device, theirs, 2, producer)
    ours = cs.asarray(Interface(theirs, stream=producer.handle))
    for result in results:
        stream = cs.Stream(non_blocking=True)
        result.copy_from(ours[:], stream=stream)
        stream.synchronize()
        assert result.to_host(stream=stream).tolist() == [2]


def test_an_argument_waits_too(device: cs.Device, producer: cs.Stream, consumer: cs.Stream) -> None:
    theirs = cs.full(1, 1, np.uint32)
    ready(device)
    module(device).multiply_add[1, 1](theirs, 1, 0)
    device.synchronize()
    module(device).spin[1, 1, producer](SPIN)
    module(device).multiply_add[1, 1, producer](theirs, 1, 10)
    module(device).multiply_add[1, 1, consumer](Interface(theirs, stream=producer.handle), 2, 0)
    consumer.synchronize()
    assert theirs.to_host(stream=consumer).tolist() == [22]


@pytest.mark.parametrize("stated", [True, False])
def test_their_later_work_waits_for_an_argument(
    device: cs.Device, producer: cs.Stream, consumer: cs.Stream, stated: bool
) -> None:
    """An argument is given back when its call is enqueued: the other library's stream then waits for that call."""
    theirs, result = cs.full(1, 1, np.int32), cs.zeros(1, np.int32)
    ready(device)
    module(device).spin[1, 1, consumer](SPIN)
    module(device).store[1, 1, consumer](Interface(theirs, stream=producer.handle if stated else None), 2)
    result.copy_from(theirs, stream=producer)
    producer.synchronize()
    assert result.to_host(stream=producer).tolist() == [2 if stated else 1]
    consumer.synchronize()


def test_their_later_work_waits_when_an_array_goes(
    device: cs.Device, producer: cs.Stream, consumer: cs.Stream
) -> None:
    theirs, result = cs.full(1, 1, np.int32), cs.zeros(1, np.int32)
    ready(device)
    ours = cs.asarray(Interface(theirs, stream=producer.handle))
    write_late(device, ours, 2, consumer)
    del ours
    gc.collect()
    result.copy_from(theirs, stream=producer)
    producer.synchronize()
    assert result.to_host(stream=producer).tolist() == [2]


def test_dlpack_is_ready_for_our_other_streams(
    device: cs.Device, producer: cs.Stream, consumer: cs.Stream
) -> None:
    """The producer makes one of our streams wait; our other streams wait for that one."""
    theirs, result = cs.full(1, 1, np.int32), cs.zeros(1, np.int32)
    ready(device)
    write_late(device, theirs, 2, producer)
    ours = cs.from_dlpack(theirs, stream=cs.Stream(non_blocking=True))
    result.copy_from(ours, stream=consumer)
    consumer.synchronize()
    assert result.to_host(stream=consumer).tolist() == [2]


def test_default_streams_by_number(device: cs.Device, consumer: cs.Stream) -> None:
    theirs, result = cs.full(1, 1, np.int32), cs.zeros(1, np.int32)
    ready(device)
    for number in (1, 2):
        write_late(device, theirs, number + 5, cs.as_stream(TheirStream(consumer, (0, number))))
        result.copy_from(cs.asarray(Interface(theirs, stream=number)), stream=consumer)
        consumer.synchronize()
        assert result.to_host(stream=consumer).tolist() == [number + 5]


def test_a_stream_that_no_longer_exists_is_not_used(
    device: cs.Device, consumer: cs.Stream, contract, capfd
) -> None:
    """CuPy's array names the current stream, but does not keep it alive."""
    theirs, result = cs.full(1, 2, np.int32), cs.zeros(1, np.int32)
    device.synchronize()
    handle = contract.stream_create_with_priority(1, 0)[1]
    ours = cs.asarray(Interface(theirs, stream=handle))
    assert contract.stream_destroy(handle) == "cudaSuccess"

    result.copy_from(ours, stream=consumer)
    copied = cs.from_dlpack(ours.__dlpack__(copy=True))
    assert ours.stream.handle != handle
    del ours
    gc.collect()
    consumer.synchronize()
    assert result.to_host(stream=consumer).tolist() == copied.to_host().tolist() == [2]
    assert contract.peek_at_last_error() == "cudaSuccess"
    assert capfd.readouterr().err == ""


# ---- arrays handed out


@pytest.mark.parametrize("asked", [True, False])
def test_a_consumer_of_dlpack_waits(
    device: cs.Device, producer: cs.Stream, consumer: cs.Stream, asked: bool
) -> None:
    ours, result = cs.full(1, 1, np.int32), cs.zeros(1, np.int32)
    ready(device)
    write_late(device, ours, 2, producer)
    theirs = cs.from_dlpack(ours.__dlpack__(stream=consumer.handle if asked else -1))
    result.copy_from(theirs, stream=consumer)
    consumer.synchronize()
    assert result.to_host(stream=consumer).tolist() == [2 if asked else 1]
    producer.synchronize()


@pytest.mark.parametrize("stream", [None, 1])
def test_missing_stream_means_the_legacy_one(
    device: cs.Device, producer: cs.Stream, stream: int | None
) -> None:
    ours, result = cs.full(1, 1, np.int32), cs.zeros(1, np.int32)
    ready(device)
    write_late(device, ours, 2, producer)
    theirs = cs.from_dlpack(ours.__dlpack__(stream=stream))
    result.copy_from(theirs)
    assert result.to_host().tolist() == [2]


def test_the_host_waits(device: cs.Device, producer: cs.Stream) -> None:
    for ours in (cs.full(1, 1, np.int32), cs.empty_managed(1, np.int32)):
        ours.fill(1)
        ready(device)
        write_late(device, ours, 2, producer)
        assert on_the_host(ours).tolist() == [2]
    write_late(device, ours, 3, producer)
    assert np.asarray(ours).tolist() == [3]
    write_late(device, ours, 4, producer)
    assert memoryview(ours).tolist() == [4]


@pytest.mark.gpu_only("arrays of simulated devices have no such interface")
def test_the_stream_of_our_interface_covers_all_work(
    device: cs.Device, producer: cs.Stream, consumer: cs.Stream
) -> None:
    ours, result = cs.full(1, 1, np.int32), cs.zeros(1, np.int32)
    ready(device)
    write_late(device, ours, 2, producer)
    said = ours.__cuda_array_interface__
    assert said["stream"] == ours.stream.handle != 0
    result.copy_from(cs.asarray(Interface(ours, stream=said["stream"])), stream=consumer)
    consumer.synchronize()
    assert result.to_host(stream=consumer).tolist() == [2]


def test_memory_outlives_our_array(device: cs.Device, consumer: cs.Stream) -> None:
    """A consumer keeps the memory alive, and it is not reused while legacy streams still use it."""
    ours = cs.full(1 << 20, 1, np.int32)
    pointer = ours.pointer
    theirs = cs.from_dlpack(ours.__dlpack__(stream=consumer.handle))
    ours.close()
    del ours
    gc.collect()
    others = [cs.full(1 << 20, 9, np.int32) for _ in range(4)]
    assert pointer not in [other.pointer for other in others]
    assert theirs.pointer == pointer
    assert int(theirs.to_host(stream=consumer).sum()) == 1 << 20


def test_memory_comes_back_behind_a_consumers_work(device: cs.Device) -> None:
    """The memory is not reused while a consumer's stream, a blocking one, still writes it."""
    write = module(device, "__global__ void write(void* p, int value) { *(int*)p = value; }").write
    own, theirs = cs.Stream(non_blocking=True), cs.Stream()
    write[1, 1](cs.zeros(1, np.int32), 0)
    ready(device)
    with own:
        ours = cs.zeros(1, np.int32)
        own.synchronize()
        capsule, pointer = ours.__dlpack__(stream=theirs.handle), ours.pointer
        module(device).spin[1, 1, theirs](SPIN)
        write[1, 1, theirs](pointer, 5)
        del ours, capsule
        gc.collect()
        again = cs.full(1, 9, np.int32)
        device.synchronize()
        assert again.to_host().tolist() == [9]


# ---- streams


@pytest.mark.parametrize("kind", STREAMS)
def test_their_stream_is_accepted_where_ours_is(device: cs.Device, kind: str, producer: cs.Stream) -> None:
    theirs = STREAMS[kind](producer)
    mod = module(device)
    counter = cs.zeros(1, np.int32, stream=theirs)
    assert counter.stream is producer
    mod.add_one[1, 1, theirs](counter)
    mod.add_one.launch(counter, grid=1, block=1, stream=theirs)
    launch = mod.add_one[1, 1, theirs, 0]
    launch(counter)
    event = cs.Event().record(theirs)
    event.synchronize()
    assert counter.to_host(stream=theirs).tolist() == [3]
    copy = cs.empty(1, np.int32, stream=theirs)
    copy.copy_from(counter, stream=theirs)
    counter.copy_to(copy, stream=theirs)
    counter.fill(7, stream=theirs)
    assert cs.to_device(counter, stream=theirs).to_host(stream=theirs).tolist() == [7]
    assert cs.empty_like(counter, stream=theirs).stream is producer
    cs.copy_batch([(copy, counter)], stream=theirs)
    assert copy.to_host(stream=theirs).tolist() == [7]
    waiting = cs.Stream()
    waiting.wait(theirs)
    waiting.synchronize()
    assert cs.asarray(np.zeros(1), stream=theirs).stream is producer


def test_as_stream_gives_an_equal_stream(device: cs.Device, producer: cs.Stream) -> None:
    assert cs.as_stream(producer) is producer
    assert cs.as_stream(TheirStream(producer)) == producer  # the same stream, not one more
    assert cs.as_stream(TheirStream(producer, (0, 0))).handle == 1
    assert cs.as_stream(TheirStream(producer, (0, 1))).handle == 1
    assert cs.as_stream(TheirStream(producer, (0, 2))).handle == 2
    with cs.as_stream(TheirStream(producer)) as current:
        assert cs.current_stream() == current == producer


class Owner:
    """Closes its stream when it is dropped, as owners do."""

    def __init__(self) -> None:
        self.stream = cs.Stream()

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.stream.handle)

    def __del__(self) -> None:
        self.stream.close()


def test_as_stream_keeps_the_object_whose_stream_is_one_of_ours(device: cs.Device) -> None:
    owner = Owner()
    alive = weakref.ref(owner)
    stream = cs.as_stream(owner)
    del owner
    gc.collect()

    assert alive() is not None
    assert not stream.closed
    x = cs.full(3, 1, np.int32, stream=stream)
    assert x.to_host(stream=stream).tolist() == [1, 1, 1]
    stream.synchronize()
    del stream
    gc.collect()
    assert alive() is None


def test_a_stream_from_an_object_is_equal_to_the_stream_that_it_is(
    device: cs.Device, producer: cs.Stream
) -> None:
    stream = cs.as_stream(TheirStream(producer))

    assert (stream == producer, hash(stream) == hash(producer)) == (True, True)
    assert (stream.handle, stream.id, repr(stream)) == (producer.handle, producer.id, repr(producer))


def test_a_stream_from_an_object_outlasts_its_close_and_does_not_close_it(
    device: cs.Device, producer: cs.Stream
) -> None:
    first, second = cs.as_stream(TheirStream(producer)), cs.as_stream(TheirStream(producer))
    first.close()

    assert (first.closed, second.closed, producer.closed) == (True, False, False)
    second.synchronize()
    producer.synchronize()


def test_a_configured_launch_keeps_the_object_of_its_stream(device: cs.Device) -> None:
    x = cs.zeros(1, np.int32)
    launch = module(device).add_one[1, 1, Owner()]
    gc.collect()
    cs.synchronize()
    launch(x)
    cs.synchronize()

    assert x.to_host().tolist() == [1]


def test_capture_of_a_stream_is_not_ended_where_an_object_of_it_goes(device: cs.Device) -> None:
    stream = cs.Stream()
    with stream.capture() as graph:
        cs.as_stream(TheirStream(stream))
        gc.collect()
        module(device).nothing[1, 1, stream]()

    assert [node.type for node in graph.nodes] == ["kernel"]


def test_a_stream_of_the_runtime_is_wrapped_and_not_destroyed(device: cs.Device, contract) -> None:
    """There is no Stream object of ours for this handle yet."""
    status, handle = contract.stream_create_with_priority(1, -1)
    assert status == "cudaSuccess"

    class Raw:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, handle)

    raw = Raw()
    stream = cs.as_stream(raw)
    assert (stream.handle, stream.non_blocking, stream.device) == (handle, True, device)
    assert stream.priority == contract.stream_get_priority(handle)[1]
    assert stream.id == contract.stream_get_id(handle)[1]
    assert cs.as_stream(Raw()) is stream
    x = cs.zeros(1, np.int32, stream=raw)
    module(device).add_one[1, 1, raw](x)
    assert x.to_host(stream=raw).tolist() == [1]
    stream.synchronize()
    del stream, x
    gc.collect()
    device.synchronize()
    assert contract.stream_get_id(handle)[0] == "cudaSuccess"  # cuscope must not destroy it
    assert contract.stream_destroy(handle) == "cudaSuccess"


def test_a_stream_is_kept_alive_by_arrays_that_use_it(
    device: cs.Device, producer: cs.Stream, contract
) -> None:
    handle = contract.stream_create_with_priority(1, 0)[1]
    theirs = TheirStream(producer, (0, handle))
    gone = weakref.ref(theirs)
    x = cs.zeros(1, stream=theirs)
    del theirs
    gc.collect()
    assert gone() is not None
    x.stream.synchronize()
    del x
    device.synchronize()
    gc.collect()
    assert gone() is None
    assert contract.stream_destroy(handle) == "cudaSuccess"


@pytest.mark.parametrize(
    "answer",
    [(1, 1), (0,), (0, 1, 2), [0, 1], 1, "x", (None, 1), (0, None), (0, "1"), (0, -1), (0, 1 << 70)],
    ids=str,
)
def test_wrong_answers_of_cuda_stream_are_refused(
    device: cs.Device, producer: cs.Stream, answer: object
) -> None:
    theirs = TheirStream(producer, answer)
    x = cs.zeros(1, np.int32)
    for use in (
        cs.as_stream,
        producer.wait,
        cs.Event().record,
        lambda stream: cs.zeros(1, stream=stream),
        lambda stream: x.fill(1, stream=stream),
        lambda stream: module(device).add_one[1, 1, stream](x),
    ):
        with pytest.raises((TypeError, ValueError), match="stream"):
            use(theirs)
    assert x.to_host().tolist() == [0]


@pytest.mark.parametrize("handle", [3, 17, 4095])
def test_numbers_that_are_no_handle_are_refused(device: cs.Device, producer: cs.Stream, handle: int) -> None:
    with pytest.raises(cs.CudaError, match="is no stream of") as raised:
        cs.as_stream(TheirStream(producer, (0, handle)))
    assert raised.value.name == "cudaErrorInvalidResourceHandle"
    with pytest.raises(cs.CudaError, match="is no stream of"):
        cs.asarray(Interface(cs.zeros(1), stream=handle))
    with pytest.raises(cs.CudaError, match="is no stream of"):
        cs.zeros(1).__dlpack__(stream=handle)


@pytest.mark.host_only("a GPU's runtime does not check handles")
def test_handle_that_no_stream_has_is_refused(device: cs.Device, producer: cs.Stream) -> None:
    with pytest.raises(cs.CudaError, match="is no stream of host:0"):
        cs.as_stream(TheirStream(producer, (0, 1 << 40)))
    with pytest.raises(cs.CudaError, match="is no stream of host:0"):
        cs.asarray(Interface(cs.zeros(1), stream=1 << 40))


def test_objects_that_are_no_stream_are_refused(device: cs.Device) -> None:
    class NoMethod:
        __cuda_stream__ = (0, 1)

    for wrong in (5, "s", 1.5, object(), NoMethod(), cs.Event(), cs.zeros(1)):
        with pytest.raises(TypeError, match="stream"):
            cs.as_stream(wrong)
    with pytest.raises(TypeError, match="not None"):
        cs.as_stream(None)


@pytest.mark.host_only("a simulated device's stream is none that CUDA libraries could use")
def test_a_simulated_stream_is_not_handed_out(device: cs.Device, producer: cs.Stream) -> None:
    assert not hasattr(producer, "__cuda_stream__")
    with pytest.raises(AttributeError, match="simulated"):
        _ = producer.__cuda_stream__


@pytest.mark.gpu_only("a simulated device's stream is none that CUDA libraries could use")
def test_our_stream_is_handed_out(device: cs.Device, producer: cs.Stream) -> None:
    assert producer.__cuda_stream__() == (0, producer.handle)
    assert device.name in repr(cs.current_stream())
    producer.close()
    with pytest.raises(ValueError, match="closed"):
        producer.__cuda_stream__()


def test_eight_threads_exchange_arrays_at_once(device: cs.Device) -> None:
    """Arrays are made, used and dropped on eight threads at once, which release and take the interpreter lock."""
    mod = module(device)
    totals = [cs.zeros(1, np.int32) for _ in range(8)]
    ready(device)

    def work(index: int) -> None:
        total = totals[index]
        with device, cs.Stream(non_blocking=True) as stream:
            for i in range(30):
                theirs = Tensor(total) if i % 2 else Interface(total, stream=stream.handle)
                mod.add_one[1, 1, stream](theirs)
                seen = cs.asarray(theirs)
                mod.add_one[1, 1, TheirStream(stream)](seen)
                assert total.__dlpack__(stream=stream.handle) is not None
            stream.synchronize()

    assert in_threads(8, work) == []
    device.synchronize()
    assert [int(total.to_host()[0]) for total in totals] == [60] * 8
    gc.collect()
    device.synchronize()
    assert Tensor.alive == []
