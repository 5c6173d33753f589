"""Whole kernels as in real programs, compared with NumPy: tests/cuda/samples/."""

from __future__ import annotations

import functools
from math import erf, exp, log, sqrt

import numpy as np
import pytest

import cuscope as cs
from support import TESTS

HALF_STEP, BF16_STEP = 2.0**-11, 2.0**-8


@functools.cache
def sample(device: cs.Device, name: str, *expressions: str, options: tuple[str, ...] = ()) -> cs.Module:
    source = (TESTS / "cuda" / "samples" / f"{name}.cu").read_text()
    return cs.Module(source, name_expressions=expressions, options=options, file_name=f"{name}.cu")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def bf16(x: np.ndarray) -> np.ndarray:
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def wide(x: np.ndarray) -> np.ndarray:
    return (x.astype(np.uint32) << 16).view(np.float32)


def test_wmma_gemm_gives_numpys_product(device, rng):
    m, n, k = 128, 192, 96
    a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(k, n)).astype(np.float16)
    c = rng.normal(size=(m, n)).astype(np.float32)
    d_c = cs.to_device(c)
    shared = 64 * (32 + 8) * 2 + 32 * (64 + 8) * 2
    mod = sample(device, "wmma_gemm")
    mod.wmma_gemm[(n // 64, m // 64), 128, None, shared](
        cs.to_device(a), cs.to_device(b), d_c, m, n, k, 0.5, -2.0
    )

    expected = 0.5 * (a.astype(np.float64) @ b.astype(np.float64)) - 2.0 * c
    np.testing.assert_allclose(d_c.to_host(), expected, atol=2e-4)


def test_gemm_of_tensor_core_instructions_gives_numpys_product(device, rng):
    m, n, k = 128, 192, 160
    a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(k, n)).astype(np.float16)
    c = cs.zeros((m, n), np.float16)
    shared = 2 * 2 * (64 * 32 + 32 * 64)
    mod = sample(device, "mma_gemm")
    mod.mma_gemm[(n // 64, m // 64), 128, None, shared](cs.to_device(a), cs.to_device(b), c, m, n, k)

    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c.to_host(), expected, rtol=1.1 * HALF_STEP, atol=2e-4)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_softmax_of_halves_is_numpys(device, rng):
    x = (rng.normal(size=(12, 1000)) * 3).astype(np.float16)
    out = cs.zeros(x.shape, np.float16)
    mod = sample(device, "softmax_half2", "softmax_registers<3>")
    mod.softmax[12, 128](cs.to_device(x), out, 1000)
    np.testing.assert_allclose(out.to_host(), softmax(x), rtol=2 * HALF_STEP, atol=1e-6)

    x = (rng.normal(size=(13, 192)) * 2).astype(np.float16)
    out = cs.zeros(x.shape, np.float16)
    mod["softmax_registers<3>"][4, 128](cs.to_device(x), out, 13)
    np.testing.assert_allclose(out.to_host(), softmax(x), rtol=12 * HALF_STEP, atol=1e-6)


def test_histogram_is_numpys(device, rng):
    x = np.minimum(rng.exponential(40, 100_000), 255).astype(np.uint8)
    mod = sample(device, "histogram")
    partial, total = cs.zeros((5, 256), np.uint32), cs.zeros(256, np.uint64)
    d_x = cs.to_device(x)
    mod.histogram_partial[5, 256](d_x, x.size // 16, partial)
    mod.histogram_merge[1, 256](partial, 5, total)
    expected = np.bincount(x, minlength=256)
    assert np.array_equal(total.to_host(), expected)

    total = cs.zeros(256, np.uint64)
    mod.histogram_match[-(-x.size // 256), 256](d_x, x.size, total)
    assert np.array_equal(total.to_host(), expected)


def test_scan_in_one_pass_gives_numpys_sums(device, rng):
    n = 20_011
    x = rng.integers(-50, 100, n).astype(np.int32)
    blocks = -(-n // (128 * 4))
    mod = sample(device, "scan_groups", "scan<4>", "segment_sums<8>", "segment_sums<32>")
    out, descriptors = cs.zeros(n, np.int32), cs.zeros(blocks, np.uint64)
    mod["scan<4>"][blocks, 128](cs.to_device(x), out, n, descriptors, cs.zeros(1, np.uint32))
    assert np.array_equal(out.to_host(), np.cumsum(x, dtype=np.int32))

    for length in (8, 32):
        sums = cs.zeros(1024 // length, np.int32)
        mod[f"segment_sums<{length}>"][4, 256](cs.to_device(x[:1024]), sums)
        assert np.array_equal(sums.to_host(), x[:1024].reshape(-1, length).sum(axis=1))


@pytest.mark.parametrize("kind", ["float", "__half", "__nv_bfloat16"])
def test_layernorm_is_numpys(device, rng, kind):
    rows, columns = 10, 300
    x = rng.normal(3, 2, (rows, columns)).astype(np.float32)
    gamma, beta = rng.normal(size=(2, columns)).astype(np.float32)
    if kind == "float":
        given, seen, step = x, x, 1e-5
    elif kind == "__half":
        given = x.astype(np.float16)
        seen, step = given, HALF_STEP
    else:
        given = bf16(x)
        seen, step = wide(given), BF16_STEP
    out = cs.zeros(x.shape, given.dtype)
    mod = sample(device, "layernorm", "layernorm<float>", "layernorm<__half>", "layernorm<__nv_bfloat16>")
    arguments = (cs.to_device(given), cs.to_device(gamma), cs.to_device(beta), out, rows, columns, 1e-5)
    mod[f"layernorm<{kind}>"][-(-rows // 4), (32, 4)](*arguments)

    got = wide(out.to_host()) if kind == "__nv_bfloat16" else out.to_host().astype(np.float32)
    v = seen.astype(np.float64)
    scale = 1 / np.sqrt(v.var(axis=1, keepdims=True) + 1e-5)
    expected = (v - v.mean(axis=1, keepdims=True)) * scale * gamma + beta
    np.testing.assert_allclose(got, expected, rtol=1.1 * step, atol=1e-4)


def test_mandelbrot_gives_numpys_picture(device):
    view = np.array(
        (-2.0, -1.25, 3 / 128, 2.5 / 64, 128, 64),
        [(name, "f4") for name in ("x0", "y0", "dx", "dy")] + [("width", "i4"), ("height", "i4")],
    )[()]
    counts, image = cs.zeros((64, 128), np.int32), cs.zeros((64, 128, 4), np.uint8)
    sample(device, "mandelbrot", "mandelbrot<50>")["mandelbrot<50>"][(4, 4), (16, 8)](view, counts, image)

    got = counts.to_host()
    c = (-2.0 + np.arange(128) * (3 / 128)) + 1j * (-1.25 + np.arange(64) * (2.5 / 64))[:, None]
    z, expected = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(50):
        inside = np.abs(z) < 2
        expected += inside
        z = np.where(inside, z * z + c, z)
    assert (np.abs(got - expected) <= 1).mean() > 0.99  # at the edge of the set the last bit decides
    palette = np.array([(i * 16, i * i % 256, 255 - i * 16, 255) for i in range(16)], np.uint8)
    assert np.array_equal(
        image.to_host(), np.where((got == 50)[..., None], [0, 0, 0, 255], palette[got % 16])
    )


def test_nbody_gives_numpys_positions(device, rng):
    n, steps, dt, softening = 150, 3, 0.01, 0.05
    p = rng.normal(size=(n, 4)).astype(np.float32)
    p[:, 3] = rng.uniform(0.5, 2, n)
    d_p, d_v, d_a = cs.to_device(p), cs.zeros((n, 4)), cs.zeros((n, 4))
    mod = sample(device, "nbody", options=("-DTILE=64",))
    position, velocity = p.astype(np.float64)[:, :3], np.zeros((n, 3))
    for _ in range(steps):
        mod.forces[3, 64](d_p, d_a, n, softening)
        mod.integrate[3, 64](d_p, d_v, d_a, n, dt)
        r = position[None] - position[:, None]
        strength = p[:, 3] / ((r**2).sum(axis=2) + softening) ** 1.5
        velocity += dt * (r * strength[..., None]).sum(axis=1)
        position = position + dt * velocity

    np.testing.assert_allclose(d_p.to_host()[:, :3], position, atol=2e-4)
    assert np.array_equal(d_p.to_host()[:, 3], p[:, 3])


@pytest.mark.parametrize("kernel", ["transpose_pipeline", "transpose_barrier"])
def test_transpose_with_asynchronous_copies_is_numpys(device, rng, kernel):
    x = rng.random((224, 96), np.float32)
    out = cs.zeros((96, 224))
    sample(device, "transpose_async")[kernel][3, (32, 8)](out, cs.to_device(x), 96, 224)
    assert np.array_equal(out.to_host(), x.T)


def test_reductions_of_any_kind_are_numpys(device, rng):
    x = rng.normal(size=30_000).astype(np.float32)
    x[[700, 20_000]] = 9.5
    mod = sample(device, "reduce_any", "argmax<128>")
    pair = np.dtype([("value", "f4"), ("index", "i4")])
    d_x, partial, result = cs.to_device(x), cs.zeros(20, pair), cs.zeros(1, pair)
    for _ in range(2):
        mod["argmax<128>"][20, 128, None, 128 * 8](d_x, x.size, partial, result)
        assert result.to_host()[0].item() == (9.5, 700)

    points = rng.normal(size=(5000, 2)).astype(np.float32)
    target = np.array((0.25, -0.5), [("x", "f4"), ("y", "f4")])[()]
    packed = cs.full(1, 2**64 - 1, np.uint64)
    mod.nearest[6, 128](cs.to_device(points), 5000, target, packed)
    distances = ((points.astype(np.float64) - [0.25, -0.5]) ** 2).sum(axis=1)
    assert int(packed.to_host()[0]) & 0xFFFFFFFF == distances.argmin()

    sums, most = cs.zeros(2, np.float64), cs.full(1, -1e9, np.float32)
    mod.moments[10, 128](d_x, x.size, sums, most)
    wide_x = x.astype(np.float64)
    np.testing.assert_allclose(sums.to_host(), [wide_x.sum(), (wide_x**2).sum()], rtol=1e-9)
    assert most.to_host()[0] == np.float32(9.5)


def test_convolution_is_numpys(device, rng):
    height, width = 70, 150
    x, mask = rng.random((height, width), np.float32), rng.random(9, np.float32)
    mod = sample(device, "convolution", "convolve<true>", "convolve<false>")
    mod.symbol("mask", np.float32).copy_from(mask)
    d_x, between, out = cs.to_device(x), cs.zeros((height, width)), cs.zeros((height, width))
    mod["convolve<true>"][(-(-width // 64), -(-height // 4)), (64, 4)](between, d_x, width, height)
    mod["convolve<false>"][(-(-height // 64), -(-width // 4)), (64, 4)](out, between, width, height)

    def along(v: np.ndarray) -> np.ndarray:
        return np.apply_along_axis(lambda row: np.convolve(row, mask, "same"), 1, v)

    expected = along(along(x.astype(np.float64)).T).T
    np.testing.assert_allclose(out.to_host(), expected, rtol=1e-5)


@pytest.mark.parametrize("lanes", [4, 32])
def test_sparse_matrix_times_vector_is_the_dense_product(device, rng, lanes):
    rows, columns = 300, 250
    dense = np.where(rng.random((rows, columns)) < 0.07, rng.normal(size=(rows, columns)), 0).astype(
        np.float32
    )
    where, at = np.nonzero(dense)
    start = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=rows))]).astype(np.int32)
    x = rng.normal(size=columns).astype(np.float32)
    arrays = [cs.to_device(a) for a in (start, at.astype(np.int32), dense[where, at])]
    fields = [("row_start", "u8"), ("columns", "u8"), ("values", "u8"), ("rows", "i4")]
    view = np.array((*(a.pointer for a in arrays), rows), np.dtype(fields, align=True))[()]
    y = cs.zeros(rows)
    name = f"spmv<int, float, {lanes}>"
    sample(device, "spmv", name)[name][7, 64](view, cs.to_device(x), y)
    np.testing.assert_allclose(y.to_host(), dense.astype(np.float64) @ x.astype(np.float64), atol=1e-4)


def test_bitonic_sort_sorts_keys_and_values(device, rng):
    n = 4096
    keys = rng.integers(0, 1000, n).astype(np.uint32)
    d_k, d_v = cs.to_device(keys), cs.to_device(np.arange(n, dtype=np.uint32))
    mod = sample(device, "bitonic_sort")
    mod.sort_shared[n // 512, 256](d_k, d_v, n)
    size = 1024
    while size <= n:
        stride = size // 2
        while stride >= 512:
            mod.merge_global[n // 512, 256](d_k, d_v, size, stride)
            stride //= 2
        mod.merge_shared[n // 512, 256](d_k, d_v, size)
        size *= 2

    assert np.array_equal(d_k.to_host(), np.sort(keys))
    assert np.array_equal(keys[d_v.to_host()], np.sort(keys))


def test_histogram_of_a_cluster_is_numpys(device, rng):
    x = rng.integers(-5, 605, 20_000).astype(np.int32)
    bins = cs.zeros(600, np.int32)
    mod = sample(device, "cluster_histogram")
    mod.cluster_histogram[8, 128, None, 300 * 4](bins, 600, 300, cs.to_device(x), x.size)
    assert np.array_equal(bins.to_host(), np.bincount(np.clip(x, 0, 599), minlength=600))


def test_attention_is_numpys(device, rng):
    length, d = 128, 32
    q, k, v = rng.normal(size=(3, length, d)).astype(np.float16)
    out = cs.zeros((length, d), np.float16)
    mod = sample(device, "attention")
    mod.attention[2, 64](cs.to_device(q), cs.to_device(k), cs.to_device(v), out, length, d**-0.5)
    expected = softmax(q.astype(np.float64) @ k.astype(np.float64).T * d**-0.5) @ v.astype(np.float64)
    np.testing.assert_allclose(out.to_host(), expected, rtol=2 * HALF_STEP, atol=1e-4)


def test_gelu_of_bfloat16_is_numpys(device, rng):
    x, bias = bf16(rng.normal(size=(20, 64)) * 2), bf16(rng.normal(size=64))
    y = cs.zeros(x.shape, np.uint16)
    sample(device, "gelu_bf16").bias_gelu[2, 96](cs.to_device(x), cs.to_device(bias), y, 64, x.size)
    s = wide(bf16(wide(x) + wide(bias))).astype(np.float64)
    expected = 0.5 * s * (1 + np.tanh(0.7978845608 * (s + 0.044715 * s**3)))
    np.testing.assert_allclose(wide(y.to_host()), expected, rtol=1.1 * BF16_STEP, atol=1e-5)


def test_monte_carlo_comes_close_to_the_exact_values(device, rng):
    mod = sample(device, "monte_carlo")
    inside = cs.zeros(1, np.uint64)
    mod.pi[8, 64](42, 200, inside)
    tries = 8 * 64 * 200
    assert int(inside.to_host()[0]) / tries * 4 == pytest.approx(np.pi, abs=0.03)
    if device.simulated:
        again = cs.zeros(1, np.uint64)
        mod.pi[8, 64](42, 200, again)
        assert again.to_host() == inside.to_host()

    fields = [("spot", "f4"), ("strike", "f4"), ("years", "f4")]
    options = np.zeros(500, fields)
    for name, low, high in (("spot", 5, 30), ("strike", 1, 100), ("years", 0.25, 10)):
        options[name] = rng.uniform(low, high, 500)
    prices = cs.zeros((500, 2))
    mod.black_scholes[4, 128](cs.to_device(options), prices, 500, 0.02, 0.3)

    def cdf(value: float) -> float:
        return 0.5 + 0.5 * erf(value / sqrt(2))

    for (call, put), (s, strike, t) in zip(prices.to_host()[:50], options[:50].tolist(), strict=True):
        d1 = (log(s / strike) + (0.02 + 0.045) * t) / (0.3 * sqrt(t))
        discounted = strike * exp(-0.02 * t)
        expected = s * cdf(d1) - discounted * cdf(d1 - 0.3 * sqrt(t))
        assert call == pytest.approx(expected, abs=2e-4)
        assert put == pytest.approx(expected + discounted - s, abs=2e-4)
