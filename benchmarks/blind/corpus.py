"""Sixteen kernels as users write them, at two sizes each, to judge the simulated time of kernels.

The model of docs/kernel-time.md was not fitted to them. K holds for each kernel its name, its source, and its launches:
grid, block, and a function that makes the arguments on the host. `tools/kernel_times.py` reads this form, and
`measure.py` measures the launches on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import cuscope as cs

Rng = np.random.Generator
Host = list[Any]  # the arguments of a launch: arrays of the host, and numbers
K: list[tuple[str, str, list[tuple[Any, Any, Callable[[Rng], Host]]]]] = []


def arrays(specification: Callable[[Rng], Host], rng: Rng) -> list[Any]:
    """The arguments of a launch on the current device."""
    return on_device(specification(rng))


def on_device(host: Sequence[Any]) -> list[Any]:
    return [cs.to_device(value) if isinstance(value, np.ndarray) else value for value in host]


def floats(rng: Rng, *shape: int) -> np.ndarray:
    return rng.random(shape, dtype=np.float32)


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def blocks(n: int, size: int) -> int:
    return (n + size - 1) // size


# A blur of 5 x 5 points by weights in constant memory.


def convolution(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return (blocks(n, 32), blocks(n, 8)), (32, 8), lambda rng: [floats(rng, n, n), zeros(n, n), n, n]


K.append(
    (
        "convolution",
        """
#define RADIUS 2
__constant__ float weights[5][5] = {{1, 4, 7, 4, 1}, {4, 16, 26, 16, 4}, {7, 26, 41, 26, 7}, {4, 16, 26, 16, 4}, {1, 4, 7, 4, 1}};

__global__ void convolution(const float* image, float* result, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int column = min(max(x + dx, 0), width - 1);
            int row = min(max(y + dy, 0), height - 1);
            sum += weights[dy + RADIUS][dx + RADIUS] * image[row * width + column];
        }
    }
    result[y * width + x] = sum / 273;
}
""",
        [convolution(512), convolution(4096)],
    )
)


# The prefix sums of the 512 numbers of each block, by Hillis and Steele.


def prefix_sums(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    def host(rng: Rng) -> Host:
        return [
            rng.integers(0, 1024, n, dtype=np.int32),
            zeros(n, dtype=np.int32),
            zeros(n // 512, dtype=np.int32),
            n,
        ]

    return n // 512, 512, host


K.append(
    (
        "prefix_sums",
        """
__global__ void prefix_sums(const int* in, int* out, int* totals, int n) {
    __shared__ int sums[2][512];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int from = 0, to = 1;
    sums[from][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        if (t >= distance) sums[to][t] = sums[from][t] + sums[from][t - distance];
        else sums[to][t] = sums[from][t];
        __syncthreads();
        from = to;
        to = 1 - from;
    }
    if (i < n) out[i] = sums[from][t];
    if (t == blockDim.x - 1) totals[blockIdx.x] = sums[from][t];
}
""",
        [prefix_sums(1 << 17), prefix_sums(1 << 23)],
    )
)


# The softmax of each row, a block for a row.


def softmax(rows: int, columns: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return rows, 256, lambda rng: [8 * floats(rng, rows, columns), zeros(rows, columns), columns]


K.append(
    (
        "softmax",
        """
__global__ void softmax(const float* in, float* out, int columns) {
    __shared__ float part[256];
    const float* x = in + (size_t)blockIdx.x * columns;
    float* y = out + (size_t)blockIdx.x * columns;
    int t = threadIdx.x;

    float largest = -INFINITY;
    for (int c = t; c < columns; c += blockDim.x) largest = fmaxf(largest, x[c]);
    part[t] = largest;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) part[t] = fmaxf(part[t], part[t + d]);
        __syncthreads();
    }
    largest = part[0];
    __syncthreads();

    float sum = 0;
    for (int c = t; c < columns; c += blockDim.x) sum += expf(x[c] - largest);
    part[t] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    sum = part[0];

    for (int c = t; c < columns; c += blockDim.x) y[c] = expf(x[c] - largest) / sum;
}
""",
        [softmax(256, 1000), softmax(16384, 1000)],
    )
)


# Layer normalisation, a warp for a row.


def layer_norm(rows: int, columns: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    def host(rng: Rng) -> Host:
        return [
            floats(rng, rows, columns),
            floats(rng, columns),
            floats(rng, columns),
            zeros(rows, columns),
            rows,
            columns,
        ]

    return blocks(rows, 4), 128, host


K.append(
    (
        "layer_norm",
        """
__device__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
    return v;
}

__global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* in = x + (size_t)row * columns;
    float* out = y + (size_t)row * columns;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += in[c];
    float mean = warp_sum(sum) / columns;
    float squares = 0;
    for (int c = lane; c < columns; c += 32) squares += (in[c] - mean) * (in[c] - mean);
    float scale = rsqrtf(warp_sum(squares) / columns + 1e-5f);
    for (int c = lane; c < columns; c += 32) out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}
""",
        [layer_norm(512, 768), layer_norm(32768, 768)],
    )
)


# Each block sorts 512 numbers in shared memory by a bitonic network.


def bitonic_sort(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return n // 512, 256, lambda rng: [floats(rng, n), zeros(n)]


K.append(
    (
        "bitonic_sort",
        """
__global__ void bitonic_sort(const float* in, float* out) {
    __shared__ float key[512];
    int t = threadIdx.x, begin = blockIdx.x * 512;
    key[t] = in[begin + t];
    key[t + 256] = in[begin + t + 256];
    for (int size = 2; size <= 512; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool ascending = (low & size) == 0;
            float a = key[low], b = key[high];
            if ((a > b) == ascending) {
                key[low] = b;
                key[high] = a;
            }
        }
    }
    __syncthreads();
    out[begin + t] = key[t];
    out[begin + t + 256] = key[t + 256];
}
""",
        [bitonic_sort(1 << 16), bitonic_sort(1 << 21)],
    )
)


# The accelerations of bodies, by tiles in shared memory.


def n_body(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return n // 128, 128, lambda rng: [floats(rng, n, 4), zeros(n, 3), n, np.float32(1e-3)]


K.append(
    (
        "n_body",
        """
__global__ void n_body(const float4* body, float3* acceleration, int n, float softening) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float3 a = make_float3(0, 0, 0);
    for (int begin = 0; begin < n; begin += blockDim.x) {
        tile[threadIdx.x] = body[begin + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float s = tile[j].w * r * r * r;
            a.x += dx * s;
            a.y += dy * s;
            a.z += dz * s;
        }
        __syncthreads();
    }
    acceleration[i] = a;
}
""",
        [n_body(2048), n_body(24576)],
    )
)


# A step of Jacobi's method for the Poisson equation in three dimensions.


def jacobi(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return (
        (n // 32, n // 4, n // 2),
        (32, 4, 2),
        lambda rng: [floats(rng, n, n, n), floats(rng, n, n, n), zeros(n, n, n), n],
    )


K.append(
    (
        "jacobi",
        """
__global__ void jacobi(const float* u, const float* f, float* next, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x == 0 || y == 0 || z == 0 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    int i = (z * n + y) * n + x;
    next[i] = (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n] - f[i]) / 6;
}
""",
        [jacobi(64), jacobi(256)],
    )
)


# The product of a sparse matrix (CSR, 0 to 32 entries a row) and a vector, a thread for a row.


def sparse_product(rows: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    def host(rng: Rng) -> Host:
        begins = np.concatenate([[0], np.cumsum(rng.integers(0, 33, rows))]).astype(np.int32)
        columns = rng.integers(0, rows, begins[-1], dtype=np.int32)
        return [begins, columns, floats(rng, begins[-1]), floats(rng, rows), zeros(rows), rows]

    return blocks(rows, 256), 256, host


K.append(
    (
        "sparse_product",
        """
__global__ void sparse_product(const int* begins, const int* columns, const float* values, const float* x, float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int j = begins[row]; j < begins[row + 1]; j++) sum += values[j] * x[columns[j]];
        y[row] = sum;
    }
}
""",
        [sparse_product(1 << 14), sparse_product(1 << 19)],
    )
)


# Numbers at random places.


def gather(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return (
        blocks(n, 256),
        256,
        lambda rng: [floats(rng, n), rng.integers(0, n, n, dtype=np.int32), zeros(n), n],
    )


K.append(
    (
        "gather",
        """
__global__ void gather(const float* x, const int* index, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]];
}
""",
        [gather(1 << 18), gather(1 << 24)],
    )
)


# A picture of three bytes a point, in grey.


def grey(height: int, width: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    def host(rng: Rng) -> Host:
        return [
            rng.integers(0, 256, (height, width, 3), dtype=np.uint8),
            zeros(height, width, dtype=np.uint8),
            width,
            height,
        ]

    return (blocks(width, 16), blocks(height, 16)), (16, 16), host


K.append(
    (
        "grey",
        """
__global__ void grey(const uchar3* colour, unsigned char* result, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar3 c = colour[y * width + x];
        result[y * width + x] = (unsigned char)(0.299f * c.x + 0.587f * c.y + 0.114f * c.z);
    }
}
""",
        [grey(480, 640), grey(4320, 7680)],
    )
)


# A dot product: a loop over the grid, shuffles, and an atomic addition for each block.


def dot(n: int, grid: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return grid, 256, lambda rng: [floats(rng, n), floats(rng, n), zeros(1), n]


K.append(
    (
        "dot",
        """
__global__ void dot(const float* a, const float* b, float* result, int n) {
    __shared__ float of_warp[8];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 8 ? of_warp[threadIdx.x] : 0;
        for (int offset = 4; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (threadIdx.x == 0) atomicAdd(result, sum);
    }
}
""",
        [dot(1 << 18, 128), dot(1 << 25, 1056)],
    )
)


# A matrix times a vector, a warp for a row.


def matrix_vector(rows: int, columns: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return (
        blocks(rows, 8),
        256,
        lambda rng: [floats(rng, rows, columns), floats(rng, columns), zeros(rows), rows, columns],
    )


K.append(
    (
        "matrix_vector",
        """
__global__ void matrix_vector(const float* A, const float* x, float* y, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += A[(size_t)row * columns + c] * x[c];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}
""",
        [matrix_vector(512, 512), matrix_vector(8192, 4096)],
    )
)


# Distances on the earth, in double precision.


def haversine(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    def host(rng: Rng) -> Host:
        latitudes, longitudes = (
            [(180 * rng.random(n) - 90) for _ in range(2)],
            [(360 * rng.random(n) - 180) for _ in range(2)],
        )
        return [latitudes[0], longitudes[0], latitudes[1], longitudes[1], zeros(n, dtype=np.float64), n]

    return blocks(n, 256), 256, host


K.append(
    (
        "haversine",
        """
__global__ void haversine(const double* lat1, const double* lon1, const double* lat2, const double* lon2, double* km, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double rad = 3.14159265358979323846 / 180;
    double a = lat1[i] * rad, b = lat2[i] * rad;
    double u = sin((b - a) / 2), v = sin((lon2[i] - lon1[i]) * rad / 2);
    km[i] = 2 * 6371.0088 * asin(sqrt(fmin(1.0, u * u + cos(a) * cos(b) * v * v)));
}
""",
        [haversine(1 << 16), haversine(1 << 22)],
    )
)


# The nearest of 64 centres to each point of three coordinates, a step of k-means.


def nearest_centre(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    return (
        blocks(n, 256),
        256,
        lambda rng: [floats(rng, n, 3), floats(rng, 64, 3), zeros(n, dtype=np.int32), n, 64],
    )


K.append(
    (
        "nearest_centre",
        """
#define MOST 128
__global__ void nearest_centre(const float* points, const float* centres, int* labels, int n, int k) {
    __shared__ float c[MOST * 3];
    for (int j = threadIdx.x; j < k * 3; j += blockDim.x) c[j] = centres[j];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
    float least = 1e30f;
    int nearest = 0;
    for (int j = 0; j < k; j++) {
        float dx = x - c[3 * j], dy = y - c[3 * j + 1], dz = z - c[3 * j + 2];
        float distance = dx * dx + dy * dy + dz * dz;
        if (distance < least) {
            least = distance;
            nearest = j;
        }
    }
    labels[i] = nearest;
}
""",
        [nearest_centre(1 << 16), nearest_centre(1 << 22)],
    )
)


# How often each byte occurs in a text: counts of a block in shared memory, then in global memory.

LETTERS = " etaoinshrdlcumwfgypbvkjxqz"
SHARES = [
    18.0,
    10.2,
    7.5,
    6.5,
    6.2,
    5.7,
    5.7,
    5.3,
    5.0,
    4.9,
    3.5,
    3.3,
    2.3,
    2.3,
    2.0,
    1.9,
    1.8,
    1.7,
    1.6,
    1.5,
    1.2,
    0.8,
    0.6,
    0.2,
    0.2,
    0.1,
    0.1,
]


def count_bytes(n: int, grid: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    def host(rng: Rng) -> Host:
        begins = np.cumsum(SHARES) / np.sum(SHARES)
        letters = np.frombuffer(LETTERS.encode(), np.uint8)
        text = letters[np.minimum(np.searchsorted(begins, rng.random(n)), len(LETTERS) - 1)]
        return [text, zeros(256, dtype=np.int32), n]

    return grid, 256, host


K.append(
    (
        "count_bytes",
        """
__global__ void count_bytes(const unsigned char* text, int* counts, int n) {
    __shared__ int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&mine[text[i]], 1);
    __syncthreads();
    if (mine[threadIdx.x]) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
""",
        [count_bytes(1 << 18, 64), count_bytes(1 << 25, 1024)],
    )
)


# A filter of five taps.


def filter_of_five(n: int) -> tuple[Any, Any, Callable[[Rng], Host]]:
    taps = [np.float32(tap) for tap in (0.1, 0.2, 0.4, 0.2, 0.1)]
    return blocks(n, 256), 256, lambda rng: [floats(rng, n), zeros(n), n, *taps]


K.append(
    (
        "filter_of_five",
        """
__global__ void filter_of_five(const float* x, float* y, int n, float a, float b, float c, float d, float e) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i < 2 || i >= n - 2) y[i] = x[i];
    else y[i] = a * x[i - 2] + b * x[i - 1] + c * x[i] + d * x[i + 1] + e * x[i + 2];
}
""",
        [filter_of_five(1 << 18), filter_of_five(1 << 25)],
    )
)
