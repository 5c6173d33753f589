// The host runtime's functions: names, parameters, attributes and occupancy.
#include <algorithm>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

// The cluster size that every device with clusters supports, and the largest size that a kernel can opt in
// to.
constexpr int portable_cluster_blocks = 8, largest_cluster_blocks = 16;

constexpr int warp = 32;

}  // namespace

Status HostRuntime::find_entry(KernelHandle handle, Kernel** kernel, std::shared_ptr<simt::Image>* image,
                               const cuscope_simt::KernelEntry** entry) {
    *kernel = find_kernel(handle).get();
    if (*kernel == nullptr) return invalid_handle("kernel");
    const Status status = instance(*(*kernel)->library, thread().device, image);
    if (status == Status::success) *entry = (*image)->kernel((*kernel)->lowered);
    return status;
}

HostRuntime::FunctionSettings HostRuntime::settings_of(const Kernel& kernel) const {
    const auto set = kernel.settings.find(thread().device);
    return set != kernel.settings.end() ? set->second : FunctionSettings{};
}

int HostRuntime::max_dynamic_shared(const Kernel& kernel, const cuscope_simt::KernelEntry& entry) const {
    const int set = settings_of(kernel).max_dynamic_shared;
    if (set >= 0) return set;
    const auto whole = static_cast<int>(devices_[thread().device]->model->properties.shared_memory_per_block);
    return std::max(0, whole - static_cast<int>(entry.static_shared_bytes));
}

int HostRuntime::max_cluster_blocks(const Kernel& kernel) const {
    if (devices_[thread().device]->model->properties.compute_capability_major < 9) return 1;
    return settings_of(kernel).non_portable_cluster ? largest_cluster_blocks : portable_cluster_blocks;
}

Status HostRuntime::func_get_name(const char** name, KernelHandle kernel) {
    ENTER(other);
    const Found<const Kernel> found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    if (name == nullptr) return fail(Status::invalid_value);
    *name = found->lowered.c_str();
    return Status::success;
}

Status HostRuntime::func_get_param_info(KernelHandle kernel, std::size_t index, std::size_t* offset,
                                        std::size_t* size) {
    ENTER(other);
    Kernel* found = nullptr;
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
    TRY(find_entry(kernel, &found, &image, &entry));
    if (offset == nullptr || index >= entry->parameter_count) return fail(Status::invalid_value);
    *offset = entry->parameters[index].offset;
    if (size != nullptr) *size = entry->parameters[index].size;
    return Status::success;
}

Status HostRuntime::func_get_attributes(FunctionAttributes* attributes, KernelHandle kernel) {
    ENTER(other);
    Kernel* found = nullptr;
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
    TRY(find_entry(kernel, &found, &image, &entry));
    if (attributes == nullptr) return fail(Status::invalid_value);
    const DeviceProperties& properties = device().model->properties;
    const FunctionSettings settings = settings_of(*found);
    *attributes = {};
    attributes->shared_size = entry->static_shared_bytes;
    for (const auto& global : image->globals()) {
        if (global.constant) attributes->const_size += global.bytes;
    }
    attributes->max_threads_per_block = entry->max_threads_per_block != 0
                                            ? static_cast<int>(entry->max_threads_per_block)
                                            : properties.max_threads_per_block;
    attributes->binary_version =
        10 * properties.compute_capability_major + properties.compute_capability_minor;
    attributes->ptx_version = attributes->binary_version;
    attributes->max_dynamic_shared_size = max_dynamic_shared(*found, *entry);
    attributes->preferred_shared_memory_carveout = settings.carveout;
    const bool compiled = entry->cluster_dim.x != 0;
    const Dim3 cluster =
        compiled ? Dim3{entry->cluster_dim.x, entry->cluster_dim.y, entry->cluster_dim.z} : settings.cluster;
    attributes->cluster_dim_must_be_set = compiled ? 1 : 0;
    attributes->required_cluster_width = static_cast<int>(cluster.x);
    attributes->required_cluster_height = static_cast<int>(cluster.y);
    attributes->required_cluster_depth = static_cast<int>(cluster.z);
    attributes->cluster_scheduling_policy_preference = settings.cluster_scheduling_policy;
    attributes->non_portable_cluster_size_allowed = settings.non_portable_cluster ? 1 : 0;
    return Status::success;
}

Status HostRuntime::func_set_attribute(KernelHandle kernel, FunctionAttribute attribute, int value) {
    ENTER(other);
    Kernel* found = nullptr;
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
    Status status = find_entry(kernel, &found, &image, &entry);
    if (status != Status::success) return status;
    const auto within = [&](const char* what, int least, int most) {
        if (value >= least && value <= most) return Status::success;
        return fail(Status::invalid_value, std::string(what) + " " + std::to_string(value) + "; allowed is " +
                                               std::to_string(least) + " to " + std::to_string(most));
    };
    FunctionSettings changed = settings_of(*found);
    switch (attribute) {
        case FunctionAttribute::max_dynamic_shared_size: {
            const auto most = static_cast<int>(device().model->properties.shared_memory_per_block_optin) -
                              static_cast<int>(entry->static_shared_bytes);
            if (value < 0 || value > most) {
                return fail(Status::invalid_value, "a block of this kernel may have at most " +
                                                       std::to_string(most) +
                                                       " bytes of dynamic shared memory; " +
                                                       std::to_string(value) + " were asked for");
            }
            changed.max_dynamic_shared = value;
            break;
        }
        case FunctionAttribute::preferred_shared_memory_carveout:
            status = within("a shared memory carveout of", -1, 100);
            changed.carveout = value;
            break;
        case FunctionAttribute::required_cluster_width:
        case FunctionAttribute::required_cluster_height:
        case FunctionAttribute::required_cluster_depth:
            if (entry->cluster_dim.x != 0) {
                return fail(Status::invalid_value, "the kernel's __cluster_dims__ fixes its clusters");
            }
            if (value < 0) return fail(Status::invalid_value, "a cluster of negative size");
            (attribute == FunctionAttribute::required_cluster_width    ? changed.cluster.x
             : attribute == FunctionAttribute::required_cluster_height ? changed.cluster.y
                                                                       : changed.cluster.z) =
                static_cast<unsigned>(value);
            break;
        case FunctionAttribute::non_portable_cluster_size_allowed:
            changed.non_portable_cluster = value != 0;
            break;
        case FunctionAttribute::cluster_scheduling_policy_preference:
            status = within("the cluster scheduling policy", 0, 2);
            changed.cluster_scheduling_policy = value;
            break;
        case FunctionAttribute::cluster_dim_must_be_set:
            return fail(Status::invalid_value, "whether a cluster size must be given is how it was compiled");
        default:
            return fail(Status::invalid_value);
    }
    if (status != Status::success) return status;
    found->settings[thread().device] = changed;
    return Status::success;
}

// Accepted and ignored: the preference has no effect on simulated devices.
Status HostRuntime::func_set_cache_config(KernelHandle kernel, FunctionCache config) {
    ENTER(other);
    if (find_kernel(kernel) == nullptr) return invalid_handle("kernel");
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
    Kernel* found = nullptr;
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
    TRY(find_entry(kernel, &found, &image, &entry));
    if (blocks == nullptr || block_size <= 0 || (flags & ~flags::occupancy_disable_caching_override) != 0)
        return fail(Status::invalid_value);
    *blocks = blocks_per_multiprocessor(*device().model, static_cast<unsigned>(block_size),
                                        entry->static_shared_bytes + dynamic_shared_bytes,
                                        DeviceModel::assumed_registers);
    // A launch with this much shared memory would fail, because the kernel has not opted in to it.
    if (dynamic_shared_bytes > static_cast<std::size_t>(max_dynamic_shared(*found, *entry))) *blocks = 0;
    return Status::success;
}

Status HostRuntime::occupancy_max_potential_block_size(int* min_grid_size, int* block_size,
                                                       KernelHandle kernel, std::size_t dynamic_shared_bytes,
                                                       int block_size_limit) {
    ENTER(other);
    Kernel* found = nullptr;
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
    TRY(find_entry(kernel, &found, &image, &entry));
    if (min_grid_size == nullptr || block_size == nullptr) return fail(Status::invalid_value);
    const DeviceModel& model = *device().model;
    int limit = model.properties.max_threads_per_block;
    if (entry->max_threads_per_block != 0)
        limit = std::min(limit, static_cast<int>(entry->max_threads_per_block));
    if (block_size_limit > 0) limit = std::min(limit, block_size_limit);
    int best_threads = 0;
    *min_grid_size = *block_size = 0;
    for (int size = (limit + warp - 1) / warp * warp; size > 0; size -= warp) {
        const int threads = std::min(size, limit);
        const int blocks = blocks_per_multiprocessor(model, static_cast<unsigned>(threads),
                                                     entry->static_shared_bytes + dynamic_shared_bytes,
                                                     DeviceModel::assumed_registers);
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
    Kernel* found = nullptr;
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
    TRY(find_entry(kernel, &found, &image, &entry));
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return fail(Status::invalid_value);
    const DeviceModel& model = *device().model;
    const int most = blocks_per_multiprocessor(model, static_cast<unsigned>(block_size),
                                               entry->static_shared_bytes, DeviceModel::assumed_registers);
    if (blocks > most) {
        return fail(Status::invalid_value, std::to_string(blocks) + " blocks of " +
                                               std::to_string(block_size) +
                                               " threads; a multiprocessor holds " + std::to_string(most));
    }
    const std::size_t whole = shared_bytes_for_each(model, blocks);
    const std::size_t own = whole > entry->static_shared_bytes ? whole - entry->static_shared_bytes : 0;
    *bytes = std::min(own, static_cast<std::size_t>(max_dynamic_shared(*found, *entry)));
    return Status::success;
}

Status HostRuntime::occupancy_max_potential_cluster_size(int* blocks, KernelHandle kernel,
                                                         const LaunchConfig* config) {
    ENTER(other);
    Kernel* found = nullptr;
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
    TRY(find_entry(kernel, &found, &image, &entry));
    if (blocks == nullptr || config == nullptr) return fail(Status::invalid_value);
    TRY(check_launch(*config, *found, *entry));
    const DeviceModel& model = *device().model;
    int size = max_cluster_blocks(*found);
    const int held = blocks_per_multiprocessor(model, config->block.x * config->block.y * config->block.z,
                                               entry->static_shared_bytes + config->dynamic_shared_bytes,
                                               DeviceModel::assumed_registers);
    while (size > 1 && clusters_on_device(model, held, size) == 0) size /= 2;
    *blocks = size;
    return Status::success;
}

Status HostRuntime::occupancy_max_active_clusters(int* clusters, KernelHandle kernel,
                                                  const LaunchConfig* config) {
    ENTER(other);
    Kernel* found = nullptr;
    std::shared_ptr<simt::Image> image;
    const cuscope_simt::KernelEntry* entry = nullptr;
    TRY(find_entry(kernel, &found, &image, &entry));
    if (clusters == nullptr || config == nullptr) return fail(Status::invalid_value);
    LaunchRequest request;
    TRY(read_attributes(*config, &request));
    *clusters = 0;
    Dim3 cluster;
    TRY(cluster_of(*config, request, *found, *entry, &cluster));
    const bool in_clusters =
        request.cluster.x != 0 || entry->cluster_dim.x != 0 || settings_of(*found).cluster.x != 0;
    if (!in_clusters ||
        config->dynamic_shared_bytes > static_cast<std::size_t>(max_dynamic_shared(*found, *entry)))
        return Status::success;
    const int held = blocks_per_multiprocessor(
        *device().model, config->block.x * config->block.y * config->block.z,
        entry->static_shared_bytes + config->dynamic_shared_bytes, DeviceModel::assumed_registers);
    *clusters =
        clusters_on_device(*device().model, held, static_cast<int>(cluster.x * cluster.y * cluster.z));
    return Status::success;
}

}  // namespace cuscope::host
