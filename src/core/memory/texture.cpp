#include "core/memory/texture.hpp"

#include <algorithm>

#include "core/memory/host_memory.hpp"
#include "core/stream/same_device.hpp"

namespace cuscope::core {
namespace {

std::size_t element_size(const ChannelFormat& format) {
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}

std::size_t at_least_1(std::size_t extent) { return std::max<std::size_t>(1, extent); }

}  // namespace

std::shared_ptr<ArrayMemory> ArrayMemory::allocate(const DevicePtr& device, const ChannelFormat& format,
                                                   const Extent& extent, unsigned flags) {
    const DeviceScope scope(*device);
    device->sweep();
    const RelaxedCapture relaxed(*device);
    Runtime& runtime = device->runtime();
    ArrayHandle handle = nullptr;
    const bool volume = extent.depth > 0;
    const Status status = device->allocate([&] {
        return volume ? runtime.malloc_3d_array(&handle, &format, extent, flags)
                      : runtime.malloc_array(&handle, &format, extent.width, extent.height, flags);
    });
    const char* const call = volume ? "cudaMalloc3DArray" : "cudaMallocArray";
    if (status == Status::invalid_value && is_large(extent)) device->fail(status, call, {}, allowed_extents);
    device->check(status, call);
    return std::make_shared<ArrayMemory>(device, handle, format, extent);
}

ArrayMemory::ArrayMemory(const DevicePtr& device, ArrayHandle handle, const ChannelFormat& format,
                         const Extent& extent, std::shared_ptr<Memory> whole)
    : device_(device),
      handle_(handle),
      format_(format),
      extent_(extent),
      bytes_(element_size(format) * extent.width * at_least_1(extent.height) * at_least_1(extent.depth)),
      generation_(device->generation()),
      whole_(std::move(whole)) {}

ArrayMemory::~ArrayMemory() {
    if (whole_) return;
    release_after_uses(device_, generation_, "cudaFreeArray", uses_.take(),
                       [handle = handle_](Runtime& runtime) { return runtime.free_array(handle); });
}

std::size_t ArrayMemory::element_bytes() const { return element_size(format_); }

void ArrayMemory::used_in(const StreamPtr& stream) {
    check_usable();
    if (whole_) return whole_->used_in(stream);
    uses_.add(stream);
}

void ArrayMemory::copy(bool from_array, const PitchedPointer& other,
                       const std::shared_ptr<DeviceMemory>& memory, const StreamPtr& stream,
                       const KeepAlive& keep_alive) {
    stream->check_usable();
    Device& on = stream->device();
    check_same_device({"array"}, *device_, *stream);
    refuse_legacy_in_capture(*stream, "cudaMemcpy3DAsync");
    const DeviceScope scope(on);
    const Enqueue enqueue(*stream);
    use(stream, enqueue);
    if (memory) memory->use(stream, enqueue);
    Memcpy3DParameters p;
    p.extent = {extent_.width, at_least_1(extent_.height), at_least_1(extent_.depth)};
    if (from_array) {
        p.source_array = handle_;
        p.destination = other;
    } else {
        p.destination_array = handle_;
        p.source = other;
    }
    p.kind = memory       ? MemcpyKind::device_to_device
             : from_array ? MemcpyKind::device_to_host
                          : MemcpyKind::host_to_device;
    if (memory && memory->host_pointer() != nullptr) p.kind = MemcpyKind::by_address;
    with_host_memory(memory ? nullptr : other.pointer, bytes_, stream, enqueue, keep_alive, [&](bool) {
        on.check_wait(on.runtime().memcpy_3d_async(&p, stream->handle()), "cudaMemcpy3DAsync");
    });
}

std::shared_ptr<TextureObject> TextureObject::texture(const DevicePtr& device,
                                                      const ResourceDescription& resource,
                                                      const TextureDescription& description,
                                                      std::shared_ptr<Memory> source) {
    const DeviceScope scope(*device);
    device->sweep();
    const RelaxedCapture relaxed(*device);
    TextureHandle handle = 0;
    device->check(device->runtime().create_texture_object(&handle, &resource, &description),
                  "cudaCreateTextureObject");
    return std::make_shared<TextureObject>(device, handle, false, std::move(source));
}

std::shared_ptr<TextureObject> TextureObject::surface(const std::shared_ptr<ArrayMemory>& array) {
    const DevicePtr device = array->device_pointer();
    const DeviceScope scope(*device);
    array->check_usable();
    device->sweep();
    ResourceDescription resource;
    resource.array = array->handle();
    const RelaxedCapture relaxed(*device);
    SurfaceHandle handle = 0;
    device->check(device->runtime().create_surface_object(&handle, &resource), "cudaCreateSurfaceObject");
    return std::make_shared<TextureObject>(device, handle, true, array);
}

TextureObject::TextureObject(const DevicePtr& device, unsigned long long handle, bool is_surface,
                             std::shared_ptr<Memory> source)
    : device_(device),
      handle_(handle),
      is_surface_(is_surface),
      source_(std::move(source)),
      generation_(device->generation()) {}

TextureObject::~TextureObject() {
    // The source is released after the object that reads it.
    release_after_uses(device_, generation_,
                       is_surface_ ? "cudaDestroySurfaceObject" : "cudaDestroyTextureObject", uses_.take(),
                       [handle = handle_, is_surface = is_surface_, source = source_](Runtime& runtime) {
                           return is_surface ? runtime.destroy_surface_object(handle)
                                             : runtime.destroy_texture_object(handle);
                       });
}

void TextureObject::used_in(const StreamPtr& stream) {
    device_->check_generation(generation_, is_surface_ ? "Surface" : "Texture");
    source_->used_in(stream);
    uses_.add(stream);
}

}  // namespace cuscope::core
