"""The results of the kernels of corpus.py by NumPy, from the arguments of a launch on the host.

CHECKS has a function for each kernel. Each takes the arguments before the launch and the arguments after it, and
raises AssertionError if a result is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Arguments = Sequence[Any]


def close(result: np.ndarray, expected: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=atol)


def convolution(before: Arguments, after: Arguments) -> None:
    padded = np.pad(before[0], 2, mode="edge")
    line = {0: (1, 4, 7, 4, 1), 1: (4, 16, 26, 16, 4), 2: (7, 26, 41, 26, 7)}
    n = before[2]
    expected = np.zeros_like(before[0])
    for row in range(5):
        for column in range(5):
            weight = line[min(row, 4 - row)][column]
            expected += np.float32(weight) * padded[row : row + n, column : column + n]
    close(after[1], expected / 273)


def prefix_sums(before: Arguments, after: Arguments) -> None:
    expected = np.cumsum(before[0].reshape(-1, 512), axis=1, dtype=np.int32)
    np.testing.assert_array_equal(after[1].reshape(-1, 512), expected)
    np.testing.assert_array_equal(after[2], expected[:, -1])


def softmax(before: Arguments, after: Arguments) -> None:
    e = np.exp(before[0] - before[0].max(axis=1, keepdims=True))
    close(after[1], e / e.sum(axis=1, keepdims=True), rtol=1e-4)


def layer_norm(before: Arguments, after: Arguments) -> None:
    x, gamma, beta = before[:3]
    centred = x - x.mean(axis=1, keepdims=True)
    variance = np.square(centred).mean(axis=1, keepdims=True)
    close(after[3], centred / np.sqrt(variance + np.float32(1e-5)) * gamma + beta, rtol=1e-4, atol=1e-4)


def bitonic_sort(before: Arguments, after: Arguments) -> None:
    np.testing.assert_array_equal(after[1].reshape(-1, 512), np.sort(before[0].reshape(-1, 512), axis=1))


def n_body(before: Arguments, after: Arguments) -> None:
    body = before[0].astype(np.float64)
    for i in range(0, len(body), len(body) // 64 + 1):
        d = body[:, :3] - body[i, :3]
        s = body[:, 3] * (np.square(d).sum(axis=1) + float(before[3])) ** -1.5
        expected = (d * s[:, None]).sum(axis=0)
        np.testing.assert_allclose(after[1][i], expected, rtol=1e-3, atol=1e-4 * np.abs(d * s[:, None]).sum())


def jacobi(before: Arguments, after: Arguments) -> None:
    u, f = before[:2]
    inner = u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    inner = inner + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] - f[1:-1, 1:-1, 1:-1]
    close(after[2], np.pad(inner / 6, 1), rtol=1e-4)


def sparse_product(before: Arguments, after: Arguments) -> None:
    begins, columns, values, x = before[:4]
    sums = np.concatenate([[0], np.cumsum(values.astype(np.float64) * x[columns])])
    close(after[4], sums[begins[1:]] - sums[begins[:-1]], rtol=1e-4, atol=1e-5)


def gather(before: Arguments, after: Arguments) -> None:
    np.testing.assert_array_equal(after[2], before[0][before[1]])


def grey(before: Arguments, after: Arguments) -> None:
    expected = before[0] @ np.array([0.299, 0.587, 0.114], np.float32)
    difference = expected - after[1]
    assert difference.min() > -1e-3, difference.min()
    assert difference.max() < 1.001, difference.max()


def dot(before: Arguments, after: Arguments) -> None:
    close(after[2][0], np.dot(before[0].astype(np.float64), before[1].astype(np.float64)), rtol=1e-4)


def matrix_vector(before: Arguments, after: Arguments) -> None:
    close(after[2], before[0] @ before[1], rtol=1e-4)


def haversine(before: Arguments, after: Arguments) -> None:
    lat1, lon1, lat2, lon2 = (np.radians(angle) for angle in before[:4])
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    # The arc sine is steep near 1: opposite points.
    close(after[4], 2 * 6371.0088 * np.arcsin(np.sqrt(np.minimum(1, h))), rtol=1e-9, atol=1e-3)


def nearest_centre(before: Arguments, after: Arguments) -> None:
    step = max(1, len(before[0]) >> 16)
    points, labels = before[0][::step].astype(np.float64), after[2][::step]
    distances = np.square(points[:, None, :] - before[1].astype(np.float64)).sum(axis=2)
    chosen = np.take_along_axis(distances, labels[:, None].astype(np.int64), axis=1)[:, 0]
    close(chosen, distances.min(axis=1))


def count_bytes(before: Arguments, after: Arguments) -> None:
    np.testing.assert_array_equal(after[1], np.bincount(before[0], minlength=256))


def filter_of_five(before: Arguments, after: Arguments) -> None:
    x, n, taps = before[0], before[2], before[3:]
    expected = x.copy()
    expected[2:-2] = sum(tap * x[k : n - 4 + k] for k, tap in enumerate(taps))
    close(after[1], expected)


CHECKS: dict[str, Callable[[Arguments, Arguments], None]] = {
    check.__name__: check
    for check in (
        *(
            convolution,
            prefix_sums,
            softmax,
            layer_norm,
            bitonic_sort,
            n_body,
            jacobi,
            sparse_product,
            gather,
            grey,
        ),
        *(dot, matrix_vector, haversine, nearest_centre, count_bytes, filter_of_five),
    )
}
