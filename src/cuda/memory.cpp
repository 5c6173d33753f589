// Memory and copies.
#include "cuda/cuda_runtime.hpp"
#include "cuda/handles.hpp"
#include "cuda/wait.hpp"

namespace cuscope::cuda {
namespace {

// Up to this size a copy from pageable memory is staged at once and does not wait for its stream.
constexpr std::size_t staged_bytes = 64 << 10;

bool is_pageable(const void* pointer) {
    cudaPointerAttributes attributes{};
    return cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess &&
           attributes.type == cudaMemoryTypeUnregistered;
}

// Does this copy wait, inside the library, for what its stream did before?
bool waits_for_stream(const void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    const bool may_go_up = kind == MemcpyKind::host_to_device || kind == MemcpyKind::by_address;
    const bool may_go_down = kind == MemcpyKind::device_to_host || kind == MemcpyKind::by_address;
    return (may_go_down && is_pageable(destination)) ||
           (may_go_up && bytes > staged_bytes && is_pageable(source));
}

}  // namespace

Status CudaRuntime::malloc(void** pointer, std::size_t bytes) {
    clear(pointer);
    const Status status = make([&] { return cudaMalloc(pointer, bytes); });
    return status == Status::memory_allocation ? out_of_memory("device", bytes) : status;
}

Status CudaRuntime::free(void* pointer) {
    return make([&] { return cudaFree(pointer); });
}

Status CudaRuntime::malloc_async(void** pointer, std::size_t bytes, StreamHandle stream) {
    clear(pointer);
    const Status status = make([&] { return cudaMallocAsync(pointer, bytes, native(stream)); });
    return status == Status::memory_allocation ? out_of_memory("device", bytes) : status;
}

Status CudaRuntime::free_async(void* pointer, StreamHandle stream) {
    return make([&] { return cudaFreeAsync(pointer, native(stream)); });
}

Status CudaRuntime::host_alloc(void** pointer, std::size_t bytes, unsigned flags) {
    clear(pointer);
    const Status status = make([&] { return cudaHostAlloc(pointer, bytes, flags); });
    return status == Status::memory_allocation ? out_of_memory("page-locked host", bytes) : status;
}

Status CudaRuntime::free_host(void* pointer) {
    return make([&] { return cudaFreeHost(pointer); });
}

Status CudaRuntime::host_get_flags(unsigned* flags, void* pointer) {
    clear(flags);
    return make([&] { return cudaHostGetFlags(flags, pointer); });
}

Status CudaRuntime::host_get_device_pointer(void** device_pointer, void* host_pointer, unsigned flags) {
    clear(device_pointer);
    return make([&] { return cudaHostGetDevicePointer(device_pointer, host_pointer, flags); });
}

Status CudaRuntime::pointer_get_attributes(PointerAttributes* attributes, const void* pointer) {
    clear(attributes);
    cudaPointerAttributes real{};
    const Status status =
        make([&] { return cudaPointerGetAttributes(attributes != nullptr ? &real : nullptr, pointer); });
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

Status CudaRuntime::memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    if (forked_after_use()) return failed(Status::initialization_error);
    if (wait_for_legacy_stream() == cudaErrorNotReady) return Status::not_ready;
    return make([&] { return cudaMemcpy(destination, source, bytes, static_cast<cudaMemcpyKind>(kind)); });
}

Status CudaRuntime::memcpy_async(void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                                 StreamHandle stream) {
    if (forked_after_use()) return failed(Status::initialization_error);
    if (waits_for_stream(destination, source, bytes, kind)) {
        // Asking a stream that is being captured whether it is done would spoil the capture.
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
        if (cudaStreamIsCapturing(native(stream), &capture) == cudaSuccess &&
            capture == cudaStreamCaptureStatusNone && wait_for_stream(native(stream)) == cudaErrorNotReady) {
            return Status::not_ready;
        }
    }
    return make([&] {
        return cudaMemcpyAsync(destination, source, bytes, static_cast<cudaMemcpyKind>(kind), native(stream));
    });
}

Status CudaRuntime::memset(void* pointer, int value, std::size_t bytes) {
    return make([&] { return cudaMemset(pointer, value, bytes); });
}

Status CudaRuntime::memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) {
    return make([&] { return cudaMemsetAsync(pointer, value, bytes, native(stream)); });
}

}  // namespace cuscope::cuda
