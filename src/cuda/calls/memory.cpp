// Allocations of device, host and managed memory.
#include "cuda/cuda_runtime.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
Status CudaRuntime::malloc(void** pointer, std::size_t bytes) {
    clear(pointer);
    const Status status = make_unsafe([&] { return cudaMalloc(pointer, bytes); });
    return status == Status::memory_allocation ? out_of_memory("device", bytes) : status;
}

Status CudaRuntime::free(void* pointer) {
    return make_release(WaitsFor::this_device, [&] { return cudaFree(pointer); });
}

Status CudaRuntime::malloc_async(void** pointer, std::size_t bytes, StreamHandle stream) {
    clear(pointer);
    const Status status = make_in(stream, [&] { return cudaMallocAsync(pointer, bytes, native(stream)); });
    return status == Status::memory_allocation ? out_of_memory("device", bytes) : status;
}

Status CudaRuntime::free_async(void* pointer, StreamHandle stream) {
    return make_in(stream, [&] { return cudaFreeAsync(pointer, native(stream)); });
}

Status CudaRuntime::host_alloc(void** pointer, std::size_t bytes, unsigned flags) {
    clear(pointer);
    const Status status = make_unsafe([&] { return cudaHostAlloc(pointer, bytes, flags); });
    return status == Status::memory_allocation ? out_of_memory("page-locked host", bytes) : status;
}

Status CudaRuntime::free_host(void* pointer) {
    return make_release(WaitsFor::all_devices, [&] { return cudaFreeHost(pointer); });
}

Status CudaRuntime::host_get_flags(unsigned* flags, void* pointer) {
    clear(flags);
    return make([&] { return cudaHostGetFlags(flags, pointer); });
}

Status CudaRuntime::host_get_device_pointer(void** device_pointer, void* host_pointer, unsigned flags) {
    clear(device_pointer);
    return make([&] { return cudaHostGetDevicePointer(device_pointer, host_pointer, flags); });
}

Status CudaRuntime::malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    clear(pointer);
    clear(pitch);
    const Status status = make_unsafe([&] { return cudaMallocPitch(pointer, pitch, width, height); });
    return status == Status::memory_allocation ? out_of_memory("device", width * height) : status;
}

Status CudaRuntime::malloc_3d(PitchedPointer* pitched, Extent extent) {
    clear(pitched);
    cudaPitchedPtr real{};
    const Status status = make_unsafe([&] {
        return cudaMalloc3D(pitched != nullptr ? &real : nullptr,
                            {extent.width, extent.height, extent.depth});
    });
    if (status == Status::success) *pitched = {real.ptr, real.pitch, real.xsize, real.ysize};
    return status == Status::memory_allocation
               ? out_of_memory("device", extent.width * extent.height * extent.depth)
               : status;
}

Status CudaRuntime::malloc_managed(void** pointer, std::size_t bytes, unsigned flags) {
    clear(pointer);
    const Status status = make_unsafe([&] { return cudaMallocManaged(pointer, bytes, flags); });
    return status == Status::memory_allocation ? out_of_memory("managed", bytes) : status;
}

Status CudaRuntime::host_register(void* pointer, std::size_t bytes, unsigned flags) {
    return make_unsafe([&] { return cudaHostRegister(pointer, bytes, flags); });
}

Status CudaRuntime::host_unregister(void* pointer) {
    return make_release(WaitsFor::all_devices, [&] { return cudaHostUnregister(pointer); });
}

Status CudaRuntime::mem_prefetch_async(const void* pointer, std::size_t bytes, MemLocation location,
                                       unsigned flags, StreamHandle stream) {
    return make_in(stream, [&] {
        return cudaMemPrefetchAsync(pointer, bytes, native(location), flags, native(stream));
    });
}

Status CudaRuntime::mem_advise(const void* pointer, std::size_t bytes, MemoryAdvice advice,
                               MemLocation location) {
    return make([&] {
        return cudaMemAdvise(pointer, bytes, static_cast<cudaMemoryAdvise>(advice), native(location));
    });
}

Status CudaRuntime::mem_range_get_attribute(int* data, std::size_t data_bytes, MemRangeAttribute attribute,
                                            const void* pointer, std::size_t bytes) {
    return make([&] {
        return cudaMemRangeGetAttribute(data, data_bytes, static_cast<cudaMemRangeAttribute>(attribute),
                                        pointer, bytes);
    });
}

Status CudaRuntime::pointer_get_attributes(PointerAttributes* attributes, const void* pointer) {
    clear(attributes);
    cudaPointerAttributes real{};
    const auto ask = [&] {
        return make(
            [&] { return cudaPointerGetAttributes(attributes != nullptr ? &real : nullptr, pointer); });
    };
    Status status = ask();
    const bool known =
        status == Status::success && attributes != nullptr && real.type != cudaMemoryTypeUnregistered;
    if (known && real.devicePointer == nullptr) {
        // A new thread without a current context gets no device address. Setting the device creates the
        // context.
        int device = 0;
        if (cudaGetDevice(&device) == cudaSuccess && cudaSetDevice(device) == cudaSuccess) status = ask();
    }
    if (status != Status::success) return status;
    attributes->type = static_cast<MemoryType>(real.type);
    attributes->device = real.device;
    attributes->device_pointer = real.devicePointer;
    attributes->host_pointer = real.hostPointer;
    return status;
}

Status CudaRuntime::mem_get_info(std::size_t* free, std::size_t* total) {
    clear(free);
    clear(total);
    return make([&] { return cudaMemGetInfo(free, total); });
}

}  // namespace cuscope::cuda
