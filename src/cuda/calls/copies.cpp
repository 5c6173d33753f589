// Copies and memsets, in one, two and three dimensions.
#include <vector>

#include "cuda/calls/printing.hpp"
#include "cuda/cuda_runtime.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/function.hpp"
#include "cuda/driver/wait.hpp"
#include "cuda/handles.hpp"
#include "cuda/parameters.hpp"

namespace cuscope::cuda {
namespace {

// Up to this size, a copy from pageable memory is staged at once and does not wait for its stream.
constexpr std::size_t staged_bytes = 64 << 10;

bool is_pageable(const void* pointer) {
    if (forked_after_use()) return false;  // every call fails then
    cudaPointerAttributes attributes{};
    return cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess &&
           attributes.type == cudaMemoryTypeUnregistered;
}

// Does the library, inside this copy, wait for the stream's earlier work?
bool waits_for_stream(const void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    const bool may_go_up = kind == MemcpyKind::host_to_device || kind == MemcpyKind::by_address;
    const bool may_go_down = kind == MemcpyKind::device_to_host || kind == MemcpyKind::by_address;
    return (may_go_down && is_pageable(destination)) ||
           (may_go_up && bytes > staged_bytes && is_pageable(source));
}

DriverFunction<CUresult (*)(CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t, CUstream)>
    memset_d2d16("cuMemsetD2D16Async", 3020);
DriverFunction<CUresult (*)(CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t, CUstream)>
    memset_d2d32("cuMemsetD2D32Async", 3020);

template <class Function, class Value>
cudaError_t driver_memset(DriverFunction<Function>& function, void* pointer, std::size_t pitch, Value value,
                          std::size_t width, std::size_t height, cudaStream_t stream) {
    const auto set = function.get();
    if (set == nullptr) return cudaErrorCallRequiresNewerDriver;
    CUcontext context = nullptr;
    if (const cudaError_t status = current_context(&context); status != cudaSuccess) return status;
    // CUresult and cudaError_t have the same numbers for all results of a memset.
    return static_cast<cudaError_t>(
        set(reinterpret_cast<CUdeviceptr>(pointer), pitch, value, width, height, stream));
}

// Waits as the library does inside an asynchronous copy from or to pageable memory, but in a way that Ctrl-C
// can end.
cudaError_t wait_before(cudaStream_t stream) {
    {
        // Querying a captured stream would invalidate the capture.
        const StreamUse use(stream);
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
        if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone)
            return cudaSuccess;
    }
    const RelaxedThread relaxed;
    return wait_for_stream(stream);
}

}  // namespace

// Makes a copy for which the library may wait for the stream's earlier work. `wait` waits for that work
// first, in a way that Ctrl-C can end. While any stream is captured, the thread makes the copy alone in the
// driver, and only once the stream is idle, so that the copy does not wait there: the work that it waits for
// might depend on the next call of another thread.
template <class Wait, class Call>
Status CudaRuntime::make_after(StreamHandle stream, Wait&& wait, Call&& call) {
    constexpr int most_tries = 1000;
    for (int tries = 1;; ++tries) {
        if (forked_after_use()) return failed(Status::initialization_error);
        if (wait() == cudaErrorNotReady) return Status::not_ready;
        {
            const InsideDriver inside;
            if (captures_underway == 0) return make(call);
        }
        const CaptureChange alone;
        if (tries == most_tries || is_idle_for_now(native(stream))) return make(call);
    }
}

template <class Call>
Status CudaRuntime::make_copy(StreamHandle stream, bool waits, Call&& call) {
    if (!waits) return make_in(stream, call);
    return make_after(
        stream, [=] { return wait_before(native(stream)); }, call);
}

Status CudaRuntime::memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    return make_after(stream_legacy, wait_for_legacy_stream, [&] {
        const PrintCapture capture;
        return cudaMemcpy(destination, source, bytes, static_cast<cudaMemcpyKind>(kind));
    });
}

Status CudaRuntime::memcpy_async(void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                                 StreamHandle stream) {
    return make_copy(stream, waits_for_stream(destination, source, bytes, kind), [&] {
        return cudaMemcpyAsync(destination, source, bytes, static_cast<cudaMemcpyKind>(kind), native(stream));
    });
}

Status CudaRuntime::memset(void* pointer, int value, std::size_t bytes) {
    return make_in(stream_legacy, [&] { return cudaMemset(pointer, value, bytes); });
}

Status CudaRuntime::memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) {
    return make_in(stream, [&] { return cudaMemsetAsync(pointer, value, bytes, native(stream)); });
}

Status CudaRuntime::memcpy_2d(void* destination, std::size_t destination_pitch, const void* source,
                              std::size_t source_pitch, std::size_t width, std::size_t height,
                              MemcpyKind kind) {
    return make_after(stream_legacy, wait_for_legacy_stream, [&] {
        return cudaMemcpy2D(destination, destination_pitch, source, source_pitch, width, height,
                            static_cast<cudaMemcpyKind>(kind));
    });
}

Status CudaRuntime::memcpy_2d_async(void* destination, std::size_t destination_pitch, const void* source,
                                    std::size_t source_pitch, std::size_t width, std::size_t height,
                                    MemcpyKind kind, StreamHandle stream) {
    return make_copy(stream, waits_for_stream(destination, source, width * height, kind), [&] {
        return cudaMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, height,
                                 static_cast<cudaMemcpyKind>(kind), native(stream));
    });
}

Status CudaRuntime::memcpy_3d(const Memcpy3DParameters* parameters) {
    if (parameters == nullptr) return make([] { return cudaMemcpy3D(nullptr); });
    const cudaMemcpy3DParms real = library_parameters(*parameters);
    return make_after(stream_legacy, wait_for_legacy_stream, [&] { return cudaMemcpy3D(&real); });
}

Status CudaRuntime::memcpy_3d_async(const Memcpy3DParameters* parameters, StreamHandle stream) {
    if (parameters == nullptr)
        return make_in(stream, [&] { return cudaMemcpy3DAsync(nullptr, native(stream)); });
    const Memcpy3DParameters& p = *parameters;
    const std::size_t bytes = p.extent.width * p.extent.height * p.extent.depth;
    const bool down = p.destination_array == nullptr && is_pageable(p.destination.pointer);
    const bool up = p.source_array == nullptr && bytes > staged_bytes && is_pageable(p.source.pointer);
    const cudaMemcpy3DParms real = library_parameters(p);
    return make_copy(stream, down || up, [&] { return cudaMemcpy3DAsync(&real, native(stream)); });
}

Status CudaRuntime::memcpy_peer(void* destination, int destination_device, const void* source,
                                int source_device, std::size_t bytes) {
    return make(
        [&] { return cudaMemcpyPeer(destination, destination_device, source, source_device, bytes); });
}

Status CudaRuntime::memcpy_peer_async(void* destination, int destination_device, const void* source,
                                      int source_device, std::size_t bytes, StreamHandle stream) {
    return make_in(stream, [&] {
        return cudaMemcpyPeerAsync(destination, destination_device, source, source_device, bytes,
                                   native(stream));
    });
}

Status CudaRuntime::memcpy_batch_async(void* const* destinations, const void* const* sources,
                                       const std::size_t* sizes, std::size_t count,
                                       const MemcpyAttributes* attributes,
                                       const std::size_t* attribute_indices, std::size_t attribute_count,
                                       StreamHandle stream) {
    std::vector<cudaMemcpyAttributes> real(attributes == nullptr ? 0 : attribute_count);
    for (std::size_t i = 0; i < real.size(); ++i) {
        real[i] = {};
        real[i].srcAccessOrder = static_cast<cudaMemcpySrcAccessOrder>(attributes[i].source_access_order);
        real[i].srcLocHint = native(attributes[i].source_location);
        real[i].dstLocHint = native(attributes[i].destination_location);
        real[i].flags = attributes[i].flags;
    }
    std::vector<std::size_t> indices;
    if (attribute_indices != nullptr) indices.assign(attribute_indices, attribute_indices + attribute_count);
    return make_in(stream, [&] {
        return cudaMemcpyBatchAsync(destinations, sources, sizes, count, real.empty() ? nullptr : real.data(),
                                    indices.empty() ? nullptr : indices.data(), attribute_count,
                                    native(stream));
    });
}

Status CudaRuntime::memset_2d(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height) {
    return make_in(stream_legacy, [&] { return cudaMemset2D(pointer, pitch, value, width, height); });
}

Status CudaRuntime::memset_2d_async(void* pointer, std::size_t pitch, int value, std::size_t width,
                                    std::size_t height, StreamHandle stream) {
    return make_in(stream,
                   [&] { return cudaMemset2DAsync(pointer, pitch, value, width, height, native(stream)); });
}

Status CudaRuntime::memset_3d(PitchedPointer pitched, int value, Extent extent) {
    return make_in(stream_legacy, [&] {
        return cudaMemset3D(native(pitched), value, {extent.width, extent.height, extent.depth});
    });
}

Status CudaRuntime::memset_3d_async(PitchedPointer pitched, int value, Extent extent, StreamHandle stream) {
    return make_in(stream, [&] {
        return cudaMemset3DAsync(native(pitched), value, {extent.width, extent.height, extent.depth},
                                 native(stream));
    });
}

Status CudaRuntime::memset_d2d16_async(void* pointer, std::size_t pitch, unsigned short value,
                                       std::size_t width, std::size_t height, StreamHandle stream) {
    return make_in(stream, [&] {
        return driver_memset(memset_d2d16, pointer, pitch, value, width, height, native(stream));
    });
}

Status CudaRuntime::memset_d2d32_async(void* pointer, std::size_t pitch, unsigned value, std::size_t width,
                                       std::size_t height, StreamHandle stream) {
    return make_in(stream, [&] {
        return driver_memset(memset_d2d32, pointer, pitch, value, width, height, native(stream));
    });
}

}  // namespace cuscope::cuda
