// C = A * B of halves with the instructions of tensor cores: cp.async into two buffers, ldmatrix out of swizzled
// rows, mma.sync. A is row-major, B is row-major.
#include <cuda_fp16.h>
#include <stdint.h>

namespace gemm {

constexpr int BM = 64, BN = 64, BK = 32, THREADS = 128;
constexpr int CHUNK = 8;  // halves in 16 bytes

__device__ __forceinline__ uint32_t smem_u32(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void cp_async16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(smem_u32(to)), "l"(from));
}
#define CP_ASYNC_COMMIT() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const half* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(smem_u32(p)));
}
__device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], const half* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n" : "=r"(r[0]), "=r"(r[1]) : "r"(smem_u32(p)));
}
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,  %1,  %2,  %3}, "
        "{%4,  %5,  %6,  %7}, "
        "{%8,  %9}, "
        "{%0,  %1,  %2,  %3};\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Chunk `c` of row `r` is moved, so that eight rows below each other are in different banks.
template <int CHUNKS>
__device__ __forceinline__ int swizzled(int r, int c) {
    return (r * CHUNKS + (c ^ ((CHUNKS == 4 ? r / 2 : r) % CHUNKS))) * CHUNK;
}

struct Stage {
    half a[BM * BK];
    half b[BK * BN];
};

__device__ void fetch(Stage& stage, const half* A, const half* B, int K, int N, int k0) {
#pragma unroll
    for (int i = threadIdx.x; i < BM * BK / CHUNK; i += THREADS) {
        const int r = i / (BK / CHUNK), c = i % (BK / CHUNK);
        cp_async16(&stage.a[swizzled<BK / CHUNK>(r, c)], A + (size_t)r * K + k0 + c * CHUNK);
    }
#pragma unroll
    for (int i = threadIdx.x; i < BK * BN / CHUNK; i += THREADS) {
        const int r = i / (BN / CHUNK), c = i % (BN / CHUNK);
        cp_async16(&stage.b[swizzled<BN / CHUNK>(r, c)], B + (size_t)(k0 + r) * N + c * CHUNK);
    }
    CP_ASYNC_COMMIT();
}

}  // namespace gemm

extern "C" __global__ void __launch_bounds__(gemm::THREADS)
    mma_gemm(const half* __restrict__ A, const half* __restrict__ B, half* __restrict__ C, int M, int N, int K) {
    using namespace gemm;
    extern __shared__ __align__(1024) uint8_t raw[];
    Stage* stages = reinterpret_cast<Stage*>(raw);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    A += (size_t)blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    float acc[BN / 8][4] = {};

    fetch(stages[0], A, B, K, N, 0);
    for (int k0 = 0, s = 0; k0 < K; k0 += BK, s ^= 1) {
        if (k0 + BK < K) {
            fetch(stages[s ^ 1], A, B, K, N, k0 + BK);
            CP_ASYNC_WAIT(1);
        } else {
            CP_ASYNC_WAIT(0);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            uint32_t a[4];
            ldmatrix_x4(a, &stages[s].a[swizzled<BK / CHUNK>(warp * 16 + lane % 16, k / CHUNK + lane / 16)]);
#pragma unroll
            for (int j = 0; j < BN / 8; ++j) {
                uint32_t b[2];
                ldmatrix_x2_trans(b, &stages[s].b[swizzled<BN / CHUNK>(k + lane % 16, j)]);
                mma(acc[j], a, b);
            }
        }
        __syncthreads();
    }
    const int row = blockIdx.y * BM + warp * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
        const int column = blockIdx.x * BN + j * 8 + lane % 4 * 2;
        *reinterpret_cast<half2*>(&C[(size_t)row * N + column]) = __floats2half2_rn(acc[j][0], acc[j][1]);
        *reinterpret_cast<half2*>(&C[(size_t)(row + 8) * N + column]) = __floats2half2_rn(acc[j][2], acc[j][3]);
    }
}
