#include "core/memory/mipmapped_array.hpp"

#include <algorithm>

#include "core/graph/capture.hpp"
#include "core/stream/mark.hpp"

namespace cuscope::core {

std::shared_ptr<MipmappedMemory> MipmappedMemory::allocate(const DevicePtr& device,
                                                           const ChannelFormat& format, const Extent& extent,
                                                           unsigned levels, unsigned flags) {
    const DeviceScope scope(*device);
    device->sweep();
    const RelaxedCapture relaxed(*device);
    Runtime& runtime = device->runtime();
    MipmappedArrayHandle handle = nullptr;
    const Status status = device->allocate(
        [&] { return runtime.malloc_mipmapped_array(&handle, &format, extent, levels, flags); });
    if (status == Status::invalid_value && is_large(extent))
        device->fail(status, "cudaMallocMipmappedArray", {}, allowed_extents);
    device->check(status, "cudaMallocMipmappedArray");
    std::size_t bytes = static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
    for (const std::size_t axis : {extent.width, extent.height, extent.depth})
        bytes *= std::max<std::size_t>(1, axis);
    // Each level of a two-dimensional array has a quarter of the elements of the level before.
    return std::make_shared<MipmappedMemory>(device, handle, format, levels > 1 ? bytes + bytes / 3 : bytes);
}

MipmappedMemory::MipmappedMemory(const DevicePtr& device, MipmappedArrayHandle handle,
                                 const ChannelFormat& format, std::size_t bytes)
    : device_(device), handle_(handle), format_(format), bytes_(bytes), generation_(device->generation()) {}

MipmappedMemory::~MipmappedMemory() {
    release_after_uses(device_, generation_, "cudaFreeMipmappedArray", uses_.take(),
                       [handle = handle_](Runtime& runtime) { return runtime.free_mipmapped_array(handle); });
}

void MipmappedMemory::used_in(const StreamPtr& stream) {
    check_usable();
    uses_.add(stream);
}

std::shared_ptr<ArrayMemory> MipmappedMemory::level(unsigned index, const Extent& extent) {
    const DeviceScope scope(*device_);
    check_usable();
    ArrayHandle handle = nullptr;
    device_->check(device_->runtime().get_mipmapped_array_level(&handle, handle_, index),
                   "cudaGetMipmappedArrayLevel");
    return std::make_shared<ArrayMemory>(device_, handle, format_, extent, shared_from_this());
}

}  // namespace cuscope::core
