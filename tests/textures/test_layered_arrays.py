"""Layered arrays and cubemaps: the contract's calls that make them, and kernels that read and write them."""

from __future__ import annotations

import numpy as np
import pytest

import cuscope as cs
from support import address, module, ok

INVALID_VALUE = "cudaErrorInvalidValue"
OK = "cudaSuccess"
FLOAT1 = (32, 0, 0, 0, 2)


@pytest.fixture
def c(contract):
    yield contract
    contract.device_synchronize()
    contract.get_last_error()


LAYERED, SURFACE, CUBEMAP = 1, 2, 4
LAYERS = r"""
__global__ void layer_of_1d(unsigned long long t, float* out, int layer) { out[threadIdx.x] = tex1DLayered<float>(t, threadIdx.x + 0.5f, layer); }
__global__ void layer_of_2d(unsigned long long t, float* out, int layer) { out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 + 0.5f, layer); }
__global__ void direction(unsigned long long t, const float3* way, float* out) { float3 w = way[threadIdx.x]; out[threadIdx.x] = texCubemap<float>(t, w.x, w.y, w.z); }
__global__ void write_layer(unsigned long long s, int layer) { surf2DLayeredwrite<float>(threadIdx.x, s, threadIdx.x % 4 * 4, threadIdx.x / 4, layer); }
"""


def array_of(c, source, sizes, flags):
    """An array with the elements of `source`, which has as many axes as sizes are not 0."""
    width, height, depth = (max(1, n) for n in sizes)
    array = ok(c.malloc_3d_array(FLOAT1, sizes, flags))
    host = c.Side(pitched=(address(source), 4 * width, 4 * width, height))
    ok(c.memcpy_3d(c.Side(array=array), host, (width, height, depth)))
    return array


def test_layers_of_an_array_of_lines_are_read_by_number(c, device):
    source = np.arange(24, dtype=np.float32).reshape(3, 8)
    texture = ok(c.create_texture_object({"array": array_of(c, source, (8, 0, 3), LAYERED)}))
    out = cs.zeros(8)
    module(device, LAYERS).layer_of_1d[1, 8](texture, out, 2)

    assert np.array_equal(out.to_host(), source[2])


@pytest.mark.parametrize(("layer", "read"), [(0, 0), (2, 2), (-1, 2), (7, 2)])
def test_layers_of_an_array_of_planes_are_read_by_number_and_clamped(c, device, layer, read):
    source = np.arange(36, dtype=np.float32).reshape(3, 3, 4)
    texture = ok(c.create_texture_object({"array": array_of(c, source, (4, 3, 3), LAYERED)}))
    out = cs.zeros(12)
    module(device, LAYERS).layer_of_2d[1, 12](texture, out, layer)

    assert np.array_equal(out.to_host(), source[read].ravel())


def test_direction_chooses_a_face_of_a_cubemap_and_a_place_on_it(c, device):
    source = np.arange(24, dtype=np.float32).reshape(6, 2, 2)
    texture = ok(
        c.create_texture_object(
            {"array": array_of(c, source, (2, 2, 6), CUBEMAP)}, (1, 1, 1), normalized_coordinates=True
        )
    )
    # (s, t) of a face are (-z, -y), (z, -y), (x, z), (x, -z), (x, -y), (-x, -y) of +x, -x, +y, -y, +z, -z.
    ways = [(2, 1, 1), (-2, 1, 1), (1, 2, 1), (1, -2, 1), (1, 1, 2), (1, 1, -2)]
    places = [(0, 0), (1, 0), (1, 1), (1, 0), (1, 0), (0, 0)]
    out = cs.zeros(6)
    module(device, LAYERS).direction[1, 6](texture, cs.to_device(np.array(ways, np.float32).ravel()), out)

    assert out.to_host().tolist() == [source[face, t, s] for face, (s, t) in enumerate(places)]


def test_surface_of_a_layered_array_writes_one_layer(c, device):
    source = np.full((3, 3, 4), -1, np.float32)
    array = array_of(c, source, (4, 3, 3), LAYERED | SURFACE)
    module(device, LAYERS).write_layer[1, 12](ok(c.create_surface_object({"array": array})), 1)
    back = np.zeros_like(source)
    ok(c.memcpy_3d(c.Side(pitched=(address(back), 16, 16, 3)), c.Side(array=array), (4, 3, 3)))

    assert np.array_equal(back[1].ravel(), np.arange(12))
    assert (back[[0, 2]] == -1).all()


@pytest.mark.parametrize(
    ("sizes", "flags"),
    [((4, 4, 0), LAYERED), ((4, 4, 5), CUBEMAP), ((4, 3, 6), CUBEMAP), ((4, 4, 8), CUBEMAP | LAYERED)],
)
def test_extents_that_no_layered_array_has_are_refused(c, sizes, flags):
    assert c.malloc_3d_array(FLOAT1, sizes, flags)[0] == INVALID_VALUE
