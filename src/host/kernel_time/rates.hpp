// How fast the parts of a simulated device work for a kernel, beside the fields of its model.
#pragma once

#include <array>

#include "cuscope_simt/abi.h"
#include "host/sim/device_model.hpp"

namespace cuscope::host {

struct Rates {
    // Of one multiprocessor, in instructions of warps for each cycle.
    double issue;
    double schedulers;                                   // each issues the instructions of its own warps
    std::array<double, cuscope_simt::cost_kinds> pipes;  // by CostKind
    double shared_wavefronts;  // of the L1 cache and shared memory together, for each cycle
    double load_wavefront;     // a wavefront of a global load, in wavefronts of shared memory
    // Of the whole device.
    double l2_bytes_per_ns;
    double partial_sector;  // the time to store a part of a sector / the time to store the whole
    double atomics_per_ns;  // operations, on different lines
    double atomic_ns;       // an operation on one line, after another one there
    double block_cycles;    // from the start of one block to the start of the next one
    // Latencies in cycles. instruction_cycles: from an instruction to one that needs its result.
    double instruction_cycles, l1_cycles, l2_cycles, dram_cycles, shared_cycles, barrier_cycles;
    // A store, a fence, an atomic operation whose result the thread waits for, and another fence.
    double ticket_cycles;
};

Rates rates_of(const DeviceModel& model);

}  // namespace cuscope::host
