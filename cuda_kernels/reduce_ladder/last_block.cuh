// The end of a reduction in one kernel: the last block combines the partials of all blocks.
#pragma once

#include "operations.cuh"
#include "warp.cuh"

// All threads of each block of 256 call this, with the block's value in thread 0. `partials` holds a value
// for each block. `ticket` is 0 before, and 0 again after, because atomicInc wraps around after the number of
// the last block.
template <class T, class Operation>
__device__ void leave_to_last_block(T value, T* out, T* partials, unsigned* ticket) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = value;
        __threadfence();  // release: a thread that sees the ticket also sees the partial
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();  // acquire: the thread with the last ticket sees all partials, and the
                          // barrier makes them visible to the other threads
    }
    __syncthreads();
    if (!is_last) return;
    // The order is that of the blocks' numbers, whichever block came last. So every run gives the same bits.
    value = Operation::template identity<T>();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
        value = Operation::combine(value, __ldcg(partials + i));
    value = reduce_block<Operation>(value);
    if (threadIdx.x == 0) *out = value;
}

#define OFFER_WITH_TICKET(rung, T, Operation) \
    template __global__ void rung<T, Operation>(const T*, T*, long long, T*, unsigned*);
#define OFFER_OPERATIONS_WITH_TICKET(rung, T) \
    OFFER_WITH_TICKET(rung, T, Sum)           \
    OFFER_WITH_TICKET(rung, T, Product)       \
    OFFER_WITH_TICKET(rung, T, Minimum)       \
    OFFER_WITH_TICKET(rung, T, Maximum)
