#include "host/kernel_time/rates.hpp"

namespace cuscope::host {

Rates rates_of(const DeviceModel& model) {
    Rates rates;
    const int major = model.properties.compute_capability_major;
    // integer, float32, float64, special, control
    if (major >= 9) {
        rates.issue = 4 * 0.92;
        rates.pipes = {4, 4, 2, 0.5, 2};
    } else if (major >= 3) {
        rates.issue = 4;
        rates.pipes = {5, 6, 2, 1, 2};
    } else if (major >= 2) {
        rates.issue = 1;
        rates.pipes = {1, 1, 0.5, 0.125, 1};
    } else {
        rates.issue = 0.25;
        rates.pipes = {0.25, 0.25, 0.03125, 0.0625, 0.25};
    }
    rates.shared_wavefronts = 0.9;
    rates.load_wavefront = 1.3;
    rates.l2_bytes_per_ns = model.cache_rate < 1e5 ? model.cache_rate : 2 * model.kernel_rate;
    rates.partial_sector = 3;
    rates.atomics_per_ns = rates.l2_bytes_per_ns / 64;
    rates.atomic_ns = 2 * 1e6 / model.properties.clock_rate;
    rates.instruction_cycles = 3;
    rates.l1_cycles = 35;
    rates.l2_cycles = 270;
    rates.dram_cycles = 620;
    rates.shared_cycles = 30;
    rates.barrier_cycles = 30;
    return rates;
}

}  // namespace cuscope::host
