// The functions that compilers call from the instrumented code of an image that counts: the interfaces of
// ThreadSanitizer's runtime and of basic-block coverage. They write down the accesses and steps of a
// thread, or report them to the engine. This file is compiled without instrumentation, and linked into the
// image with hidden symbols.
#define CUSCOPE_HOOKS
#include "cuscope_simt/counting/state.h"
#include "cuscope_simt/fiber.h"

using cuscope_simt::Access;
using cuscope_simt::Column;
using cuscope_simt::CountSlot;
using cuscope_simt::CountState;
using cuscope_simt::Fiber;

namespace {

// Constructors of the image run before a Fiber exists.
bool started;

CUSCOPE_INLINE bool is_started() { return __atomic_load_n(&started, __ATOMIC_RELAXED); }

// Finds the column of the running thread for an instruction. False: the engine has to be told. `fixed`: the
// instruction always accesses the same number of bytes.
CUSCOPE_INLINE bool find_column(const Fiber* self, const void* instruction, unsigned bytes, bool fixed,
                                Column** column) {
    CountState* const state = self->count;
    const unsigned thread = self->linear_thread;
    if (__builtin_expect(state->thread != thread, 0)) {
        // The engine looks whether the warp before has ended.
        if (state->thread / 32 != thread / 32) return false;
        state->thread = thread;
        state->columns = state->warps[thread / 32] + thread % 32;
    }
    const CountSlot& slot = state->slots[cuscope_simt::count_slot(instruction)];
    if (__builtin_expect(slot.instruction != instruction, 0)) return false;
    if (!fixed && slot.bytes != bytes) return false;
    *column = reinterpret_cast<Column*>(reinterpret_cast<char*>(state->columns) + slot.place);
    return true;
}

// Neither accesses to local memory nor accesses to the Fiber are counted.
__attribute__((noinline)) void tell(const void* address, unsigned bytes, Access access,
                                    const void* instruction) {
    Fiber* const self = cuscope_fiber;
    if (address >= self && address < self + 1) return;
#if !CUSCOPE_FIBER_REGISTER
    if (address == &cuscope_fiber) return;
#endif
    self->api->access(self, address, bytes, access, instruction);
#if !CUSCOPE_FIBER_REGISTER
    cuscope_fiber = self;
#endif
}

CUSCOPE_INLINE void count(const void* address, unsigned bytes, Access access, const void* instruction,
                          bool fixed) {
    if (!is_started()) return;
    const Fiber* const self = cuscope_fiber;
    if (address >= self->stack_begin && address < self->stack_end) return;
    // No instruction that accesses the Fiber has a column. The engine makes room, and lets a thread that is
    // far ahead wait for others.
    Column* column = nullptr;
    if (__builtin_expect(!find_column(self, instruction, bytes, fixed, &column), 0) ||
        __builtin_expect(column->next == column->end, 0))
        return tell(address, bytes, access, instruction);
    *reinterpret_cast<const void**>(column->next) = address;
    column->next += sizeof address;
}

// Counts pieces as large as the address allows, at most 16 bytes each.
CUSCOPE_INLINE void count_range(const void* address, unsigned long bytes, Access access,
                                const void* instruction) {
    unsigned piece = 16;
    while ((reinterpret_cast<unsigned long>(address) | bytes) % piece != 0) piece /= 2;
    for (unsigned long at = 0; at < bytes; at += piece)
        count(static_cast<const char*>(address) + at, piece, access, instruction, false);
}

}  // namespace

#define HERE __builtin_return_address(0)
#define ACCESSES(bytes)                                                                                \
    void __tsan_read##bytes(void* p) { count(p, bytes, Access::load, HERE, true); }                    \
    void __tsan_write##bytes(void* p) { count(p, bytes, Access::store, HERE, true); }                  \
    void __tsan_unaligned_read##bytes(void* p) { count(p, bytes, Access::load, HERE, true); }          \
    void __tsan_unaligned_write##bytes(void* p) { count(p, bytes, Access::store, HERE, true); }        \
    void __tsan_volatile_read##bytes(void* p) { count(p, bytes, Access::load, HERE, true); }           \
    void __tsan_volatile_write##bytes(void* p) { count(p, bytes, Access::store, HERE, true); }         \
    void __tsan_unaligned_volatile_read##bytes(void* p) { count(p, bytes, Access::load, HERE, true); } \
    void __tsan_unaligned_volatile_write##bytes(void* p) { count(p, bytes, Access::store, HERE, true); }

#pragma GCC visibility push(hidden)
extern "C" {

void cuscope_start_counting() { __atomic_store_n(&started, true, __ATOMIC_RELAXED); }
void cuscope_count(const void* p, unsigned bytes, Access access) {
    if (access == Access::ordered) access = Access::atomic;
    if (access == Access::ordered_load) access = Access::load;
    if (access == Access::ordered_store) access = Access::store;
    count(p, bytes, access, HERE, false);
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

void __tsan_vptr_update(void** p, void*) { count(p, sizeof *p, Access::store, HERE, true); }

void __sanitizer_cov_trace_pc() {
    if (!is_started()) return;
    Fiber* const self = cuscope_fiber;
    Column* column = nullptr;
    if (__builtin_expect(find_column(self, HERE, 0, true, &column), 1))
        ++column->next;
    else
        self->api->step(self, HERE);
}

}  // extern "C"
#pragma GCC visibility pop

#include "cuscope_simt/instrumented/atomics.h"
