// Divides the floats of a matrix into bfloat16 parts, for rung 14: the number rounded to bfloat16, the rest
// rounded to bfloat16, the rest of that, and the first part again with zeros in place of infinity and NaN.
// The sum of the first three is the number itself; of a number below 2^-110, the parts lose what is below
// 2^-134. A part is a matrix of `width` numbers a row, a multiple of 8; the numbers behind a row are 0.
//
// Launch: blocks of 256 threads, of which each divides eight neighbours of a row. The grid has a block in x
// for every 2048 numbers of a row, and any number of blocks in y, which take the rows in turns; no dynamic
// shared memory.
#include <cuda_bf16.h>

struct Parts {
    __nv_bfloat16 first, second, third, finite;

    __device__ explicit Parts(float x) : first(__float2bfloat16_rn(x)) {
        const __nv_bfloat16 zero = __float2bfloat16_rn(0);
        second = third = finite = zero;
        if (!isfinite(x)) return;
        // The greatest floats would round up to infinity.
        if (!isfinite(__bfloat162float(first))) first = __float2bfloat16_rz(x);
        finite = first;
        const float rest = x - __bfloat162float(first);
        second = __float2bfloat16_rn(rest);
        third = __float2bfloat16_rn(rest - __bfloat162float(second));
    }
};

__global__ void __launch_bounds__(256)
    to_parts(const float* from, __nv_bfloat16* to, int rows, int columns, long long row, int width) {
    constexpr int count = 8;
    const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * count;
    if (column >= width) return;
    const long long part = static_cast<long long>(rows) * width;
    const bool packs = reinterpret_cast<unsigned long long>(from) % 16 == 0 && row % 4 == 0;
    for (int y = static_cast<int>(blockIdx.y); y < rows; y += static_cast<int>(gridDim.y)) {
        const float* const line = from + y * row + column;
        float numbers[count] = {};
        if (packs && column + count <= columns) {
#pragma unroll
            for (int i = 0; i < count; i += 4)
                *reinterpret_cast<float4*>(numbers + i) = *reinterpret_cast<const float4*>(line + i);
        } else {
#pragma unroll
            for (int i = 0; i < count; ++i)
                if (column + i < columns) numbers[i] = line[i];
        }
        alignas(16) __nv_bfloat16 parts[4][count];
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const Parts of(numbers[i]);
            parts[0][i] = of.first, parts[1][i] = of.second, parts[2][i] = of.third, parts[3][i] = of.finite;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            *reinterpret_cast<uint4*>(to + i * part + static_cast<long long>(y) * width + column) =
                *reinterpret_cast<const uint4*>(parts[i]);
    }
}
