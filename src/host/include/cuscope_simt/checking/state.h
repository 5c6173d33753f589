// The data that the instrumented code of a checking image and the engine share: shadow cells, the stamps in
// them, and the state of the block that runs. Both include this file, so it needs no library.
//
// Time advances whenever threads meet, at a fence, and when a block begins. A stamp is the time, five flags,
// the thread in its block, and the offset of the instruction in the image's code. Time is in the highest
// bits, so stamps of different times compare like the times.
#pragma once

#include "cuscope_simt/abi.h"

namespace cuscope_simt {

using Stamp = unsigned long long;

inline constexpr unsigned stamp_time_at = 37, stamp_flags_at = 32, stamp_thread_at = 22;
inline constexpr Stamp stamp_code_mask = (Stamp{1} << stamp_thread_at) - 1;
inline constexpr Stamp stamp_thread_mask = Stamp{1023} << stamp_thread_at;
// In a stamp of a read: other lanes of the same warp, or threads of other warps, have read the cell in the
// same interval, too.
inline constexpr Stamp stamp_lanes = Stamp{1} << stamp_flags_at;
inline constexpr Stamp stamp_warps = Stamp{2} << stamp_flags_at;
// In a stamp of an atomic write: its block has written the cell plainly before, in the same launch.
inline constexpr Stamp stamp_after_plain = stamp_lanes;
// In a stamp of an atomic write: other lanes of its warp, threads of other warps, or of other blocks, have
// written the cell atomically, and nothing orders them before this write. The latter two include the former.
inline constexpr Stamp stamp_among_lanes = stamp_warps;
inline constexpr Stamp stamp_among_warps = Stamp{16} << stamp_flags_at;
inline constexpr Stamp stamp_among_blocks = stamp_among_lanes | stamp_among_warps;
inline constexpr Stamp stamp_atomic = Stamp{4} << stamp_flags_at;
// In a stamp of an atomic write: a thread of its warp has written the cell plainly before, since the block's
// threads last met.
inline constexpr Stamp stamp_hides_plain = Stamp{8} << stamp_flags_at;

__attribute__((always_inline)) inline bool same_thread(Stamp a, Stamp b) {
    return ((a ^ b) & stamp_thread_mask) == 0;
}
// The same thread, and no others beside it.
__attribute__((always_inline)) inline bool same_thread_alone(Stamp a, Stamp b) {
    return ((a ^ b) & (stamp_thread_mask | stamp_among_lanes | stamp_among_warps)) == 0;
}
__attribute__((always_inline)) inline bool same_warp(Stamp a, Stamp b) {
    return ((a ^ b) & stamp_thread_mask & ~(Stamp{31} << stamp_thread_at)) == 0;
}
__attribute__((always_inline)) inline bool among_blocks(Stamp write) {
    return (write & stamp_among_blocks) == stamp_among_blocks;
}
// The wider one of the flags of two writes. Flags that stand for more threads are the larger number.
__attribute__((always_inline)) inline Stamp among_more(Stamp a, Stamp b) {
    a &= stamp_among_blocks;
    b &= stamp_among_blocks;
    return a > b ? a : b;
}
// The flag that a second read adds to the stamp of a first one.
__attribute__((always_inline)) inline Stamp stamp_of_several(Stamp first, Stamp second) {
    return same_warp(first, second) ? stamp_lanes : stamp_warps;
}

// The last write and a read of a few bytes of memory (1, 2, 4, 8 or 16: the allocation's granule). write is 0
// if the bytes were never written.
struct Cell {
    Stamp write, read;
};

// Cells of memory that is a power of two apart would compete for a few sets of the processor's caches. So a
// cache line of 4 cells stays unused behind each group of 256 cells.
inline constexpr unsigned long cell_group = 256;
__attribute__((always_inline)) inline unsigned long cell_place(unsigned long number) {
    return number + number / cell_group * 4;
}

// Cells are numbered by the addresses of their memory, so an array of them begins with a large number.
// `cells` is the address at which its number 0 would be. That is no address in the array, hence an integer: a
// pointer may not leave its array, and integers may wrap around.
using CellBase = unsigned long;
__attribute__((always_inline)) inline Cell* cell_at(CellBase cells, unsigned long number) {
    return reinterpret_cast<Cell*>(cells + cell_place(number) * sizeof(Cell));
}

// The stamps of one piece of memory that say nothing about the threads that run now.
struct CellBounds {
    Stamp written;  // a write before it: never written. A copy on another stream may change it.
    Stamp past;     // a stamp before it: of an earlier launch, or of another block's memory
};

// An instruction, and the memory that it accessed last. While it stays there, and nothing is unusual, the
// engine is not called.
struct alignas(64) CheckSlot {
    const void* alone;         // the instruction, if its access touches one cell
    unsigned long begin;       // the first address of the allocation
    unsigned long most;        // the largest offset at which the access still fits
    CellBase cells;            // the cell of an address is cell_at(cells, address >> shift)
    const CellBounds* bounds;  // of the allocation
    const void* instruction;   // null: the slot is unused
    unsigned shift, count;     // the granule is 1 << shift bytes; the access touches `count` cells
};

// No two instructions of a kernel with less than 4 KiB of code share a slot: a call takes 5 bytes.
inline constexpr unsigned check_slots = 1024;

__attribute__((always_inline)) inline unsigned long check_slot(const void* instruction) {
    return reinterpret_cast<unsigned long>(instruction) / 4 % check_slots;
}

struct CheckState {
    CheckSlot* slots;  // check_slots of them
    unsigned thread;   // whose state this is; no thread's number: of none yet
    unsigned mixed;    // other blocks run between the steps of this one
    Stamp mine;        // now, with the thread
    Stamp since;       // the thread's last meeting
    Stamp interval;    // when the block's threads last met
    Stamp block;       // when the block began
    const char* code;  // the beginning of the image's code
    Stamp now;         // with the time alone
    const Stamp* met;  // by thread: its last meeting in its warp or block
    // Only barriers of the whole block and meetings of warps have ordered the block's threads, and no fence
    // or flag was used in the launch.
    unsigned barriers_alone;
    CellBounds shared;  // of the block's shared memory: both are `block`
};

}  // namespace cuscope_simt
