// A separable filter: the mask in constant memory, a row and its halo in shared memory.
#define RADIUS 4
#define TILE_W 64
#define ROWS_PER_BLOCK 4

__constant__ float mask[2 * RADIUS + 1];

template <bool along_rows>
__device__ inline int at(int along, int across, int width, int height) {
    return along_rows ? across * width + along : along * width + across;
}

template <bool along_rows>
__global__ void convolve(float* __restrict__ out, const float* __restrict__ in, int width, int height) {
    __shared__ float data[ROWS_PER_BLOCK][TILE_W + 2 * RADIUS];
    const int length = along_rows ? width : height, others = along_rows ? height : width;
    const int start = blockIdx.x * TILE_W, line = blockIdx.y * ROWS_PER_BLOCK + threadIdx.y;
    for (int i = threadIdx.x; i < TILE_W + 2 * RADIUS; i += blockDim.x) {
        const int from = start + i - RADIUS;
        data[threadIdx.y][i] =
            from >= 0 && from < length && line < others ? in[at<along_rows>(from, line, width, height)] : 0.0f;
    }
    __syncthreads();
    const int x = start + threadIdx.x;
    if (x >= length || line >= others) return;
    float sum = 0.0f;
#pragma unroll
    for (int i = -RADIUS; i <= RADIUS; ++i) sum += data[threadIdx.y][threadIdx.x + RADIUS + i] * mask[RADIUS - i];
    out[at<along_rows>(x, line, width, height)] = sum;
}

template __global__ void convolve<true>(float*, const float*, int, int);
template __global__ void convolve<false>(float*, const float*, int, int);
