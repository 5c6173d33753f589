// The functions that the instrumented code of an image that counts calls. Compilers put in calls of the
// interfaces of ThreadSanitizer's runtime and of basic-block coverage: these functions tell the engine of
// each access and each step. In images for counts the compiler driver replaces the calls by code that writes
// down most accesses and steps itself, and by calls of the functions with a site. This file is compiled
// without instrumentation, and linked into the image with hidden symbols.
#define CUSCOPE_HOOKS
#include "cuscope_simt/counting/state.h"
#include "cuscope_simt/fiber.h"

using cuscope_simt::Access;
using cuscope_simt::Accesses;
using cuscope_simt::CountState;
using cuscope_simt::Fiber;
using cuscope_simt::Steps;

namespace {

// Describing an image runs before a Fiber exists.
bool started;

CUSCOPE_INLINE bool is_started() { return __atomic_load_n(&started, __ATOMIC_RELAXED); }

// Neither accesses to local memory nor accesses to the Fiber are counted.
CUSCOPE_INLINE bool is_own(const Fiber* self, const void* address) {
    if (address >= self->stack_begin && address < self->stack_end) return true;
#if !CUSCOPE_FIBER_REGISTER
    if (address == &cuscope_fiber) return true;
#endif
    return address >= self && address < self + 1;
}

__attribute__((noinline)) void tell(const void* address, unsigned bytes, Access access,
                                    const void* instruction) {
    if (!is_started()) return;
    Fiber* const self = cuscope_fiber;
    if (self->count == nullptr || is_own(self, address)) return;
    self->api->access(self, address, bytes, access, instruction);
#if !CUSCOPE_FIBER_REGISTER
    cuscope_fiber = self;
#endif
}

CUSCOPE_INLINE void count_at(const void* address, unsigned site) {
    Fiber* const self = cuscope_fiber;
    if (is_own(self, address) || self->count == nullptr) return;
    const unsigned lane = self->linear_thread % 32;
    Accesses* const its = reinterpret_cast<Accesses*>(self->accesses - lane * sizeof(unsigned long)) + site;
    if (__builtin_expect(cuscope_simt::put(*its, lane, reinterpret_cast<unsigned long>(address)), 1)) return;
    self->api->access_at(self, address, site);
#if !CUSCOPE_FIBER_REGISTER
    cuscope_fiber = self;
#endif
}

// Calls function(address, bytes) for pieces as large as the address allows, at most 16 bytes each.
template <class Function>
CUSCOPE_INLINE void each_piece(const void* address, unsigned long bytes, Function function) {
    unsigned piece = 16;
    while ((reinterpret_cast<unsigned long>(address) | bytes) % piece != 0) piece /= 2;
    for (unsigned long at = 0; at < bytes; at += piece)
        function(static_cast<const char*>(address) + at, piece);
}

void tell_range(const void* address, unsigned long bytes, Access access, const void* instruction) {
    each_piece(address, bytes, [&](const void* at, unsigned piece) { tell(at, piece, access, instruction); });
}

CUSCOPE_INLINE unsigned long* steps_left(const Fiber* self, unsigned site) {
    return reinterpret_cast<unsigned long*>(self->steps + site * sizeof(Steps));
}

CUSCOPE_INLINE Access plain(Access access) {
    if (access == Access::ordered || access == Access::compare_and_swap) return Access::atomic;
    if (access == Access::ordered_load) return Access::load;
    if (access == Access::ordered_store) return Access::store;
    return access;
}

}  // namespace

#define HERE __builtin_return_address(0)
#define ACCESSES(bytes)                                                                         \
    void __tsan_read##bytes(void* p) { tell(p, bytes, Access::load, HERE); }                    \
    void __tsan_write##bytes(void* p) { tell(p, bytes, Access::store, HERE); }                  \
    void __tsan_unaligned_read##bytes(void* p) { tell(p, bytes, Access::load, HERE); }          \
    void __tsan_unaligned_write##bytes(void* p) { tell(p, bytes, Access::store, HERE); }        \
    void __tsan_volatile_read##bytes(void* p) { tell(p, bytes, Access::load, HERE); }           \
    void __tsan_volatile_write##bytes(void* p) { tell(p, bytes, Access::store, HERE); }         \
    void __tsan_unaligned_volatile_read##bytes(void* p) { tell(p, bytes, Access::load, HERE); } \
    void __tsan_unaligned_volatile_write##bytes(void* p) { tell(p, bytes, Access::store, HERE); }

#pragma GCC visibility push(hidden)
extern "C" {

void cuscope_start_counting() { __atomic_store_n(&started, true, __ATOMIC_RELAXED); }

void cuscope_begin_thread() {
    Fiber* const self = cuscope_fiber;
    const CountState* const state = self->count;
    if (state == nullptr) return;
    const unsigned warp = self->linear_thread / 32, lane = self->linear_thread % 32;
    if (state->warp != warp) self->api->begin_warp(self);
    self->steps = state->steps[warp] + lane * sizeof(unsigned long);
    self->accesses = state->accesses[warp] + lane * sizeof(unsigned long);
}

// For instructions of ImageTable::accesses.
void cuscope_access(const void* p, unsigned site) { count_at(p, site); }
// An instruction that accesses 1 to 16 bytes, as the address allows, has a site for each size.
void cuscope_range(const void* p, unsigned long bytes, unsigned site) {
    each_piece(p, bytes, [&](const void* at, unsigned piece) {
        count_at(at, site + static_cast<unsigned>(__builtin_ctz(piece)));
    });
}
// Where any number of bytes may be accessed.
void cuscope_count_at(const void* p, unsigned bytes, Access access, unsigned site) {
    access = plain(access);
    if (bytes > 16 || (bytes & (bytes - 1)) != 0 || bytes == 0 || access > Access::atomic)
        return tell(p, bytes, access, HERE);
    count_at(p, site + static_cast<unsigned>(access) * cuscope_simt::access_sizes +
                    static_cast<unsigned>(__builtin_ctz(bytes)));
}
// The first step of the lane in a basic block, or one that the engine has to be told of: the code that counts
// has subtracted one from zero.
void cuscope_first_step(unsigned site) {
    Fiber* const self = cuscope_fiber;
    *steps_left(self, site) = 0;
    if (self->count != nullptr) self->api->step_at(self, site);
}
void cuscope_step(unsigned site) {
    Fiber* const self = cuscope_fiber;
    if (unsigned long* const left = steps_left(self, site); *left != 0)
        --*left;
    else if (self->count != nullptr)
        self->api->step_at(self, site);
}

void cuscope_count(const void* p, unsigned bytes, Access access) { tell(p, bytes, plain(access), HERE); }

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void* p, unsigned long bytes) { tell_range(p, bytes, Access::load, HERE); }
void __tsan_write_range(void* p, unsigned long bytes) { tell_range(p, bytes, Access::store, HERE); }

// Clang 15 and newer call these for copies. Copies are not counted.
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
    return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
    return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) { return __builtin_memset(to, value, bytes); }

void __tsan_vptr_update(void** p, void*) { tell(p, sizeof *p, Access::store, HERE); }

void __sanitizer_cov_trace_pc() {
    if (!is_started()) return;
    Fiber* const self = cuscope_fiber;
    if (self->count != nullptr) self->api->step(self, HERE);
}

}  // extern "C"
#pragma GCC visibility pop

#include "cuscope_simt/instrumented/atomics.h"
