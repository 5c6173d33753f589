"""CUDA arrays, textures and surfaces: copies, and the values that kernels read and write. The reference is NumPy code
with the formulas of the CUDA C++ Programming Guide's "Texture Fetching".
"""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuscope as cs
from others import Interface
from support import module, spin

FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TYPES = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "float": np.float32,
}
SOURCE = r"""
template <class T>
__global__ void read(cudaTextureObject_t t, const float* x, const float* y, const float* z, T* out, int n, int axes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = axes == 0   ? tex1Dfetch<T>(t, (int)x[i])
             : axes == 1 ? tex1D<T>(t, x[i])
             : axes == 2 ? tex2D<T>(t, x[i], y[i])
                         : tex3D<T>(t, x[i], y[i], z[i]);
}
template <class T>
__global__ void write(cudaSurfaceObject_t s, const T* in, int width, int height, int depth, int axes) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y, size = sizeof(T);
    if (x >= width) return;
    T value = in[(z * height + y) * width + x];
    if (axes == 1) surf1Dwrite(value, s, x * size);
    if (axes == 2) surf2Dwrite(value, s, x * size, y);
    if (axes == 3) surf3Dwrite(value, s, x * size, y, z);
}
template <class T>
__global__ void twice(cudaSurfaceObject_t s, int axes) {
    int x = threadIdx.x * sizeof(T), y = blockIdx.x, z = blockIdx.y;
    T value;
    if (axes == 1) surf1Dwrite(T(2 * surf1Dread<T>(s, x)), s, x);
    if (axes == 2) { surf2Dread(&value, s, x, y); surf2Dwrite(T(2 * value), s, x, y); }
    if (axes == 3) surf3Dwrite(T(2 * surf3Dread<T>(s, x, y, z)), s, x, y, z);
}
__global__ void outside(cudaSurfaceObject_t s, int* out) {
    out[0] = surf2Dread<int>(s, -4, 0, cudaBoundaryModeZero);
    out[1] = surf2Dread<int>(s, 0, 100, cudaBoundaryModeZero);
    out[2] = surf2Dread<int>(s, 400, 0, cudaBoundaryModeClamp);
    surf2Dwrite(77, s, 4, 100, cudaBoundaryModeZero);
    surf2Dwrite(88, s, -400, 100, cudaBoundaryModeClamp);
}
__global__ void gather(cudaTextureObject_t t, float x, float y, float4* out) { *out = tex2Dgather<float4>(t, x, y); }
"""


def type_name(dtype, channels: int) -> str:
    name = next(name for name, type_ in TYPES.items() if type_ == dtype)
    if channels > 1:
        return f"{name}{channels}"
    return f"unsigned {name[1:]}" if name.startswith("u") else name


READERS = [f"read<{type_name(dtype, n)}>" for dtype in TYPES.values() for n in (1, 2, 4)]
NAMES = (*READERS, "write<float>", "write<short4>", "twice<int>", "twice<unsigned char>", "write<int>")


def code(device) -> cs.Module:
    return module(device, SOURCE, name_expressions=NAMES)


def fetch(device, texture, axes: int, coordinates, dtype, channels: int = 1) -> np.ndarray:
    """The value that a kernel reads at each (x, y, z)."""
    points = np.zeros((3, len(coordinates)), np.float32)
    points[: np.shape(coordinates)[1]] = np.transpose(coordinates)
    out = cs.empty((len(coordinates), channels), dtype)
    kernel = code(device)[f"read<{type_name(dtype, channels)}>"]
    x, y, z = (cs.to_device(p) for p in points)
    kernel[(len(coordinates) + 127) // 128, 128](texture, x, y, z, out, len(coordinates), axes)
    return out.to_host()


def places(mode: str, index: np.ndarray, count: int) -> np.ndarray:
    """The indices after an address mode; -1 on the border."""
    if mode == "clamp":
        return index.clip(0, count - 1)
    if mode == "wrap":
        return index % count
    if mode == "mirror":
        index = index % (2 * count)
        return np.where(index < count, index, 2 * count - 1 - index)
    return np.where((index >= 0) & (index < count), index, -1)


def expected(host, coordinates, modes, *, linear=False, normalized=False, border=0.0) -> np.ndarray:
    """The guide's formulas, with weights that are exact; `host` has its channels last, `coordinates` x first."""
    extents = host.shape[-2::-1]
    padded = np.pad(host.astype(np.float64), [(0, 1)] * len(extents) + [(0, 0)], constant_values=border)
    corners = []
    for axis, (count, mode) in enumerate(zip(extents, modes, strict=False)):
        x = np.asarray(coordinates, np.float64)[:, axis] * (count if normalized else 1)
        if linear:
            low = np.floor(x - 0.5).astype(int)
            weight = x - 0.5 - low
            corners.append([(places(mode, low, count), 1 - weight), (places(mode, low + 1, count), weight)])
        else:
            corners.append([(places(mode, np.floor(x).astype(int), count), np.ones(len(x)))])
    result = 0
    for corner in itertools.product(*corners):
        index = tuple(
            np.where(at < 0, count, at) for (at, _), count in zip(corner[::-1], extents[::-1], strict=True)
        )
        # Behind any axis lies the border.
        outside = np.any([at < 0 for at, _ in corner], axis=0)
        value = np.where(outside[:, None], border, padded[index])
        result = result + value * np.prod([weight for _, weight in corner], axis=0)[:, None]
    return result


def numbers(shape, dtype, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.random(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


# ---- arrays


@pytest.mark.no_initcheck("it does not see the writes of a copy from an array")
@pytest.mark.parametrize("shape", [(7,), (5, 7), (3, 5, 7)])
@pytest.mark.parametrize(
    ("dtype", "channels"), [(np.float32, 1), (np.uint8, 4), (np.int16, 2), (np.float16, 4)]
)
def test_copies_to_an_array_and_back(device, shape, dtype, channels):
    a = cs.CudaArray(shape, dtype, channels=channels)
    full = shape if channels == 1 else (*shape, channels)
    host = numbers(full, dtype)

    a.copy_from(host)
    assert np.array_equal(a.to_host(), host)
    a.copy_from(cs.to_device(host[::-1]))
    x = cs.zeros(full, dtype)
    a.copy_to(x)
    assert np.array_equal(x.to_host(), host[::-1])
    wide = cs.zeros((*full, 2), dtype)
    a.copy_to(wide[..., 1])
    assert np.array_equal(wide.to_host()[..., 1], host[::-1])
    assert not wide.to_host()[..., 0].any()
    a.copy_from(wide[..., 0])
    assert not a.to_host().any()
    assert (a.shape, a.dtype, a.channels, a.device) == (shape, dtype, channels, device)


def test_copies_of_page_locked_memory_do_not_wait(device):
    a = cs.CudaArray((256, 512))
    locked = cs.pinned_empty((256, 512), np.float32)
    locked[:] = numbers(locked.shape, np.float32)
    stream = cs.Stream()
    spin(device, 5e-3, stream)

    a.copy_from(locked, stream=stream)
    assert not stream.query()
    sent = locked.copy()
    del locked
    gc.collect()
    assert np.array_equal(a.to_host(stream=stream), sent)


@pytest.mark.no_initcheck("it does not see the writes of a copy from an array")
def test_sources_of_any_strides_and_kinds(device):
    a = cs.CudaArray((4, 6), np.int32)
    host = numbers((6, 4, 2), np.int32)

    a.copy_from(host[..., 1].T)
    assert np.array_equal(a.to_host(), host[..., 1].T)
    a.copy_from([[1, 2, 3, 4, 5, 6]] * 4)
    assert a.to_host().sum() == 84
    managed = cs.empty_managed((4, 6), np.int32)
    managed.fill(9)
    a.copy_from(managed)
    assert (a.to_host() == 9).all()
    pitched = cs.empty_pitched((4, 6), np.int32)
    a.copy_to(pitched)
    assert (pitched.to_host() == 9).all()


# ---- textures


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", TYPES.values())
def test_elements_are_read_as_they_are(device, dtype, channels):
    host = numbers((5, 6, channels), dtype)
    a = cs.CudaArray((5, 6), dtype, channels=channels)
    a.copy_from(host if channels > 1 else host[..., 0])
    points = [(x + 0.5, y + 0.25) for y in range(-2, 7) for x in range(-2, 8)]

    got = fetch(device, cs.Texture(a), 2, points, dtype, channels)

    assert np.array_equal(got, expected(host, points, ["clamp", "clamp"]).astype(dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_normalized_reads_scale_integers_to_one(device, dtype):
    host = numbers((4, 64, 1), dtype)
    host[0, :2, 0] = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = cs.CudaArray((4, 64), dtype)
    a.copy_from(host[..., 0])
    points = [(x + 0.5, y + 0.5) for y in range(4) for x in range(64)]

    got = fetch(device, cs.Texture(a, normalized_reads=True), 2, points, np.float32)
    smooth = [(x + 0.75, y + 0.5) for y in range(4) for x in range(64)]
    between = fetch(device, cs.Texture(a, normalized_reads=True, filter="linear"), 2, smooth, np.float32)

    scaled = np.maximum(host / np.iinfo(dtype).max, -1)
    assert got == pytest.approx(expected(scaled, points, ["clamp"] * 2), abs=1e-5)
    assert between == pytest.approx(expected(scaled, smooth, ["clamp"] * 2, linear=True), abs=1e-2)


@st.composite
def samples(draw):
    shape = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple))
    normalized = draw(st.booleans())
    modes = ["clamp", "border", *(["wrap", "mirror"] if normalized else [])]
    address = draw(st.lists(st.sampled_from(modes), min_size=len(shape), max_size=len(shape)).map(tuple))
    return shape, normalized, address, draw(st.booleans()), draw(st.integers(0, 1000))


@FEW
@given(case=samples(), border=st.sampled_from([0.0, -1.0, 0.5]))
def test_every_mode_is_the_guides(device, case, border):
    shape, normalized, address, linear, seed = case
    rng = np.random.default_rng(seed)
    extents = np.array(shape[::-1])
    # Coordinates that no rounding takes into another element, from two extents before to two behind.
    cells = rng.integers(-2 * extents, 3 * extents, (60, len(shape)))
    points = (cells + rng.uniform(0.1, 0.9, cells.shape)).astype(np.float32)
    if normalized:
        points = (points / extents.astype(np.float32)).astype(np.float32)
    host = numbers((*shape, 1), np.float32, seed)
    a = cs.CudaArray(shape)
    a.copy_from(host[..., 0])
    texture = cs.Texture(
        a,
        filter="linear" if linear else "point",
        address=address,
        normalized_coordinates=normalized,
        border=border,
    )

    got = fetch(device, texture, len(shape), points, np.float32)

    want = expected(host, points, address, linear=linear, normalized=normalized, border=border)
    # Each axis' weight is rounded to 8 bits of fraction; elements and border are less than 2 apart.
    assert got == pytest.approx(want, abs=len(shape) * 2 / 256 if linear else 0)


def test_weights_have_eight_bits_of_fraction(device):
    a = cs.CudaArray(2)
    a.copy_from(np.array([0, 256], np.float32))
    steps = np.arange(257)

    exact = fetch(device, cs.Texture(a, filter="linear"), 1, 0.5 + steps[:, None] / 256, np.float32)
    between = fetch(
        device, cs.Texture(a, filter="linear"), 1, 0.5 + (steps[:-1, None] + 0.3) / 256, np.float32
    )

    assert exact[:, 0].tolist() == steps.tolist()
    assert np.array_equal(between, np.floor(between))


@pytest.mark.parametrize("channels", [1, 4])
def test_the_border_has_a_value_of_each_channel(device, channels):
    outside = [(-1.0, 0.5), (9.0, 0.5), (0.5, -3.0)]
    real = cs.CudaArray((2, 3), np.float32, channels=channels)
    whole = cs.CudaArray((2, 3), np.int32, channels=channels)
    for border in (2.5, (1.0, 2.0, 3.0, 4.0)):
        got = fetch(
            device, cs.Texture(real, address="border", border=border), 2, outside, np.float32, channels
        )
        assert np.array_equal(got, np.broadcast_to(border, (3, 4))[:, :channels])
    got = fetch(
        device, cs.Texture(whole, address="border", border=(7, -8, 9, 10)), 2, outside, np.int32, channels
    )
    assert np.array_equal(got, np.broadcast_to((7, -8, 9, 10), (3, 4))[:, :channels])


@pytest.mark.parametrize(("dtype", "channels"), [(np.float32, 1), (np.int32, 2), (np.uint8, 4)])
def test_linear_memory_is_fetched(device, dtype, channels):
    host = numbers((100, channels), dtype)
    x = cs.to_device(host if channels > 1 else host[:, 0])
    points = [(float(i),) for i in range(100)]

    texture = cs.Texture(x, channels=channels)
    assert np.array_equal(fetch(device, texture, 0, points, dtype, channels), host)
    x.fill(3)  # the same memory
    assert (fetch(device, texture, 0, points, dtype, channels) == 3).all()


def test_fetches_outside_of_linear_memory_are_zero(device):
    texture = cs.Texture(cs.full(10, 5, np.int32))
    assert fetch(device, texture, 0, [(-1,), (10,), (1000,), (9,)], np.int32)[:, 0].tolist() == [0, 0, 0, 5]


@pytest.mark.parametrize(("dtype", "channels"), [(np.float32, 1), (np.float32, 4), (np.uint8, 2)])
def test_pitched_memory_is_read(device, dtype, channels):
    host = numbers((5, 13, channels), dtype)
    x = cs.empty_pitched((5, 13 * channels), dtype)
    x.copy_from(host.reshape(5, -1))
    seen = x.reshape(5, 13, channels) if channels > 1 else x
    assert seen.pointer == x.pointer
    points = [(i + 0.5, j + 0.5) for j in range(-1, 6) for i in range(-1, 14)]

    got = fetch(device, cs.Texture(seen, channels=channels), 2, points, dtype, channels)

    assert np.array_equal(got, expected(host, points, ["clamp"] * 2).astype(dtype))
    if dtype == np.float32:
        smooth = [(x + 0.25, y) for x, y in points]
        got = fetch(device, cs.Texture(seen, channels=channels, filter="linear"), 2, smooth, dtype, channels)
        assert got == pytest.approx(expected(host, smooth, ["clamp"] * 2, linear=True), abs=1e-2)


def test_halves_are_read_as_floats(device):
    host = numbers((4, 4), np.float16)
    a = cs.CudaArray((4, 4), np.float16)
    a.copy_from(host)
    points = [(x + 0.5, y + 0.5) for y in range(4) for x in range(4)]
    assert np.array_equal(
        fetch(device, cs.Texture(a), 2, points, np.float32)[:, 0], host.ravel().astype("f4")
    )


def test_srgb_is_made_linear(device):
    host = np.arange(256, dtype=np.uint8)[:, None].repeat(4, axis=1)
    a = cs.CudaArray((1, 256), np.uint8, channels=4)
    a.copy_from(host[None])
    texture = cs.Texture(a, normalized_reads=True, srgb=True)

    got = fetch(device, texture, 2, [(i + 0.5, 0.5) for i in range(256)], np.float32, 4)

    c = host / 255
    want = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    want[:, 3] = c[:, 3]
    assert got == pytest.approx(want, abs=5e-3)  # a GPU's table has a few more steps than 8 bits


def test_gathers_read_four_neighbours(device):
    a = cs.CudaArray((2, 2), gather=True)
    a.copy_from(np.array([[1, 2], [3, 4]], np.float32))
    out = cs.zeros(4)
    code(device).gather[1, 1](cs.Texture(a), 1.0, 1.0, out)
    assert out.to_host().tolist() == [3, 4, 2, 1]  # counter-clockwise from the lower left


def test_arrays_of_other_libraries_are_texture_sources(device):
    host = numbers((4, 16), np.float32)
    x = cs.empty_pitched((4, 16))
    x.copy_from(host)
    points = [(i + 0.5, j + 0.5) for j in range(4) for i in range(16)]

    texture = cs.Texture(Interface(x))
    del x
    assert np.array_equal(fetch(device, texture, 2, points, np.float32)[:, 0], host.ravel())
    a = cs.CudaArray((4, 16))
    a.copy_from(Interface(cs.to_device(host)))
    assert np.array_equal(a.to_host(), host)
    back = cs.zeros((4, 16))
    a.copy_to(Interface(back))
    assert np.array_equal(back.to_host(), host)
    with pytest.raises(ValueError, match="read-only"):
        a.copy_to(Interface(back, data=(back.pointer, True)))


# ---- surfaces


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 8)])
@pytest.mark.parametrize(("name", "dtype", "channels"), [("float", np.float32, 1), ("short4", np.int16, 4)])
def test_surfaces_are_written(device, shape, name, dtype, channels):
    depth, height, width = (1,) * (3 - len(shape)) + shape
    a = cs.CudaArray(shape, dtype, channels=channels, surface=True)
    host = numbers(shape if channels == 1 else (*shape, channels), dtype)

    kernel = code(device)[f"write<{name}>"]
    kernel[(height, depth), width](cs.Surface(a), cs.to_device(host), width, height, depth, len(shape))

    assert np.array_equal(a.to_host(), host)
    points = [(x + 0.5, y + 0.5, z + 0.5) for z in range(depth) for y in range(height) for x in range(width)]
    got = fetch(device, cs.Texture(a), len(shape), points, dtype, channels)
    assert np.array_equal(got, host.reshape(-1, channels))


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 8)])
@pytest.mark.parametrize(("name", "dtype"), [("int", np.int32), ("unsigned char", np.uint8)])
def test_surfaces_are_read(device, shape, name, dtype):
    depth, height, width = (1,) * (3 - len(shape)) + shape
    a = cs.CudaArray(shape, dtype, surface=True)
    host = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    a.copy_from(host)

    code(device)[f"twice<{name}>"][(height, depth), width](cs.Surface(a), len(shape))

    assert np.array_equal(a.to_host(), 2 * host)


def test_accesses_outside_of_a_surface_follow_its_boundary_mode(device):
    a = cs.CudaArray((2, 3), np.int32, surface=True)
    a.copy_from(np.arange(1, 7, dtype=np.int32).reshape(2, 3))
    out = cs.full(3, -1, np.int32)

    code(device).outside[1, 1](cs.Surface(a), out)

    assert out.to_host().tolist() == [0, 0, 3]
    assert a.to_host().tolist() == [[1, 2, 3], [88, 5, 6]]


@pytest.mark.host_only("the device would be lost")
def test_a_surface_access_outside_traps(run_python):
    done = run_python(
        """
        import numpy as np
        import cuscope as cs

        mod = cs.Module("__global__ void far(cudaSurfaceObject_t s) { surf2Dwrite(1, s, 400, 0); }")
        mod.far[1, 1](cs.Surface(cs.CudaArray((2, 3), np.int32, surface=True)))
        try:
            cs.synchronize()
        except cs.CudaError as error:
            print(error)
        """
    )
    assert "surface" in done.stdout, done.stderr


# ---- lifetimes


def test_objects_that_a_kernel_reads_outlive_their_names(device):
    """The array and the texture are dropped while the kernel that reads them waits."""
    host = numbers((64, 64), np.float32)
    out = cs.empty((64 * 64, 1), np.float32)
    points = np.array([(x + 0.5, y + 0.5) for y in range(64) for x in range(64)], np.float32)
    x, y = (cs.to_device(points[:, i].copy()) for i in (0, 1))
    kernel = code(device)["read<float>"]
    device.synchronize()
    stream = cs.Stream(non_blocking=True)
    for source in (cs.CudaArray((64, 64)), cs.empty_pitched((64, 64))):
        source.copy_from(host)
        texture = cs.Texture(source)
        device.synchronize()
        spin(device, 20e-3, stream)
        kernel[32, 128, stream](texture, x, y, x, out, 64 * 64, 2)
        texture.close()
        source.close()
        assert texture.closed
        assert source.closed
        for _ in range(4):
            other = cs.CudaArray((64, 64))
            other.copy_from(np.zeros_like(host))
            cs.empty_pitched((64, 64)).fill(0)
        stream.synchronize()
        assert np.array_equal(out.to_host().ravel(), host.ravel())


def test_a_texture_keeps_its_array(device):
    def made() -> cs.Texture:
        a = cs.CudaArray(4)
        a.copy_from(np.arange(4, dtype=np.float32))
        return cs.Texture(a)

    texture = made()
    gc.collect()
    assert fetch(device, texture, 1, [(2.5,)], np.float32).item() == 2


@pytest.mark.counts_memory
def test_arrays_give_their_memory_back(device, settled):
    code(device)
    free = device.memory_info().free
    for _ in range(20):
        a = cs.CudaArray((1024, 1024), surface=True)
        a.copy_from(np.zeros((1024, 1024), np.float32))
        cs.Texture(a), cs.Surface(a)
        del a
    settled()
    assert device.memory_info().free >= free - (16 << 20)


# ---- refused arguments

REFUSED = {
    "no axes": (lambda: cs.CudaArray(()), ValueError, "1 to 3 axes"),
    "four axes": (lambda: cs.CudaArray((1, 1, 1, 1)), ValueError, "1 to 3 axes"),
    "no elements": (lambda: cs.CudaArray((0, 3)), ValueError, "1 or more"),
    "doubles": (lambda: cs.CudaArray(3, np.float64), TypeError, "float64"),
    "three channels": (lambda: cs.CudaArray(3, channels=3), ValueError, "1, 2 and 4"),
    "gather of a volume": (lambda: cs.CudaArray((2, 2, 2), gather=True), ValueError, "2 axes"),
    "too wide": (lambda: cs.CudaArray(1 << 30), cs.CudaError, "InvalidValue"),
    "another shape": (lambda: cs.CudaArray(3).copy_from(np.zeros(4, np.float32)), ValueError, r"\(4,\)"),
    "another dtype": (lambda: cs.CudaArray(3).copy_from(np.zeros(3)), TypeError, "astype"),
    "to NumPy": (lambda: cs.CudaArray(3).copy_to(np.zeros(3, np.float32)), TypeError, "to_host"),
    "to another shape": (lambda: cs.CudaArray(3).copy_to(cs.zeros(4)), ValueError, r"\(4,\)"),
    "of a list": (lambda: cs.Texture([1, 2]), TypeError, "CudaArray, a MipmappedArray or a DeviceArray"),
    "filter": (lambda: cs.Texture(cs.CudaArray(3), filter="cubic"), ValueError, "'point', 'linear'"),
    "address": (lambda: cs.Texture(cs.CudaArray(3), address="repeat"), ValueError, "'wrap', 'clamp'"),
    "address of 4 axes": (lambda: cs.Texture(cs.CudaArray(3), address=("clamp",) * 4), ValueError, "3 axes"),
    "address of a number": (lambda: cs.Texture(cs.CudaArray(3), address=1), TypeError, "'mirror'"),
    "wrap of elements": (
        lambda: cs.Texture(cs.CudaArray(3), address="wrap"),
        ValueError,
        "normalized_coordinates",
    ),
    "border of text": (lambda: cs.Texture(cs.CudaArray(3), border="red"), TypeError, "border"),
    "border of 5": (lambda: cs.Texture(cs.CudaArray(3), border=(1, 2, 3, 4, 5)), ValueError, "5 values"),
    "border of ints": (lambda: cs.Texture(cs.CudaArray(3, np.int8), border=1.5), ValueError, "1.5"),
    "filtered ints": (
        lambda: cs.Texture(cs.CudaArray(3, np.int8), filter="linear"),
        ValueError,
        "normalized_reads",
    ),
    "normalized floats": (lambda: cs.Texture(cs.CudaArray(3), normalized_reads=True), ValueError, "8 and 16"),
    "srgb": (lambda: cs.Texture(cs.CudaArray(3), srgb=True), ValueError, "uint8"),
    "channels of an array": (
        lambda: cs.Texture(cs.CudaArray(3), channels=2),
        ValueError,
        "2; the array has 1",
    ),
    "channels of memory": (lambda: cs.Texture(cs.zeros((4, 3)), channels=4), ValueError, "last axis"),
    "filtered memory": (lambda: cs.Texture(cs.zeros(9), filter="linear"), ValueError, "tex1Dfetch"),
    "steps": (lambda: cs.Texture(cs.zeros(9)[::2]), ValueError, "contiguous"),
    "a volume": (lambda: cs.Texture(cs.zeros((2, 2, 2))), ValueError, "CudaArray"),
    "unaligned": (lambda: cs.Texture(cs.zeros(9)[1:]), ValueError, r"copy\(\)"),
    "unpitched": (lambda: cs.Texture(cs.zeros((3, 7))), ValueError, "empty_pitched"),
    "surface of memory": (lambda: cs.Surface(cs.zeros(3)), TypeError, "CudaArray"),
    "surface of an array": (lambda: cs.Surface(cs.CudaArray(3)), ValueError, "surface=True"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_name_the_fix(device, contract, what):
    use, error, text = REFUSED[what]
    with pytest.raises(error, match=text):
        use()
    assert contract.peek_at_last_error() == "cudaSuccess"


def test_closed_objects_are_refused(device):
    a = cs.CudaArray(3, surface=True)
    texture, surface = cs.Texture(a), cs.Surface(a)
    kernel = code(device)["twice<int>"]
    surface.close()
    with pytest.raises(ValueError, match=r"parameter.*Surface is closed|argument.*Surface is closed"):
        kernel[1, 1](surface, 1)
    texture.close()
    with pytest.raises(ValueError, match="closed"):
        texture.handle  # noqa: B018
    a.close()
    a.close()
    for use in (
        a.to_host,
        lambda: cs.Texture(a),
        lambda: cs.Surface(a),
        lambda: a.copy_from(np.zeros(3, "f4")),
    ):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_kernels_take_textures_where_handles_belong(device):
    texture = cs.Texture(cs.zeros(16))
    read = code(device)["read<float>"]
    x = cs.zeros(1)
    with pytest.raises(TypeError, match="Texture"):
        read[1, 1](texture, x, x, x, x, texture, 0)
    with pytest.raises(TypeError, match="Texture"):
        read[1, 1](texture, texture, x, x, x, 1, 0)
    with pytest.raises(TypeError, match="DeviceArray"):
        read[1, 1](x, x, x, x, x, 1, 0)
    other = cs.add_host_device("h200")
    with other:
        foreign = cs.Texture(cs.zeros(16))
    with pytest.raises(ValueError, match="host:"):
        read[1, 1](foreign, x, x, x, x, 1, 0)
    read[1, 1](texture.handle, x, x, x, x, 1, 0)
    device.synchronize()  # the kernel got only a number, so nothing keeps the texture alive
    assert repr(texture) == f"<Texture on {device.name}>"
