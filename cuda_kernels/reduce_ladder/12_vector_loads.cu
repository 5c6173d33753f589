// Before: a thread has one load of 4 bytes under way and waits for it before it adds. That is less than the
// memory could deliver in the time of a load.
// Here: a thread issues eight loads of 16 bytes before it uses the first, and adds them to four accumulators
// that do not wait for each other. The elements before the first aligned address and behind the last whole
// vector are added one by one.
//
// Blocks of 256 threads, made for 4 a multiprocessor, fewer than 2^20; partials, ticket and shared memory as
// in 11.
#include "last_block.cuh"

constexpr int block = 256, loads = 8, accumulators = 4;

template <class T, class Operation>
__device__ uint4 of_identities() {
    uint4 bits;
    T* elements = reinterpret_cast<T*>(&bits);
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(uint4) / sizeof(T)); ++i)
        elements[i] = Operation::template identity<T>();
    return bits;
}

template <class Operation, class T>
__device__ void take(T& value, const uint4& bits) {
    const T* elements = reinterpret_cast<const T*>(&bits);
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(uint4) / sizeof(T)); ++i)
        value = Operation::combine(value, elements[i]);
}

template <class T, class Operation>
__global__ void __launch_bounds__(block, 4)
    vector_loads(const T* in, T* out, long long n, T* partials, unsigned* ticket) {
    constexpr long long width = sizeof(uint4) / sizeof(T);
    const unsigned thread = blockIdx.x * block + threadIdx.x, threads = gridDim.x * block;
    const long long unaligned = (16 - reinterpret_cast<unsigned long long>(in) % 16) % 16 / sizeof(T);
    const long long head = unaligned < n ? unaligned : n;
    const long long vectors = (n - head) / width;
    const long long tail = head + vectors * width;
    const uint4* aligned = reinterpret_cast<const uint4*>(in + head);

    T values[accumulators];
#pragma unroll
    for (T& value : values) value = Operation::template identity<T>();
    uint4 bits[loads];
    // Whole rounds of the grid: a block takes 32 KiB of consecutive data, at constant distances from one
    // address.
    const long long round = static_cast<long long>(threads) * loads;
    long long done = 0;
    for (; done + round <= vectors; done += round) {
        const uint4* first = aligned + done + blockIdx.x * (block * loads) + threadIdx.x;
#pragma unroll
        for (int i = 0; i < loads; ++i) bits[i] = __ldg(first + i * block);
#pragma unroll
        for (int i = 0; i < loads; ++i) take<Operation>(values[i % accumulators], bits[i]);
    }
    // The rest is distributed evenly: no thread has more than one vector more than another, and all loads are
    // under way at once.
    const unsigned left = static_cast<unsigned>(vectors - done);
    const uint4* first = aligned + done;
    const uint4 nothing = of_identities<T, Operation>();
#pragma unroll
    for (int i = 0; i < loads; ++i)
        bits[i] = thread + i * threads < left ? __ldg(first + (thread + i * threads)) : nothing;
#pragma unroll
    for (int i = 0; i < loads; ++i) take<Operation>(values[i % accumulators], bits[i]);
    if (thread < head) values[0] = Operation::combine(values[0], in[thread]);
    if (thread < n - tail) values[1] = Operation::combine(values[1], in[tail + thread]);

    const T value = Operation::combine(Operation::combine(values[0], values[1]),
                                       Operation::combine(values[2], values[3]));
    leave_to_last_block<T, Operation>(reduce_block<Operation>(value), out, partials, ticket);
}

OFFER_OPERATIONS_WITH_TICKET(vector_loads, float)
OFFER_OPERATIONS_WITH_TICKET(vector_loads, double)
OFFER_WITH_TICKET(vector_loads, int, Sum)
OFFER_WITH_TICKET(vector_loads, int, Minimum)
OFFER_WITH_TICKET(vector_loads, int, Maximum)
OFFER_WITH_TICKET(vector_loads, long long, Sum)
