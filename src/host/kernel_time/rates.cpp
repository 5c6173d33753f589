#include "host/kernel_time/rates.hpp"

namespace cuscope::host {
namespace {

// The additions, multiplications or both in one that a multiprocessor begins in a cycle: CUDA C++ Programming
// Guide, "Arithmetic Instructions".
struct FusedOperations {
    double float32, float64;
};

FusedOperations fused_operations(const DeviceModel& model) {
    const int major = model.properties.compute_capability_major;
    const int minor = model.properties.compute_capability_minor;
    switch (major) {
        case 1:
            return {8, 1};
        case 2:
            return minor == 0 ? FusedOperations{32, 16} : FusedOperations{48, 4};
        case 3:
            return {192, minor >= 5 ? 64.0 : 8.0};
        case 5:
            return {128, 4};
        case 6:
            return minor == 0 ? FusedOperations{64, 32} : FusedOperations{128, 4};
        case 7:
            return {64, minor == 5 ? 2.0 : 32.0};
        case 8:
            return minor == 0 ? FusedOperations{64, 32} : FusedOperations{128, 2};
        default:
            return {128, major == 12 ? 2.0 : 64.0};
    }
}

}  // namespace

Rates rates_of(const DeviceModel& model) {
    Rates rates;
    const int major = model.properties.compute_capability_major;
    const FusedOperations fused = fused_operations(model);
    const double float32 = fused.float32 / 32, float64 = fused.float64 / 32;  // in warps
    // integer, float32, float64, special, control
    if (major >= 7) {
        rates.issue = 4 * 0.92;
        rates.pipes = {4, float32, float64, 0.5, 2};
    } else if (major >= 5) {
        rates.issue = 4;
        rates.pipes = {float32, float32, float64, float32 / 4, 2};
    } else if (major >= 3) {
        rates.issue = 4;
        rates.pipes = {5, float32, float64, 1, 2};
    } else if (major >= 2) {
        rates.issue = 1;
        rates.pipes = {1, float32, float64, 0.125, 1};
    } else {
        rates.issue = 0.25;
        rates.pipes = {0.25, float32, float64, 0.0625, 0.25};
    }
    rates.schedulers = major >= 3 ? 4 : major;
    rates.shared_wavefronts = 0.9;
    rates.load_wavefront = 1.3;
    rates.l2_bytes_per_ns = model.cache_rate < 1e5 ? model.cache_rate : 2 * model.kernel_rate;
    rates.partial_sector = 3;
    rates.atomics_per_ns = rates.l2_bytes_per_ns / 64;
    rates.atomic_ns = 2 * 1e6 / model.properties.clock_rate;
    rates.block_cycles = 1.2;
    rates.instruction_cycles = 4;
    rates.l1_cycles = 35;
    rates.l2_cycles = 270;
    rates.dram_cycles = 620;
    rates.shared_cycles = 30;
    rates.barrier_cycles = 30;
    rates.ticket_cycles = 1900;
    return rates;
}

}  // namespace cuscope::host
