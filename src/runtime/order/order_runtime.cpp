// Memory, copies, memsets and kernels.
#include "runtime/order/order_runtime.hpp"

#include "runtime/order/operations.hpp"

namespace cuscope::order {

Status OrderRuntime::copy(Status status, StreamHandle stream, CopyWork work, bool blocking) {
    if (status != Status::success) return status;
    const bool waits = work.host_waits || blocking;
    enqueue(stream, {std::move(work.what), std::move(work.accesses), {}, nullptr, {}}, waits);
    return status;
}

Status OrderRuntime::memcpy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind) {
    const Status status = ForwardingRuntime::memcpy(destination, source, bytes, kind);
    if (!watched()) return status;
    CopyWork work = copy_work(under(), destination, source, bytes, kind);
    const bool on_device = work.what == "the copy on the device";
    return copy(status, nullptr, std::move(work), !on_device);
}

Status OrderRuntime::memcpy_async(void* destination, const void* source, std::size_t bytes, MemcpyKind kind,
                                  StreamHandle stream) {
    const Status status = ForwardingRuntime::memcpy_async(destination, source, bytes, kind, stream);
    if (!watched()) return status;
    return copy(status, stream, copy_work(under(), destination, source, bytes, kind), false);
}

Status OrderRuntime::memcpy_2d(void* destination, std::size_t destination_pitch, const void* source,
                               std::size_t source_pitch, std::size_t width, std::size_t height,
                               MemcpyKind kind) {
    const Status status = ForwardingRuntime::memcpy_2d(destination, destination_pitch, source, source_pitch,
                                                       width, height, kind);
    if (!watched()) return status;
    return copy(status, nullptr,
                copy_work(under(), {destination, destination_pitch, width, height},
                          {const_cast<void*>(source), source_pitch, width, height}, {width, height, 1}, kind),
                true);
}

Status OrderRuntime::memcpy_2d_async(void* destination, std::size_t destination_pitch, const void* source,
                                     std::size_t source_pitch, std::size_t width, std::size_t height,
                                     MemcpyKind kind, StreamHandle stream) {
    const Status status = ForwardingRuntime::memcpy_2d_async(destination, destination_pitch, source,
                                                             source_pitch, width, height, kind, stream);
    if (!watched()) return status;
    return copy(status, stream,
                copy_work(under(), {destination, destination_pitch, width, height},
                          {const_cast<void*>(source), source_pitch, width, height}, {width, height, 1}, kind),
                false);
}

Status OrderRuntime::memcpy_3d(const Memcpy3DParameters* parameters) {
    const Status status = ForwardingRuntime::memcpy_3d(parameters);
    if (!watched() || parameters == nullptr) return status;
    return copy(status, nullptr, copy_work(under(), *parameters), true);
}

Status OrderRuntime::memcpy_3d_async(const Memcpy3DParameters* parameters, StreamHandle stream) {
    const Status status = ForwardingRuntime::memcpy_3d_async(parameters, stream);
    if (!watched() || parameters == nullptr) return status;
    return copy(status, stream, copy_work(under(), *parameters), false);
}

Status OrderRuntime::memcpy_peer(void* destination, int destination_device, const void* source,
                                 int source_device, std::size_t bytes) {
    const Status status =
        ForwardingRuntime::memcpy_peer(destination, destination_device, source, source_device, bytes);
    if (!watched()) return status;
    return copy(status, nullptr, copy_work(under(), destination, source, bytes, MemcpyKind::device_to_device),
                false);
}

Status OrderRuntime::memcpy_peer_async(void* destination, int destination_device, const void* source,
                                       int source_device, std::size_t bytes, StreamHandle stream) {
    const Status status = ForwardingRuntime::memcpy_peer_async(destination, destination_device, source,
                                                               source_device, bytes, stream);
    if (!watched()) return status;
    return copy(status, stream, copy_work(under(), destination, source, bytes, MemcpyKind::device_to_device),
                false);
}

Status OrderRuntime::memcpy_batch_async(void* const* destinations, const void* const* sources,
                                        const std::size_t* sizes, std::size_t count,
                                        const MemcpyAttributes* attributes,
                                        const std::size_t* attribute_indices, std::size_t attribute_count,
                                        StreamHandle stream) {
    const Status status = ForwardingRuntime::memcpy_batch_async(
        destinations, sources, sizes, count, attributes, attribute_indices, attribute_count, stream);
    if (!watched() || status != Status::success) return status;
    CopyWork all;
    all.what = "the batch of copies";
    for (std::size_t i = 0; i < count; ++i) {
        CopyWork one = copy_work(under(), destinations[i], sources[i], sizes[i], MemcpyKind::by_address);
        for (Access& access : one.accesses) all.accesses.push_back(std::move(access));
        all.host_waits |= one.host_waits;
    }
    return copy(status, stream, std::move(all), false);
}

Status OrderRuntime::set(Status status, StreamHandle stream, const void* pointer, std::size_t pitch,
                         std::size_t width, std::size_t height, std::size_t depth, std::size_t slice_rows) {
    if (status != Status::success || !watched()) return status;
    Work work;
    work.what = "the memset";
    for (std::size_t slice = 0; slice < depth; ++slice) {
        add_rows(work.accesses, static_cast<const std::byte*>(pointer) + slice * slice_rows * pitch, pitch,
                 width, height, Role::write);
    }
    enqueue(stream, std::move(work));
    return status;
}

Status OrderRuntime::memset(void* pointer, int value, std::size_t bytes) {
    return set(ForwardingRuntime::memset(pointer, value, bytes), nullptr, pointer, bytes, bytes, 1);
}
Status OrderRuntime::memset_async(void* pointer, int value, std::size_t bytes, StreamHandle stream) {
    return set(ForwardingRuntime::memset_async(pointer, value, bytes, stream), stream, pointer, bytes, bytes,
               1);
}
Status OrderRuntime::memset_2d(void* pointer, std::size_t pitch, int value, std::size_t width,
                               std::size_t height) {
    return set(ForwardingRuntime::memset_2d(pointer, pitch, value, width, height), nullptr, pointer, pitch,
               width, height);
}
Status OrderRuntime::memset_2d_async(void* pointer, std::size_t pitch, int value, std::size_t width,
                                     std::size_t height, StreamHandle stream) {
    return set(ForwardingRuntime::memset_2d_async(pointer, pitch, value, width, height, stream), stream,
               pointer, pitch, width, height);
}
Status OrderRuntime::memset_3d(PitchedPointer pitched, int value, Extent extent) {
    return set(ForwardingRuntime::memset_3d(pitched, value, extent), nullptr, pitched.pointer, pitched.pitch,
               extent.width, extent.height, extent.depth, pitched.y_size);
}
Status OrderRuntime::memset_3d_async(PitchedPointer pitched, int value, Extent extent, StreamHandle stream) {
    return set(ForwardingRuntime::memset_3d_async(pitched, value, extent, stream), stream, pitched.pointer,
               pitched.pitch, extent.width, extent.height, extent.depth, pitched.y_size);
}
Status OrderRuntime::memset_d2d16_async(void* pointer, std::size_t pitch, unsigned short value,
                                        std::size_t width, std::size_t height, StreamHandle stream) {
    return set(ForwardingRuntime::memset_d2d16_async(pointer, pitch, value, width, height, stream), stream,
               pointer, pitch, width * 2, height);
}
Status OrderRuntime::memset_d2d32_async(void* pointer, std::size_t pitch, unsigned value, std::size_t width,
                                        std::size_t height, StreamHandle stream) {
    return set(ForwardingRuntime::memset_d2d32_async(pointer, pitch, value, width, height, stream), stream,
               pointer, pitch, width * 4, height);
}

// ---- memory

Status OrderRuntime::malloc(void** pointer, std::size_t bytes) {
    const Status status = ForwardingRuntime::malloc(pointer, bytes);
    if (status == Status::success && watched()) Checker::get().allocated(*pointer, bytes, nullptr);
    return status;
}

Status OrderRuntime::malloc_pitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    const Status status = ForwardingRuntime::malloc_pitch(pointer, pitch, width, height);
    if (status == Status::success && watched()) Checker::get().allocated(*pointer, *pitch * height, nullptr);
    return status;
}

Status OrderRuntime::malloc_3d(PitchedPointer* pitched, Extent extent) {
    const Status status = ForwardingRuntime::malloc_3d(pitched, extent);
    if (status == Status::success && watched()) {
        Checker::get().allocated(pitched->pointer, pitched->pitch * extent.height * extent.depth, nullptr);
    }
    return status;
}

Status OrderRuntime::malloc_managed(void** pointer, std::size_t bytes, unsigned flags) {
    const Status status = ForwardingRuntime::malloc_managed(pointer, bytes, flags);
    if (status == Status::success && watched()) Checker::get().allocated(*pointer, bytes, nullptr);
    return status;
}

Status OrderRuntime::host_alloc(void** pointer, std::size_t bytes, unsigned flags) {
    const Status status = ForwardingRuntime::host_alloc(pointer, bytes, flags);
    if (status == Status::success && watched()) Checker::get().allocated(*pointer, bytes, nullptr);
    return status;
}

Status OrderRuntime::host_register(void* pointer, std::size_t bytes, unsigned flags) {
    const Status status = ForwardingRuntime::host_register(pointer, bytes, flags);
    if (status == Status::success && watched()) Checker::get().allocated(pointer, bytes, nullptr);
    return status;
}

// `waits`: CUDA waits for the work of the device.
template <class Call>
Status OrderRuntime::release(void* pointer, const char* name, bool waits, const Call& call) {
    if (!watched()) return call();
    Checker& checker = Checker::get();
    const std::uint64_t serial = checker.serial_at(pointer);
    const bool tidying = NoWait::active();
    const Status status = call();
    if (status != Status::success) return status;
    if (waits) checker.device_done(&under(), current_device(), tidying);
    checker.freed(pointer, serial, nullptr, name, tidying);
    return status;
}

Status OrderRuntime::free(void* pointer) {
    return release(pointer, "cudaFree", true, [&] { return ForwardingRuntime::free(pointer); });
}
Status OrderRuntime::free_host(void* pointer) {
    return release(pointer, "cudaFreeHost", true, [&] { return ForwardingRuntime::free_host(pointer); });
}
Status OrderRuntime::host_unregister(void* pointer) {
    return release(pointer, "cudaHostUnregister", true,
                   [&] { return ForwardingRuntime::host_unregister(pointer); });
}

Status OrderRuntime::malloc_async(void** pointer, std::size_t bytes, StreamHandle stream) {
    const Status status = ForwardingRuntime::malloc_async(pointer, bytes, stream);
    if (status != Status::success || !watched() || is_captured(stream)) return status;
    const StreamKey key = key_of(stream);
    Checker::get().allocated(*pointer, bytes, &key);
    return status;
}

Status OrderRuntime::malloc_from_pool_async(void** pointer, std::size_t bytes, MemPoolHandle pool,
                                            StreamHandle stream) {
    const Status status = ForwardingRuntime::malloc_from_pool_async(pointer, bytes, pool, stream);
    if (status != Status::success || !watched() || is_captured(stream)) return status;
    const StreamKey key = key_of(stream);
    Checker::get().allocated(*pointer, bytes, &key);
    return status;
}

Status OrderRuntime::free_async(void* pointer, StreamHandle stream) {
    if (!watched() || is_captured(stream)) return ForwardingRuntime::free_async(pointer, stream);
    const std::uint64_t serial = Checker::get().serial_at(pointer);
    const Status status = ForwardingRuntime::free_async(pointer, stream);
    if (status != Status::success) return status;
    const StreamKey key = key_of(stream);
    Checker::get().freed(pointer, serial, &key, "cudaFreeAsync", NoWait::active());
    return status;
}

// ---- kernels

Status OrderRuntime::launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) {
    if (!watched()) return ForwardingRuntime::launch_kernel(config, kernel, arguments);
    made_launches().clear();
    const Status status = ForwardingRuntime::launch_kernel(config, kernel, arguments);
    if (status != Status::success) return status;
    Work work;
    work.what = kernel_name(under(), kernel);
    KernelPart part;
    part.by_signature = kernel_accesses();
    if (!made_launches().empty()) {
        part.token = made_launches().back().token;
        part.key = made_launches().back().key;
    }
    work.kernels.push_back(std::move(part));
    enqueue(config.stream, std::move(work));
    return status;
}

Status OrderRuntime::launch_counted(const LaunchConfig& config, KernelHandle kernel, void** arguments,
                                    KernelHandle counting, LaunchCounts* counts) {
    const Status status = ForwardingRuntime::launch_counted(config, kernel, arguments, counting, counts);
    if (status != Status::success || !watched()) return status;
    Work work;
    work.what = kernel_name(under(), kernel);
    enqueue(config.stream, std::move(work), true);
    return status;
}

}  // namespace cuscope::order
