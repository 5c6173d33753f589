#include "host/sim/derived_models.hpp"

namespace cuscope::host {
namespace {

constexpr double h200_bandwidth = 4800, h100_bandwidth = 3350, a100_bandwidth = 1555;  // published, GB/s

// The parts of the published bandwidth that an H200 reached.
void scale_memory(DeviceModel& model, double bandwidth) {
    const double scale = bandwidth / h200_bandwidth;
    model.device_to_device_rate *= scale;
    model.memset_rate *= scale;
    model.kernel_rate *= scale;
    model.cache_rate *= scale;
}

void rename(DeviceModel& model, const char* name) {
    model.name = name;
    model.properties.name = model.name + " model";
}

}  // namespace

// python/cuscope/_model_sources.py tells where the numbers come from.

DeviceModel h100_of(DeviceModel model) {
    rename(model, "h100");
    DeviceProperties& p = model.properties;
    p.total_global_memory = std::size_t{81920} << 20;
    p.l2_cache_size = 50 << 20;
    p.memory_bus_width = 5120;
    p.memory_clock_rate = 2619000;
    model.cached_bytes = model.cached_bytes * 50 / 60;
    scale_memory(model, h100_bandwidth);
    return model;
}

DeviceModel a100_of(DeviceModel model) {
    rename(model, "a100");
    DeviceProperties& p = model.properties;
    p.total_global_memory = std::size_t{40960} << 20;
    p.compute_capability_major = 8;
    p.multiprocessor_count = 108;
    p.shared_memory_per_block_optin = 163 << 10;
    p.shared_memory_per_multiprocessor = 164 << 10;
    p.l2_cache_size = 40 << 20;
    p.memory_bus_width = 5120;
    p.clock_rate = 1410000;
    p.memory_clock_rate = 1215000;
    model.multiprocessor_groups.clear();
    model.cached_bytes = model.cached_bytes * 40 / 60;
    model.host_to_device_rate /= 2;
    model.device_to_host_rate /= 2;
    model.link_rate *= 600.0 / 900.0;
    scale_memory(model, a100_bandwidth);
    return model;
}

DeviceModel no_overlap_of(DeviceModel model) {
    rename(model, "no_overlap");
    model.copy_engines = model.properties.async_engine_count = 0;
    model.concurrent_kernels = model.properties.concurrent_kernels = false;
    return model;
}

}  // namespace cuscope::host
