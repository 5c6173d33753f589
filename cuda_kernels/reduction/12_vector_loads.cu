// Before: a thread has one load of 4 bytes under way and waits for it before it adds, so that the memory, which
// needs some 20 KiB a multiprocessor under way to be busy, is not.
// Here: eight loads of 16 bytes a thread are issued before the first is used, and go to four accumulators that do
// not wait for each other. Elements before the first aligned address and behind the last whole vector are
// taken one by one.
//
// Blocks of 256 threads, best 4 a multiprocessor; partials, ticket and shared memory as in 11.
#include "last_block.cuh"

constexpr int loads = 8, accumulators = 4;

template <class T>
union Vector {
    uint4 bits;
    T elements[sizeof(uint4) / sizeof(T)];
};

template <class Operation, class T>
__device__ void take(T& value, uint4 bits) {
    Vector<T> vector;
    vector.bits = bits;
#pragma unroll
    for (T element : vector.elements) value = Operation::combine(value, element);
}

template <class T, class Operation>
__global__ void __launch_bounds__(256, 4)
    vector_loads(const T* in, T* out, long long n, T* partials, unsigned* ticket) {
    constexpr long long width = sizeof(uint4) / sizeof(T);
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long unaligned = (16 - reinterpret_cast<unsigned long long>(in) % 16) % 16 / sizeof(T);
    const long long head = unaligned < n ? unaligned : n;
    const long long vectors = (n - head) / width;
    const long long tail = head + vectors * width;
    const uint4* aligned = reinterpret_cast<const uint4*>(in + head);

    T values[accumulators];
    for (T& value : values) value = Operation::template identity<T>();
    uint4 bits[loads];
    long long first = thread;
    for (; first + (loads - 1) * threads < vectors; first += loads * threads) {
#pragma unroll
        for (int i = 0; i < loads; ++i) bits[i] = __ldg(aligned + first + i * threads);
#pragma unroll
        for (int i = 0; i < loads; ++i) take<Operation>(values[i % accumulators], bits[i]);
    }
    // What is left is less than a round, and loaded as one.
#pragma unroll
    for (int i = 0; i < loads; ++i)
        if (first + i * threads < vectors) bits[i] = __ldg(aligned + first + i * threads);
#pragma unroll
    for (int i = 0; i < loads; ++i)
        if (first + i * threads < vectors) take<Operation>(values[i % accumulators], bits[i]);
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
