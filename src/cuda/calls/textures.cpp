// CUDA arrays, texture objects and surface objects.
#include <algorithm>

#include "cuda/cuda_runtime.hpp"
#include "cuda/driver/capture_use.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
namespace {

cudaChannelFormatDesc native(const ChannelFormat& format) {
    return {format.x, format.y, format.z, format.w, static_cast<cudaChannelFormatKind>(format.kind)};
}

cudaResourceDesc native(const ResourceDescription& resource) {
    cudaResourceDesc real{};
    real.resType = static_cast<cudaResourceType>(resource.type);
    switch (resource.type) {
        case ResourceType::array:
            real.res.array.array = cuda::native(resource.array);
            break;
        case ResourceType::mipmapped_array:
            real.res.mipmap.mipmap = cuda::native(resource.mipmapped_array);
            break;
        case ResourceType::linear:
            real.res.linear.devPtr = resource.pointer;
            real.res.linear.desc = native(resource.format);
            real.res.linear.sizeInBytes = resource.bytes;
            break;
        case ResourceType::pitch_2d:
            real.res.pitch2D.devPtr = resource.pointer;
            real.res.pitch2D.desc = native(resource.format);
            real.res.pitch2D.width = resource.width;
            real.res.pitch2D.height = resource.height;
            real.res.pitch2D.pitchInBytes = resource.pitch;
            break;
    }
    return real;
}

cudaTextureDesc native(const TextureDescription& description) {
    cudaTextureDesc real{};
    for (std::size_t i = 0; i < 3; ++i) {
        real.addressMode[i] = static_cast<cudaTextureAddressMode>(description.address_mode[i]);
    }
    real.filterMode = static_cast<cudaTextureFilterMode>(description.filter_mode);
    real.readMode = static_cast<cudaTextureReadMode>(description.read_mode);
    real.sRGB = description.srgb ? 1 : 0;
    std::copy(description.border_color.begin(), description.border_color.end(), real.borderColor);
    real.normalizedCoords = description.normalized_coordinates ? 1 : 0;
    real.mipmapFilterMode = static_cast<cudaTextureFilterMode>(description.mipmap_filter_mode);
    real.mipmapLevelBias = description.mipmap_level_bias;
    real.minMipmapLevelClamp = description.min_mipmap_level_clamp;
    real.maxMipmapLevelClamp = description.max_mipmap_level_clamp;
    return real;
}

}  // namespace

Status CudaRuntime::malloc_array(ArrayHandle* array, const ChannelFormat* format, std::size_t width,
                                 std::size_t height, unsigned flags) {
    clear(array);
    const cudaChannelFormatDesc real = format != nullptr ? native(*format) : cudaChannelFormatDesc{};
    const Status status = make_unsafe([&] {
        return cudaMallocArray(cuda::native(array), format != nullptr ? &real : nullptr, width, height,
                               flags);
    });
    return status == Status::memory_allocation
               ? out_of_memory("array", width * std::max<std::size_t>(1, height))
               : status;
}

Status CudaRuntime::malloc_3d_array(ArrayHandle* array, const ChannelFormat* format, Extent extent,
                                    unsigned flags) {
    clear(array);
    const cudaChannelFormatDesc real = format != nullptr ? native(*format) : cudaChannelFormatDesc{};
    return make_unsafe([&] {
        return cudaMalloc3DArray(cuda::native(array), format != nullptr ? &real : nullptr,
                                 {extent.width, extent.height, extent.depth}, flags);
    });
}

Status CudaRuntime::free_array(ArrayHandle array) {
    return make_release(WaitsFor::this_device, [&] { return cudaFreeArray(cuda::native(array)); });
}

Status CudaRuntime::array_get_info(ChannelFormat* format, Extent* extent, unsigned* flags,
                                   ArrayHandle array) {
    cudaChannelFormatDesc real{};
    cudaExtent size{};
    unsigned set = 0;
    const Status status = make([&] { return cudaArrayGetInfo(&real, &size, &set, cuda::native(array)); });
    if (status != Status::success) return status;
    if (format != nullptr) *format = {real.x, real.y, real.z, real.w, static_cast<ChannelKind>(real.f)};
    if (extent != nullptr) *extent = {size.width, size.height, size.depth};
    if (flags != nullptr) *flags = set;
    return status;
}

Status CudaRuntime::malloc_mipmapped_array(MipmappedArrayHandle* array, const ChannelFormat* format,
                                           Extent extent, unsigned levels, unsigned flags) {
    clear(array);
    const cudaChannelFormatDesc real = format != nullptr ? native(*format) : cudaChannelFormatDesc{};
    return make_unsafe([&] {
        return cudaMallocMipmappedArray(cuda::native(array), format != nullptr ? &real : nullptr,
                                        {extent.width, extent.height, extent.depth}, levels, flags);
    });
}

Status CudaRuntime::free_mipmapped_array(MipmappedArrayHandle array) {
    return make_release(WaitsFor::this_device, [&] { return cudaFreeMipmappedArray(cuda::native(array)); });
}

Status CudaRuntime::get_mipmapped_array_level(ArrayHandle* level, MipmappedArrayHandle array,
                                              unsigned index) {
    clear(level);
    return make([&] { return cudaGetMipmappedArrayLevel(cuda::native(level), cuda::native(array), index); });
}

// Creating a texture or a surface invalidates captures that are not relaxed. So such a call never runs while
// a capture begins or ends: side by side the driver ended in a SIGSEGV.
Status CudaRuntime::create_texture_object(TextureHandle* texture, const ResourceDescription* resource,
                                          const TextureDescription* description) {
    clear(texture);
    const cudaResourceDesc what = resource != nullptr ? native(*resource) : cudaResourceDesc{};
    const cudaTextureDesc how = description != nullptr ? native(*description) : cudaTextureDesc{};
    const CaptureChange change(CaptureChange::Unless::nothing_is_captured);
    return make([&] {
        return cudaCreateTextureObject(texture, resource != nullptr ? &what : nullptr,
                                       description != nullptr ? &how : nullptr, nullptr);
    });
}

Status CudaRuntime::destroy_texture_object(TextureHandle texture) {
    const CaptureChange change(CaptureChange::Unless::nothing_is_captured);
    return make([&] { return cudaDestroyTextureObject(texture); });
}

Status CudaRuntime::create_surface_object(SurfaceHandle* surface, const ResourceDescription* resource) {
    clear(surface);
    const cudaResourceDesc what = resource != nullptr ? native(*resource) : cudaResourceDesc{};
    const CaptureChange change(CaptureChange::Unless::nothing_is_captured);
    return make([&] { return cudaCreateSurfaceObject(surface, resource != nullptr ? &what : nullptr); });
}

Status CudaRuntime::destroy_surface_object(SurfaceHandle surface) {
    const CaptureChange change(CaptureChange::Unless::nothing_is_captured);
    return make([&] { return cudaDestroySurfaceObject(surface); });
}

}  // namespace cuscope::cuda
