"""Arrays and streams to and from one other library, named by CUSCOPE_PEER.

tests/interop/test_peers.py runs this file in a process for each library, so that the libraries do not disturb each
other.
"""

from __future__ import annotations

import gc
import os
from typing import Any

import numpy as np
import pytest
from peers.libraries import LIBRARIES, Library

import cuscope as cs
from support import module

NAME = os.environ["CUSCOPE_PEER"]
pytestmark = [] if NAME == "itself" else [pytest.mark.gpu_only("other libraries need a GPU")]
SPIN = 100_000_000  # nanoseconds
SIZE = 1 << 16
BYTES = r"""
__global__ void copy_bytes(const unsigned char* from, unsigned char* to, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
__global__ void add_bytes(unsigned char* p, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) ++p[i]; }
"""
has_streams = pytest.mark.skipif(NAME == "jax", reason="JAX has no streams that a program sees")


@pytest.fixture(scope="module")
def peer() -> Library:
    try:
        library = LIBRARIES[NAME]()
        library.array(np.zeros(1, np.uint8))
    except Exception as error:
        pytest.skip(f"{NAME} sees no GPU: {error!r}")
    return library


@pytest.fixture
def ours(device: cs.Device) -> cs.Stream:
    """A stream that waits for no other stream; its kernels are loaded before times are measured."""
    module(device).spin[1, 1](1)
    scratch = cs.zeros(1, np.uint8)
    mod = module(device, BYTES)
    mod.add_bytes[1, 1](scratch, 1)
    mod.copy_bytes[1, 1](scratch, scratch, 1)
    device.synchronize()
    return cs.Stream(non_blocking=True)


def elements(dtype: str, shape: tuple[int, ...] = (3, 4)) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 100).astype(dtype).reshape(shape)


def protocols() -> list[str]:
    return {"jax": ["dlpack"], "itself": ["dlpack"], "numba": ["interface"]}.get(
        NAME, ["interface", "dlpack"]
    )


@pytest.mark.parametrize("dtype", Library.dtypes)
def test_their_array_is_used_in_place(device: cs.Device, peer: Library, dtype: str) -> None:
    theirs = peer.array(elements(dtype))
    ours = cs.asarray(theirs)
    assert ours.pointer == peer.pointer(theirs)
    assert (ours.shape, ours.dtype, ours.device) == ((3, 4), np.dtype(dtype), device)
    assert np.array_equal(ours.to_host(), elements(dtype))


@pytest.mark.parametrize("dtype", Library.dtypes)
@pytest.mark.parametrize("protocol", protocols())
def test_our_array_is_used_in_place(device: cs.Device, peer: Library, protocol: str, dtype: str) -> None:
    ours = cs.to_device(elements(dtype))
    theirs = peer.takes[protocol](ours)
    assert peer.pointer(theirs) == ours.pointer
    assert np.array_equal(peer.host(theirs), elements(dtype))


@pytest.mark.parametrize("protocol", protocols())
def test_an_array_that_goes_there_and_back_has_the_same_memory(
    device: cs.Device, peer: Library, protocol: str
) -> None:
    ours = cs.to_device(elements("f4"))
    again = cs.asarray(peer.takes[protocol](ours))
    assert again.pointer == ours.pointer
    ours.fill(7)
    assert np.array_equal(again.to_host(), np.full((3, 4), 7, np.float32))


@pytest.mark.skipif(
    NAME in {"jax", "numba", "itself"}, reason="this library speaks no DLPack, or is tested by it anyway"
)
def test_from_dlpack(device: cs.Device, peer: Library) -> None:
    theirs = peer.array(elements("i4"))
    ours = cs.from_dlpack(theirs)
    assert ours.pointer == peer.pointer(theirs)
    assert np.array_equal(ours.to_host(), elements("i4"))
    assert np.array_equal(cs.from_dlpack(theirs, copy=True).to_host(), elements("i4"))


@pytest.mark.skipif(NAME == "jax", reason="JAX has no strides")
def test_strides_are_kept(device: cs.Device, peer: Library) -> None:
    theirs = peer.transposed(peer.array(elements("f4")))
    ours = cs.asarray(theirs)
    assert (ours.shape, ours.strides) == ((4, 3), (4, 16))
    assert np.array_equal(ours.to_host(), elements("f4").T)
    for protocol in protocols():
        back = peer.takes[protocol](cs.to_device(elements("f4")).T)
        assert np.array_equal(peer.host(back), elements("f4").T), protocol


@has_streams
def test_our_stream_waits_for_theirs(device: cs.Device, peer: Library, ours: cs.Stream) -> None:
    theirs, stream = peer.array(np.full(SIZE, 1, np.uint8)), peer.stream()
    result = cs.zeros(SIZE, np.uint8)
    for value in (2, 1):  # the library loads its kernels before times are measured
        peer.fill(theirs, value, stream)
    device.synchronize()
    module(device).spin[1, 1, peer.for_us(stream)](SPIN)
    peer.fill(theirs, 2, stream)
    with peer.current(stream):
        seen = cs.asarray(peer.in_stream(theirs, stream), stream=ours)
    result.copy_from(seen, stream=ours)
    assert set(result.to_host(stream=ours)) == {2}
    device.synchronize()


@has_streams
def test_a_kernel_waits_for_their_work_on_an_argument(
    device: cs.Device, peer: Library, ours: cs.Stream
) -> None:
    theirs, stream = peer.array(np.full(SIZE, 1, np.uint8)), peer.stream()
    result = cs.zeros(SIZE, np.uint8)
    for value in (2, 1):  # the library loads its kernels before times are measured
        peer.fill(theirs, value, stream)
    device.synchronize()
    module(device).spin[1, 1, peer.for_us(stream)](SPIN)
    peer.fill(theirs, 2, stream)
    with peer.current(stream):
        module(device, BYTES).copy_bytes[1, 256, ours](peer.in_stream(theirs, stream), result, SIZE)
    assert set(result.to_host(stream=ours)) == {2}
    device.synchronize()


@has_streams
@pytest.mark.skipif(NAME == "torch", reason="PyTorch does not say which stream it works in")
def test_their_stream_waits_for_the_call_that_got_their_array(
    device: cs.Device, peer: Library, ours: cs.Stream
) -> None:
    theirs, stream = peer.array(np.full(SIZE, 1, np.uint8)), peer.stream()
    module(device).spin[1, 1, ours](SPIN)
    with peer.current(stream):
        module(device, BYTES).add_bytes[1, 256, ours](peer.in_stream(theirs, stream), SIZE)
    assert set(peer.host(theirs, stream)) == {2}
    device.synchronize()


@pytest.mark.parametrize("protocol", ["dlpack"] if NAME == "torch" else protocols())
def test_their_stream_waits_for_ours(
    device: cs.Device, peer: Library, protocol: str, ours: cs.Stream
) -> None:
    array = cs.full(SIZE, 1, np.uint8)
    stream = None if NAME == "jax" else peer.stream()
    device.synchronize()
    module(device).spin[1, 1, ours](SPIN)
    module(device, BYTES).add_bytes[1, 256, ours](array, SIZE)
    with peer.current(stream):
        theirs = peer.takes[protocol](array)
        assert set(peer.host(theirs, stream)) == {2}
    device.synchronize()


def test_their_array_may_be_dropped_early(device: cs.Device, peer: Library, ours: cs.Stream) -> None:
    """The producer's memory is not reused while our stream still needs it."""
    result = cs.zeros(SIZE, np.uint8)
    theirs = peer.array(np.full(SIZE, 1, np.uint8))
    seen = cs.asarray(theirs)
    device.synchronize()
    module(device).spin[1, 1, ours](SPIN)
    result.copy_from(seen, stream=ours)
    del theirs, seen
    gc.collect()
    others = [peer.array_at_once(np.full(SIZE, 9, np.uint8)) for _ in range(8)]
    assert set(result.to_host(stream=ours)) == {1}
    del others


@pytest.mark.parametrize("protocol", protocols())
def test_our_array_may_be_dropped_early(device: cs.Device, peer: Library, protocol: str) -> None:
    array = cs.full(SIZE, 1, np.uint8)
    theirs = peer.takes[protocol](array)
    del array
    gc.collect()
    others = [cs.full(SIZE, 9, np.uint8) for _ in range(8)]
    assert set(peer.host(theirs)) == {1}
    assert peer.pointer(theirs) not in [other.pointer for other in others]
    device.synchronize()


def test_exchanges_leave_no_memory_behind(device: cs.Device, peer: Library, settled: Any) -> None:
    from cuscope import _core

    before = _core.live()
    for protocol in protocols():
        for _ in range(20):
            theirs = peer.takes[protocol](cs.zeros(SIZE, np.uint8))
            seen = cs.asarray(theirs)
            del theirs, seen
    settled()
    settled()
    assert _core.live() == before


@has_streams
def test_their_stream_is_taken_in_place_of_ours(device: cs.Device, peer: Library) -> None:
    stream = peer.stream()
    theirs = peer.for_us(stream)
    assert cs.as_stream(theirs).handle == peer.handle(stream)
    assert cs.as_stream(theirs) == cs.as_stream(peer.for_us(stream))
    array = cs.zeros(SIZE, np.uint8, stream=theirs)
    module(device, BYTES).add_bytes[1, 256, theirs](array, SIZE)
    event = cs.Event().record(theirs)
    waiting = cs.Stream()
    waiting.wait(theirs)
    waiting.wait(event)
    waiting.synchronize()
    assert set(array.to_host(stream=theirs)) == {1}


@has_streams
def test_our_stream_is_taken_in_place_of_theirs(device: cs.Device, peer: Any, ours: cs.Stream) -> None:
    stream = peer.take_stream(ours)
    theirs = peer.array(np.full(SIZE, 1, np.uint8))
    peer.fill(theirs, 3, stream)
    assert set(peer.host(theirs, stream)) == {3}
    assert cs.as_stream(peer.for_us(stream)) == ours


def test_their_arrays_are_kernel_arguments(device: cs.Device, peer: Library) -> None:
    a, b = peer.array(elements("f4", (1000,))), peer.array(elements("f4", (1000,)))
    c = cs.empty(1000)
    module(device).vec_add[4, 256](a, b, c, 1000)
    assert np.array_equal(c.to_host(), 2 * elements("f4", (1000,)))
    with pytest.raises(TypeError, match="parameter 'p'"):
        module(device).add_one[1, 1](a)
    for scalar in (a, a[:1]):
        with pytest.raises(TypeError, match="parameter 'v'"):
            module(device).store[1, 1](cs.zeros(1, np.int32), scalar)


def test_their_arrays_are_copied_from_and_to(device: cs.Device, peer: Library) -> None:
    theirs = peer.array(elements("f4"))
    array = cs.to_device(theirs)
    assert array.pointer != peer.pointer(theirs)
    array.fill(0)
    array.copy_from(theirs)
    assert np.array_equal(array.to_host(), elements("f4"))
    assert cs.empty_like(theirs).shape == (3, 4)
    if NAME != "jax":
        array.fill(5)
        array.copy_to(theirs)
        device.synchronize()
        assert np.array_equal(peer.host(theirs), np.full((3, 4), 5, np.float32))


@pytest.mark.skipif(NAME != "jax", reason="the others are asked with streams")
def test_our_stream_waits_for_jax(device: cs.Device, ours: cs.Stream) -> None:
    import jax
    import jax.numpy as jnp

    @jax.jit
    def late(x: Any, w: Any) -> Any:
        return jax.lax.fori_loop(0, 400, lambda _, a: a @ w, x) + 1

    identity = jnp.eye(2048, dtype=jnp.float32)
    late(jnp.ones((2048, 2048), jnp.float32), identity).block_until_ready()
    twos = jnp.full((2048, 2048), 2, jnp.float32).block_until_ready()
    result = cs.zeros((2048, 2048))
    device.synchronize()
    theirs = late(twos, identity)
    result.copy_from(cs.asarray(theirs, stream=ours), stream=ours)
    assert set(result.to_host(stream=ours).ravel()) == {3}


@pytest.mark.skipif(NAME != "jax", reason="the others write their arrays")
def test_immutable_arrays_are_not_written(device: cs.Device, peer: Library) -> None:
    theirs = peer.array(elements("i4", (4,)))
    if not theirs.__cuda_array_interface__["data"][1]:
        pytest.skip("this version of JAX does not say so")
    for write in (
        lambda: module(device).add_one[1, 1](theirs),
        lambda: cs.asarray(theirs).fill(0),
        lambda: cs.zeros(4, np.int32).copy_to(theirs),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert np.array_equal(peer.host(theirs), elements("i4", (4,)))


@pytest.mark.skipif(NAME not in {"torch", "jax"}, reason="has no bfloat16")
def test_bfloat16_arrays_are_exchanged(device: cs.Device, peer: Any) -> None:
    if NAME == "torch":
        theirs = peer.torch.tensor([1.0, 2.5, -3.0], dtype=peer.torch.bfloat16, device="cuda")
    else:
        theirs = peer.jax.numpy.array([1.0, 2.5, -3.0], dtype="bfloat16")
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(BufferError, match="pip install ml_dtypes"):
            cs.asarray(theirs)
        return
    ours = cs.asarray(theirs)
    assert ours.dtype == ml_dtypes.bfloat16
    assert ours.to_host().astype(np.float32).tolist() == [1, 2.5, -3]
    assert peer.pointer(peer.takes["dlpack"](ours)) == ours.pointer
