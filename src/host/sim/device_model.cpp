#include "host/sim/device_model.hpp"

#include <algorithm>
#include <array>

#include "host/sim/derived_models.hpp"

namespace cuscope::host {

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

// The properties that the measured device shares with older devices.
DeviceProperties common_properties() {
    DeviceProperties p;
    p.warp_size = 32;
    p.max_threads_per_block = 1024;
    p.max_block_dim = {1024, 1024, 64};
    p.max_grid_dim = {2147483647, 65535, 65535};
    p.shared_memory_per_block = 48 * kib;
    p.total_constant_memory = 64 * kib;
    p.memory_pitch = 2147483647;
    p.texture_alignment = 512;
    p.texture_pitch_alignment = 32;
    p.concurrent_kernels = true;
    p.can_map_host_memory = true;
    p.unified_addressing = true;
    p.host_register_supported = true;
    return p;
}

// Measured. Pairs that were measured together (create and destroy) are split. host_alloc, free_host,
// memcpy_async, memset_async and elapsed_time are estimates of the same kind.
constexpr CallCosts h200_costs{.launch = 3150,
                               .event_record = 138,
                               .stream_wait = 130,
                               .stream_query = 178,
                               .event_query = 142,
                               .stream_create = 1800,
                               .stream_destroy = 1330,
                               .event_create = 110,
                               .event_destroy = 80,
                               .malloc = 30000,
                               .free = 27800,
                               .malloc_async = 450,
                               .free_async = 320,
                               .host_alloc = 60000,
                               .free_host = 40000,
                               .memcpy_async = 1900,
                               .memset_async = 900,
                               .device_copy = 2000,
                               .host_function = 1000,
                               .synchronize = 350,
                               .elapsed_time = 300,
                               .other = 100,
                               .graph_launch = 1130,
                               .graph_launch_node = 2,
                               .graph_instantiate = 30000,
                               .graph_instantiate_node = 3400,
                               .memory_operations = 660,
                               .memory_operation = 57};

// Hosts and drivers of the time of older devices: calls take two to three times as long.
constexpr CallCosts early_costs{.launch = 6000,
                                .event_record = 1500,
                                .stream_wait = 1500,
                                .stream_query = 1000,
                                .event_query = 1000,
                                .stream_create = 8000,
                                .stream_destroy = 6000,
                                .event_create = 1000,
                                .event_destroy = 1000,
                                .malloc = 80000,
                                .free = 80000,
                                .malloc_async = 1000,
                                .free_async = 1000,
                                .host_alloc = 200000,
                                .free_host = 150000,
                                .memcpy_async = 5000,
                                .memset_async = 5000,
                                .device_copy = 0,
                                .host_function = 3000,
                                .synchronize = 1000,
                                .elapsed_time = 1000,
                                .other = 200,
                                .graph_launch = 6000,
                                .graph_launch_node = 0,
                                .graph_instantiate = 30000,
                                .graph_instantiate_node = 3400,
                                .memory_operations = 2000,
                                .memory_operation = 100};

DeviceModel h200() {
    DeviceProperties p = common_properties();
    p.name = "h200 model";
    p.total_global_memory = 143156 * mib;
    p.compute_capability_major = 9;
    p.multiprocessor_count = 132;
    p.max_threads_per_multiprocessor = 2048;
    p.max_blocks_per_multiprocessor = 32;
    p.registers_per_block = p.registers_per_multiprocessor = 65536;
    p.shared_memory_per_block_optin = 227 * kib;
    p.shared_memory_per_multiprocessor = 228 * kib;
    p.l2_cache_size = 60 * mib;
    p.memory_bus_width = 6016;
    p.clock_rate = 1980000;
    p.memory_clock_rate = 3201000;
    p.async_engine_count = 3;
    p.managed_memory = p.concurrent_managed_access = true;
    p.stream_priorities_supported = true;
    p.host_register_read_only_supported = true;
    p.memory_pools_supported = true;
    p.cooperative_launch = true;
    return {.name = "h200",
            .properties = p,
            .costs = h200_costs,
            .host_to_device_rate = 55.8,
            .device_to_host_rate = 55.6,
            .pageable_host_to_device_rate = 9.3,
            .pageable_device_to_host_rate = 16.7,
            .device_to_device_rate = 2100,
            .memset_rate = 4400,
            .both_directions_rate = 0.915,
            .cache_rate = 6900,
            .cached_bytes = 34'000'000,
            .kernel_rate = 4100,
            .link_rate = 394,
            .submit_latency_ns = 400,
            .copy_lead_ns = 2000,
            .copy_latency_ns = 1000,
            .copy_finish_ns = 6000,
            .copy_ramp_ns = 2900,
            .copy_ramp_bytes = 1 << 20,
            .small_copy_bytes = 16 << 10,
            .small_to_device_ns = 1750,
            .small_to_host_ns = 16400,
            .device_copy_latency_ns = 1300,
            .device_copy_finish_ns = 350,
            .small_memset_bytes = 6144,
            .small_memset_ns = 790,
            .kernel_latency_ns = 1500,
            .minimum_kernel_ns = 2000,
            .graph_start_ns = 1240,
            .graph_kernel_ns = 500,
            .graph_copy_latency_ns = 600,
            .memory_operations_ns = 920,
            .write_value_ns = 665,
            .wait_value_ns = 219,
            .memory_barrier_ns = 600,
            .host_function_ns = 2600,
            .wake_up_ns = 2500,
            .copy_engines = 3,
            .hardware_queues = 32,
            .separate_copy_queues = false,
            .signal_delay = false,
            .concurrent_kernels = true,
            .multiprocessor_groups = {18, 18, 18, 18, 16, 16, 14, 14},
            .resident_grids = 128};
}

DeviceModel k20x() {
    DeviceProperties p = common_properties();
    p.name = "k20x model";
    p.total_global_memory = 5760 * mib;
    p.compute_capability_major = 3;
    p.compute_capability_minor = 5;
    p.multiprocessor_count = 14;
    p.max_threads_per_multiprocessor = 2048;
    p.max_blocks_per_multiprocessor = 16;
    p.registers_per_block = p.registers_per_multiprocessor = 65536;
    p.shared_memory_per_block_optin = p.shared_memory_per_multiprocessor = 48 * kib;
    p.l2_cache_size = 1536 * kib;
    p.memory_bus_width = 384;
    p.clock_rate = 732000;
    p.memory_clock_rate = 2600000;
    p.async_engine_count = 2;
    p.managed_memory = true;
    p.stream_priorities_supported = true;
    return {.name = "k20x",
            .properties = p,
            .costs = early_costs,
            .host_to_device_rate = 6.0,
            .device_to_host_rate = 6.3,
            .pageable_host_to_device_rate = 3.2,
            .pageable_device_to_host_rate = 3.0,
            .device_to_device_rate = 85,
            .memset_rate = 170,
            .kernel_rate = 180,
            .link_rate = 6.0,
            .submit_latency_ns = 400,
            .copy_latency_ns = 10000,
            .device_copy_latency_ns = 6000,
            .kernel_latency_ns = 3000,
            .minimum_kernel_ns = 4000,
            .graph_start_ns = 0,
            .graph_kernel_ns = 4000,
            .graph_copy_latency_ns = 6000,
            .memory_operations_ns = 2000,
            .write_value_ns = 1500,
            .wait_value_ns = 1000,
            .memory_barrier_ns = 1000,
            .host_function_ns = 5000,
            .wake_up_ns = 6000,
            .copy_engines = 2,
            .hardware_queues = 32,
            .separate_copy_queues = false,
            .signal_delay = false,
            .concurrent_kernels = true,
            .resident_grids = 32,
            .greatest_priority = -1};
}

DeviceModel fermi() {
    DeviceProperties p = common_properties();
    p.name = "fermi model";
    p.total_global_memory = 2687 * mib;
    p.compute_capability_major = 2;
    p.multiprocessor_count = 14;
    p.max_grid_dim = {65535, 65535, 65535};
    p.max_threads_per_multiprocessor = 1536;
    p.max_blocks_per_multiprocessor = 8;
    p.registers_per_block = p.registers_per_multiprocessor = 32768;
    p.shared_memory_per_block_optin = p.shared_memory_per_multiprocessor = 48 * kib;
    p.l2_cache_size = 768 * kib;
    p.memory_bus_width = 384;
    p.clock_rate = 1147000;
    p.memory_clock_rate = 1500000;
    p.async_engine_count = 2;
    return {.name = "fermi",
            .properties = p,
            .costs = early_costs,
            .host_to_device_rate = 5.8,
            .device_to_host_rate = 6.2,
            .pageable_host_to_device_rate = 3.0,
            .pageable_device_to_host_rate = 2.6,
            .device_to_device_rate = 50,
            .memset_rate = 100,
            .kernel_rate = 105,
            .link_rate = 5.8,
            .submit_latency_ns = 400,
            .copy_latency_ns = 10000,
            .device_copy_latency_ns = 7000,
            .kernel_latency_ns = 4000,
            .minimum_kernel_ns = 5000,
            .graph_start_ns = 0,
            .graph_kernel_ns = 5000,
            .graph_copy_latency_ns = 7000,
            .memory_operations_ns = 2000,
            .write_value_ns = 1500,
            .wait_value_ns = 1000,
            .memory_barrier_ns = 1000,
            .host_function_ns = 6000,
            .wake_up_ns = 8000,
            .copy_engines = 2,
            .hardware_queues = 1,
            .separate_copy_queues = true,
            .signal_delay = true,
            .concurrent_kernels = true,
            .resident_grids = 16,
            .greatest_priority = 0};
}

DeviceModel c1060() {
    DeviceProperties p = common_properties();
    p.name = "c1060 model";
    p.total_global_memory = 4095 * mib;
    p.compute_capability_major = 1;
    p.compute_capability_minor = 3;
    p.multiprocessor_count = 30;
    p.max_threads_per_block = 512;
    p.max_block_dim = {512, 512, 64};
    p.max_grid_dim = {65535, 65535, 1};
    p.max_threads_per_multiprocessor = 1024;
    p.max_blocks_per_multiprocessor = 8;
    p.registers_per_block = p.registers_per_multiprocessor = 16384;
    p.shared_memory_per_block = 16 * kib;
    p.shared_memory_per_block_optin = p.shared_memory_per_multiprocessor = 16 * kib;
    p.texture_alignment = 256;
    p.memory_bus_width = 512;
    p.clock_rate = 1296000;
    p.memory_clock_rate = 800000;
    p.async_engine_count = 1;
    p.concurrent_kernels = false;
    p.unified_addressing = false;
    return {.name = "c1060",
            .properties = p,
            .costs = early_costs,
            .host_to_device_rate = 5.5,
            .device_to_host_rate = 5.5,
            .pageable_host_to_device_rate = 2.6,
            .pageable_device_to_host_rate = 2.2,
            .device_to_device_rate = 36,
            .memset_rate = 70,
            .kernel_rate = 75,
            .link_rate = 5.5,
            .submit_latency_ns = 400,
            .copy_latency_ns = 12000,
            .device_copy_latency_ns = 9000,
            .kernel_latency_ns = 5000,
            .minimum_kernel_ns = 6000,
            .graph_start_ns = 0,
            .graph_kernel_ns = 6000,
            .graph_copy_latency_ns = 9000,
            .memory_operations_ns = 2000,
            .write_value_ns = 1500,
            .wait_value_ns = 1000,
            .memory_barrier_ns = 1000,
            .host_function_ns = 6000,
            .wake_up_ns = 8000,
            .copy_engines = 1,
            .hardware_queues = 1,
            .separate_copy_queues = true,
            .signal_delay = false,
            .concurrent_kernels = false,
            .resident_grids = 1,
            .greatest_priority = 0};
}

const std::array<DeviceModel, 7>& models() {
    static const std::array<DeviceModel, 7> all{h200(),  h100_of(h200()), a100_of(h200()),      k20x(),
                                                fermi(), c1060(),         no_overlap_of(h200())};
    return all;
}

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

// The shared memory that the device reserves for itself in every block.
std::size_t reserved_shared_bytes(const DeviceModel& model) {
    return model.properties.compute_capability_major >= 8 ? kib : 0;
}

}  // namespace

const DeviceModel* find_device_model(std::string_view name) {
    for (const DeviceModel& model : models()) {
        if (model.name == name) return &model;
    }
    return nullptr;
}

std::vector<std::string> device_model_names() {
    std::vector<std::string> names;
    for (const DeviceModel& model : models()) names.push_back(model.name);
    return names;
}

int blocks_per_multiprocessor(const DeviceModel& model, unsigned threads_per_block,
                              std::size_t shared_bytes_per_block, int registers_per_thread) {
    const DeviceProperties& p = model.properties;
    if (threads_per_block == 0 || threads_per_block > static_cast<unsigned>(p.max_threads_per_block))
        return 0;
    if (shared_bytes_per_block > p.shared_memory_per_block_optin) return 0;

    const int major = p.compute_capability_major;
    const std::size_t warp = static_cast<std::size_t>(p.warp_size);
    const std::size_t warps = round_up(threads_per_block, warp) / warp;
    std::size_t blocks = static_cast<std::size_t>(p.max_blocks_per_multiprocessor);
    blocks = std::min(blocks, static_cast<std::size_t>(p.max_threads_per_multiprocessor) / (warps * warp));

    const std::size_t shared_unit = major == 1 ? 512 : major == 3 ? 256 : 128;
    const std::size_t shared = round_up(shared_bytes_per_block + reserved_shared_bytes(model), shared_unit);
    if (shared > 0) blocks = std::min(blocks, p.shared_memory_per_multiprocessor / shared);

    if (registers_per_thread > 0) {
        const std::size_t registers = static_cast<std::size_t>(p.registers_per_multiprocessor);
        const std::size_t per_warp = static_cast<std::size_t>(registers_per_thread) * warp;
        if (major == 1) {  // registers go to blocks
            blocks = std::min(blocks, registers / round_up(per_warp * round_up(warps, 2), 512));
        } else {  // registers go to warps, and the warps to the multiprocessor's schedulers
            const std::size_t schedulers = major == 2 ? 2 : 4;
            const std::size_t held = registers / round_up(per_warp, major == 2 ? 64 : 256);
            blocks = std::min(blocks, held / schedulers * schedulers / warps);
        }
    }
    return static_cast<int>(blocks);
}

std::size_t shared_bytes_for_each(const DeviceModel& model, int blocks) {
    const DeviceProperties& p = model.properties;
    constexpr std::size_t unit = 128;
    const std::size_t share =
        p.shared_memory_per_multiprocessor / static_cast<std::size_t>(blocks) / unit * unit;
    return std::min(share, p.shared_memory_per_block_optin);
}

SharedMemoryNeed shared_memory_need(const DeviceModel& model, std::int64_t blocks_on_a_multiprocessor,
                                    std::size_t shared_bytes_per_block, int preferred) {
    const DeviceProperties& p = model.properties;
    if (p.compute_capability_major < 8) return {};
    // CUDA C++ Programming Guide, "Shared Memory" of compute capability 8.x and 9.0.
    constexpr std::array<std::size_t, 9> sizes{8 * kib,   16 * kib,  32 * kib,  64 * kib, 100 * kib,
                                               132 * kib, 164 * kib, 196 * kib, 228 * kib};
    const std::size_t most = p.shared_memory_per_multiprocessor;
    const auto size_for = [&](std::size_t bytes) {
        const auto fits = std::lower_bound(sizes.begin(), sizes.end(), bytes);
        return static_cast<std::int32_t>(std::min(fits == sizes.end() ? most : *fits, most));
    };
    const std::size_t per_block = round_up(shared_bytes_per_block + reserved_shared_bytes(model), 128);
    const std::size_t bytes =
        std::min(most, per_block * static_cast<std::size_t>(blocks_on_a_multiprocessor));
    // Four times the need: measured on an H200 with kernels of 1024, 512 and 256 threads a block, beside
    // which kernels with 8, 16 and 32 blocks on a multiprocessor start.
    const std::size_t provided = preferred < 0 ? 4 * bytes : most * static_cast<std::size_t>(preferred) / 100;
    return {static_cast<std::int32_t>(bytes), size_for(std::max(bytes, provided))};
}

int clusters_on_device(const DeviceModel& model, int blocks_per_multiprocessor, int cluster_blocks) {
    int clusters = 0;
    for (const int multiprocessors : model.multiprocessor_groups)
        clusters += multiprocessors * blocks_per_multiprocessor / cluster_blocks;
    return clusters;
}

std::size_t persisting_l2_unit(const DeviceModel& model) {
    return model.properties.compute_capability_major >= 8
               ? static_cast<std::size_t>(model.properties.l2_cache_size) / 16
               : 0;
}

std::size_t persisting_l2_bytes(const DeviceModel& model) { return 10 * persisting_l2_unit(model); }

bool device_attribute(const DeviceModel& model, DeviceAttribute attribute, std::size_t total_memory,
                      int* value) {
    const DeviceProperties& p = model.properties;
    const auto set = [value](auto number) {
        *value = static_cast<int>(number);
        return true;
    };
    switch (attribute) {
        case DeviceAttribute::max_threads_per_block:
            return set(p.max_threads_per_block);
        case DeviceAttribute::max_block_dim_x:
            return set(p.max_block_dim.x);
        case DeviceAttribute::max_block_dim_y:
            return set(p.max_block_dim.y);
        case DeviceAttribute::max_block_dim_z:
            return set(p.max_block_dim.z);
        case DeviceAttribute::max_grid_dim_x:
            return set(p.max_grid_dim.x);
        case DeviceAttribute::max_grid_dim_y:
            return set(p.max_grid_dim.y);
        case DeviceAttribute::max_grid_dim_z:
            return set(p.max_grid_dim.z);
        case DeviceAttribute::max_shared_memory_per_block:
            return set(p.shared_memory_per_block);
        case DeviceAttribute::total_constant_memory:
            return set(p.total_constant_memory);
        case DeviceAttribute::warp_size:
            return set(p.warp_size);
        case DeviceAttribute::max_pitch:
            return set(p.memory_pitch);
        case DeviceAttribute::max_registers_per_block:
            return set(p.registers_per_block);
        case DeviceAttribute::clock_rate:
            return set(p.clock_rate);
        case DeviceAttribute::texture_alignment:
            return set(p.texture_alignment);
        case DeviceAttribute::multiprocessor_count:
            return set(p.multiprocessor_count);
        case DeviceAttribute::kernel_exec_timeout:
            return set(0);
        case DeviceAttribute::integrated:
            return set(p.integrated);
        case DeviceAttribute::can_map_host_memory:
            return set(p.can_map_host_memory);
        case DeviceAttribute::compute_mode:
            return set(0);
        case DeviceAttribute::concurrent_kernels:
            return set(p.concurrent_kernels);
        case DeviceAttribute::ecc_enabled:
            return set(p.compute_capability_major >= 2);
        case DeviceAttribute::pci_bus_id:
            return set(0);
        case DeviceAttribute::pci_device_id:
            return set(0);
        case DeviceAttribute::memory_clock_rate:
            return set(p.memory_clock_rate);
        case DeviceAttribute::global_memory_bus_width:
            return set(p.memory_bus_width);
        case DeviceAttribute::l2_cache_size:
            return set(p.l2_cache_size);
        case DeviceAttribute::max_threads_per_multiprocessor:
            return set(p.max_threads_per_multiprocessor);
        case DeviceAttribute::async_engine_count:
            return set(p.async_engine_count);
        case DeviceAttribute::unified_addressing:
            return set(p.unified_addressing);
        case DeviceAttribute::texture_pitch_alignment:
            return set(p.texture_pitch_alignment);
        case DeviceAttribute::compute_capability_major:
            return set(p.compute_capability_major);
        case DeviceAttribute::compute_capability_minor:
            return set(p.compute_capability_minor);
        case DeviceAttribute::stream_priorities_supported:
            return set(p.stream_priorities_supported);
        case DeviceAttribute::max_shared_memory_per_multiprocessor:
            return set(p.shared_memory_per_multiprocessor);
        case DeviceAttribute::max_registers_per_multiprocessor:
            return set(p.registers_per_multiprocessor);
        case DeviceAttribute::managed_memory:
            return set(p.managed_memory);
        case DeviceAttribute::pageable_memory_access:
            return set(p.pageable_memory_access);
        case DeviceAttribute::concurrent_managed_access:
            return set(p.concurrent_managed_access);
        case DeviceAttribute::cooperative_launch:
            return set(p.cooperative_launch);
        case DeviceAttribute::max_shared_memory_per_block_optin:
            return set(p.shared_memory_per_block_optin);
        case DeviceAttribute::host_register_supported:
            return set(p.host_register_supported);
        case DeviceAttribute::max_blocks_per_multiprocessor:
            return set(p.max_blocks_per_multiprocessor);
        case DeviceAttribute::reserved_shared_memory_per_block:
            return set(reserved_shared_bytes(model));
        case DeviceAttribute::host_register_read_only_supported:
            return set(p.host_register_read_only_supported);
        case DeviceAttribute::memory_pools_supported:
            return set(p.memory_pools_supported);
    }
    switch (static_cast<int>(attribute)) {  // attributes that cuscope itself does not read
        case 15:
            return set(p.async_engine_count > 0);  // cudaDevAttrGpuOverlap
        case 30:
            return set(p.texture_alignment);  // cudaDevAttrSurfaceAlignment
        case 35:
            return set(0);  // cudaDevAttrTccDriver
        case 50:
            return set(0);  // cudaDevAttrPciDomainId
        case 79:            // cudaDevAttrGlobalL1CacheSupported
        case 80:
            return set(p.compute_capability_major >= 2);  // cudaDevAttrLocalL1CacheSupported
        case 84:
            return set(0);  // cudaDevAttrIsMultiGpuBoard
        case 86:
            return set(0);  // cudaDevAttrHostNativeAtomicSupported
        case 90:
            return set(p.compute_capability_major >= 6);  // cudaDevAttrComputePreemptionSupported
        case 91:
            return set(p.unified_addressing);  // cudaDevAttrCanUseHostPointerForRegisteredMem
        case 100:                              // cudaDevAttrPageableMemoryAccessUsesHostPageTables
        case 101:
            return set(0);  // cudaDevAttrDirectManagedMemAccessFromHost
        case 108:
            return set(persisting_l2_bytes(model));  // cudaDevAttrMaxPersistingL2CacheSize
        case 120:
            return set(p.compute_capability_major >= 9);  // cudaDevAttrClusterLaunch
        case 126:
            return set(p.compute_capability_major >= 9 ? 4 : 1);  // cudaDevAttrMemSyncDomainCount
        case 109:                                                 // cudaDevAttrMaxAccessPolicyWindowSize
            return set(p.compute_capability_major >= 8 ? std::min<std::size_t>(total_memory, 128 * mib) : 0);
        default:
            return false;
    }
}

}  // namespace cuscope::host
