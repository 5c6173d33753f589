// Before: the second launch waits until the first grid has drained, and costs as much as the whole reduction
// of a small array.
// Here: each block leaves its partial and draws a ticket from a counter in global memory. The block with the
// last ticket combines the partials, in the order of their numbers. last_block.cuh explains the fences that
// the memory model requires.
//
// Blocks of 256 threads, any number of them; partials: a value a block; *ticket: 0 before the first launch,
// and 0 again after each launch. Static shared memory.
#include "last_block.cuh"

template <class T, class Operation>
__global__ void last_block(const T* in, T* out, long long n, T* partials, unsigned* ticket) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    T value = Operation::template identity<T>();
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        value = Operation::combine(value, in[i]);
    value = reduce_block<Operation>(value);
    leave_to_last_block<T, Operation>(value, out, partials, ticket);
}

OFFER_OPERATIONS_WITH_TICKET(last_block, float)
OFFER_OPERATIONS_WITH_TICKET(last_block, double)
OFFER_OPERATIONS_WITH_TICKET(last_block, int)
OFFER_OPERATIONS_WITH_TICKET(last_block, unsigned int)
OFFER_OPERATIONS_WITH_TICKET(last_block, long long)
OFFER_OPERATIONS_WITH_TICKET(last_block, unsigned long long)
