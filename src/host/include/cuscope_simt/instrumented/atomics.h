// The functions of ThreadSanitizer's interface that report nothing: atomic operations, which atomics.h
// reports itself, and marks of functions. For the hooks of images that count or check.
#pragma once

// These do the atomic operation that they stand for. atomics.h has reported it.
#define FETCH(bits, name)                                                                      \
    Bits##bits __tsan_atomic##bits##_fetch_##name(volatile Bits##bits* p, Bits##bits v, int) { \
        return __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);                                  \
    }
#define SWAP(bits, name)                                                                               \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile Bits##bits* p, Bits##bits* expected,    \
                                                      Bits##bits v, int, int) {                        \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
#define ATOMICS(bits, type)                                                                            \
    typedef type Bits##bits;                                                                           \
    Bits##bits __tsan_atomic##bits##_load(const volatile Bits##bits* p, int) {                         \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                  \
    void __tsan_atomic##bits##_store(volatile Bits##bits* p, Bits##bits v, int) {                      \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                  \
    Bits##bits __tsan_atomic##bits##_exchange(volatile Bits##bits* p, Bits##bits v, int) {             \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                            \
    }                                                                                                  \
    FETCH(bits, add)                                                                                   \
    FETCH(bits, sub)                                                                                   \
    FETCH(bits, and)                                                                                   \
    FETCH(bits, or)                                                                                    \
    FETCH(bits, xor)                                                                                   \
    FETCH(bits, nand)                                                                                  \
    SWAP(bits, strong)                                                                                 \
    SWAP(bits, weak)                                                                                   \
    Bits##bits __tsan_atomic##bits##_compare_exchange_val(volatile Bits##bits* p, Bits##bits expected, \
                                                          Bits##bits v, int, int) {                    \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
        return expected;                                                                               \
    }

#pragma GCC visibility push(hidden)
extern "C" {

ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { asm volatile("" ::: "memory"); }
void __tsan_vptr_read(void**) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

}  // extern "C"
#pragma GCC visibility pop

#undef FETCH
#undef SWAP
#undef ATOMICS
