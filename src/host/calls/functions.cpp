// The host runtime's functions: names, parameters, attributes and occupancy.
#include <algorithm>

#include "host/effects/kernel.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

constexpr int warp = 32;

}  // namespace

Status HostRuntime::func_get_name(const char** name, KernelHandle kernel) {
    ENTER(other);
    const Found<const Kernel> found = machine_.libraries.find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    if (name == nullptr) return fail(Status::invalid_value);
    *name = found->lowered.c_str();
    return Status::success;
}

Status HostRuntime::func_get_param_info(KernelHandle kernel, std::size_t index, std::size_t* offset,
                                        std::size_t* size) {
    ENTER(other);
    LoadedKernel found;
    TRY(machine_.libraries.load_kernel(kernel, &found));
    if (offset == nullptr || index >= found.entry->parameter_count) return fail(Status::invalid_value);
    *offset = found.entry->parameters[index].offset;
    if (size != nullptr) *size = found.entry->parameters[index].size;
    return Status::success;
}

Status HostRuntime::func_get_attributes(FunctionAttributes* attributes, KernelHandle kernel) {
    ENTER(other);
    LoadedKernel found;
    TRY(machine_.libraries.load_kernel(kernel, &found));
    if (attributes == nullptr) return fail(Status::invalid_value);
    *attributes = found.attributes();
    return Status::success;
}

Status HostRuntime::func_set_attribute(KernelHandle kernel, FunctionAttribute attribute, int value) {
    ENTER(other);
    LoadedKernel found;
    TRY(machine_.libraries.load_kernel(kernel, &found));
    return found.set_attribute(attribute, value);
}

// Accepted and ignored: the preference has no effect on simulated devices.
Status HostRuntime::func_set_cache_config(KernelHandle kernel, FunctionCache config) {
    ENTER(other);
    if (machine_.libraries.find_kernel(kernel) == nullptr) return invalid_handle("kernel");
    if (config < FunctionCache::prefer_none || config > FunctionCache::prefer_equal)
        return fail(Status::invalid_value);
    return Status::success;
}

// ---- occupancy

Status HostRuntime::occupancy_max_active_blocks_per_multiprocessor(int* blocks, KernelHandle kernel,
                                                                   int block_size,
                                                                   std::size_t dynamic_shared_bytes) {
    return occupancy_max_active_blocks_per_multiprocessor_with_flags(
        blocks, kernel, block_size, dynamic_shared_bytes, flags::occupancy_default);
}

Status HostRuntime::occupancy_max_active_blocks_per_multiprocessor_with_flags(
    int* blocks, KernelHandle kernel, int block_size, std::size_t dynamic_shared_bytes, unsigned flags) {
    ENTER(other);
    LoadedKernel found;
    TRY(machine_.libraries.load_kernel(kernel, &found));
    if (blocks == nullptr || block_size <= 0 || (flags & ~flags::occupancy_disable_caching_override) != 0)
        return fail(Status::invalid_value);
    *blocks = found.blocks_per_multiprocessor(static_cast<unsigned>(block_size), dynamic_shared_bytes);
    // A launch with this much shared memory would fail, because the kernel has not opted in to it.
    if (dynamic_shared_bytes > static_cast<std::size_t>(found.max_dynamic_shared())) *blocks = 0;
    return Status::success;
}

Status HostRuntime::occupancy_max_potential_block_size(int* min_grid_size, int* block_size,
                                                       KernelHandle kernel, std::size_t dynamic_shared_bytes,
                                                       int block_size_limit) {
    ENTER(other);
    LoadedKernel found;
    TRY(machine_.libraries.load_kernel(kernel, &found));
    if (min_grid_size == nullptr || block_size == nullptr) return fail(Status::invalid_value);
    const DeviceModel& model = *machine_.devices.current().model;
    int limit = model.properties.max_threads_per_block;
    if (found.entry->max_threads_per_block != 0)
        limit = std::min(limit, static_cast<int>(found.entry->max_threads_per_block));
    if (block_size_limit > 0) limit = std::min(limit, block_size_limit);
    int best_threads = 0;
    *min_grid_size = *block_size = 0;
    for (int size = (limit + warp - 1) / warp * warp; size > 0; size -= warp) {
        const int threads = std::min(size, limit);
        const int blocks =
            found.blocks_per_multiprocessor(static_cast<unsigned>(threads), dynamic_shared_bytes);
        if (blocks * threads <= best_threads) continue;
        best_threads = blocks * threads;
        *min_grid_size = blocks * model.properties.multiprocessor_count;
        *block_size = threads;
        if (best_threads == model.properties.max_threads_per_multiprocessor) break;
    }
    return Status::success;
}

Status HostRuntime::occupancy_available_dynamic_smem_per_block(std::size_t* bytes, KernelHandle kernel,
                                                               int blocks, int block_size) {
    ENTER(other);
    LoadedKernel found;
    TRY(machine_.libraries.load_kernel(kernel, &found));
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return fail(Status::invalid_value);
    const DeviceModel& model = *machine_.devices.current().model;
    const int most = found.blocks_per_multiprocessor(static_cast<unsigned>(block_size), 0);
    if (blocks > most) {
        return fail(Status::invalid_value, std::to_string(blocks) + " blocks of " +
                                               std::to_string(block_size) +
                                               " threads; a multiprocessor holds " + std::to_string(most));
    }
    const std::size_t whole = shared_bytes_for_each(model, blocks);
    const std::size_t own =
        whole > found.entry->static_shared_bytes ? whole - found.entry->static_shared_bytes : 0;
    *bytes = std::min(own, static_cast<std::size_t>(found.max_dynamic_shared()));
    return Status::success;
}

Status HostRuntime::occupancy_max_potential_cluster_size(int* blocks, KernelHandle kernel,
                                                         const LaunchConfig* config) {
    ENTER(other);
    LoadedKernel found;
    TRY(machine_.libraries.load_kernel(kernel, &found));
    if (blocks == nullptr || config == nullptr) return fail(Status::invalid_value);
    TRY(found.check_launch(*config));
    const DeviceModel& model = *machine_.devices.current().model;
    int size = found.max_cluster_blocks();
    const int held = found.blocks_per_multiprocessor(*config);
    while (size > 1 && clusters_on_device(model, held, size) == 0) size /= 2;
    *blocks = size;
    return Status::success;
}

Status HostRuntime::occupancy_max_active_clusters(int* clusters, KernelHandle kernel,
                                                  const LaunchConfig* config) {
    ENTER(other);
    LoadedKernel found;
    TRY(machine_.libraries.load_kernel(kernel, &found));
    if (clusters == nullptr || config == nullptr) return fail(Status::invalid_value);
    LaunchRequest request;
    TRY(read_attributes(machine_, *config, &request));
    *clusters = 0;
    TRY(found.resolve(*config, &request));
    if (!found.has_clusters(request) ||
        config->dynamic_shared_bytes > static_cast<std::size_t>(found.max_dynamic_shared()))
        return Status::success;
    const int held = found.blocks_per_multiprocessor(*config);
    const Dim3& cluster = request.resolved_cluster;
    *clusters = clusters_on_device(*machine_.devices.current().model, held,
                                   static_cast<int>(cluster.x * cluster.y * cluster.z));
    return Status::success;
}

}  // namespace cuscope::host
