"""cs.TensorMap: the rules of its arguments, and its life."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import cuscope as cs
from support import module, ok
from tensor_tiles import BASICS, needs_tensor_maps

TAKES_MAP = (
    BASICS + "__global__ void take(const __grid_constant__ CUtensorMap map, int* p) { if (p) *p = 7; }"
)


@pytest.fixture(autouse=True)
def skip_older_devices(device):
    needs_tensor_maps(device)


def floats(*shape: int) -> cs.DeviceArray:
    return cs.zeros(shape, np.float32)


def test_map_tells_what_it_was_made_of(device):
    x = floats(6, 10, 16)

    made = cs.TensorMap(
        x, box=(2, 5, 8), element_strides=(1, 2, 1), swizzle="32B", l2_promotion="128B", oob_fill="nan"
    )

    assert (made.shape, made.dtype, made.box, made.element_strides) == (
        (6, 10, 16),
        np.float32,
        (2, 5, 8),
        (1, 2, 1),
    )
    assert (made.swizzle, made.l2_promotion, made.oob_fill) == ("32B", "128B", "nan")
    assert made.tile_bytes == 2 * 3 * 8 * 4
    assert made.device is device
    assert len(bytes(made)) == 128
    assert repr(made) == (
        f"<TensorMap on {device.name}: shape=(6, 10, 16), dtype=float32, box=(2, 5, 8), element_strides=(1, 2, 1), "
        "swizzle='32B', l2_promotion='128B', oob_fill='nan'>"
    )


REFUSED = {
    "no device array": (lambda: cs.TensorMap(np.zeros((4, 4)), box=(4, 4)), TypeError, "takes a DeviceArray"),
    "dtype": (lambda: cs.TensorMap(cs.zeros((4, 4), np.complex64), box=(4, 4)), TypeError, "complex64"),
    "no axes": (lambda: cs.TensorMap(floats(), box=()), ValueError, "has 0 axes"),
    "six axes": (lambda: cs.TensorMap(floats(*[4] * 6), box=[4] * 6), ValueError, "has 6 axes"),
    "no elements": (lambda: cs.TensorMap(floats(0, 4), box=(4, 4)), ValueError, "needs elements"),
    "box of another rank": (
        lambda: cs.TensorMap(floats(4, 4), box=(4,)),
        ValueError,
        "each of the array's 2 axes",
    ),
    "box of no ints": (lambda: cs.TensorMap(floats(4, 4), box="44"), TypeError, "box: takes an int for each"),
    "empty box": (
        lambda: cs.TensorMap(floats(4, 4), box=(0, 4)),
        ValueError,
        "box of axis 0 is 0; allowed are 1 to 256",
    ),
    "large box": (lambda: cs.TensorMap(floats(4, 4), box=(4, 260)), ValueError, "box of axis 1 is 260"),
    "very large box": (lambda: cs.TensorMap(floats(4, 4), box=(4, 2**40)), ValueError, "box of axis 1 is"),
    "box of 12 bytes": (lambda: cs.TensorMap(floats(4, 4), box=(4, 3)), ValueError, "12 bytes together"),
    "box beyond the swizzle": (
        lambda: cs.TensorMap(floats(4, 64), box=(4, 32), swizzle="64B"),
        ValueError,
        "has 128 bytes; with a swizzle of 64 bytes",
    ),
    "swizzle": (lambda: cs.TensorMap(floats(4, 4), box=(4, 4), swizzle="16B"), ValueError, "'none', '32B'"),
    "promotion": (lambda: cs.TensorMap(floats(4, 4), box=(4, 4), l2_promotion="1B"), ValueError, "'256B'"),
    "fill": (lambda: cs.TensorMap(floats(4, 4), box=(4, 4), oob_fill="ones"), ValueError, "'zeros', 'nan'"),
    "NaN of integers": (
        lambda: cs.TensorMap(cs.zeros((4, 4), np.int32), box=(4, 4), oob_fill="nan"),
        ValueError,
        "which integers do not have",
    ),
    "element strides": (
        lambda: cs.TensorMap(floats(4, 4), box=(4, 4), element_strides=(9, 1)),
        ValueError,
        "element_strides of axis 0 is 9; allowed are 1 to 8",
    ),
    "element stride of the last axis": (
        lambda: cs.TensorMap(floats(4, 8), box=(4, 8), element_strides=(1, 2)),
        ValueError,
        "for the last axis",
    ),
    "row of 20 bytes": (
        lambda: cs.TensorMap(floats(4, 5), box=(4, 4)),
        ValueError,
        "the stride of axis 0 is 20 bytes; allowed are multiples of 16",
    ),
    "misaligned": (
        lambda: cs.TensorMap(floats(4, 8)[:, 1:5], box=(4, 4)),
        ValueError,
        "allowed are multiples of 16",
    ),
    "transposed": (lambda: cs.TensorMap(floats(4, 8).T, box=(4, 4)), ValueError, r"pass \.copy\(\)"),
    "backwards": (lambda: cs.TensorMap(floats(4, 8)[::-1], box=(4, 4)), ValueError, "a stride of -32"),
    "closed array": (lambda: cs.TensorMap(closed(floats(4, 4)), box=(4, 4)), ValueError, "closed"),
    "copy": (
        lambda: copy.copy(cs.TensorMap(floats(4, 4), box=(4, 4))),
        TypeError,
        "make another of the same array",
    ),
}


def closed(thing):
    thing.close()
    return thing


@pytest.mark.parametrize("what", REFUSED)
def test_refused_argument_is_named(device, what):
    make, error, text = REFUSED[what]

    with pytest.raises(error, match=text):
        make()


def test_rows_of_a_view_are_allowed(device):
    assert cs.TensorMap(floats(8, 16)[::2, 4:12], box=(4, 4)).shape == (4, 8)


@pytest.mark.host_only("needs a device of another model")
def test_older_device_has_no_tensor_maps(device):
    with cs.add_host_device("a100"), pytest.raises(cs.CudaError, match=r"compute capability 8\.0") as caught:
        cs.TensorMap(floats(4, 4), box=(4, 4))

    assert caught.value.name == "cudaErrorNotSupported"


def test_kernel_takes_the_map_by_its_type(device):
    mod, y = module(device, TAKES_MAP), cs.zeros(1, np.int32)

    mod.take[1, 1](cs.TensorMap(floats(4, 4), box=(4, 4)), y)

    assert y.to_host() == 7
    assert mod.take.parameters[0].type == "CUtensorMap"


@pytest.mark.parametrize("wrong", [None, 3, b"x" * 128, "array"])
def test_other_arguments_are_refused(device, wrong):
    mod = module(device, TAKES_MAP)

    with pytest.raises(TypeError, match=r"'map' \(CUtensorMap\) takes a TensorMap"):
        mod.take[1, 1](floats(4, 4) if wrong == "array" else wrong, None)


def test_map_is_refused_for_other_parameters(device):
    mod = module(device, TAKES_MAP)
    made = cs.TensorMap(floats(4, 4), box=(4, 4))

    with pytest.raises(TypeError, match="not a TensorMap"):
        mod.take[1, 1](made, made)


def test_closed_map_is_refused(device):
    mod, made = module(device, TAKES_MAP), cs.TensorMap(floats(4, 4), box=(4, 4))
    made.close()
    made.close()

    assert made.closed
    assert repr(made).endswith(", closed>")
    with pytest.raises(ValueError, match="the TensorMap is closed"):
        mod.take[1, 1](made, None)
    with pytest.raises(ValueError, match="closed"):
        bytes(made)


def test_map_keeps_the_memory(device):
    x = floats(1 << 16, 4)
    made = cs.TensorMap(x, box=(4, 4))
    device.synchronize()
    used = device.memory_pool.statistics.used

    x.close()
    device.synchronize()
    kept = device.memory_pool.statistics.used
    made.close()
    device.synchronize()

    assert kept == used
    assert device.memory_pool.statistics.used <= used - (1 << 20)


def test_graph_keeps_map_and_memory(device):
    mod, y, stream = module(device, TAKES_MAP), cs.zeros(1, np.int32), cs.Stream()
    device.synchronize()
    with stream.capture() as graph:
        mod.take[1, 1, stream](cs.TensorMap(floats(4, 4), box=(4, 4)), y)
    exe = graph.instantiate()

    exe.launch(stream)
    stream.synchronize()

    assert y.to_host() == 7


# type, extents, strides, box, swizzle; cuTensorMapEncodeTiled's own answers to descriptions at its limits.
@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        ("cudaSuccess", {}),
        ("cudaSuccess", {"box": [4, 256]}),
        ("cudaErrorInvalidValue", {"box": [4, 257]}),
        ("cudaErrorInvalidValue", {"box": [3, 4]}),
        ("cudaErrorInvalidValue", {"box": [4, 0]}),
        ("cudaSuccess", {"box": [32, 4], "swizzle": 3}),
        ("cudaErrorInvalidValue", {"box": [36, 4], "swizzle": 3}),
        ("cudaErrorInvalidValue", {"box": [20, 4], "swizzle": 2}),
        ("cudaErrorInvalidValue", {"box": [12, 4], "swizzle": 1}),
        ("cudaErrorInvalidValue", {"strides": [4, 260]}),
        ("cudaErrorInvalidValue", {"strides": [4, 1 << 40]}),
        ("cudaSuccess", {"strides": [4, (1 << 40) - 16]}),
        ("cudaSuccess", {"extents": [64, 1 << 32]}),
        ("cudaErrorInvalidValue", {"extents": [64, (1 << 32) + 1]}),
        ("cudaErrorInvalidValue", {"extents": [0, 64]}),
        ("cudaErrorInvalidValue", {"offset": 8}),
        ("cudaSuccess", {"element_strides": [1, 8]}),
        ("cudaErrorInvalidValue", {"element_strides": [1, 9]}),
        ("cudaErrorInvalidValue", {"element_strides": [1, 0]}),
        ("cudaErrorInvalidValue", {"fill": 1, "type": 2}),
        ("cudaSuccess", {"fill": 1, "type": 7}),
        ("cudaSuccess", {"extents": [64], "strides": [4], "box": [64]}),
        ("cudaErrorInvalidValue", {"extents": [4] * 6, "strides": [16] * 6, "box": [4] * 6}),
    ],
)
def test_runtime_refuses_what_the_driver_refuses(contract, device, answer, changed):
    pointer = ok(contract.malloc(64 * 64 * 4))
    given = {"type": 7, "extents": [64, 64], "strides": [4, 256], "box": [4, 4]} | changed
    given["address"] = pointer + given.pop("offset", 0)

    got = contract.tensor_map_encode_tiled(**given)

    contract.free(pointer)
    contract.get_last_error()
    assert got == answer
