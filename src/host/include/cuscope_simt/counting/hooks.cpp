// The functions that compilers call from the instrumented code of an image that counts: the interfaces of
// ThreadSanitizer's runtime and of basic-block coverage. They report to the engine. This file is compiled
// without instrumentation, and linked into the image with hidden symbols.
#define CUSCOPE_HOOKS
#include "cuscope_simt/fiber.h"

using cuscope_simt::Access;
using cuscope_simt::Fiber;

namespace {

// Constructors of the image run before a Fiber exists.
bool started;

CUSCOPE_INLINE bool is_started() { return __atomic_load_n(&started, __ATOMIC_RELAXED); }

// Neither accesses to local memory nor accesses to the Fiber are counted.
CUSCOPE_INLINE void count(const void* address, unsigned bytes, Access access, const void* instruction) {
    if (!is_started()) return;
    Fiber* const self = cuscope_fiber;
    if (address >= __builtin_frame_address(0) && address < self->stack_end) return;
    if (address >= self && address < self + 1) return;
#if CUSCOPE_FIBER_REGISTER
    self->api->access(self, address, bytes, access, instruction);
#else
    if (address == &cuscope_fiber) return;
    self->api->access(self, address, bytes, access, instruction);
    cuscope_fiber = self;
#endif
}

// Counts pieces as large as the address allows, at most 16 bytes each.
CUSCOPE_INLINE void count_range(const void* address, unsigned long bytes, Access access,
                                const void* instruction) {
    unsigned piece = 16;
    while ((reinterpret_cast<unsigned long>(address) | bytes) % piece != 0) piece /= 2;
    for (unsigned long at = 0; at < bytes; at += piece)
        count(static_cast<const char*>(address) + at, piece, access, instruction);
}

}  // namespace

#define HERE __builtin_return_address(0)
#define ACCESSES(bytes)                                                                          \
    void __tsan_read##bytes(void* p) { count(p, bytes, Access::load, HERE); }                    \
    void __tsan_write##bytes(void* p) { count(p, bytes, Access::store, HERE); }                  \
    void __tsan_unaligned_read##bytes(void* p) { count(p, bytes, Access::load, HERE); }          \
    void __tsan_unaligned_write##bytes(void* p) { count(p, bytes, Access::store, HERE); }        \
    void __tsan_volatile_read##bytes(void* p) { count(p, bytes, Access::load, HERE); }           \
    void __tsan_volatile_write##bytes(void* p) { count(p, bytes, Access::store, HERE); }         \
    void __tsan_unaligned_volatile_read##bytes(void* p) { count(p, bytes, Access::load, HERE); } \
    void __tsan_unaligned_volatile_write##bytes(void* p) { count(p, bytes, Access::store, HERE); }

#pragma GCC visibility push(hidden)
extern "C" {

void cuscope_start_counting() { __atomic_store_n(&started, true, __ATOMIC_RELAXED); }
void cuscope_count(const void* p, unsigned bytes, Access access) {
    if (access == Access::ordered) access = Access::atomic;
    if (access == Access::ordered_load) access = Access::load;
    if (access == Access::ordered_store) access = Access::store;
    count(p, bytes, access, HERE);
}

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void* p, unsigned long bytes) { count_range(p, bytes, Access::load, HERE); }
void __tsan_write_range(void* p, unsigned long bytes) { count_range(p, bytes, Access::store, HERE); }

// Clang 15 and newer call these for copies. Copies are not counted.
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
    return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
    return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) { return __builtin_memset(to, value, bytes); }

void __tsan_vptr_update(void** p, void*) { count(p, sizeof *p, Access::store, HERE); }

void __sanitizer_cov_trace_pc() {
    if (!is_started()) return;
    Fiber* const self = cuscope_fiber;
    self->api->step(self, HERE);
}

}  // extern "C"
#pragma GCC visibility pop

#include "cuscope_simt/instrumented/atomics.h"
