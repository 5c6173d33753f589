// The functions that compilers call from the instrumented code of an image that checks: the interfaces of
// ThreadSanitizer's runtime and of the bounds sanitizer. Accesses that are like the one before at the same
// instruction are settled here, all others by the engine. This file is compiled without instrumentation, and
// linked into the image with hidden symbols.
#define CUSCOPE_HOOKS
#include "cuscope_simt/checking/state.h"
#include "cuscope_simt/fiber.h"

using cuscope_simt::Access;
using cuscope_simt::Cell;
using cuscope_simt::CheckSlot;
using cuscope_simt::CheckState;
using cuscope_simt::Fiber;
using cuscope_simt::same_thread;
using cuscope_simt::same_thread_alone;
using cuscope_simt::Stamp;

namespace {

// Constructors of the image run before a Fiber exists.
bool started;

CUSCOPE_INLINE bool is_started() { return __atomic_load_n(&started, __ATOMIC_RELAXED); }

CUSCOPE_INLINE void call_engine(Fiber* self, const void* address, unsigned long bytes, Access access,
                                const void* instruction) {
    self->api->check_access(self, address, bytes, access, instruction);
}

__attribute__((noinline, cold)) void settle_slowly(const void* address, unsigned long bytes, Access access,
                                                   const void* instruction) {
    Fiber* const self = cuscope_fiber;
    // Local memory belongs to the thread, and the Fiber to the engine.
    if (address >= __builtin_frame_address(0) && address < self->stack_end) return;
    if (address >= self && address < self + 1) return;
    if (address >= self->api && address < self->api + 1) return;
#if !CUSCOPE_FIBER_REGISTER
    if (address == &cuscope_fiber) return;
#endif
    if (self->check == nullptr) return;
    call_engine(self, address, bytes, access, instruction);
#if !CUSCOPE_FIBER_REGISTER
    cuscope_fiber = self;
#endif
}

// May the thread of `state` access a cell after the access that left this stamp? False: perhaps not.
CUSCOPE_INLINE bool is_ordered(Stamp stamp, const CheckState& state, Stamp past) {
    if (__builtin_expect(stamp < past, 1)) return true;
    return stamp >= state.block && (stamp < state.interval || same_thread_alone(stamp, state.mine));
}

CUSCOPE_INLINE bool settle_read(Cell& cell, const CheckSlot& slot, const CheckState& state, Stamp code) {
    const Stamp write = cell.write, read = cell.read, past = *slot.past;
    if (__builtin_expect(write < __atomic_load_n(slot.written, __ATOMIC_RELAXED), 0)) return false;
    if (!is_ordered(write, state, past)) return false;
    if (read < past || (read >= state.block && (read < state.interval || same_thread(read, state.mine)))) {
        if (read < state.since || read < past) cell.read = state.mine | code;
        return true;
    }
    // A read of another block stays: it would tell of a race with any write of this block.
    if (read < state.block) return true;
    if (state.since != state.interval) return false;
    const Stamp flag = cuscope_simt::stamp_of_several(read, state.mine);
    if ((read & flag) == 0) cell.read = read | flag;
    return true;
}

CUSCOPE_INLINE bool settle_write(Cell& cell, const CheckSlot& slot, const CheckState& state, Stamp code) {
    const Stamp write = cell.write, read = cell.read, past = *slot.past;
    if (!is_ordered(write, state, past) || !is_ordered(read, state, past)) return false;
    if (read >= state.interval && (read & (cuscope_simt::stamp_lanes | cuscope_simt::stamp_warps)) != 0)
        return false;
    cell.write = state.mine | code;
    return true;
}

// An atomic operation that reads and writes. As BlockCheck::settle_cell, for cells that were written by
// atomic operations alone in this launch, and read by none but these.
CUSCOPE_INLINE bool settle_atomic(Cell& cell, const CheckSlot& slot, const CheckState& state, Stamp code) {
    using namespace cuscope_simt;
    const Stamp write = cell.write, past = *slot.past;
    if (state.barriers_alone == 0 || cell.read >= past) return false;
    if (write < __atomic_load_n(slot.written, __ATOMIC_RELAXED)) return false;
    Stamp flags = 0;
    if (write >= past) {
        if ((write & stamp_atomic) == 0 || (write & (stamp_after_plain | stamp_hides_plain)) != 0)
            return false;
        if (write < state.block) {
            flags = stamp_among_warps;
        } else if (write >= state.interval) {
            if (!same_warp(write, state.mine))
                flags = stamp_among_warps;
            else if (!same_thread(write, state.mine) && write >= state.since)
                flags = stamp_among_lanes;
            // Those beside it before are still beside this one.
            if ((write & stamp_among_warps) != 0 || write >= state.since)
                flags |= write & (stamp_among_lanes | stamp_among_warps);
        }
    }
    cell.write = state.mine | code | stamp_atomic | flags;
    return true;
}

enum class Kind { read, write, atomic };

// True if the access needs no more work.
template <Kind kind>
CUSCOPE_INLINE bool settle(const void* address, unsigned long bytes, const void* instruction) {
    const Fiber* const self = cuscope_fiber;
    CheckState* const state = self->check;
    if (__builtin_expect(state == nullptr, 0)) return false;
    if (__builtin_expect(state->thread != self->linear_thread, 0)) {
        state->thread = self->linear_thread;
        state->mine = state->now | static_cast<Stamp>(self->linear_thread) << cuscope_simt::stamp_thread_at;
        state->since = state->met[self->linear_thread];
    }
    const CheckSlot& slot = state->slots[cuscope_simt::check_slot(instruction)];
    const unsigned long at = reinterpret_cast<unsigned long>(address);
    if (__builtin_expect(slot.instruction != instruction || at - slot.begin > slot.most, 0)) return false;
    if (kind == Kind::atomic && static_cast<unsigned long>(slot.count) << slot.shift != bytes) return false;
    const Stamp code = static_cast<Stamp>(static_cast<const char*>(instruction) - state->code);
    unsigned long number = at >> slot.shift;
    __builtin_prefetch(cuscope_simt::cell_at(slot.cells, number + 64), 1);
    for (unsigned left = slot.count;;) {
        Cell& cell = *cuscope_simt::cell_at(slot.cells, number);
        const bool settled = kind == Kind::write  ? settle_write(cell, slot, *state, code)
                             : kind == Kind::read ? settle_read(cell, slot, *state, code)
                                                  : settle_atomic(cell, slot, *state, code);
        if (__builtin_expect(!settled, 0)) return false;
        if (__builtin_expect(--left == 0, 1)) return true;
        ++number;
    }
}

}  // namespace

// The C library's copies under names that this file does not define. It is compiled with -fno-builtin, or
// else compilers may turn calls of these into calls of the functions below.
extern "C" void* library_memcpy(void* to, const void* from, unsigned long bytes) asm("mempcpy");
extern "C" void library_bcopy(const void* from, void* to, unsigned long bytes) asm("bcopy");

namespace {

void check_copy(const void* to, const void* from, unsigned long bytes, const void* instruction) {
    if (!is_started() || bytes == 0) return;
    settle_slowly(from, bytes, Access::load, instruction);
    settle_slowly(to, bytes, Access::store, instruction);
}
void* copy(void* to, const void* from, unsigned long bytes, const void* instruction) {
    check_copy(to, from, bytes, instruction);
    library_memcpy(to, from, bytes);
    return to;
}
void* move(void* to, const void* from, unsigned long bytes, const void* instruction) {
    check_copy(to, from, bytes, instruction);
    library_bcopy(from, to, bytes);
    return to;
}
void* set(void* to, int value, unsigned long bytes, const void* instruction) {
    if (is_started() && bytes != 0) settle_slowly(to, bytes, Access::store, instruction);
    auto* const begin = static_cast<volatile unsigned char*>(to);
    for (unsigned long i = 0; i < bytes; ++i) begin[i] = static_cast<unsigned char>(value);
    return to;
}

}  // namespace

// Compilers do not instrument copies by the C library, so these functions take their place in the image.
extern "C" {
CUSCOPE_HIDDEN void* cuscope_memcpy(void* to, const void* from, unsigned long bytes) asm("memcpy");
CUSCOPE_HIDDEN void* cuscope_memmove(void* to, const void* from, unsigned long bytes) asm("memmove");
CUSCOPE_HIDDEN void* cuscope_memset(void* to, int value, unsigned long bytes) asm("memset");
}

#define HERE __builtin_return_address(0)
#define CHECK(name, bytes, is_write)                                                 \
    void __tsan_##name(void* p) {                                                    \
        if (!is_started()) return;                                                   \
        if (settle < is_write ? Kind::write : Kind::read > (p, bytes, HERE)) return; \
        settle_slowly(p, bytes, is_write ? Access::store : Access::load, HERE);      \
    }
#define CHECK_SLOWLY(name, bytes, kind)                                \
    void __tsan_##name(void* p) {                                      \
        if (is_started()) settle_slowly(p, bytes, Access::kind, HERE); \
    }
#define ACCESSES(bytes)                                                \
    CHECK(read##bytes, bytes, false)                                   \
    CHECK(write##bytes, bytes, true)                                   \
    CHECK_SLOWLY(unaligned_read##bytes, bytes, load)                   \
    CHECK_SLOWLY(unaligned_write##bytes, bytes, store)                 \
    CHECK_SLOWLY(volatile_read##bytes, bytes, volatile_load)           \
    CHECK_SLOWLY(volatile_write##bytes, bytes, volatile_store)         \
    CHECK_SLOWLY(unaligned_volatile_read##bytes, bytes, volatile_load) \
    CHECK_SLOWLY(unaligned_volatile_write##bytes, bytes, volatile_store)

#pragma GCC visibility push(hidden)
extern "C" {

void cuscope_start_counting() { __atomic_store_n(&started, true, __ATOMIC_RELAXED); }
void cuscope_count(const void* p, unsigned bytes, Access access) {
    if (access == Access::atomic && settle<Kind::atomic>(p, bytes, HERE)) return;
    settle_slowly(p, bytes, access, HERE);
}
void cuscope_synchronize(cuscope_simt::Synchronization kind) {
    Fiber* const self = cuscope_fiber;
    if (self->check != nullptr) self->api->check_synchronization(self, kind);
}

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void* p, unsigned long bytes) {
    if (is_started()) settle_slowly(p, bytes, Access::load, HERE);
}
void __tsan_write_range(void* p, unsigned long bytes) {
    if (is_started()) settle_slowly(p, bytes, Access::store, HERE);
}
void* cuscope_memcpy(void* to, const void* from, unsigned long bytes) { return copy(to, from, bytes, HERE); }
void* cuscope_memmove(void* to, const void* from, unsigned long bytes) { return move(to, from, bytes, HERE); }
void* cuscope_memset(void* to, int value, unsigned long bytes) { return set(to, value, bytes, HERE); }

// Clang 15 and newer call these in place of memcpy, memmove and memset.
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) { return copy(to, from, bytes, HERE); }
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) { return move(to, from, bytes, HERE); }
void* __tsan_memset(void* to, int value, unsigned long bytes) { return set(to, value, bytes, HERE); }

void __tsan_vptr_update(void** p, void*) { settle_slowly(p, sizeof *p, Access::store, HERE); }

// An index beyond the bounds of an array whose size the compiler knows. Compilers define the layout of the
// argument.
void __ubsan_handle_out_of_bounds(void* data, unsigned long index) {
    struct Type {
        unsigned short kind, info;
        char name[1];
    };
    struct OutOfBounds {
        const char* file;
        unsigned line, column;
        const Type *array, *index;
    };
    if (!is_started() || cuscope_fiber->check == nullptr) return;
    const auto* bounds = static_cast<const OutOfBounds*>(data);
    // Small values are passed as such; `info` holds whether the type is signed, and its size.
    long long value = static_cast<long long>(index);
    const unsigned bits = 1u << (bounds->index->info >> 1);
    if (bits < 64 && (bounds->index->info & 1) != 0)
        value = static_cast<long long>(static_cast<unsigned long long>(value) << (64 - bits)) >> (64 - bits);
    Fiber* const self = cuscope_fiber;
    self->api->check_index(self, bounds->array->name, value, HERE);
}

}  // extern "C"
#pragma GCC visibility pop

#include "cuscope_simt/instrumented/atomics.h"
