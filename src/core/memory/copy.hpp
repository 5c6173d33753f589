// Copies and fills of device memory, all enqueued in a stream. Page-locked host memory is copied
// asynchronously and is kept alive until the copy has ended. Pageable memory may be changed or dropped as
// soon as the call returns.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "core/memory/memory.hpp"

namespace cuscope::core {

// A range of device memory.
struct DeviceSpan {
    std::shared_ptr<DeviceMemory> memory;
    std::size_t offset = 0, bytes = 0;

    std::byte* pointer() const {
        return memory->pointer() == nullptr ? nullptr : static_cast<std::byte*>(memory->pointer()) + offset;
    }
};

// Makes an object that keeps pageable memory alive. It is called only if a copy is interrupted half way.
using KeepAlive = std::function<std::shared_ptr<void>()>;

// The kind of a copy between the host and this memory. Memory that the host can address too is passed as
// cudaMemcpyDefault, so that the runtime goes by the address.
MemcpyKind kind_for(const DeviceMemory& memory, MemcpyKind kind);

// `host` must have as many bytes as the span.
void copy_to_device(const DeviceSpan& destination, const void* host, const StreamPtr& stream,
                    const KeepAlive& keep_alive);
void copy_to_host(void* host, const DeviceSpan& source, const StreamPtr& stream, const KeepAlive& keep_alive);
// Throws if the stream belongs to neither device, or if the devices cannot reach each other's memory.
void check_copy_on_device(const DeviceSpan& destination, const DeviceSpan& source, const Stream& stream);
// The spans must have equal sizes and be on devices of one runtime.
void copy_on_device(const DeviceSpan& destination, const DeviceSpan& source, const StreamPtr& stream);
// Repeats `value` over the span. The size of the span must be a multiple of the value's.
void fill(const DeviceSpan& destination, std::span<const std::byte> value, const StreamPtr& stream);

}  // namespace cuscope::core
