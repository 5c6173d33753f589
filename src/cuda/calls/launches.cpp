// Launches and their attributes, attributes of streams and functions, and occupancy.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "cuda/calls/printing.hpp"
#include "cuda/cuda_runtime.hpp"
#include "cuda/driver/driver_call.hpp"
#include "cuda/handles.hpp"
#include "cuda/parameters.hpp"

namespace cuscope::cuda {
namespace {

// A configuration in the library's types. Most launches have few attributes, so these need no allocation.
class NativeConfig {
  public:
    explicit NativeConfig(const LaunchConfig& config) {
        real.gridDim = dimensions(config.grid);
        real.blockDim = dimensions(config.block);
        real.dynamicSmemBytes = config.dynamic_shared_bytes;
        real.stream = native(config.stream);
        real.attrs = few_.data();
        if (config.attributes.size() + 2 > few_.size()) {
            many_.resize(config.attributes.size() + 2);
            real.attrs = many_.data();
        }
        if (config.cooperative) add(LaunchAttributeId::cooperative).val.cooperative = 1;
        if (config.cluster.x != 0) {
            add(LaunchAttributeId::cluster_dimension).val.clusterDim = {config.cluster.x, config.cluster.y,
                                                                        config.cluster.z};
        }
        for (const LaunchAttribute& attribute : config.attributes) {
            add(attribute.id).val = value_of(attribute, attribute.id);
        }
    }
    NativeConfig(const NativeConfig&) = delete;
    NativeConfig& operator=(const NativeConfig&) = delete;

    cudaLaunchConfig_t real{};

  private:
    cudaLaunchAttribute& add(LaunchAttributeId id) {
        cudaLaunchAttribute& attribute = real.attrs[real.numAttrs++];
        attribute.id = static_cast<cudaLaunchAttributeID>(id);
        return attribute;
    }

    std::array<cudaLaunchAttribute, 8> few_;
    std::vector<cudaLaunchAttribute> many_;
};

DriverFunction<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            CUstream, void**, void**)>
    launch_plainly("cuLaunchKernel", 4000);
DriverFunction<CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**)> launch_with_attributes(
    "cuLaunchKernelEx", 11060);

// The driver's attributes are the library's.
static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute) &&
              offsetof(CUlaunchAttribute, id) == offsetof(cudaLaunchAttribute, id) &&
              offsetof(CUlaunchAttribute, value) == offsetof(cudaLaunchAttribute, val));

CUlaunchConfig driver_config(const cudaLaunchConfig_t& config) {
    return {config.gridDim.x,
            config.gridDim.y,
            config.gridDim.z,
            config.blockDim.x,
            config.blockDim.y,
            config.blockDim.z,
            static_cast<unsigned>(config.dynamicSmemBytes),
            config.stream,
            reinterpret_cast<CUlaunchAttribute*>(config.attrs),
            config.numAttrs};
}

}  // namespace

Status CudaRuntime::launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) {
    const PrintCapture capture;  // a launch makes the driver write earlier printf output
    const StreamUse use(native(config.stream));
    // The driver's launches have 32 bits for the size of dynamic shared memory. In a default stream, the
    // driver takes the thread's current context, as the library does, and refuses the call if there is none.
    // While anything is captured, only plain launches in other streams leave out the library, because a
    // capture error of the driver does not become the library's last error.
    const bool plain = config.attributes.empty() && !config.cooperative && config.cluster.x == 0;
    if (kernel != nullptr && config.dynamic_shared_bytes <= std::numeric_limits<unsigned>::max() &&
        (captures_underway == 0 || (plain && !is_default(config.stream)))) {
        auto* const in_driver = reinterpret_cast<CUfunction>(native(kernel));
        std::optional<Status> status;
        if (plain) {
            status = driver_call(launch_plainly, in_driver, config.grid.x, config.grid.y, config.grid.z,
                                 config.block.x, config.block.y, config.block.z,
                                 static_cast<unsigned>(config.dynamic_shared_bytes), native(config.stream),
                                 arguments, nullptr);
        } else {
            const NativeConfig configured(config);
            const CUlaunchConfig of_driver = driver_config(configured.real);
            status = driver_call(launch_with_attributes, &of_driver, in_driver, arguments, nullptr);
        }
        if (status) return answered(*status);
    }
    return make([&] {
        const NativeConfig configured(config);
        return cudaLaunchKernelExC(&configured.real, function(kernel), arguments);
    });
}

Status CudaRuntime::stream_set_attribute(StreamHandle stream, LaunchAttributeId id,
                                         const LaunchAttribute* value) {
    if (value == nullptr) return failed(Status::invalid_value);
    return make_in(stream, [&] {
        const cudaLaunchAttributeValue real = value_of(*value, id);
        return cudaStreamSetAttribute(native(stream), static_cast<cudaLaunchAttributeID>(id), &real);
    });
}

Status CudaRuntime::stream_get_attribute(StreamHandle stream, LaunchAttributeId id, LaunchAttribute* value) {
    clear(value);
    if (value == nullptr) return failed(Status::invalid_value);
    cudaLaunchAttributeValue real{};
    const Status status = make_in(stream, [&] {
        return cudaStreamGetAttribute(native(stream), static_cast<cudaLaunchAttributeID>(id), &real);
    });
    if (status == Status::success) *value = ours(real, id);
    return status;
}

Status CudaRuntime::stream_copy_attributes(StreamHandle destination, StreamHandle source) {
    return make([&] { return cudaStreamCopyAttributes(native(destination), native(source)); });
}

Status CudaRuntime::ctx_reset_persisting_l2_cache() {
    return make([] { return cudaCtxResetPersistingL2Cache(); });
}

// ---- functions

Status CudaRuntime::func_get_attributes(FunctionAttributes* attributes, KernelHandle kernel) {
    clear(attributes);
    cudaFuncAttributes real{};
    const Status status = make(
        [&] { return cudaFuncGetAttributes(attributes != nullptr ? &real : nullptr, function(kernel)); });
    if (status != Status::success) return status;
    attributes->shared_size = real.sharedSizeBytes;
    attributes->const_size = real.constSizeBytes;
    attributes->local_size = real.localSizeBytes;
    attributes->max_threads_per_block = real.maxThreadsPerBlock;
    attributes->registers = real.numRegs;
    attributes->ptx_version = real.ptxVersion;
    attributes->binary_version = real.binaryVersion;
    attributes->cache_mode_ca = real.cacheModeCA;
    attributes->max_dynamic_shared_size = real.maxDynamicSharedSizeBytes;
    attributes->preferred_shared_memory_carveout = real.preferredShmemCarveout;
    attributes->cluster_dim_must_be_set = real.clusterDimMustBeSet;
    attributes->required_cluster_width = real.requiredClusterWidth;
    attributes->required_cluster_height = real.requiredClusterHeight;
    attributes->required_cluster_depth = real.requiredClusterDepth;
    attributes->cluster_scheduling_policy_preference = real.clusterSchedulingPolicyPreference;
    attributes->non_portable_cluster_size_allowed = real.nonPortableClusterSizeAllowed;
    return status;
}

Status CudaRuntime::func_set_attribute(KernelHandle kernel, FunctionAttribute attribute, int value) {
    return make([&] {
        return cudaFuncSetAttribute(function(kernel), static_cast<cudaFuncAttribute>(attribute), value);
    });
}

Status CudaRuntime::func_set_cache_config(KernelHandle kernel, FunctionCache config) {
    return make([&] { return cudaFuncSetCacheConfig(function(kernel), static_cast<cudaFuncCache>(config)); });
}

// ---- occupancy

Status CudaRuntime::occupancy_max_active_blocks_per_multiprocessor(int* blocks, KernelHandle kernel,
                                                                   int block_size,
                                                                   std::size_t dynamic_shared_bytes) {
    clear(blocks);
    return make([&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function(kernel), block_size,
                                                             dynamic_shared_bytes);
    });
}

// In CUDA this function is a template that nvcc compiles into the program.
Status CudaRuntime::occupancy_max_potential_block_size(int* min_grid_size, int* block_size,
                                                       KernelHandle kernel, std::size_t dynamic_shared_bytes,
                                                       int block_size_limit) {
    clear(min_grid_size);
    clear(block_size);
    if (min_grid_size == nullptr || block_size == nullptr) return failed(Status::invalid_value);
    int device = 0;
    Status status = get_device(&device);
    const auto attribute = [&](DeviceAttribute which) {
        int value = 0;
        if (status == Status::success) status = device_get_attribute(&value, which, device);
        return value;
    };
    const int multiprocessors = attribute(DeviceAttribute::multiprocessor_count);
    const int threads_per_multiprocessor = attribute(DeviceAttribute::max_threads_per_multiprocessor);
    const int warp = attribute(DeviceAttribute::warp_size);
    int limit = attribute(DeviceAttribute::max_threads_per_block);
    FunctionAttributes attributes;
    if (status == Status::success) status = func_get_attributes(&attributes, kernel);
    if (status != Status::success) return status;
    limit = std::min(limit, attributes.max_threads_per_block);
    if (block_size_limit > 0) limit = std::min(limit, block_size_limit);
    // Tries whole warps, from the largest block down, and keeps the first of the sizes that fill a
    // multiprocessor best.
    int best_threads = 0;
    for (int warps = (limit + warp - 1) / warp; warps > 0; --warps) {
        const int size = std::min(limit, warps * warp);
        int blocks = 0;
        status = occupancy_max_active_blocks_per_multiprocessor(&blocks, kernel, size, dynamic_shared_bytes);
        if (status != Status::success) return status;
        if (blocks * size > best_threads) {
            best_threads = blocks * size;
            *block_size = size;
            *min_grid_size = blocks * multiprocessors;
        }
        if (best_threads == threads_per_multiprocessor) break;
    }
    return Status::success;
}

Status CudaRuntime::occupancy_max_active_blocks_per_multiprocessor_with_flags(
    int* blocks, KernelHandle kernel, int block_size, std::size_t dynamic_shared_bytes, unsigned flags) {
    clear(blocks);
    return make([&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function(kernel), block_size,
                                                                      dynamic_shared_bytes, flags);
    });
}

Status CudaRuntime::occupancy_available_dynamic_smem_per_block(std::size_t* bytes, KernelHandle kernel,
                                                               int blocks, int block_size) {
    clear(bytes);
    return make([&] {
        return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function(kernel), blocks, block_size);
    });
}

Status CudaRuntime::occupancy_max_potential_cluster_size(int* blocks, KernelHandle kernel,
                                                         const LaunchConfig* config) {
    clear(blocks);
    if (config == nullptr) return failed(Status::invalid_value);
    return make([&] {
        const NativeConfig configured(*config);
        return cudaOccupancyMaxPotentialClusterSize(blocks, function(kernel), &configured.real);
    });
}

Status CudaRuntime::occupancy_max_active_clusters(int* clusters, KernelHandle kernel,
                                                  const LaunchConfig* config) {
    clear(clusters);
    if (config == nullptr) return failed(Status::invalid_value);
    return make([&] {
        const NativeConfig configured(*config);
        return cudaOccupancyMaxActiveClusters(clusters, function(kernel), &configured.real);
    });
}

}  // namespace cuscope::cuda
