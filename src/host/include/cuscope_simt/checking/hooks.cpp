// The functions that compilers call from the instrumented code of an image that checks: the interfaces of
// ThreadSanitizer's runtime and of the bounds sanitizer. Accesses that are like the one before at the same
// instruction are settled here, all others by the engine. This file is compiled without instrumentation, and
// linked into the image with hidden symbols.
#define CUSCOPE_HOOKS
#include "cuscope_simt/checking/state.h"
#include "cuscope_simt/fiber.h"

using cuscope_simt::Access;
using cuscope_simt::Cell;
using cuscope_simt::CellBounds;
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

// Local memory belongs to the thread, and the Fiber to the engine.
CUSCOPE_INLINE bool is_own(const Fiber* self, const void* address, const void* frame) {
    if (address >= frame && address < self->stack_end) return true;
#if !CUSCOPE_FIBER_REGISTER
    if (address == &cuscope_fiber) return true;
#endif
    return address >= self && address < self + 1;
}

__attribute__((noinline, cold)) void settle_slowly(const void* address, unsigned long bytes, Access access,
                                                   const void* instruction) {
    Fiber* const self = cuscope_fiber;
    if (is_own(self, address, __builtin_frame_address(0))) return;
    if (address >= self->api && address < self->api + 1) return;
    if (self->check == nullptr) return;
    self->api->check_access(self, address, bytes, access, instruction);
#if !CUSCOPE_FIBER_REGISTER
    cuscope_fiber = self;
#endif
}

// May the thread of `state` access a cell after the access that left this stamp? False: perhaps not.
CUSCOPE_INLINE bool is_ordered(Stamp stamp, const CheckState& state, const CellBounds& bounds) {
    if (__builtin_expect(stamp < bounds.past, 1)) return true;
    return stamp >= state.block && !cuscope_simt::among_blocks(stamp) &&
           (stamp < state.interval || same_thread_alone(stamp, state.mine));
}

CUSCOPE_INLINE bool is_written(Stamp write, const CellBounds& bounds) {
    return write >= __atomic_load_n(&bounds.written, __ATOMIC_RELAXED);
}

CUSCOPE_INLINE Stamp stamp_at(const CheckState& state, const void* instruction) {
    return state.mine | static_cast<Stamp>(static_cast<const char*>(instruction) - state.code);
}

CUSCOPE_INLINE bool settle_read(Cell& cell, const CellBounds& bounds, const CheckState& state,
                                const void* instruction) {
    const Stamp write = cell.write, read = cell.read;
    if (__builtin_expect(!is_written(write, bounds), 0) || !is_ordered(write, state, bounds)) return false;
    if (read < bounds.past) {
        cell.read = stamp_at(state, instruction);
        return true;
    }
    // A read of another block stays: it would tell of a race with any write of this block.
    if (read < state.block) return true;
    if (read < state.interval) {
        cell.read = stamp_at(state, instruction);
        return true;
    }
    if (same_thread(read, state.mine)) {
        if (read < state.since) cell.read = stamp_at(state, instruction);
        return true;
    }
    if (state.since != state.interval) return false;
    const Stamp flag = cuscope_simt::stamp_of_several(read, state.mine);
    if (__builtin_expect((read & flag) == 0, 0)) cell.read = read | flag;
    return true;
}

CUSCOPE_INLINE bool settle_write(Cell& cell, const CellBounds& bounds, const CheckState& state,
                                 const void* instruction) {
    const Stamp write = cell.write, read = cell.read;
    if (!is_ordered(write, state, bounds) || !is_ordered(read, state, bounds)) return false;
    if (read >= state.interval && (read & (cuscope_simt::stamp_lanes | cuscope_simt::stamp_warps)) != 0)
        return false;
    cell.write = stamp_at(state, instruction);
    return true;
}

// An atomic operation that reads and writes. As BlockCheck::settle_cell, for cells that were written by
// atomic operations alone in this launch, and read by none but these.
CUSCOPE_INLINE bool settle_atomic(Cell& cell, const CellBounds& bounds, const CheckState& state,
                                  const void* instruction) {
    using namespace cuscope_simt;
    const Stamp write = cell.write;
    if (state.barriers_alone == 0 || cell.read >= bounds.past || !is_written(write, bounds)) return false;
    Stamp flags = 0;
    if (write >= bounds.past) {
        if ((write & stamp_atomic) == 0 || (write & (stamp_after_plain | stamp_hides_plain)) != 0)
            return false;
        if (write < state.block || among_blocks(write)) {
            flags = stamp_among_blocks;
        } else if (write >= state.interval) {
            if (!same_warp(write, state.mine))
                flags = stamp_among_warps;
            else if (!same_thread(write, state.mine) && write >= state.since)
                flags = stamp_among_lanes;
            // Those beside it before are still beside this one.
            if ((write & stamp_among_warps) != 0 || write >= state.since) flags = among_more(flags, write);
        }
    }
    cell.write = stamp_at(state, instruction) | stamp_atomic | flags;
    return true;
}

enum class Kind { read, write, atomic };

template <Kind kind>
CUSCOPE_INLINE bool settle_cell(Cell& cell, const CheckSlot& slot, const CheckState& state) {
    if (kind == Kind::read) return settle_read(cell, *slot.bounds, state, slot.instruction);
    if (kind == Kind::write) return settle_write(cell, *slot.bounds, state, slot.instruction);
    return settle_atomic(cell, *slot.bounds, state, slot.instruction);
}

// The state of the thread that runs; null: it is not checked.
CUSCOPE_INLINE const CheckState* state_of(const Fiber* self) {
    CheckState* const state = self->check;
    if (__builtin_expect(state == nullptr, 0)) return nullptr;
    if (__builtin_expect(state->thread != self->linear_thread, 0)) {
        state->thread = self->linear_thread;
        state->mine = state->now | static_cast<Stamp>(self->linear_thread) << cuscope_simt::stamp_thread_at;
        state->since = state->met[self->linear_thread];
    }
    return state;
}

// Settles an access that touches one cell of the memory that its instruction accessed last. `shift`: of its
// granule. True: the access needs no more work.
template <Kind kind>
CUSCOPE_INLINE bool settle_alone(const CheckState& state, const CheckSlot& slot, const void* address,
                                 const void* instruction, unsigned shift) {
    const unsigned long at = reinterpret_cast<unsigned long>(address);
    if (__builtin_expect(slot.alone != instruction || at - slot.begin > slot.most, 0)) return false;
    Cell* const cell = cuscope_simt::cell_at(slot.cells, at >> shift);
    __builtin_prefetch(cell + 64, 1);
    return settle_cell<kind>(*cell, slot, state);
}

template <Kind kind, unsigned bytes>
CUSCOPE_INLINE bool settle(const void* address, const void* instruction) {
    const CheckState* const state = state_of(cuscope_fiber);
    if (__builtin_expect(state == nullptr, 0)) return false;
    const CheckSlot& slot = state->slots[cuscope_simt::check_slot(instruction)];
    return settle_alone<kind>(*state, slot, address, instruction, __builtin_ctz(bytes));
}

// The same for an access that touches several cells.
template <Kind kind>
CUSCOPE_INLINE bool settle_several(const CheckState& state, const CheckSlot& slot, const void* address,
                                   const void* instruction) {
    const unsigned long at = reinterpret_cast<unsigned long>(address);
    if (slot.instruction != instruction || slot.alone == instruction || at - slot.begin > slot.most)
        return false;
    for (unsigned i = 0; i < slot.count; ++i)
        if (!settle_cell<kind>(*cuscope_simt::cell_at(slot.cells, (at >> slot.shift) + i), slot, state))
            return false;
    return true;
}

template <Kind kind>
__attribute__((noinline)) void settle_rest(const void* address, unsigned long bytes,
                                           const void* instruction) {
    const Fiber* const self = cuscope_fiber;
    if (is_own(self, address, __builtin_frame_address(0))) return;
    const CheckState* const state = state_of(self);
    if (state != nullptr && settle_several<kind>(*state, state->slots[cuscope_simt::check_slot(instruction)],
                                                 address, instruction))
        return;
    settle_slowly(address, bytes, kind == Kind::read ? Access::load : Access::store, instruction);
}

// An atomic operation.
CUSCOPE_INLINE bool settle_operation(const void* address, unsigned bytes, const void* instruction) {
    const CheckState* const state = state_of(cuscope_fiber);
    if (state == nullptr) return false;
    const CheckSlot& slot = state->slots[cuscope_simt::check_slot(instruction)];
    if (slot.count << slot.shift != bytes) return false;
    return settle_alone<Kind::atomic>(*state, slot, address, instruction, slot.shift) ||
           settle_several<Kind::atomic>(*state, slot, address, instruction);
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
#define CHECK(name, kind, bytes)                                   \
    void __tsan_##name##bytes(void* p) {                           \
        if (!is_started() || settle<kind, bytes>(p, HERE)) return; \
        settle_rest<kind>(p, bytes, HERE);                         \
    }
#define CHECK_SLOWLY(name, bytes, kind)                                \
    void __tsan_##name(void* p) {                                      \
        if (is_started()) settle_slowly(p, bytes, Access::kind, HERE); \
    }
#define ACCESSES(bytes)                                                \
    CHECK(read, Kind::read, bytes)                                     \
    CHECK(write, Kind::write, bytes)                                   \
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
    const bool alone = access == Access::atomic || access == Access::compare_and_swap;
    if (alone && settle_operation(p, bytes, HERE)) return;
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
