// cuda::barrier, latch, semaphores, pipelines and asynchronous copies.
// launch phases 1 96
// launch dropped 1 64
// launch completion 1 64
// launch copies 2 128
// launch staged 2 64
// launch roles 1 96
// launch primitives 1 64
// launch latches 1 40
// launch between_blocks 4 32
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda_pipeline.h>

#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ int source[4096];

// Every thread writes, arrives, does something else, waits, and then reads the values of all others.
__global__ void phases(unsigned* failures) {
    __shared__ block_barrier bar;
    __shared__ int values[96];
    const int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 5; ++round) {
        values[t] = round * 100 + t;
        block_barrier::arrival_token token = bar.arrive();
        int busy = t * round;
        bar.wait(static_cast<block_barrier::arrival_token&&>(token));
        CHECK(values[95 - t] == round * 100 + 95 - t);
        CHECK(busy == t * round);
        bar.arrive_and_wait();
    }
    // Only the first warp takes part.
    if (t < 32) {
        auto tile = cg::tiled_partition<32>(cg::this_thread_block());
        __shared__ block_barrier small;
        if (tile.thread_rank() == 0) init(&small, tile.size());
        tile.sync();
        values[t] = -t;
        small.arrive_and_wait();
        CHECK(values[31 - t] == t - 31);
    }
}

__global__ void dropped(unsigned* failures) {
    __shared__ block_barrier bar;
    __shared__ int count;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        count = 0;
    }
    __syncthreads();
    if (threadIdx.x >= 16) {
        atomicAdd(&count, 1);
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    CHECK(count == 48);
    bar.arrive_and_wait();
    if (threadIdx.x == 3) count = 7;
    bar.arrive_and_wait();
    CHECK(count == 7);
}

// A function that runs once at the end of each phase.
struct Count {
    int* counter;
    __device__ void operator()() { ++*counter; }
};

__global__ void completion(unsigned* failures) {
    using counted = cuda::barrier<cuda::thread_scope_block, Count>;
    __shared__ int counter;
    __shared__ alignas(counted) unsigned char room[sizeof(counted)];
    counted* bar = reinterpret_cast<counted*>(room);
    if (threadIdx.x == 0) {
        counter = 0;
        init(bar, blockDim.x, Count{&counter});
    }
    __syncthreads();
    for (int round = 1; round <= 3; ++round) {
        bar->arrive_and_wait();
        CHECK(counter == round);
        __syncthreads();
    }
}

// Copies that end with a wait at a barrier: by one thread, and by a group.
__global__ void copies(unsigned* failures) {
    __shared__ block_barrier bar;
    __shared__ __align__(16) int tile[256];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    for (int i = block.thread_rank(); i < 1024; i += block.size()) source[blockIdx.x * 1024 + i] = i * 3;
    block.sync();
    const int* from = source + blockIdx.x * 1024;
    for (int batch = 0; batch < 4; ++batch) {
        cuda::memcpy_async(block, tile, from + batch * 256, cuda::aligned_size_t<16>(sizeof tile), bar);
        bar.arrive_and_wait();
        for (int i = block.thread_rank(); i < 256; i += block.size())
            CHECK(tile[255 - i] == (batch * 256 + 255 - i) * 3);
        block.sync();
    }
    cuda::memcpy_async(&tile[threadIdx.x], &from[threadIdx.x + 5], sizeof(int), bar);
    bar.arrive_and_wait();
    CHECK(tile[127 - threadIdx.x] == (127 - threadIdx.x + 5) * 3);
}

// Two stages: while one is used, the next one is filled.
__global__ void staged(unsigned* failures) {
    constexpr int stages = 2, batches = 16;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ int buffer[stages][64];
    auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    int* mine = source + blockIdx.x * 2048;
    for (int i = 0; i < batches; ++i) mine[i * 64 + t] = i * 1000 + t;
    block.sync();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int work = 0, fetch = 0; work < batches; ++work) {
        for (; fetch < batches && fetch < work + stages; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetch % stages], mine + fetch * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += buffer[work % stages][63 - t];
        CHECK(buffer[work % stages][63 - t] == work * 1000 + 63 - t);
        pipe.consumer_release();
    }
    CHECK(sum == 120 * 1000 + 16 * (63 - t));

    // A pipeline of one thread.
    auto own = cuda::make_pipeline();
    own.producer_acquire();
    cuda::memcpy_async(&buffer[0][t], &mine[t], sizeof(int), own);
    own.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(own);
    CHECK(buffer[0][t] == t);
    own.consumer_release();
}

// One warp fetches, the other warps work.
__global__ void roles(unsigned* failures) {
    constexpr int stages = 3, batches = 10;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ int buffer[stages][32];
    auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    for (int i = t; i < batches * 32; i += block.size()) source[i] = i;
    block.sync();
    const auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    for (int i = 0; i < batches; ++i) {
        if (role == cuda::pipeline_role::producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[i % stages][t], &source[i * 32 + t], sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            CHECK(buffer[i % stages][(t * 7) % 32] == i * 32 + (t * 7) % 32);
            pipe.consumer_release();
        }
    }
}

__global__ void primitives(unsigned* failures) {
    __shared__ __align__(16) float4 rows[64];
    __shared__ float words[64];
    const int t = threadIdx.x;
    const float4* from = reinterpret_cast<const float4*>(source);
    for (int i = 0; i < 4; ++i) source[t * 4 + i] = __float_as_int((float)(t * 4 + i));
    __syncthreads();
    __pipeline_memcpy_async(&rows[t], &from[63 - t], sizeof(float4));
    __pipeline_commit();
    __pipeline_memcpy_async(&words[t], &source[t], 4, t < 32 ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    CHECK(rows[t].y == (63 - t) * 4 + 1);
    __pipeline_wait_prior(0);
    CHECK(words[t] == (t < 32 ? (float)t : 0.0f));
}

__device__ cuda::latch<cuda::thread_scope_device> gate(40);
__device__ cuda::binary_semaphore<cuda::thread_scope_device> turn(1);

__global__ void latches(unsigned* failures) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    turn.acquire();
    count = *(volatile int*)&count + 1;
    turn.release();
    gate.arrive_and_wait();
    CHECK(count == 40);
}

__device__ cuda::atomic<int, cuda::thread_scope_device> arrived, released, longest;
__device__ int payload;

// Blocks that wait for each other: all are resident.
__global__ void between_blocks(unsigned* failures) {
    cuda::atomic_ref<int, cuda::thread_scope_device> data(payload);
    if (threadIdx.x == 0) {
        longest.fetch_max((int)blockIdx.x);
        if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == 3) {
            data.store(42, cuda::memory_order_relaxed);
            cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
            released.store(1, cuda::memory_order_release);
        }
        while (released.load(cuda::memory_order_acquire) == 0) {
        }
        CHECK(data.load() == 42 && longest == 3);
        int expected = 4;
        CHECK(arrived.compare_exchange_strong(expected, 4) && !arrived.compare_exchange_strong(expected = 9, 1) && expected == 4);
    }
    __shared__ cuda::atomic<float, cuda::thread_scope_block> sum;
    if (threadIdx.x == 0) sum.store(0.0f);
    __syncthreads();
    sum.fetch_add(0.5f, cuda::memory_order_relaxed);
    __syncthreads();
    CHECK(sum.load() == 16.0f);
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> bits;
    if (threadIdx.x == 0) bits = 0;
    __syncthreads();
    bits |= 1u << threadIdx.x;
    __syncthreads();
    CHECK(bits == 0xffffffffu);
    __syncthreads();
    if (threadIdx.x == 0) CHECK(bits.exchange(5) == ~0u && ++bits == 6 && bits-- == 6 && bits.load() == 5);
}
