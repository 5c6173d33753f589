// The copies of the tensor memory accelerator (TMA), and the barriers in shared memory that count their
// bytes. One thread starts the copy of a whole box of a tensor. The tensor map, made by the host, knows the
// tensor's address, extents and strides, the box, and how the box lies in shared memory. Elements beyond the
// extents are read as zero and are not written.
#pragma once

#include "../common/overlap.cuh"

// cuTensorMapEncodeTiled fills it. A kernel takes it as a `const __grid_constant__` parameter.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

__device__ __forceinline__ unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// A barrier in shared memory (mbarrier). Its phase ends after `arrivals` arrivals, and after all the bytes
// that arrivals said to expect. Phases have the parities 0, 1, 0, ...; a wait names one that must have ended.
// Before the first phase, parity 1 counts as ended.
struct Barrier {
    unsigned long long state;

    __device__ __forceinline__ void init(int arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&state)), "r"(arrivals)
                     : "memory");
    }

    __device__ __forceinline__ void arrive_and_expect(int bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&state)),
                     "r"(bytes)
                     : "memory");
    }

    // Arrives at the barrier in the same place of another block of the cluster.
    __device__ __forceinline__ void arrive_at(int block) {
        asm volatile(
            "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
            "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(&state)),
            "r"(block)
            : "memory");
    }

    __device__ __forceinline__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&state)) : "memory");
    }

    __device__ __forceinline__ bool ended(unsigned parity) {
        int ended;
        asm volatile(
            "{\n.reg .pred ended;\nmbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
            "selp.b32 %0, 1, 0, ended;\n}"
            : "=r"(ended)
            : "r"(shared_address(&state)), "r"(parity)
            : "memory");
        return ended != 0;
    }

    __device__ __forceinline__ void wait(unsigned parity) {
        while (!ended(parity)) {
        }
    }
};

// Makes initialised barriers visible to the other blocks of the cluster and to copies. A barrier of the
// block or cluster must follow.
__device__ __forceinline__ void show_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void wait_for_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Copies the box whose first element is at (x, y, z) to shared memory. `arrived` counts its bytes.
__device__ __forceinline__ void load_box(void* to, const TensorMap& map, int x, int y, int z,
                                         Barrier& arrived) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(&arrived.state))
        : "memory");
}

// The same to the same place of each block of the cluster in `blocks`, a mask. Each block's own barrier
// counts the bytes.
__device__ __forceinline__ void load_box(void* to, const TensorMap& map, int x, int y, int z,
                                         Barrier& arrived, unsigned short blocks) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared_address(to)),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(&arrived.state)), "h"(blocks)
        : "memory");
}

// Copies a box from shared memory, where show_to_tensor_cores() has shown it to TMA.
__device__ __forceinline__ void store_box(const TensorMap& map, int x, int y, int z, const void* from) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
        "r"(x), "r"(y), "r"(z), "r"(shared_address(from))
        : "memory");
}

__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until at most `Pending` groups of this thread's stores still read shared memory.
template <int Pending>
__device__ __forceinline__ void wait_until_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

__device__ __forceinline__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Moves registers between warpgroups: `Count` for each thread of this warpgroup from now on.
template <int Count>
__device__ __forceinline__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
