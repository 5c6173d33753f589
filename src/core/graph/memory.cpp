// Memory that nodes of graphs allocate: capturing an allocation and a free in a stream.
#include "core/memory/memory.hpp"

#include "core/graph/capture.hpp"

namespace cuscope::core {

std::shared_ptr<DeviceMemory> DeviceMemory::of_graph(const DevicePtr& device, void* pointer,
                                                     std::size_t bytes) {
    Allocation allocation;
    allocation.pointer = pointer;
    allocation.bytes = bytes;
    allocation.stream = device->legacy_stream();
    allocation.kind = Kind::graph;
    return std::make_shared<DeviceMemory>(std::move(allocation), device->generation());
}

std::shared_ptr<DeviceMemory> DeviceMemory::capture_allocation(const StreamPtr& stream, std::size_t bytes) {
    stream->check_usable();
    const Enqueue enqueue(*stream);
    if (!stream->capturing()) {
        throw std::invalid_argument(
            "malloc_async: the stream is not being captured; cs.empty() allocates outside of captures");
    }
    if (bytes == 0) throw std::invalid_argument("shape: a node of a graph allocates one byte or more");
    Device& device = stream->device();
    const DeviceScope scope(device);
    void* pointer = nullptr;
    const Status status = device.runtime().malloc_async(&pointer, bytes, stream->handle());
    if (status != Status::success) {
        device.fail(status, "cudaMallocAsync", std::to_string(bytes) + " bytes on " + device.name(), {});
    }
    return of_graph(device.shared_from_this(), pointer, bytes);
}

void DeviceMemory::free_of_graph(const StreamPtr& stream) {
    check_usable();
    stream->check_usable();
    if (allocation_.kind != Kind::graph) {
        throw std::invalid_argument(
            "free_async: frees only memory that a node of a graph allocates; other memory is freed once no "
            "array uses it (array.close() ends the use of an array at once)");
    }
    refuse_legacy_in_capture(*stream, "cudaFreeAsync");
    Device& of_stream = stream->device();
    const DeviceScope scope(of_stream);
    const Enqueue enqueue(*stream);
    of_stream.check(of_stream.runtime().free_async(allocation_.pointer, stream->handle()), "cudaFreeAsync");
}

}  // namespace cuscope::core
