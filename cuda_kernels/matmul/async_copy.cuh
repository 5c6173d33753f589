// Copies from global to shared memory that a thread starts and waits for later: cp.async of sm_80. On older
// devices, a thread copies at once, so that a later wait finds the data.
#pragma once

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HAS_CP_ASYNC 1
#else
#define HAS_CP_ASYNC 0
#endif

// Copies 4, 8 or 16 bytes if `valid`. Otherwise writes zeros, and does not read `from`.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, bool valid) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
#if HAS_CP_ASYNC
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int taken = valid ? Bytes : 0;
    if constexpr (Bytes ==
                  16)  // bypasses the first-level cache: no other thread of the block needs these bytes
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(taken)
                     : "memory");
    else if constexpr (Bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(address), "l"(from), "r"(taken)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(taken)
                     : "memory");
#else
    struct alignas(Bytes) Block {
        unsigned words[Bytes / 4];
    };
    *static_cast<Block*>(to) = valid ? *static_cast<const Block*>(from) : Block{};
#endif
}

// Copies the first `left` of 16 bytes (0 to 16), and writes zeros after them. The other bytes are not read.
__device__ __forceinline__ void copy_async_part(void* to, const void* from, int left) {
#if HAS_CP_ASYNC
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(left)
                 : "memory");
#else
    if (left == 16) {
        *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
    } else {
        for (int i = 0; i < 16; ++i)
            static_cast<char*>(to)[i] = i < left ? static_cast<const char*>(from)[i] : 0;
    }
#endif
}

// Ends a group of copies. The group may be empty.
__device__ __forceinline__ void commit_copies() {
#if HAS_CP_ASYNC
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the latest `Pending` groups of this thread are under way.
template <int Pending>
__device__ __forceinline__ void wait_for_copies() {
#if HAS_CP_ASYNC
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}
