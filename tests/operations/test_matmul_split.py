"""Products whose k is split among blocks: the kernels few_rows and add_parts, and cs.matmul with few elements of C."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import cuscope as cs
from matmul_instances import make_problem
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


def lie(x, stored):
    """The matrix in memory as `stored` says, with padding, and the distances of its rows and columns, in elements."""
    pack = 16 // x.dtype.itemsize
    array = x.T if stored == "columns" else x
    spread = 2 if stored == "spread" else 1  # every second column
    pitch = -(-array.shape[1] * spread // pack) * pack + (1 if stored == "spread" else 0)
    memory = np.full((array.shape[0], pitch), np.nan, x.dtype)
    memory[:, : array.shape[1] * spread : spread] = array
    return memory, *((spread, pitch) if stored == "columns" else (pitch, spread))


def few_rows(device, kernel, kind, rows, shape, parts, stored_a="rows", stored_c="rows", shift=0):
    """parts products of m rows by the kernel, and the expected ones. B begins `shift` elements behind 16 bytes."""
    m, n, k = shape
    dtype, out = TYPES[kind], np.float64 if kind == "double" else np.float32
    columns = kernel == "few_rows_along_k"  # B is stored transposed
    exact_a, a = small_integers((m, parts * k), dtype, 1)
    exact_b, b = small_integers((parts * k, n), dtype, 2)
    of_a, a_row, a_column = lie(a, stored_a)
    of_b, b_row, b_column = lie(b, "columns" if columns else "rows")
    of_c = cs.to_device(np.full((parts, n, m) if stored_c == "columns" else (parts, m, n), np.nan, out))
    on_b = cs.to_device(np.concatenate([np.full(shift, np.nan, dtype), of_b.ravel()]))[shift:]
    problem = make_problem(
        m=m,
        n=n,
        k=k,
        a_row=a_row,
        a_column=a_column,
        a_batch=k * a_column,
        b_row=b_column if columns else b_row,
        b_batch=k * (1 if columns else b_row),
        c_row=1 if stored_c == "columns" else n,
        c_column=m if stored_c == "columns" else 1,
        c_batch=m * n,
    )
    launch = built_in(device, "matmul/few_rows")[f"{kernel}<{kind}, {rows}>"]
    launch[(-(-n // (512 // dtype.itemsize)), 1, parts), 256](cs.to_device(of_a), on_b, of_c, problem)
    expected = np.stack([exact_a[:, i * k :][:, :k] @ exact_b[i * k :][:k] for i in range(parts)])
    result = of_c.to_host()
    return result.swapaxes(1, 2) if stored_c == "columns" else result, expected


@pytest.mark.parametrize("kernel", ["few_rows", "few_rows_along_k"])
@pytest.mark.parametrize("kind", ["float", "double", "__half"])
@pytest.mark.parametrize(
    ("shape", "parts"), [((1, 1, 1), 1), ((1, 700, 40), 2), ((1, 64, 304), 3), ((1, 130, 33), 1)]
)
def test_one_row_is_multiplied_in_parts(device, kernel, kind, shape, parts):
    result, expected = few_rows(device, kernel, kind, 1, shape, parts)

    assert np.array_equal(result, expected)


@pytest.mark.parametrize("kernel", ["few_rows", "few_rows_along_k"])
@pytest.mark.parametrize(
    ("rows", "shape", "parts"),
    [
        (8, (8, 129, 260), 2),
        (8, (3, 4, 31), 1),
        (8, (7, 300, 64), 2),
        (16, (16, 129, 260), 2),
        (16, (9, 5, 31), 1),
    ],
)
def test_up_to_sixteen_rows_are_multiplied_in_parts(device, kernel, rows, shape, parts):
    result, expected = few_rows(device, kernel, "float", rows, shape, parts)

    assert np.array_equal(result, expected)


@pytest.mark.parametrize("kernel", ["few_rows", "few_rows_along_k"])
@pytest.mark.parametrize("stored_a", ["columns", "spread"])
@pytest.mark.parametrize("stored_c", ["rows", "columns"])
@pytest.mark.parametrize("rows", [8, 16])
def test_few_rows_reads_and_writes_any_strides(device, kernel, stored_a, stored_c, rows):
    result, expected = few_rows(device, kernel, "float", rows, (7, 150, 68), 2, stored_a, stored_c)

    assert np.array_equal(result, expected)


@pytest.mark.parametrize("kind", ["float", "double", "__half"])
@pytest.mark.parametrize("shift", [1, 3])
def test_columns_of_b_may_begin_at_any_address(device, kind, shift):
    result, expected = few_rows(device, "few_rows_along_k", kind, 1, (1, 70, 150), 1, shift=shift)

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
    problem = make_problem(
        m=m,
        n=n,
        k=depth,
        k_batch=depth,
        a_row=k if stored_a == "rows" else m,
        b_row=n if stored_b == "rows" else k,
        c_row=n,
        c_batch=m * n,
    )

    kernel[4, 384, None, room](*maps, c, problem, np.int32(parts), np.int32(8))

    expected = [exact_a[:, i * depth :][:, :depth] @ exact_b[i * depth :][:depth] for i in range(parts)]
    assert np.array_equal(c.to_host(), expected)


@pytest.mark.gpu_only("a simulated device multiplies natively, whatever the layout")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize(
    "shape",
    [
        (3, 520, 4096),
        (1, 300, 8200),
        (40, 64, 9001),
        (700, 1, 3000),
        (3000, 7, 1500),
        (900, 12, 4100),
        (600, 40, 2000),
    ],
)
@pytest.mark.parametrize("stored", ["rows", "columns", "a slice of rows", "a slice of columns"])
def test_few_rows_and_few_columns_are_right_for_every_layout(device, dtype, shape, stored):
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
@pytest.mark.parametrize("columns", [1, 3])
def test_a_batch_of_products_with_few_columns_is_right(device, stored, columns):
    exact_a, a = small_integers((2, 3, 600, 4096), np.float32, 13)
    exact_b, b = small_integers((3, 4096, columns), np.float32, 14)
    on_a = cs.to_device(a if stored == "rows" else a.swapaxes(2, 3).copy())
    if stored == "columns":
        on_a = on_a.transpose(0, 1, 3, 2)

    result = cs.matmul(on_a, cs.to_device(b))

    assert np.array_equal(result.to_host(), (exact_a @ exact_b).astype(np.float32))


@pytest.mark.parametrize(("columns", "turned"), [(1, True), (10, True), (65, False)])
def test_explain_says_that_a_product_with_few_columns_is_transposed(device, columns, turned):
    matrix, narrow = cs.empty((8192, 8192)), cs.empty((8192, columns))

    assert ("C transposed is computed" in cs.matmul.explain(matrix, narrow)) == turned


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
