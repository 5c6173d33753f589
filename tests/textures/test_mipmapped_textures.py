"""Mipmapped arrays: their levels, and the level that a kernel reads."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import cuscope as cs
from support import module, ok

INVALID_VALUE = "cudaErrorInvalidValue"
SOURCE = r"""
__global__ void lod(cudaTextureObject_t t, int axes, const float* level, float* out) {
    int i = threadIdx.x;
    out[i] = axes == 1   ? tex1DLod<float>(t, 0.5f, level[i])
             : axes == 2 ? tex2DLod<float>(t, 0.5f, 0.5f, level[i])
                         : tex3DLod<float>(t, 0.5f, 0.5f, 0.5f, level[i]);
}
__global__ void plain(cudaTextureObject_t t, int axes, const float* unused, float* out) {
    out[threadIdx.x] = axes == 1   ? tex1D<float>(t, 0.5f)
                       : axes == 2 ? tex2D<float>(t, 0.5f, 0.5f)
                                   : tex3D<float>(t, 0.5f, 0.5f, 0.5f);
}
__global__ void slopes(cudaTextureObject_t t, int axes, const float* slope, float* out) {
    int i = threadIdx.x;
    float s = slope[i];
    out[i] = axes == 1   ? tex1DGrad<float>(t, 0.5f, s, s / 4)
             : axes == 2 ? tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(0, s / 2), make_float2(s, 0))
                         : tex3DGrad<float>(t, 0.5f, 0.5f, 0.5f, make_float4(s, 0, 0, 0), make_float4(0, 0, s / 8, 0));
}
__global__ void plain_layers(cudaTextureObject_t t, int axes, const float* unused, float* out, int layer) {
    out[threadIdx.x] = axes == 1   ? tex1DLayered<float>(t, 0.5f, layer)
                       : axes == 2 ? tex2DLayered<float>(t, 0.5f, 0.5f, layer)
                       : axes == 3 ? texCubemap<float>(t, 0, 0, -1)
                                   : texCubemapLayered<float>(t, 0, 0, -1, layer);
}
__global__ void layers(cudaTextureObject_t t, int axes, const float* level, float* out, int layer) {
    int i = threadIdx.x;
    out[i] = axes == 1   ? tex1DLayeredLod<float>(t, 0.5f, layer, level[i])
             : axes == 2 ? tex2DLayeredLod<float>(t, 0.5f, 0.5f, layer, level[i])
             : axes == 3 ? texCubemapLod<float>(t, 0, 0, -1, level[i])
                         : texCubemapLayeredLod<float>(t, 0, 0, -1, layer, level[i]);
}
__global__ void layer_slopes(cudaTextureObject_t t, int axes, const float* slope, float* out, int layer) {
    int i = threadIdx.x;
    float s = slope[i];
    out[i] = axes == 1 ? tex1DLayeredGrad<float>(t, 0.5f, layer, s, 0)
                       : tex2DLayeredGrad<float>(t, 0.5f, 0.5f, layer, make_float2(s, 0), make_float2(0, s));
}
__global__ void place(cudaTextureObject_t t, const float* x, const float* y, const float* level, float* out) {
    int i = threadIdx.x;
    out[i] = tex2DLod<float>(t, x[i], y[i], level[i]);
}
__global__ void twice(cudaSurfaceObject_t s) {
    surf2Dwrite(2 * surf2Dread<int>(s, threadIdx.x * 4, blockIdx.x), s, threadIdx.x * 4, blockIdx.x);
}
"""
SHAPES = [(8,), (8, 8), (8, 8, 8)]


def numbered(shape, step=10, **arguments) -> cs.MipmappedArray:
    """A texture of 4 levels, whose elements are all 0, 10, 20 and 30, or multiples of another step."""
    array = cs.MipmappedArray(shape, levels=4, **arguments)
    for i in range(array.levels):
        level = array.level(i)
        level.copy_from(np.full(level.shape, step * i, np.float32))
    return array


def read(device, name: str, texture, axes: int, numbers, *rest) -> list[float]:
    out = cs.zeros(len(numbers))
    module(device, SOURCE)[name][1, len(numbers)](
        texture, axes, cs.to_device(np.array(numbers, np.float32)), out, *rest
    )
    return out.to_host().tolist()


# ---- levels


@pytest.mark.parametrize(
    ("shape", "flags", "shapes"),
    [
        ((5,), {}, [(5,), (2,), (1,)]),
        ((6, 9), {}, [(6, 9), (3, 4), (1, 2), (1, 1)]),
        ((2, 4, 4), {}, [(2, 4, 4), (1, 2, 2), (1, 1, 1)]),
        ((3, 4), {"layered": True}, [(3, 4), (3, 2), (3, 1)]),
        ((3, 2, 4), {"layered": True}, [(3, 2, 4), (3, 1, 2), (3, 1, 1)]),
        ((6, 4, 4), {"cubemap": True}, [(6, 4, 4), (6, 2, 2), (6, 1, 1)]),
        ((12, 2, 2), {"cubemap": True, "layered": True}, [(12, 2, 2), (12, 1, 1)]),
    ],
)
def test_levels_halve_the_axes_of_coordinates(device, shape, flags, shapes):
    array = cs.MipmappedArray(shape, np.int16, **flags)

    assert [array.level(i).shape for i in range(array.levels)] == shapes
    assert (array.shape, array.dtype, array.device) == (shape, np.int16, device)


@pytest.mark.no_initcheck("it does not see the writes of a copy from an array")
@pytest.mark.parametrize("shape", [(9,), (6, 9), (3, 4, 5)])
def test_copies_to_levels_and_back(device, shape):
    array = cs.MipmappedArray(shape, np.uint8, channels=4)
    rng = np.random.default_rng(3)
    levels = [array.level(i) for i in range(array.levels)]
    hosts = [rng.integers(0, 255, (*level.shape, 4), np.uint8) for level in levels]
    for level, host in zip(levels, hosts, strict=True):
        level.copy_from(host)

    for level, host in zip(levels, hosts, strict=True):
        assert np.array_equal(level.to_host(), host)


def test_surface_of_a_level_writes_that_level(device):
    array = cs.MipmappedArray((8, 8), np.int32, surface=True)
    hosts = [np.arange(side * side, dtype=np.int32).reshape(side, side) for side in (8, 4, 2, 1)]
    for i, host in enumerate(hosts):
        array.level(i).copy_from(host)

    module(device, SOURCE).twice[4, 4](cs.Surface(array.level(1)))

    hosts[1] *= 2
    for i, host in enumerate(hosts):
        assert np.array_equal(array.level(i).to_host(), host)


def test_level_is_a_texture_of_its_own(device):
    texture = cs.Texture(numbered((8, 8)).level(2), normalized_coordinates=True)

    assert read(device, "lod", texture, 2, [0, 3]) == [20, 20]


# ---- the level that is read


@pytest.mark.parametrize("shape", SHAPES)
def test_nearest_level_is_read(device, shape):
    texture = cs.Texture(numbered(shape), normalized_coordinates=True)

    assert read(device, "lod", texture, len(shape), [-3, 0, 0.4, 0.6, 1.25, 2.9, 3, 9]) == [
        0,
        0,
        0,
        10,
        10,
        30,
        30,
        30,
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_filter_reads_between_levels(device, shape):
    texture = cs.Texture(numbered(shape), normalized_coordinates=True, mipmap_filter="linear")

    assert read(device, "lod", texture, len(shape), [-1, 0.25, 1.5, 2.75, 7]) == [0, 2.5, 15, 27.5, 30]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bias", [0, 1.5])
def test_functions_without_a_level_read_level_0(device, shape, bias):
    texture = cs.Texture(
        numbered(shape), normalized_coordinates=True, mipmap_filter="linear", mipmap_level_bias=bias
    )

    assert read(device, "plain", texture, len(shape), [0]) == [0]


@pytest.mark.parametrize(
    ("axes", "shape", "flags"),
    [
        (1, (2, 8), {"layered": True}),
        (2, (2, 8, 8), {"layered": True}),
        (3, (6, 8, 8), {"cubemap": True}),
        (4, (12, 8, 8), {"cubemap": True, "layered": True}),
    ],
)
def test_functions_of_layers_without_a_level_take_no_bias(device, axes, shape, flags):
    texture = cs.Texture(
        numbered(shape, **flags), normalized_coordinates=True, mipmap_filter="linear", mipmap_level_bias=1.5
    )

    assert read(device, "plain_layers", texture, axes, [0], 1) == [0]


def test_fraction_between_levels_is_cut_off_after_8_bits(device):
    texture = cs.Texture(numbered((8, 8), 256), normalized_coordinates=True, mipmap_filter="linear")

    got = read(device, "lod", texture, 2, [1 + k / 1024 for k in range(12)])

    assert got == [256 + k // 4 for k in range(12)]


@pytest.mark.parametrize("mipmap_filter", ["point", "linear"])
def test_level_that_is_no_number_is_0_and_infinite_ones_are_clamped(device, mipmap_filter):
    texture = cs.Texture(numbered((8, 8)), normalized_coordinates=True, mipmap_filter=mipmap_filter)

    assert read(device, "lod", texture, 2, [np.nan, np.inf, -np.inf]) == [0, 30, 0]


def test_levels_just_beside_the_half_are_rounded(device):
    texture = cs.Texture(numbered((8, 8)), normalized_coordinates=True)

    assert read(device, "lod", texture, 2, [0.498, 0.499, 0.5, 0.502, 1.5, 2.5]) == [0, 0, 10, 10, 20, 30]


def test_bias_is_added_to_the_level(device):
    texture = cs.Texture(
        numbered((8, 8)), normalized_coordinates=True, mipmap_filter="linear", mipmap_level_bias=0.75
    )

    assert read(device, "lod", texture, 2, [0, 1.5, 2.5]) == [7.5, 22.5, 30]


def test_levels_outside_of_the_clamps_are_not_read(device):
    texture = cs.Texture(
        numbered((8, 8)),
        normalized_coordinates=True,
        mipmap_filter="linear",
        min_mipmap_level_clamp=0.5,
        max_mipmap_level_clamp=2,
    )

    assert read(device, "lod", texture, 2, [0, 1, 3]) == [5, 10, 20]


@pytest.mark.parametrize(
    ("more", "plain", "lods"),
    [
        ({"mipmap_level_bias": 1.5}, 0, [384, 640, 768, 768]),
        ({"mipmap_level_bias": -1.5}, 0, [0, 0, 128, 384]),
        ({"mipmap_level_bias": 1 / 512}, 0, [0, 256, 512, 768]),
        ({"min_mipmap_level_clamp": 1.25}, 320, [320, 320, 512, 768]),
        ({"max_mipmap_level_clamp": 1.25}, 0, [0, 256, 320, 320]),
        ({"min_mipmap_level_clamp": 0.3, "mipmap_level_bias": 1.5}, 76, [384, 640, 768, 768]),
        ({"max_mipmap_level_clamp": 0.75, "mipmap_level_bias": 1.5}, 0, [192, 192, 192, 192]),
    ],
)
def test_functions_without_a_level_take_the_clamps_but_no_bias(device, more, plain, lods):
    texture = cs.Texture(numbered((8, 8), 256), normalized_coordinates=True, mipmap_filter="linear", **more)

    assert read(device, "plain", texture, 2, [0]) == [plain]
    assert read(device, "lod", texture, 2, [0, 1, 2, 3]) == lods


@pytest.mark.parametrize(
    ("bias", "expected"),
    [
        (-1 / 512, [256, 256, 256, 256, 257, 257, 257, 257]),
        (-1 / 256, [255, 255, 255, 255, 256, 256, 256, 256]),
        (3 / 1024, [256, 256, 256, 256, 257, 257, 257, 257]),
        (-20, [0] * 8),
        (20, [768] * 8),
    ],
)
def test_bias_is_cut_off_after_8_bits_of_fraction(device, bias, expected):
    texture = cs.Texture(
        numbered((8, 8), 256), normalized_coordinates=True, mipmap_filter="linear", mipmap_level_bias=bias
    )

    assert read(device, "lod", texture, 2, [1 + k / 1024 for k in range(8)]) == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_steeper_slope_chooses_the_level(device, shape):
    texture = cs.Texture(numbered(shape), normalized_coordinates=True)

    # One element of level 0 is an eighth.
    got = read(device, "slopes", texture, len(shape), [1 / 64, 1 / 8, 1 / 4, 1 / 2, 1, 4])

    assert got == [0, 0, 10, 20, 30, 30]


@pytest.mark.parametrize(
    ("axes", "shape", "flags"),
    [
        (1, (2, 8), {"layered": True}),
        (2, (2, 8, 8), {"layered": True}),
        (3, (6, 8, 8), {"cubemap": True}),
        (4, (12, 8, 8), {"cubemap": True, "layered": True}),
    ],
)
def test_layers_have_levels(device, axes, shape, flags):
    array = cs.MipmappedArray(shape, levels=4, **flags)
    for i in range(array.levels):
        host = np.full(array.level(i).shape, i, np.float32)
        host[-6 if axes > 2 else -1 :] += 10  # of the last layer
        array.level(i).copy_from(host)
    texture = cs.Texture(array, normalized_coordinates=True, mipmap_filter="linear")

    assert read(device, "layers", texture, axes, [0, 1.5, 5], 1) == [10, 11.5, 13]
    if axes < 3:
        assert read(device, "layer_slopes", texture, axes, [1 / 8, 1 / 2], 1) == [10, 12]


def test_elements_of_each_level_are_filtered(device):
    array = cs.MipmappedArray((2, 4), levels=2)
    hosts = [np.arange(8, dtype=np.float32).reshape(2, 4), np.array([[100, 200]], np.float32)]
    for i, host in enumerate(hosts):
        array.level(i).copy_from(host)
    texture = cs.Texture(array, normalized_coordinates=True, filter="linear", mipmap_filter="linear")
    x, y, level = [0.5, 0.5, 0.5], [0.25, 0.5, 0.5], [0, 1, 0.5]
    out = cs.zeros(3)

    given = [cs.to_device(np.array(numbers, np.float32)) for numbers in (x, y, level)]
    module(device, SOURCE).place[1, 3](texture, *given, out)

    assert out.to_host().tolist() == [1.5, 150, (3.5 + 150) / 2]


# ---- lifetimes


def test_level_and_texture_keep_the_array(device):
    level, texture = (lambda a: (a.level(1), cs.Texture(a, normalized_coordinates=True)))(numbered((8, 8)))
    gc.collect()

    assert (level.to_host() == 10).all()
    assert read(device, "lod", texture, 2, [2]) == [20]


def test_closed_array_is_refused_and_its_levels_go_on(device):
    array = numbered((8, 8))
    level = array.level(3)
    array.close()
    array.close()

    assert array.closed
    assert level.to_host().tolist() == [[30]]
    for use in (lambda: array.level(0), lambda: cs.Texture(array, normalized_coordinates=True)):
        with pytest.raises(ValueError, match="MipmappedArray is closed"):
            use()


@pytest.mark.counts_memory
def test_arrays_give_their_memory_back(device, settled):
    free = device.memory_info().free
    for _ in range(20):
        array = cs.MipmappedArray((1024, 1024), surface=True)
        array.level(0).copy_from(np.zeros((1024, 1024), np.float32))
        cs.Texture(array, normalized_coordinates=True), cs.Surface(array.level(2))
        del array
    settled()
    assert device.memory_info().free >= free - (16 << 20)


# ---- refused arguments

REFUSED = {
    "no levels": (
        lambda: cs.MipmappedArray((4, 9), levels=0),
        ValueError,
        r"levels: 0; an array of shape \(4, 9\) has from 1 to 4",
    ),
    "too many levels": (lambda: cs.MipmappedArray(8, levels=5), ValueError, "levels: 5; .* from 1 to 4"),
    "layers are no levels": (
        lambda: cs.MipmappedArray((64, 2), layered=True, levels=3),
        ValueError,
        "from 1 to 2",
    ),
    "no shape": (lambda: cs.MipmappedArray(()), ValueError, "1 to 3 axes"),
    "oblong faces": (lambda: cs.MipmappedArray((6, 4, 8), cubemap=True), ValueError, r"\(6, size, size\)"),
    "doubles": (lambda: cs.MipmappedArray(8, np.float64), TypeError, "float64"),
    "level": (lambda: cs.MipmappedArray(8).level(4), IndexError, "level: 4; the array has the levels 0 to 3"),
    "level below 0": (lambda: cs.MipmappedArray(8).level(-1), IndexError, "level: -1; .* 0 to 3"),
    "coordinates": (lambda: cs.Texture(cs.MipmappedArray(8)), ValueError, "pass normalized_coordinates=True"),
    "filter": (
        lambda: cs.Texture(cs.MipmappedArray(8), normalized_coordinates=True, mipmap_filter="cubic"),
        ValueError,
        "mipmap_filter: 'cubic' is not one of 'point', 'linear'",
    ),
    "filtered integers": (
        lambda: cs.Texture(
            cs.MipmappedArray(8, np.uint8), normalized_coordinates=True, mipmap_filter="linear"
        ),
        ValueError,
        "mipmap_filter: 'linear' is for floats",
    ),
    "clamps": (
        lambda: cs.Texture(
            cs.MipmappedArray(8),
            normalized_coordinates=True,
            min_mipmap_level_clamp=2,
            max_mipmap_level_clamp=1,
        ),
        ValueError,
        r"min_mipmap_level_clamp: 2\.0 is above max_mipmap_level_clamp, 1\.0",
    ),
    "bias": (
        lambda: cs.Texture(cs.MipmappedArray(8), normalized_coordinates=True, mipmap_level_bias=float("nan")),
        ValueError,
        "mipmap_level_bias: nan",
    ),
    "levels of an array": (
        lambda: cs.Texture(cs.CudaArray(8), mipmap_filter="linear"),
        ValueError,
        "are for a MipmappedArray",
    ),
    "channels": (
        lambda: cs.Texture(cs.MipmappedArray(8), channels=2, normalized_coordinates=True),
        ValueError,
        "channels: 2; the array has 1",
    ),
    "surface": (
        lambda: cs.Surface(cs.MipmappedArray(8).level(0)),
        ValueError,
        "surface=True",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_name_the_allowed_values(device, contract, what):
    use, error, text = REFUSED[what]
    with pytest.raises(error, match=text):
        use()
    assert contract.peek_at_last_error() == "cudaSuccess"


def test_repr_names_the_levels(device):
    array = cs.MipmappedArray((6, 9), np.int8, channels=2)
    assert repr(array) == f"MipmappedArray(shape=(6, 9), dtype=int8, channels=2, levels=4, {device.name})"


# ---- the contract's calls

FLOAT1 = (32, 0, 0, 0, 2)


@pytest.mark.parametrize(("asked", "made"), [(0, 1), (1, 1), (3, 3), (4, 4), (100, 4)])
def test_count_of_levels_is_clamped(contract, asked, made):
    array = ok(contract.malloc_mipmapped_array(FLOAT1, (8, 4, 0), asked))

    answers = [contract.get_mipmapped_array_level(array, i)[0] for i in range(6)]
    contract.get_last_error()

    assert answers == ["cudaSuccess"] * made + [INVALID_VALUE] * (6 - made)
    ok(contract.free_mipmapped_array(array))


def test_level_has_its_own_description(contract):
    array = ok(contract.malloc_mipmapped_array(FLOAT1, (9, 4, 0), 4, 2))
    level = ok(contract.get_mipmapped_array_level(array, 1))

    assert contract.array_get_info(level) == ("cudaSuccess", FLOAT1, (4, 2, 0), 2)
    ok(contract.free_mipmapped_array(array))


LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8


@pytest.mark.parametrize(
    ("sizes", "asked", "flags", "made"),
    [
        ((2, 2, 64), 100, LAYERED, 2),
        ((2, 0, 64), 100, LAYERED, 2),
        ((4, 4, 6), 100, CUBEMAP, 3),
        ((2, 2, 64), 100, 0, 7),
        ((32768, 0, 0), 1, 0, 1),
        ((32768, 1, 0), 1, 0, 1),
        ((16384, 1, 1), 1, 0, 1),
        ((4, 4, 0), 3, GATHER, 3),
        ((4, 4, 0), 3, SURFACE, 3),
    ],
)
def test_contract_makes_the_levels_that_a_gpu_makes(contract, sizes, asked, flags, made):
    array = ok(contract.malloc_mipmapped_array(FLOAT1, sizes, asked, flags))

    answers = [contract.get_mipmapped_array_level(array, i)[0] for i in range(made + 1)]
    contract.get_last_error()

    assert answers == ["cudaSuccess"] * made + [INVALID_VALUE]
    ok(contract.free_mipmapped_array(array))


@pytest.mark.parametrize(
    ("sizes", "flags"),
    [
        ((0, 0, 0), 0),
        ((4, 0, 4), 0),
        ((4, 4, 0), LAYERED),
        ((4, 4, 2049), LAYERED),
        ((4, 4, 5), CUBEMAP),
        ((32769, 0, 0), 0),
        ((32769, 1, 0), 0),
        ((1, 32769, 0), 0),
        ((16385, 1, 1), 0),
        ((4, 0, 0), GATHER),
        ((4, 4, 4), GATHER),
        ((4, 4, 4), GATHER | LAYERED),
        ((4, 4, 0), 16),
        ((4, 4, 0), 1024),
    ],
)
def test_extents_that_no_mipmapped_array_has_are_refused(contract, sizes, flags):
    assert contract.malloc_mipmapped_array(FLOAT1, sizes, 1, flags)[0] == INVALID_VALUE
    contract.get_last_error()


def test_free_array_of_a_level_succeeds_and_leaves_the_array(contract):
    array = ok(contract.malloc_mipmapped_array(FLOAT1, (8, 8, 0), 4))
    level = ok(contract.get_mipmapped_array_level(array, 1))

    assert [contract.free_array(level) for _ in range(2)] == ["cudaSuccess"] * 2
    assert contract.array_get_info(level) == ("cudaSuccess", FLOAT1, (4, 4, 0), 0)
    assert contract.get_mipmapped_array_level(array, 1) == ("cudaSuccess", level)
    assert contract.free_mipmapped_array(array) == "cudaSuccess"


def test_contract_makes_textures_of_levels_without_normalised_coordinates(contract):
    array = ok(contract.malloc_mipmapped_array(FLOAT1, (8, 8, 0), 4))
    resource = {"type": 1, "mipmapped_array": array}

    texture = ok(contract.create_texture_object(resource))

    ok(contract.destroy_texture_object(texture))
    ok(contract.free_mipmapped_array(array))
