// The estimated time of a launch on a simulated device, and the parts of the device that bound it.
#pragma once

#include <array>
#include <cstdint>

namespace cuscope {

// The parts of a device that can bound the time of a kernel. `shared`: the memory of a multiprocessor, which
// is its L1 cache and its shared memory. `latency`: the waits of the longest warp, one after the other.
enum class TimeBound : int { dram, l2, shared, issue, latency, atomics, launch };
inline constexpr int time_bounds = 7;

struct KernelTime {
    std::int64_t total_ns = 0;  // of the launch, alone on the device
    std::int64_t cold_ns = 0;   // the same, if the L2 cache holds none of its data when it begins
    // The time that each part would take if the others took none. `launch`: added to all others.
    std::array<double, time_bounds> part_ns{};
    TimeBound bound = TimeBound::launch;

    std::uint64_t blocks = 0, sampled_blocks = 0;
    int blocks_per_multiprocessor = 0;  // that a multiprocessor holds at once
    double waves = 0;                   // blocks / blocks that the device holds at once
    double imbalance = 1;               // the work of the busiest multiprocessor / the mean
    // Of the whole launch.
    double instructions = 0, l1_wavefronts = 0, shared_wavefronts = 0, l2_bytes = 0, dram_bytes = 0;
    double footprint_bytes = 0, atomic_operations = 0;
};

}  // namespace cuscope
