// The results of a profiled launch: LaunchCounts, divided by the instructions of the kernel's code.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/kernel_time.hpp"

namespace cuscope {

// One instruction that accesses one piece of memory.
struct ProfiledAccess {
    enum class Kind : int { load, store, atomic };

    std::string line;  // "kernel.cu:12"; empty if it is not known
    Kind kind = Kind::load;
    bool shared = false;               // shared memory; else global memory
    std::string variable;              // of shared memory or of the module; empty if there is none
    std::vector<unsigned> parameters;  // of the kernel, that point to the memory
    unsigned bytes = 0;                // that one thread accesses

    std::uint64_t requests = 0, threads = 0;
    // Of global memory: the sectors of 32 bytes that requests touch, and those that hold as many bytes as the
    // threads ask for, if these are fewer.
    std::uint64_t sectors = 0, ideal_sectors = 0;
    // Of shared memory.
    std::uint64_t wavefronts = 0, ideal_wavefronts = 0;
    std::uint64_t addresses = 0;  // of atomic operations: different ones, summed over requests

    // The first of the requests that need most sectors or wavefronts; for atomic operations, the one with
    // most threads at one address. Addresses are relative to the memory's begin.
    struct Example {
        std::uint64_t cost = 0;
        unsigned lanes = 0;
        std::array<std::uint64_t, 32> addresses{};
        unsigned begin = 0;  // the address of the memory's begin, modulo 128
        std::uint64_t block = 0;
        unsigned warp = 0;
    };
    Example example;
};

// The code of one line in one basic block.
struct ProfiledCode {
    std::string line;
    std::uint64_t block = 0;                    // the same number for all lines of the basic block
    std::uint64_t warps = 0, threads = 0;       // that executed it
    std::array<double, 5> instructions{};       // of one execution, by cuscope_simt::CostKind
    double operations32 = 0, operations64 = 0;  // of one execution, with floats and doubles
    bool branches = false;                      // it ends with a conditional jump
    std::uint64_t divergent = 0;                // executions after which lanes of a warp went different ways
};

struct LaunchProfile {
    std::uint64_t blocks = 0, counted_blocks = 0;
    std::vector<ProfiledAccess> accesses;  // in the order of their addresses in the code
    std::vector<ProfiledCode> code;

    struct Argument {
        unsigned parameter;
        std::uint64_t different_load_sectors;  // each sector that was loaded, once
    };
    std::vector<Argument> arguments;
    std::optional<KernelTime> time;

    // The most that the device's model does in a nanosecond.
    struct Peaks {
        double dram_bytes = 0, l2_bytes = 0;
        double operations32 = 0, operations64 = 0;  // with floats and doubles; a fused one counts twice
        double instructions = 0;                    // of warps
    };
    Peaks peaks;
};

}  // namespace cuscope
