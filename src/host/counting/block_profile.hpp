// The operations of one block of a sampled launch, from which the time of the whole launch is estimated.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "cuscope_simt/abi.h"

namespace cuscope::simt {

inline constexpr std::uintptr_t sector_bytes = 32;

// Calls function(lane) for each lane of a mask, in order.
template <class Function>
void each_lane(unsigned mask, Function function) {
    if (mask == ~0u) {
        for (unsigned lane = 0; lane < 32; ++lane) function(lane);
        return;
    }
    for (; mask != 0; mask &= mask - 1) function(static_cast<unsigned>(std::countr_zero(mask)));
}

// One instruction of a warp that accesses memory.
struct WarpRequest {
    unsigned mask = 0, bytes = 0;
    // A GPU's compiler joins loads of neighbouring words. These lanes have loaded the `before` bytes in front
    // of this access a moment ago.
    unsigned joined = 0, before = 0;
    std::array<std::uintptr_t, 32> address;
    WarpRequest() {}  // addresses are written before they are read
};

// The part of one memory range that a block touched.
struct TouchedRange {
    std::uintptr_t begin = 0, end = 0;  // the first byte, and the byte behind the last one
    double units = 0;                   // different pieces of 64 bytes
};

struct BlockProfile {
    static constexpr unsigned unit_bytes = 64;  // the least that the memory of a device transfers

    std::uint64_t index = 0;  // of the block in the grid
    std::uint64_t events = 0;
    unsigned warps = 0;
    // Instructions of warps, besides their accesses to memory, by CostKind.
    std::array<double, cuscope_simt::cost_kinds> instructions{};
    double load_requests = 0, load_sectors = 0, load_wavefronts = 0;
    double store_requests = 0, store_sectors = 0, store_wavefronts = 0;
    double partial_sectors = 0;                         // stored without all of their 32 bytes
    double different_load_sectors = 0;                  // each sector once
    double loaded_units = 0, stored_units = 0;          // pieces of unit_bytes, each once
    double atomic_requests = 0, atomic_operations = 0;  // operations: different addresses of a request
    double shared_requests = 0, shared_wavefronts = 0;
    double barriers = 0;

    // Of the warp for which these take longest: instructions that wait for each other, and rounds of accesses
    // that it waits for. Of instructions that do not wait, four count as one.
    struct Chain {
        double instructions = 0, global_rounds = 0, shared_rounds = 0;
        // Rounds of global loads behind which the warp loads from shared memory before it stores to it, as
        // double buffering does; and these loads from shared memory, of all loads from there.
        double covered_rounds = 0, covering_loads = 0, shared_loads = 0;
    };
    Chain longest, sum;

    // The time between two barriers.
    struct Phase {
        double accesses = 0, load_wavefronts = 0, other_wavefronts = 0;
        double global_rounds = 0, shared_rounds = 0;  // of the warp that makes most of them
    };
    std::vector<Phase> phases;  // the first ones

    std::vector<TouchedRange> ranges;  // as Counting::ranges, and one more for all other memory
    std::vector<std::uint64_t> units;  // the numbers of the touched pieces, in order
    std::vector<std::pair<std::uintptr_t, double>> atomic_lines;  // operations by line of 128 bytes
};

}  // namespace cuscope::simt
