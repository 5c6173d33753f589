#include "core/memory/copy.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/memory/host_memory.hpp"
#include "core/memory/mem_pool.hpp"
#include "core/memory/staging.hpp"
#include "core/stream/same_device.hpp"

namespace cuscope::core {
namespace {

// A large fill copies this many bytes from the host and then doubles them on the device.
constexpr std::size_t fill_seed_bytes = 64 << 10;

void check_stream(const DeviceSpan& span, const Stream& stream) {
    stream.check_usable();
    span.memory->check_usable();
    refuse_legacy_in_capture(stream, "cudaMemcpyAsync");
    check_same_device({"array"}, span.memory->device(), stream);
}

// False: the runtime is to do the copy.
bool copy_staged(std::byte* destination, std::byte* source, std::size_t bytes, MemcpyKind kind,
                 const void* host, const Stream& stream) {
    if (!goes_through_ring(stream, kind, host, bytes)) return false;
    StagingRing& ring = stream.device().staging();
    const Boxes boxes = Boxes::contiguous(bytes, StagingRing::chunk_bytes);
    return kind == MemcpyKind::host_to_device ? ring.to_device(destination, source, boxes, stream)
                                              : ring.to_host(destination, source, boxes, stream);
}

void enqueue_copy(void* destination, const void* source, std::size_t bytes, MemcpyKind kind, const void* host,
                  const StreamPtr& stream, const Enqueue& enqueue, const KeepAlive& keep_alive) {
    Device& device = stream->device();
    stream->note(Enqueued::copy, bytes, static_cast<std::uint64_t>(kind));
    with_host_memory(host, bytes, stream, enqueue, keep_alive, [&](bool pinned) {
        if (!pinned &&
            copy_staged(static_cast<std::byte*>(destination),
                        static_cast<std::byte*>(const_cast<void*>(source)), bytes, kind, host, *stream))
            return;
        device.check_wait(device.runtime().memcpy_async(destination, source, bytes, kind, stream->handle()),
                          "cudaMemcpyAsync");
    });
}

}  // namespace

MemcpyKind kind_for(const DeviceMemory& memory, MemcpyKind kind) {
    return memory.host_pointer() != nullptr ? MemcpyKind::by_address : kind;
}

void copy_to_device(const DeviceSpan& destination, const void* host, const StreamPtr& stream,
                    const KeepAlive& keep_alive) {
    check_stream(destination, *stream);
    if (destination.bytes == 0) return;
    const DeviceScope scope(stream->device());
    const Enqueue enqueue(*stream);
    destination.memory->use(stream, enqueue);
    enqueue_copy(destination.pointer(), host, destination.bytes,
                 kind_for(*destination.memory, MemcpyKind::host_to_device), host, stream, enqueue,
                 keep_alive);
}

void copy_to_host(void* host, const DeviceSpan& source, const StreamPtr& stream,
                  const KeepAlive& keep_alive) {
    check_stream(source, *stream);
    if (source.bytes == 0) return;
    const DeviceScope scope(stream->device());
    const Enqueue enqueue(*stream);
    source.memory->use(stream, enqueue);
    enqueue_copy(host, source.pointer(), source.bytes, kind_for(*source.memory, MemcpyKind::device_to_host),
                 host, stream, enqueue, keep_alive);
}

void check_copy_on_device(const DeviceSpan& destination, const DeviceSpan& source, const Stream& stream) {
    Device& to = destination.memory->device();
    Device& from = source.memory->device();
    if (!to.shares_runtime(from)) {
        throw std::invalid_argument("the arrays are on " + from.name() + " and " + to.name() +
                                    ", which share no memory: copy source.to_host()");
    }
    stream.check_usable();
    refuse_legacy_in_capture(stream, "cudaMemcpyAsync");
    source.memory->check_usable();
    destination.memory->check_usable();
    if (&stream.device() != &to && &stream.device() != &from) {
        throw std::invalid_argument("the arrays are on " + from.name() + " and " + to.name() +
                                    ", the stream on " + stream.device().name() +
                                    ": use a stream of one of the arrays' devices");
    }
}

void copy_on_device(const DeviceSpan& destination, const DeviceSpan& source, const StreamPtr& stream) {
    check_copy_on_device(destination, source, *stream);
    if (destination.bytes == 0) return;
    Device& device = stream->device();
    const Enqueue enqueue(*stream);
    stream->note(Enqueued::copy, destination.bytes, static_cast<std::uint64_t>(MemcpyKind::device_to_device));
    const DeviceScope scope(device);
    destination.memory->use(stream, enqueue);
    source.memory->use(stream, enqueue);
    Device& to = destination.memory->device();
    Device& from = source.memory->device();
    if (!MemPool::let_copy(device, *destination.memory) || !MemPool::let_copy(device, *source.memory)) {
        device.check(device.runtime().memcpy_peer_async(destination.pointer(), to.ordinal(), source.pointer(),
                                                        from.ordinal(), destination.bytes, stream->handle()),
                     "cudaMemcpyPeerAsync");
        return;
    }
    device.check(device.runtime().memcpy_async(destination.pointer(), source.pointer(), destination.bytes,
                                               MemcpyKind::by_address, stream->handle()),
                 "cudaMemcpyAsync");
}

void fill(const DeviceSpan& destination, std::span<const std::byte> value, const StreamPtr& stream) {
    check_stream(destination, *stream);
    if (destination.bytes == 0) return;
    Device& device = stream->device();
    const DeviceScope scope(device);
    const Enqueue enqueue(*stream);
    destination.memory->use(stream, enqueue);
    Runtime& runtime = device.runtime();
    if (std::all_of(value.begin(), value.end(), [&](std::byte byte) { return byte == value[0]; })) {
        device.check(runtime.memset_async(destination.pointer(), std::to_integer<int>(value[0]),
                                          destination.bytes, stream->handle()),
                     "cudaMemsetAsync");
        stream->note(Enqueued::memset, destination.bytes);
        return;
    }
    const std::size_t seed =
        std::min(destination.bytes, fill_seed_bytes / value.size() * value.size() +
                                        (value.size() > fill_seed_bytes ? value.size() : 0));
    auto pattern = std::make_shared<std::vector<std::byte>>(seed);
    for (std::size_t at = 0; at < seed; at += value.size()) {
        std::memcpy(pattern->data() + at, value.data(), value.size());
    }
    enqueue_copy(destination.pointer(), pattern->data(), seed,
                 kind_for(*destination.memory, MemcpyKind::host_to_device), pattern->data(), stream, enqueue,
                 [&] { return pattern; });
    for (std::size_t done = seed; done < destination.bytes; done *= 2) {
        device.check(runtime.memcpy_async(destination.pointer() + done, destination.pointer(),
                                          std::min(done, destination.bytes - done),
                                          kind_for(*destination.memory, MemcpyKind::device_to_device),
                                          stream->handle()),
                     "cudaMemcpyAsync");
    }
    stream->note(Enqueued::memset, destination.bytes);
}

}  // namespace cuscope::core
