// The data that the instrumented code of a counting image and the engine share: where a thread writes down
// its steps and the addresses that it accesses. Both include this file, so it needs no library.
//
// Every warp has Steps for each basic block of the image, and Accesses for each instruction that accesses
// memory. The compiler driver writes code into the image that changes them: see inline_hooks.cpp. Memory
// that holds zeros makes this code call the engine each time.
#pragma once

#include "cuscope_simt/abi.h"

namespace cuscope_simt {

// How often a basic block may still be executed, by lane: `most_steps` less the executions since the warp
// last met. 0: the block is not in use yet.
struct Steps {
    unsigned long left[32];
};
inline constexpr unsigned long most_steps = 1ul << 62;

// Accesses at the same distance from each other.
struct Piece {
    unsigned long first;
    int stride;
    unsigned count;
};

// The accesses of the lanes of a warp at one instruction since they last met: pieces, of which the last one
// is open.
struct Accesses {
    struct Open {
        int stride;
        int left;  // so many accesses may follow before the engine has to be asked
    };
    unsigned long expected[32];  // by lane: the address that continues the open piece
    Open open[32];
    int limit[32];              // Open::left when the open piece began
    unsigned long has_pieces;   // some lane has closed a piece
    unsigned long has_misses;   // some lane has accessed another address than the expected one
    Piece *next[32], *end[32];  // the room for closed pieces
    unsigned long unused[6];    // the next instruction begins a cache line
};
static_assert(sizeof(Accesses) % 64 == 0, "the code that counts expects whole cache lines");
inline constexpr unsigned open_offset = 32 * sizeof(unsigned long);

// The sites of an instruction whose access is not known before it happens: one for each kind of access, and
// for each of 1, 2, 4, 8 and 16 bytes.
inline constexpr unsigned access_sizes = 5;
inline constexpr int most_accesses = 1024;  // Open::left of a lane that has just met the others

// Writes down one access. False: the engine has to make room, or the thread has to wait.
__attribute__((always_inline)) inline bool put(Accesses& its, unsigned lane, unsigned long address) {
    Accesses::Open& open = its.open[lane];
    if (open.left <= 0) {
        open.left = 0;
        return false;
    }
    unsigned long& expected = its.expected[lane];
    if (expected != address) {
        its.has_misses = 1;
        const int count = its.limit[lane] - open.left;
        const auto step =
            static_cast<long>(address - expected + static_cast<unsigned long>(long{open.stride}));
        if (count == 1 && step == static_cast<int>(step)) {
            // The second access of a piece tells its stride.
            open.stride = static_cast<int>(step);
        } else if (count != 0) {
            Piece*& next = its.next[lane];
            if (next == its.end[lane]) return false;
            const auto all = static_cast<unsigned long>(long{open.stride} * count);
            *next++ = {expected - all, open.stride, static_cast<unsigned>(count)};
            its.has_pieces = 1;
            its.limit[lane] = open.left;
        }
    }
    expected = address + static_cast<unsigned long>(long{open.stride});
    --open.left;
    return true;
}

struct CountState {
    // By warp. They point to zeros if the engine has to be told of everything.
    char* const* steps;
    char* const* accesses;
    unsigned warp;  // of the thread that began last
};

}  // namespace cuscope_simt
