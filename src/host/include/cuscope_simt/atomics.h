// Atomic functions and fences. They are real atomics, sequentially consistent, because blocks run on several
// OS threads.
#pragma once
#pragma GCC system_header

#include "cuscope_simt/vectors.h"

namespace cuscope_simt {

// The alignment sanitizer does not check atomic operations.
template <class T>
CUSCOPE_INLINE T* aligned_operand(T* address) {
    if (__builtin_expect(reinterpret_cast<__UINTPTR_TYPE__>(address) % sizeof(T) != 0, 0)) {
        char text[128];
        __builtin_snprintf(text, sizeof text,
                           "an atomic operation at the address %p, which is no multiple of %d",
                           static_cast<void*>(address), static_cast<int>(sizeof(T)));
        fault(Fault::misaligned, text, nullptr);
        __builtin_unreachable();
    }
    return address;
}

// Counts one atomic operation and checks its address. Call once for each operation.
template <class T>
CUSCOPE_INLINE T* atomic_operand(T* address, Access access = Access::atomic) {
    count(aligned_operand(address), sizeof(T), access);
    return address;
}

template <class T>
CUSCOPE_INLINE T atomic_load(T* address) {
    T value;
    __atomic_load(address, &value, __ATOMIC_SEQ_CST);
    return value;
}

// Replaces *address by change(*address); returns the old value.
template <class T, class Change>
CUSCOPE_INLINE T atomic_update(T* address, Change change, Access access = Access::atomic) {
    T old = atomic_load(atomic_operand(address, access)), next = change(old);
    while (!__atomic_compare_exchange(address, &old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        next = change(old);
    poll();
    return old;
}

// float and double have no fetch-and-add. The loop compares the bits, so that it ends for a NaN too.
template <class Bits, class T>
CUSCOPE_INLINE T atomic_add_bits(T* address, T value) {
    static_assert(sizeof(Bits) == sizeof(T), "the bits of a T");
    const Bits old = atomic_update(reinterpret_cast<Bits*>(address), [value](Bits bits) {
        T current;
        __builtin_memcpy(&current, &bits, sizeof current);
        current += value;
        __builtin_memcpy(&bits, &current, sizeof bits);
        return bits;
    });
    T before;
    __builtin_memcpy(&before, &old, sizeof before);
    return before;
}

}  // namespace cuscope_simt

#define CUSCOPE_FETCH(type, suffix, name, builtin)                                                      \
    CUSCOPE_INLINE type atomic##name##suffix(type* address, type value) {                               \
        const type old =                                                                                \
            __atomic_fetch_##builtin(::cuscope_simt::atomic_operand(address), value, __ATOMIC_SEQ_CST); \
        ::cuscope_simt::poll();                                                                         \
        return old;                                                                                     \
    }
#define CUSCOPE_UPDATE(type, suffix, name, change)                                                   \
    CUSCOPE_INLINE type atomic##name##suffix(type* address, type value) {                            \
        return ::cuscope_simt::atomic_update(address, [value](type old) -> type { return change; }); \
    }
#define CUSCOPE_EXCHANGE(type, suffix)                                                              \
    CUSCOPE_INLINE type atomicExch##suffix(type* address, type value) {                             \
        type old;                                                                                   \
        __atomic_exchange(::cuscope_simt::atomic_operand(address), &value, &old, __ATOMIC_SEQ_CST); \
        ::cuscope_simt::poll();                                                                     \
        return old;                                                                                 \
    }
#define CUSCOPE_SWAP(type, suffix)                                                                        \
    CUSCOPE_INLINE type atomicCAS##suffix(type* address, type expected, type value) {                     \
        __atomic_compare_exchange(                                                                        \
            ::cuscope_simt::atomic_operand(address, ::cuscope_simt::Access::compare_and_swap), &expected, \
            &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                           \
        ::cuscope_simt::poll();                                                                           \
        return expected;                                                                                  \
    }
#define CUSCOPE_BITWISE(type, suffix)     \
    CUSCOPE_FETCH(type, suffix, And, and) \
    CUSCOPE_FETCH(type, suffix, Or, or)   \
    CUSCOPE_FETCH(type, suffix, Xor, xor)
#define CUSCOPE_ORDER(type, suffix)                              \
    CUSCOPE_UPDATE(type, suffix, Min, value < old ? value : old) \
    CUSCOPE_UPDATE(type, suffix, Max, value > old ? value : old)

// CUDA's types for each function; `suffix` is empty, _block or _system, which differ in scope only.
#define CUSCOPE_ATOMICS(suffix)                                                                    \
    CUSCOPE_FETCH(int, suffix, Add, add)                                                           \
    CUSCOPE_FETCH(unsigned, suffix, Add, add)                                                      \
    CUSCOPE_FETCH(unsigned long long, suffix, Add, add)                                            \
    CUSCOPE_INLINE float atomicAdd##suffix(float* address, float value) {                          \
        return ::cuscope_simt::atomic_add_bits<unsigned>(address, value);                          \
    }                                                                                              \
    CUSCOPE_INLINE double atomicAdd##suffix(double* address, double value) {                       \
        return ::cuscope_simt::atomic_add_bits<unsigned long long>(address, value);                \
    }                                                                                              \
    CUSCOPE_INLINE float2 atomicAdd##suffix(float2* address, float2 value) {                       \
        ::cuscope_simt::aligned_operand(address);                                                  \
        return {atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y)}; \
    }                                                                                              \
    CUSCOPE_INLINE float4 atomicAdd##suffix(float4* address, float4 value) {                       \
        ::cuscope_simt::aligned_operand(address);                                                  \
        return {atomicAdd##suffix(&address->x, value.x), atomicAdd##suffix(&address->y, value.y),  \
                atomicAdd##suffix(&address->z, value.z), atomicAdd##suffix(&address->w, value.w)}; \
    }                                                                                              \
    CUSCOPE_FETCH(int, suffix, Sub, sub)                                                           \
    CUSCOPE_FETCH(unsigned, suffix, Sub, sub)                                                      \
    CUSCOPE_EXCHANGE(int, suffix)                                                                  \
    CUSCOPE_EXCHANGE(unsigned, suffix)                                                             \
    CUSCOPE_EXCHANGE(unsigned long long, suffix)                                                   \
    CUSCOPE_EXCHANGE(float, suffix)                                                                \
    CUSCOPE_ORDER(int, suffix)                                                                     \
    CUSCOPE_ORDER(unsigned, suffix)                                                                \
    CUSCOPE_ORDER(long long, suffix)                                                               \
    CUSCOPE_ORDER(unsigned long long, suffix)                                                      \
    CUSCOPE_UPDATE(unsigned, suffix, Inc, old >= value ? 0u : old + 1)                             \
    CUSCOPE_UPDATE(unsigned, suffix, Dec, old == 0 || old > value ? value : old - 1)               \
    CUSCOPE_SWAP(unsigned short, suffix)                                                           \
    CUSCOPE_SWAP(int, suffix)                                                                      \
    CUSCOPE_SWAP(unsigned, suffix)                                                                 \
    CUSCOPE_SWAP(unsigned long long, suffix)                                                       \
    CUSCOPE_BITWISE(int, suffix)                                                                   \
    CUSCOPE_BITWISE(unsigned, suffix)                                                              \
    CUSCOPE_BITWISE(unsigned long long, suffix)

#ifndef CUSCOPE_WITHOUT_ATOMICS
#pragma cuscope begin atomics
CUSCOPE_ATOMICS()
CUSCOPE_ATOMICS(_block)
CUSCOPE_ATOMICS(_system)
#pragma cuscope end atomics
#endif

#undef CUSCOPE_ATOMICS
#undef CUSCOPE_ORDER
#undef CUSCOPE_BITWISE
#undef CUSCOPE_SWAP
#undef CUSCOPE_EXCHANGE
#undef CUSCOPE_UPDATE
#undef CUSCOPE_FETCH

// Operations on 16 bytes: exchange, and compare and swap. They take a lock that only these operations use.
namespace cuscope_simt {

template <class T>
inline constexpr bool is_wide = sizeof(T) == 16 && alignof(T) >= 16 && __is_trivially_copyable(T);
template <class T, bool wide = is_wide<T>>
struct Wide {};
template <class T>
struct Wide<T, true> {
    using Type = T;
};

inline unsigned char wide_lock;

template <class T, class Change>
CUSCOPE_INLINE T wide_update(T* address, Change change) {
    atomic_operand(address);
    T old;
    {
        const Unchecked unchecked;
        while (__atomic_test_and_set(&wide_lock, __ATOMIC_ACQUIRE)) {
        }
        old = *address;
        change(old);
        __atomic_clear(&wide_lock, __ATOMIC_RELEASE);
    }
    poll();
    return old;
}

}  // namespace cuscope_simt

#define CUSCOPE_WIDE_ATOMICS(suffix)                                                                \
    template <class T>                                                                              \
    CUSCOPE_INLINE typename ::cuscope_simt::Wide<T>::Type atomicExch##suffix(T* address, T value) { \
        return ::cuscope_simt::wide_update(address, [&](const T&) { *address = value; });           \
    }                                                                                               \
    template <class T>                                                                              \
    CUSCOPE_INLINE                                                                                  \
        typename ::cuscope_simt::Wide<T>::Type atomicCAS##suffix(T* address, T expected, T value) { \
        return ::cuscope_simt::wide_update(address, [&](const T& old) {                             \
            if (__builtin_memcmp(&old, &expected, sizeof old) == 0) *address = value;               \
        });                                                                                         \
    }
#ifndef CUSCOPE_WITHOUT_ATOMICS
#pragma cuscope begin atomics
CUSCOPE_WIDE_ATOMICS()
CUSCOPE_WIDE_ATOMICS(_block)
CUSCOPE_WIDE_ATOMICS(_system)
#pragma cuscope end atomics
#endif
#undef CUSCOPE_WIDE_ATOMICS

CUSCOPE_INLINE void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    ::cuscope_simt::synchronized(::cuscope_simt::Synchronization::fence);
    ::cuscope_simt::poll();
}
CUSCOPE_INLINE void __threadfence_block() { __threadfence(); }
CUSCOPE_INLINE void __threadfence_system() { __threadfence(); }
