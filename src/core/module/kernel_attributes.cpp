#include <algorithm>
#include <iterator>

#include "core/module/module.hpp"

// The attributes of kernels, and how many of their blocks a device holds at once.
namespace cuscope::core {

FunctionAttributes Kernel::attributes() const {
    check_usable();
    const DeviceScope scope(*device_);
    FunctionAttributes attributes;
    device_->check(device_->runtime().func_get_attributes(&attributes, handle_), "cudaFuncGetAttributes");
    return attributes;
}

void Kernel::set_max_dynamic_shared(int bytes) const {
    check_usable();
    const DeviceScope scope(*device_);
    const Status status =
        device_->runtime().func_set_attribute(handle_, FunctionAttribute::max_dynamic_shared_size, bytes);
    if (status == Status::success) return;
    device_->fail(status, "cudaFuncSetAttribute",
                  name_ + ": " + std::to_string(bytes) +
                      " bytes of dynamic shared memory; a block may have " +
                      std::to_string(device_->properties().shared_memory_per_block_optin) +
                      " in all, static ones included",
                  {});
}

void Kernel::set_attribute(FunctionAttribute attribute, int value) const {
    check_usable();
    const DeviceScope scope(*device_);
    device_->check(device_->runtime().func_set_attribute(handle_, attribute, value), "cudaFuncSetAttribute");
}

void Kernel::set_required_cluster(const Dim3& cluster) const {
    const FunctionAttributes before = attributes();
    const DeviceScope scope(*device_);
    Runtime& runtime = device_->runtime();
    const std::pair<FunctionAttribute, int> wanted[] = {
        {FunctionAttribute::required_cluster_width, static_cast<int>(cluster.x)},
        {FunctionAttribute::required_cluster_height, static_cast<int>(cluster.y)},
        {FunctionAttribute::required_cluster_depth, static_cast<int>(cluster.z)}};
    const int old[] = {before.required_cluster_width, before.required_cluster_height,
                       before.required_cluster_depth};
    for (std::size_t i = 0; i < std::size(wanted); ++i) {
        const Status status = runtime.func_set_attribute(handle_, wanted[i].first, wanted[i].second);
        if (status == Status::success) continue;
        for (std::size_t j = 0; j < i; ++j) runtime.func_set_attribute(handle_, wanted[j].first, old[j]);
        device_->fail(status, "cudaFuncSetAttribute", "the required cluster of " + name_,
                      before.cluster_dim_must_be_set != 0
                          ? "The source says it with __cluster_dims__, and that holds."
                          : "");
    }
}

void Kernel::set_cache_config(FunctionCache config) const {
    check_usable();
    const DeviceScope scope(*device_);
    device_->check(device_->runtime().func_set_cache_config(handle_, config), "cudaFuncSetCacheConfig");
}

int Kernel::occupancy(int block_size, std::size_t dynamic_shared_bytes, bool disable_caching_override) const {
    check_usable();
    const DeviceScope scope(*device_);
    int blocks = 0;
    device_->check(
        device_->runtime().occupancy_max_active_blocks_per_multiprocessor_with_flags(
            &blocks, handle_, block_size, dynamic_shared_bytes,
            disable_caching_override ? flags::occupancy_disable_caching_override : flags::occupancy_default),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
    return blocks;
}

std::pair<int, int> Kernel::best_block_size(std::size_t dynamic_shared_bytes, int limit) const {
    check_usable();
    const DeviceScope scope(*device_);
    int grid = 0, block = 0;
    device_->check(device_->runtime().occupancy_max_potential_block_size(&grid, &block, handle_,
                                                                         dynamic_shared_bytes, limit),
                   "cudaOccupancyMaxPotentialBlockSize");
    return {grid, block};
}

// The same algorithm as cudaOccupancyMaxPotentialBlockSizeVariableSMem, which is a template that nvcc
// compiles into programs: tries whole warps from the largest block down, and returns the first block size
// that fills a multiprocessor best.
std::pair<int, int> Kernel::best_block_size(const std::function<std::size_t(int)>& shared_bytes, int limit,
                                            const std::function<int(int, std::size_t)>& blocks_of) const {
    const DeviceProperties& device = device_->properties();
    int most = std::min(device.max_threads_per_block, attributes().max_threads_per_block);
    if (limit > 0) most = std::min(most, limit);
    const int warp = device.warp_size;
    int best_threads = 0, best_block = 0, grid = 0;
    for (int warps = (most + warp - 1) / warp; warps > 0; --warps) {
        const int block = std::min(most, warps * warp);
        const int blocks = blocks_of(block, shared_bytes(block));
        if (blocks * block > best_threads) {
            best_threads = blocks * block;
            best_block = block;
            grid = blocks * device.multiprocessor_count;
        }
        if (best_threads == device.max_threads_per_multiprocessor) break;
    }
    return {grid, best_block};
}

std::size_t Kernel::available_shared(int blocks, int block_size) const {
    check_usable();
    const DeviceScope scope(*device_);
    std::size_t bytes = 0;
    device_->check(
        device_->runtime().occupancy_available_dynamic_smem_per_block(&bytes, handle_, blocks, block_size),
        "cudaOccupancyAvailableDynamicSMemPerBlock");
    return bytes;
}

int Kernel::max_active_clusters(const LaunchConfig& config) const {
    check_usable();
    const DeviceScope scope(*device_);
    int clusters = 0;
    device_->check(device_->runtime().occupancy_max_active_clusters(&clusters, handle_, &config),
                   "cudaOccupancyMaxActiveClusters");
    return clusters;
}

int Kernel::max_cluster_size(LaunchConfig config) const {
    check_usable();
    const DeviceScope scope(*device_);
    // A grid that is divisible by clusters of every size.
    config.grid = {16, 1, 1};
    int blocks = 0;
    device_->check(device_->runtime().occupancy_max_potential_cluster_size(&blocks, handle_, &config),
                   "cudaOccupancyMaxPotentialClusterSize");
    return blocks;
}

}  // namespace cuscope::core
