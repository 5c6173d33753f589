// Copies and fills on device memory. All are enqueued in a stream. Page-locked host memory is copied
// asynchronously and stays alive until then; pageable memory may be changed or dropped once the call returns.
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

// Makes something that keeps pageable memory alive; asked only if a copy is interrupted half way.
using KeepAlive = std::function<std::shared_ptr<void>()>;

// The kind of a copy between the host and this memory: memory that the host knows too is told by its address.
MemcpyKind kind_for(const DeviceMemory& memory, MemcpyKind kind);

// `host` holds as many bytes as the span.
void copy_to_device(const DeviceSpan& destination, const void* host, const StreamPtr& stream,
                    const KeepAlive& keep_alive);
void copy_to_host(void* host, const DeviceSpan& source, const StreamPtr& stream, const KeepAlive& keep_alive);
// Throws if the stream is of neither device, or the devices share no memory.
void check_copy_on_device(const DeviceSpan& destination, const DeviceSpan& source, const Stream& stream);
// Spans of equal size, of devices of one runtime.
void copy_on_device(const DeviceSpan& destination, const DeviceSpan& source, const StreamPtr& stream);
// Repeats `value` over the span, whose size is a multiple of the value's.
void fill(const DeviceSpan& destination, std::span<const std::byte> value, const StreamPtr& stream);

}  // namespace cuscope::core
