// The data that the instrumented code of a counting image and the engine share: where a thread writes down
// the addresses that it accesses. Both include this file, so it needs no library.
#pragma once

#include "cuscope_simt/abi.h"

namespace cuscope_simt {

// What one lane did at one instruction since its warp last met. For an instruction that accesses memory,
// `next` is the address at which the lane writes the next accessed address, and `end` the end of the room for
// them. For the begin of a basic block, `next` is the number of executions.
struct Column {
    unsigned long next, end;
};

// An instruction, the place of its column among the lane's columns, and the bytes that it accesses (0 for the
// begin of a basic block).
struct CountSlot {
    const void* instruction;  // null: the slot is unused
    unsigned place, bytes;
};

// No two instructions of a kernel with less than 4 KiB of code share a slot: a call takes 5 bytes.
inline constexpr unsigned count_slots = 1024;

__attribute__((always_inline)) inline unsigned long count_slot(const void* instruction) {
    return reinterpret_cast<unsigned long>(instruction) / 4 % count_slots;
}

struct CountState {
    const CountSlot* slots;  // count_slots of them
    Column* const* warps;    // by warp: its columns, 32 for each instruction
    Column* columns;         // of the lane of `thread`: every 32nd is the lane's
    // No thread's number: `columns` is not known. It stays so if the engine has to be told of everything.
    unsigned thread;
};

// The distance of a lane's columns of two instructions, in bytes.
inline constexpr unsigned column_distance = 32 * sizeof(Column);

}  // namespace cuscope_simt
