// Modules, kernels, launches and compilation.
#include <algorithm>
#include <string>

#include "cuda/cuda_runtime.hpp"
#include "cuda/handles.hpp"
#include "cuda/image.hpp"
#include "cuda/nvrtc.hpp"

namespace cuscope::cuda {
namespace {

dim3 dimensions(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

}  // namespace

Status CudaRuntime::library_load_data(LibraryHandle* library, const void* image, std::size_t bytes) {
    clear(library);
    if (image == nullptr) return failed(Status::invalid_value);
    if (!is_whole_image({static_cast<const char*>(image), bytes})) {
        return failed(Status::invalid_kernel_image);
    }
    const std::string copy(static_cast<const char*>(image), bytes);  // PTX has to end with a zero
    return make([&] {
        return cudaLibraryLoadData(native(library), copy.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    });
}

Status CudaRuntime::library_unload(LibraryHandle library) {
    return make([&] { return cudaLibraryUnload(native(library)); });
}

Status CudaRuntime::library_get_kernel(KernelHandle* kernel, LibraryHandle library,
                                       const char* lowered_name) {
    clear(kernel);
    return make([&] { return cudaLibraryGetKernel(native(kernel), native(library), lowered_name); });
}

Status CudaRuntime::library_get_kernel_count(unsigned* count, LibraryHandle library) {
    clear(count);
    return make([&] { return cudaLibraryGetKernelCount(count, native(library)); });
}

Status CudaRuntime::library_enumerate_kernels(KernelHandle* kernels, unsigned count, LibraryHandle library) {
    if (kernels != nullptr) std::fill_n(kernels, count, nullptr);
    return make([&] { return cudaLibraryEnumerateKernels(native(kernels), count, native(library)); });
}

Status CudaRuntime::library_get_global(void** pointer, std::size_t* bytes, LibraryHandle library,
                                       const char* name) {
    clear(pointer);
    clear(bytes);
    return make([&] { return cudaLibraryGetGlobal(pointer, bytes, native(library), name); });
}

Status CudaRuntime::func_get_name(const char** name, KernelHandle kernel) {
    clear(name);
    return make([&] { return cudaFuncGetName(name, function(kernel)); });
}

Status CudaRuntime::func_get_param_info(KernelHandle kernel, std::size_t index, std::size_t* offset,
                                        std::size_t* size) {
    clear(offset);
    clear(size);
    return make([&] { return cudaFuncGetParamInfo(function(kernel), index, offset, size); });
}

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
    attributes->max_dynamic_shared_size = real.maxDynamicSharedSizeBytes;
    attributes->preferred_shared_memory_carveout = real.preferredShmemCarveout;
    return status;
}

Status CudaRuntime::func_set_attribute(KernelHandle kernel, FunctionAttribute attribute, int value) {
    return make([&] {
        return cudaFuncSetAttribute(function(kernel), static_cast<cudaFuncAttribute>(attribute), value);
    });
}

Status CudaRuntime::occupancy_max_active_blocks_per_multiprocessor(int* blocks, KernelHandle kernel,
                                                                   int block_size,
                                                                   std::size_t dynamic_shared_bytes) {
    clear(blocks);
    return make([&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function(kernel), block_size,
                                                             dynamic_shared_bytes);
    });
}

// In CUDA this is a template that nvcc compiles into the program.
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
    // Whole warps, from the largest block down; the first of those that fill a multiprocessor best.
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

Status CudaRuntime::launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) {
    return make([&] {
        cudaLaunchConfig_t real{};
        real.gridDim = dimensions(config.grid);
        real.blockDim = dimensions(config.block);
        real.dynamicSmemBytes = config.dynamic_shared_bytes;
        real.stream = native(config.stream);
        cudaLaunchAttribute attributes[2];
        real.attrs = attributes;
        if (config.cooperative) {
            attributes[real.numAttrs].id = cudaLaunchAttributeCooperative;
            attributes[real.numAttrs++].val.cooperative = 1;
        }
        if (config.cluster.x != 0) {
            attributes[real.numAttrs].id = cudaLaunchAttributeClusterDimension;
            attributes[real.numAttrs++].val.clusterDim = {config.cluster.x, config.cluster.y,
                                                          config.cluster.z};
        }
        return cudaLaunchKernelExC(&real, function(kernel), arguments);
    });
}

Status CudaRuntime::compile(const CompileRequest& request, CompileResult* result) {
    if (result == nullptr) return failed(Status::invalid_value);
    *result = {};
    nvrtc::Architecture architecture;
    if (!nvrtc::names_architecture(request.options)) {
        int device = 0;
        Status status = get_device(&device);
        if (status == Status::success) {
            status =
                device_get_attribute(&architecture.major, DeviceAttribute::compute_capability_major, device);
        }
        if (status == Status::success) {
            status =
                device_get_attribute(&architecture.minor, DeviceAttribute::compute_capability_minor, device);
        }
        if (status != Status::success) return status;
    } else if (forked_after_use()) {
        return failed(Status::initialization_error);
    }
    return nvrtc::compile(request, architecture, result);
}

}  // namespace cuscope::cuda
