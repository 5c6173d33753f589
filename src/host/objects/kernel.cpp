#include "host/objects/kernel.hpp"

#include <algorithm>

#include "host/effects/kernel.hpp"
#include "host/objects/device.hpp"
#include "host/runtime/thread_state.hpp"
#include "runtime/try.hpp"

namespace cuscope::host {
namespace {

// The cluster size that every device with clusters supports, and the largest size that a kernel can opt in
// to.
constexpr int portable_cluster_blocks = 8, largest_cluster_blocks = 16;

std::string dimensions(const Dim3& d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

unsigned threads_of(const Dim3& block) { return block.x * block.y * block.z; }

bool given(const Dim3& cluster) { return cluster.x != 0 || cluster.y != 0 || cluster.z != 0; }

Dim3 compiled_cluster(const cuscope_simt::KernelEntry& entry) {
    return {entry.cluster_dim.x, entry.cluster_dim.y, entry.cluster_dim.z};
}

}  // namespace

int LoadedKernel::max_dynamic_shared() const {
    if (settings.max_dynamic_shared >= 0) return settings.max_dynamic_shared;
    const auto whole = static_cast<int>(device->model->properties.shared_memory_per_block);
    return std::max(0, whole - static_cast<int>(entry->static_shared_bytes));
}

int LoadedKernel::max_cluster_blocks() const {
    if (device->model->properties.compute_capability_major < 9) return 1;
    return settings.non_portable_cluster ? largest_cluster_blocks : portable_cluster_blocks;
}

FunctionAttributes LoadedKernel::attributes() const {
    const DeviceProperties& properties = device->model->properties;
    FunctionAttributes answer;
    answer.shared_size = entry->static_shared_bytes;
    for (const auto& global : image->globals()) {
        if (global.constant) answer.const_size += global.bytes;
    }
    answer.max_threads_per_block = entry->max_threads_per_block != 0
                                       ? static_cast<int>(entry->max_threads_per_block)
                                       : properties.max_threads_per_block;
    answer.binary_version = 10 * properties.compute_capability_major + properties.compute_capability_minor;
    answer.ptx_version = answer.binary_version;
    answer.max_dynamic_shared_size = max_dynamic_shared();
    answer.preferred_shared_memory_carveout = settings.carveout;
    const bool compiled = entry->cluster_dim.x != 0;
    const Dim3 cluster = compiled ? compiled_cluster(*entry) : settings.cluster;
    answer.cluster_dim_must_be_set = compiled ? 1 : 0;
    answer.required_cluster_width = static_cast<int>(cluster.x);
    answer.required_cluster_height = static_cast<int>(cluster.y);
    answer.required_cluster_depth = static_cast<int>(cluster.z);
    answer.cluster_scheduling_policy_preference = settings.cluster_scheduling_policy;
    answer.non_portable_cluster_size_allowed = settings.non_portable_cluster ? 1 : 0;
    return answer;
}

Status LoadedKernel::set_attribute(FunctionAttribute attribute, int value) const {
    const auto within = [&](const char* what, int least, int most) {
        if (value >= least && value <= most) return Status::success;
        return fail(Status::invalid_value, std::string(what) + " " + std::to_string(value) + "; allowed is " +
                                               std::to_string(least) + " to " + std::to_string(most));
    };
    Kernel::Settings changed = settings;
    Status status = Status::success;
    switch (attribute) {
        case FunctionAttribute::max_dynamic_shared_size: {
            const auto most = static_cast<int>(device->model->properties.shared_memory_per_block_optin) -
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
    if (status == Status::success) kernel->settings[device->ordinal] = changed;
    return status;
}

Status LoadedKernel::check_launch(const LaunchConfig& config) const {
    const DeviceProperties& properties = device->model->properties;
    const auto within = [](const Dim3& value, const Dim3& most) {
        return value.x > 0 && value.y > 0 && value.z > 0 && value.x <= most.x && value.y <= most.y &&
               value.z <= most.z;
    };
    if (!within(config.grid, properties.max_grid_dim)) {
        return fail(Status::invalid_value, "a grid of " + dimensions(config.grid) +
                                               " blocks; allowed is from 1 to " +
                                               dimensions(properties.max_grid_dim));
    }
    if (!within(config.block, properties.max_block_dim)) {
        return fail(Status::invalid_value, "a block of " + dimensions(config.block) +
                                               " threads; allowed is from 1 to " +
                                               dimensions(properties.max_block_dim));
    }
    const unsigned threads = threads_of(config.block);
    const auto most = entry->max_threads_per_block != 0
                          ? entry->max_threads_per_block
                          : static_cast<unsigned>(properties.max_threads_per_block);
    if (threads > most) {
        return fail(Status::invalid_value, "a block of " + std::to_string(threads) +
                                               " threads; this kernel allows " + std::to_string(most));
    }
    const int shared = max_dynamic_shared();
    if (config.dynamic_shared_bytes > static_cast<std::size_t>(shared)) {
        return fail(Status::invalid_value, std::to_string(config.dynamic_shared_bytes) +
                                               " bytes of dynamic shared memory; this kernel allows " +
                                               std::to_string(shared) + ", and up to " +
                                               std::to_string(properties.shared_memory_per_block_optin -
                                                              entry->static_shared_bytes) +
                                               " once its max_dynamic_shared attribute says so");
    }
    return Status::success;
}

// A size that the kernel was compiled with takes precedence, then the launch's, then the one that
// func_set_attribute set.
Status LoadedKernel::resolve(const LaunchConfig& config, LaunchRequest* request) const {
    const Dim3 own = compiled_cluster(*entry);
    const Dim3 required = given(own) ? own : settings.cluster;
    const Dim3& asked = request->cluster;
    const Dim3 cluster = given(required) ? required : given(asked) ? asked : Dim3{1, 1, 1};
    if (given(required) && given(asked) && asked != required) {
        return fail(Status::invalid_cluster_size, "clusters of " + dimensions(asked) +
                                                      " blocks; the kernel requires clusters of " +
                                                      dimensions(required));
    }
    const std::uint64_t blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
    const auto most = static_cast<std::uint64_t>(max_cluster_blocks());
    if (blocks == 0 || blocks > most) {
        return fail(Status::invalid_cluster_size,
                    "clusters of " + dimensions(cluster) + " blocks; allowed are 1 to " +
                        std::to_string(most) + " blocks" +
                        (most == 8 && blocks <= 16
                             ? ", and 16 once the kernel's attribute non_portable_cluster_size_allowed is set"
                             : ""));
    }
    const auto divides = [](const Dim3& part, const Dim3& whole) {
        return part.x != 0 && part.y != 0 && part.z != 0 && whole.x % part.x == 0 && whole.y % part.y == 0 &&
               whole.z % part.z == 0;
    };
    if (!divides(cluster, config.grid)) {
        return fail(Status::invalid_cluster_size, "a grid of " + dimensions(config.grid) +
                                                      " blocks, which clusters of " + dimensions(cluster) +
                                                      " do not divide");
    }
    const Dim3& preferred = request->preferred_cluster;
    if (given(preferred) &&
        (!given(asked) || !divides(cluster, preferred) || !divides(preferred, config.grid))) {
        return fail(
            Status::invalid_cluster_size,
            "preferred clusters of " + dimensions(preferred) +
                " blocks; they are a multiple of the launch's clusters, which it has to have, and divide "
                "its grid");
    }
    request->resolved_cluster = cluster;
    request->blocks_per_multiprocessor = std::max(1, blocks_per_multiprocessor(config));
    return Status::success;
}

bool LoadedKernel::has_clusters(const LaunchRequest& request) const {
    return request.cluster.x != 0 || entry->cluster_dim.x != 0 || settings.cluster.x != 0;
}

int LoadedKernel::blocks_per_multiprocessor(const LaunchConfig& config) const {
    return blocks_per_multiprocessor(threads_of(config.block), config.dynamic_shared_bytes);
}

int LoadedKernel::blocks_per_multiprocessor(unsigned threads, std::size_t dynamic_shared_bytes) const {
    return host::blocks_per_multiprocessor(*device->model, threads,
                                           entry->static_shared_bytes + dynamic_shared_bytes,
                                           DeviceModel::assumed_registers);
}

}  // namespace cuscope::host
