"""Products whose k is split among blocks: the kernels few_rows and add_parts, and cs.matmul with few elements of C."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import cuscope as cs
from matmul_instances import PROBLEM
from support import built_in, one_instance

TYPES = {
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "__half": np.dtype(np.float16),
    "__nv_bfloat16": np.dtype(ml_dtypes.bfloat16),
}
SUMS = {"float": np.float32, "double": np.float64, "int": np.int32}


def small_integers(shape, dtype, seed):
    """Numbers whose products have exact sums in every type: of a few bits, and mostly 0."""
    random = np.random.default_rng(seed)
    values = random.integers(-3, 4, shape) * (random.random(shape) < 0.3)
    return values.astype(np.int64), values.astype(dtype)


def few_rows(device, kernel, kind, rows, m, n, k, parts):
    """parts products of m rows by the kernel, and the expected ones."""
    dtype, out = TYPES[kind], np.float64 if kind == "double" else np.float32
    pack = 16 // dtype.itemsize
    columns = kernel == "few_rows_along_k"  # B is stored transposed
    pitch = -(-(parts * k if columns else n) // pack) * pack
    exact_a, a = small_integers((m, parts * k), dtype, 1)
    exact_b, b = small_integers((parts * k, n), dtype, 2)
    stored = np.full((n, pitch) if columns else (parts * k, pitch), np.nan, dtype)
    stored[:, : parts * k if columns else n] = b.T if columns else b
    c = cs.to_device(np.full((parts, m, n), np.nan, out))
    problem = np.zeros((), PROBLEM)
    for name, value in zip(
        ("m", "n", "k", "a_row", "b_row", "c_row", "a_batch", "b_batch", "c_batch"),
        (m, n, k, parts * k, pitch, n, k, k if columns else k * pitch, m * n),
        strict=True,
    ):
        problem[name] = value
    launch = built_in(device, "matmul/few_rows")[f"{kernel}<{kind}, {rows}>"]
    launch[(-(-n // (32 * pack)), 1, parts), 256](cs.to_device(a), cs.to_device(stored), c, problem)
    expected = np.stack([exact_a[:, i * k :][:, :k] @ exact_b[i * k :][:k] for i in range(parts)])
    return c.to_host(), expected


@pytest.mark.parametrize("kernel", ["few_rows", "few_rows_along_k"])
@pytest.mark.parametrize("kind", ["float", "double", "__half"])
@pytest.mark.parametrize(
    ("m", "n", "k", "parts"), [(1, 1, 1, 1), (1, 700, 40, 2), (1, 64, 304, 3), (1, 130, 33, 1)]
)
def test_one_row_is_multiplied_in_parts(device, kernel, kind, m, n, k, parts):
    result, expected = few_rows(device, kernel, kind, 1, m, n, k, parts)

    assert np.array_equal(result, expected)


@pytest.mark.parametrize("kernel", ["few_rows", "few_rows_along_k"])
@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize(("m", "n", "k", "parts"), [(8, 129, 260, 2), (3, 4, 31, 1), (7, 300, 64, 2)])
def test_up_to_eight_rows_are_multiplied_in_parts(device, kernel, kind, m, n, k, parts):
    result, expected = few_rows(device, kernel, kind, 8, m, n, k, parts)

    assert np.array_equal(result, expected)


@pytest.mark.parametrize(
    ("sums", "out"),
    [
        ("float", "float"),
        ("double", "double"),
        ("float", "__half"),
        ("float", "__nv_bfloat16"),
        ("int", "signed char"),
    ],
)
@pytest.mark.parametrize(("count", "groups"), [(1, 1), (2, 1), (9, 2), (70, 8), (129, 4)])
@pytest.mark.parametrize("blocks", [1, 3, 100])
@pytest.mark.parametrize(("n", "row"), [(67, 80), (68, 80), (68, 81)])  # 68: rows of whole packs of 16 bytes
def test_parts_are_added(device, sums, out, count, groups, blocks, n, row):
    m = 5
    random = np.random.default_rng(count)
    parts = random.integers(0, 9, (count, m, n)).astype(SUMS[sums])
    dtype = np.dtype(np.int8) if out == "signed char" else TYPES[out]
    c = cs.to_device(np.zeros((m, row), dtype))
    kernel = built_in(device, "matmul/add_parts")[f"add_parts<{sums}, {out}>"]

    kernel[blocks, 256](cs.to_device(parts), c, m, n, row, count, groups)

    result = c.to_host()
    assert np.array_equal(result[:, :n], parts.sum(0).astype(dtype))
    assert not result[:, n:].any()


@pytest.mark.parametrize("dtype", [*TYPES.values(), np.dtype(np.int8), np.dtype(np.uint8)], ids=str)
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [
        (64, 64, 16384),
        (3, 80, 8192),
        (1, 1000, 4096),
        (70, 16, 20000),
        (100, 130, 9000),
        (16, 16, 30000),
    ],
)
def test_products_with_a_long_k_are_right(device, dtype, m, n, k):
    exact_a, a = small_integers((m, k), np.int64, 3)
    exact_b, b = small_integers((k, n), np.int64, 4)
    with device:
        result = cs.matmul(cs.to_device(a.astype(dtype)), cs.to_device(b.astype(dtype))).to_host()

    product = (exact_a.astype(np.float64) @ exact_b.astype(np.float64)).astype(np.int64)
    assert np.array_equal(result, product.astype(dtype))


def on_device(values, stored):
    """The matrix on the device, in rows, or stored transposed."""
    return cs.to_device(values) if stored == "rows" else cs.to_device(values.T.copy()).T


@pytest.mark.parametrize("stored_a", ["rows", "columns"])
@pytest.mark.parametrize("stored_b", ["rows", "columns"])
@pytest.mark.parametrize(
    ("m", "n", "k", "tile", "parts"),
    [
        (256, 256, 32768, "128 x 128", 16),
        (256, 264, 33000, "128 x 128", 22),  # the last part is shorter
        (100, 520, 16392, "128 x 128", 26),  # the same, for a C with one row of tiles
        (1024, 520, 16392, "128 x 256", 5),
    ],
)
def test_factors_of_a_split_product_are_read_by_boxes(device, stored_a, stored_b, m, n, k, tile, parts):
    exact_a, a = small_integers((m, k), np.float16, 8)
    exact_b, b = small_integers((k, n), np.float16, 9)
    with device:
        on_a, on_b = on_device(a, stored_a), on_device(b, stored_b)
        result = cs.matmul(on_a, on_b).to_host()
        if device.simulated or device.compute_capability == (9, 0):
            assert f"{tile}, so {parts} blocks share the k" in cs.matmul.explain(on_a, on_b)

    product = exact_a.astype(np.float64) @ exact_b.astype(np.float64)
    assert np.array_equal(result, product.astype(np.float16))


@pytest.mark.host_only("on a GPU cs.matmul launches the kernel so, in the test above")
@pytest.mark.parametrize("stored_a", ["rows", "columns"])
@pytest.mark.parametrize("stored_b", ["rows", "columns"])
@pytest.mark.parametrize(
    ("tile", "cluster"), [((256, 4), 2), ((128, 6), 2), ((128, 6), 1)], ids=["256", "128", "128 alone"]
)
def test_parts_of_k_are_multiplied_by_boxes(device, stored_a, stored_b, tile, cluster):
    m, n, k, depth, parts = 136, 264, 488, 192, 3  # 104 steps of k in the last part, which is no whole slab
    columns, stages = tile
    exact_a, a = small_integers((m, k), np.float16, 10)
    exact_b, b = small_integers((k, n), np.float16, 11)
    c = cs.to_device(np.full((parts, m, n), np.nan, np.float32))
    share = 64 if columns // 64 % cluster == 0 else 64 // cluster
    maps = [
        cs.TensorMap(cs.to_device(view.copy()).reshape((1, *view.shape)), box=(1, *box), swizzle="128B")
        for view, box in (
            (a, (128, 64)) if stored_a == "rows" else (a.T, (64, 64)),
            (b, (share, 64)) if stored_b == "rows" else (b.T, (columns // cluster, 64)),
        )
    ]
    maps.append(cs.TensorMap(c, box=(1, 16, 32), swizzle="128B"))
    room = 227 << 10
    transposed = ", ".join("true" if stored == "columns" else "false" for stored in (stored_a, stored_b))
    name = f"tma<__half, float, {columns}, {stages}, {cluster}, {transposed}>"
    kernel = one_instance(device, "matmul/11_tma", name)
    kernel.max_dynamic_shared = room
    problem = np.zeros((), PROBLEM)
    values = {
        "m": m,
        "n": n,
        "k": depth,
        "k_batch": depth,
        "a_row": k if stored_a == "rows" else m,
        "b_row": n if stored_b == "rows" else k,
        "c_row": n,
        "c_batch": m * n,
    }
    for field, value in values.items():
        problem[field] = value

    kernel[4, 384, None, room](*maps, c, problem, np.int32(parts), np.int32(8))

    expected = [exact_a[:, i * depth :][:, :depth] @ exact_b[i * depth :][:depth] for i in range(parts)]
    assert np.array_equal(c.to_host(), expected)


@pytest.mark.gpu_only("a simulated device multiplies natively, whatever the layout")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", [(3, 520, 4096), (1, 300, 8200), (40, 64, 9001), (700, 1, 3000)])
@pytest.mark.parametrize("stored", ["rows", "columns", "a slice of rows", "a slice of columns"])
def test_few_rows_and_single_columns_are_right_for_every_layout(device, dtype, shape, stored):
    m, n, k = shape
    exact_a, a = small_integers((m, k), dtype, 11)
    exact_b, b = small_integers((k, n), dtype, 12)

    def lay(x):
        if "columns" in stored:
            return lay_rows(np.ascontiguousarray(x.T)).T
        return lay_rows(x)

    def lay_rows(x):
        if "slice" not in stored:
            return cs.to_device(x)
        whole = cs.zeros((x.shape[0], x.shape[1] + 1), x.dtype)  # rows that are not 16-byte aligned
        whole[:, 1:].copy_from(x)
        return whole[:, 1:]

    views = [lay(x) for x in (a, b)]

    result = cs.matmul(*views)
    again = cs.matmul(*views)

    expected = (exact_a.astype(np.float64) @ exact_b).astype(dtype)
    assert np.array_equal(result.to_host(), expected)
    assert np.array_equal(again.to_host(), expected)


@pytest.mark.parametrize("stored", ["rows", "columns"])
def test_a_batch_of_products_with_one_column_is_right(device, stored):
    exact_a, a = small_integers((2, 3, 600, 4096), np.float32, 13)
    exact_b, b = small_integers((3, 4096, 1), np.float32, 14)
    on_a = cs.to_device(a if stored == "rows" else a.swapaxes(2, 3).copy())
    if stored == "columns":
        on_a = on_a.transpose(0, 1, 3, 2)

    result = cs.matmul(on_a, cs.to_device(b))

    assert np.array_equal(result.to_host(), (exact_a @ exact_b).astype(np.float32))


def test_explain_says_that_a_product_with_one_column_is_transposed(device):
    matrix, vector = cs.empty((8192, 8192)), cs.empty((8192, 1))

    assert "C transposed is computed" in cs.matmul.explain(matrix, vector)
    assert "C transposed is computed" not in cs.matmul.explain(matrix, cs.empty((8192, 2)))


def test_a_split_product_has_the_same_bits_in_every_run(device):
    random = np.random.default_rng(5)
    with device:
        a = cs.to_device(random.standard_normal((65, 20000), np.float32))
        b = cs.to_device(random.standard_normal((20000, 68), np.float32))
        first, second = cs.matmul(a, b).to_host(), cs.matmul(a, b).to_host()

    assert np.array_equal(first, second)


def test_explain_names_the_split(device):
    with device:
        a, b = cs.empty((64, 65536)), cs.empty((65536, 64))

        assert "blocks share the k of each" in cs.matmul.explain(a, b)
        assert "share the k" not in cs.matmul.explain(cs.empty((512, 512)), cs.empty((512, 512)))


def test_a_split_product_is_captured(device):
    exact_a, a = small_integers((40, 8192), np.float32, 6)
    exact_b, b = small_integers((8192, 40), np.float32, 7)
    with device:
        on_a, on_b, c = cs.to_device(a), cs.to_device(b), cs.zeros((40, 40))
        stream = cs.Stream()
        cs.matmul(on_a, on_b, out=c)  # loads the kernels
        c.fill(0)
        cs.synchronize()
        with stream.capture() as graph, stream:
            cs.matmul(on_a, on_b, out=c)
        executable = graph.instantiate()
        executable.launch(stream)
        executable.launch(stream)
        stream.synchronize()

        assert np.array_equal(c.to_host(), exact_a @ exact_b)
