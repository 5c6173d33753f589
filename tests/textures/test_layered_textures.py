"""Layered arrays and cubemaps as textures and surfaces: the elements that kernels read and write, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = r"""
__global__ void lines(cudaTextureObject_t t, const float* x, const int* layer, float* out) {
    int i = threadIdx.x;
    out[i] = tex1DLayered<float>(t, x[i], layer[i]);
}
__global__ void planes(cudaTextureObject_t t, const float* x, const float* y, const int* layer, float* out) {
    int i = threadIdx.x;
    out[i] = tex2DLayered<float>(t, x[i], y[i], layer[i]);
}
__global__ void directions(cudaTextureObject_t t, const float* xyz, const int* layer, float* out, bool layered) {
    int i = threadIdx.x;
    const float *w = xyz + 3 * i;
    out[i] = layered ? texCubemapLayered<float>(t, w[0], w[1], w[2], layer[i]) : texCubemap<float>(t, w[0], w[1], w[2]);
}
enum { LINES, PLANES, FACES, LAYERED_FACES };
__global__ void twice(cudaSurfaceObject_t s, int kind) {
    int x = threadIdx.x * 4, y = blockIdx.x, z = blockIdx.y;
    if (kind == LINES) surf1DLayeredwrite(2 * surf1DLayeredread<int>(s, x, z), s, x, z);
    if (kind == PLANES) surf2DLayeredwrite(2 * surf2DLayeredread<int>(s, x, y, z), s, x, y, z);
    if (kind == FACES) surfCubemapwrite(2 * surfCubemapread<int>(s, x, y, z), s, x, y, z);
    if (kind == LAYERED_FACES) surfCubemapLayeredwrite(2 * surfCubemapLayeredread<int>(s, x, y, z), s, x, y, z);
}
"""
KINDS = {
    "lines": ((3, 8), {"layered": True}),
    "planes": ((3, 4, 8), {"layered": True}),
    "cubemap": ((6, 4, 4), {"cubemap": True}),
    "layered cubemap": ((12, 4, 4), {"cubemap": True, "layered": True}),
}


def filled(kind: str, dtype=np.float32, **arguments) -> tuple[cs.CudaArray, np.ndarray]:
    """An array of a kind, and its elements, which all differ."""
    shape, flags = KINDS[kind]
    host = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    array = cs.CudaArray(shape, dtype, **flags, **arguments)
    array.copy_from(host)
    return array, host


def read(device, name: str, texture, coordinates, layers, *rest) -> np.ndarray:
    out = cs.zeros(len(layers))
    given = [cs.to_device(np.array(c, np.float32)) for c in coordinates]
    module(device, SOURCE)[name][1, len(layers)](
        texture, *given, cs.to_device(np.array(layers, np.int32)), out, *rest
    )
    return out.to_host()


def face_and_place(way: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The face that each direction meets, and the row and column there: the guide's table of cubemaps."""
    x, y, z = way.T
    major = np.abs(way).argmax(axis=1)
    negative = np.take_along_axis(way, major[:, None], 1)[:, 0] < 0
    face = 2 * major + negative
    s = np.choose(face, [-z, z, x, x, x, -x])
    t = np.choose(face, [-y, -y, z, -z, -y, -y])
    m = np.abs(way).max(axis=1)
    return face, (t / m + 1) / 2 * size, (s / m + 1) / 2 * size


@pytest.mark.no_initcheck("it does not see the writes of a copy from an array")
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_copies_to_layers_and_back(device, kind, channels):
    shape, flags = KINDS[kind]
    full = shape if channels == 1 else (*shape, channels)
    host = np.arange(np.prod(full), dtype=np.int16).reshape(full)
    array = cs.CudaArray(shape, np.int16, channels=channels, **flags)
    array.copy_from(host)
    x = cs.zeros(full, np.int16)
    array.copy_to(x)

    assert np.array_equal(array.to_host(), host)
    assert np.array_equal(x.to_host(), host)
    assert (array.shape, array.layered, array.cubemap) == (
        shape,
        flags.get("layered", False),
        flags.get("cubemap", False),
    )


def test_lines_are_read_by_number(device):
    array, host = filled("lines")
    x = [0.5, 7.5, 3.0, 0.0]
    layers = [0, 2, 1, 9]
    got = read(device, "lines", cs.Texture(array, filter="linear"), [x], layers)

    assert got.tolist() == [host[0, 0], host[2, 7], host[1, 2:4].mean(), host[2, 0]]


def test_planes_are_filtered_within_their_layer(device):
    array, host = filled("planes")
    texture = cs.Texture(array, filter="linear")
    got = read(device, "planes", texture, [[3.0, 1.5, 8.0], [2.0, 0.5, 9.0]], [1, 2, 0])

    assert got.tolist() == [host[1, 1:3, 2:4].mean(), host[2, 0, 1], host[0, 3, 7]]


def test_address_modes_of_layers_are_those_of_their_axes(device):
    array, host = filled("planes")
    texture = cs.Texture(array, address=("wrap", "mirror"), normalized_coordinates=True)
    x = np.array([-0.5, 9.5, 2.5]) / 8
    y = np.array([0.5, -1.5, 4.5]) / 4

    got = read(device, "planes", texture, [x, y], [2, 1, 0])

    assert got.tolist() == [host[2, 0, 7], host[1, 1, 1], host[0, 3, 2]]


@pytest.mark.parametrize("kind", ["cubemap", "layered cubemap"])
def test_directions_choose_a_face_and_a_place(device, kind):
    array, host = filled(kind)
    rng = np.random.default_rng(1)
    way = rng.uniform(-1, 1, (1000, 3)).astype(np.float32)
    face, row, column = face_and_place(way.astype(float), 4)
    # No rounding takes these into another element.
    inside = (abs(row % 1 - 0.5) < 0.4) & (abs(column % 1 - 0.5) < 0.4)
    way, face, row, column = (part[inside][:256] for part in (way, face, row, column))
    layers = rng.integers(0, len(host) // 6, 256)

    got = read(device, "directions", cs.Texture(array), [way.ravel()], layers, kind != "cubemap")

    assert np.array_equal(got, host[6 * layers + face, row.astype(int), column.astype(int)])


def test_cubemap_is_filtered_within_a_face(device):
    array, host = filled("cubemap")
    got = read(device, "directions", cs.Texture(array, filter="linear"), [[1, 0, 0, 0, -2, 0]], [0, 0], False)

    assert got.tolist() == [host[0, 1:3, 1:3].mean(), host[3, 1:3, 1:3].mean()]


# Directions, and the number of the face that an H100 reads, times 100. If two coordinates have the same length, it
# takes the last one.
FACES_OF_DIRECTIONS = [
    ((1, -1, 0), 300),
    ((1, -0.99, 0), 0),
    ((1, -0.9, 0), 0),
    ((1, -0.76, 0), 0),
    ((1, -0.74, 0), 0),
    ((1, 0.74, 0), 0),
    ((1, 0.9, 0), 0),
    ((1, 1, 0), 200),
    ((1, 1, 1), 400),
    ((0, 0, 0), 400),
    ((1, -1, 0), 300),
]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [face for _, face in FACES_OF_DIRECTIONS]),
        ({"filter": "linear", "address": "clamp"}, [face for _, face in FACES_OF_DIRECTIONS]),
        ({"filter": "linear", "address": "wrap"}, [face for _, face in FACES_OF_DIRECTIONS]),
        (
            {"filter": "linear", "address": "border", "border": -1000},
            [-350, -480.46875, -300.78125, -19.53125, 0, 0, -300.78125, -400, -650, 400, -350],
        ),
    ],
    ids=["point", "clamp", "wrap", "border"],
)
def test_directions_at_edges_read_the_face_of_a_gpu(device, arguments, expected):
    array = cs.CudaArray((6, 4, 4), cubemap=True)
    array.copy_from(np.repeat(np.arange(6, dtype=np.float32) * 100, 16).reshape(6, 4, 4))
    ways = np.array([way for way, _ in FACES_OF_DIRECTIONS]).ravel()

    got = read(
        device, "directions", cs.Texture(array, **arguments), [ways], [0] * len(FACES_OF_DIRECTIONS), False
    )

    assert got.tolist() == expected


# Directions, and the values that an H200 reads from a cubemap of the numbers 0 to 95: the nearest element, and
# filtered.
ELEMENTS_OF_DIRECTIONS = [
    ((0, 0, 0), 74, 71.5),
    ((0, 0, -0.0), 74, 71.5),
    ((-0.0, -0.0, -0.0), 74, 71.5),
    ((1, 1, 1), 67, 67),
    ((-1, 1, 1), 64, 64),
    ((1, -1, 1), 79, 79),
    ((1, 1, -1), 80, 80),
    ((-1, -1, -1), 95, 95),
    ((1, 0, 1), 75, 73),
    ((1, 0, -1), 88, 86),
    ((0, 1, 1), 66, 65.5),
    ((0, 1, -1), 82, 81.5),
    ((0, -1, -1), 94, 93.5),
    ((-1, 1, 0), 40, 38),
    ((-1, -1, 0), 56, 54),
    ((np.nan, 0, 0), 74, 71.5),
    ((0, np.nan, 0), 74, 71.5),
    ((0, 0, np.nan), 74, 71.5),
    ((1, np.nan, 0), 10, 7.5),
    ((np.inf, 0, 0), 74, 71.5),
    ((np.inf, np.inf, 0), 74, 71.5),
    ((0.3, 1, np.inf), 42, 39.5),
]


@pytest.mark.parametrize("filter_mode", ["point", "linear"])
def test_directions_to_corners_and_infinity_read_the_elements_of_a_gpu(device, filter_mode):
    array, _ = filled("cubemap")
    ways, nearest, filtered = zip(*ELEMENTS_OF_DIRECTIONS, strict=True)

    got = read(
        device,
        "directions",
        cs.Texture(array, filter=filter_mode),
        [np.ravel(ways)],
        [0] * len(ways),
        False,
    )

    assert got.tolist() == list(nearest if filter_mode == "point" else filtered)


@pytest.mark.parametrize(("number", "kind"), list(enumerate(KINDS)))
def test_surfaces_of_layers_are_read_and_written(device, number, kind):
    array, host = filled(kind, np.int32, surface=True)
    depth, height, width = host.shape if host.ndim == 3 else (host.shape[0], 1, host.shape[1])

    module(device, SOURCE).twice[(height, depth), width](cs.Surface(array), number)

    assert np.array_equal(array.to_host(), 2 * host)


REFUSED = {
    "one line": (
        {"shape": 8, "layered": True},
        r"shape: \(8,\); a layered array is \(layers, width\) or \(layers, height, width\)",
    ),
    "five faces": ({"shape": (5, 4, 4), "cubemap": True}, r"\(5, 4, 4\); a cubemap is \(6, size, size\)"),
    "faces of two layers": ({"shape": (12, 4, 4), "cubemap": True}, "several of them are layered=True"),
    "faces of half a layer": (
        {"shape": (9, 4, 4), "cubemap": True, "layered": True},
        r"\(9, 4, 4\); a layered cubemap is \(6 \* layers, size, size\)",
    ),
    "oblong faces": ({"shape": (6, 4, 8), "cubemap": True}, r"\(6, 4, 8\); a cubemap is .* square"),
    "faces without rows": ({"shape": (6, 4), "cubemap": True}, r"\(6, 4\); a cubemap is"),
    "gather": ({"shape": (3, 4), "layered": True, "gather": True}, "2 axes, not of layers"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_shapes_name_the_allowed_ones(device, what):
    arguments, text = REFUSED[what]
    with pytest.raises(ValueError, match=text):
        cs.CudaArray(**arguments)


def test_more_layers_than_a_device_has_are_refused(device):
    with pytest.raises(cs.CudaError, match="InvalidValue"):
        cs.CudaArray((2049, 4), layered=True)


def test_wrapped_layers_need_normalized_coordinates(device):
    array = cs.CudaArray((3, 4), layered=True)
    with pytest.raises(ValueError, match="normalized_coordinates=True"):
        cs.Texture(array, address="wrap")


def test_repr_names_layers_and_cubemap(device):
    array = cs.CudaArray((12, 4, 4), layered=True, cubemap=True)
    assert repr(array) == f"CudaArray(shape=(12, 4, 4), dtype=float32, layered, cubemap, {device.name})"
