// CUDA arrays, and the texture and surface objects through which kernels read and write them. All of them
// outlive the commands that use them, as other memory does.
#pragma once

#include <cstddef>
#include <memory>

#include "core/memory/copy.hpp"

namespace cuscope::core {

// Is the extent so large that a runtime may refuse the array for it? Then allowed_extents is the hint, with
// the limits of devices of compute capability 6.0 and newer.
inline bool is_large(const Extent& extent) {
    const bool axes = extent.height > 0 || extent.depth > 0;
    return extent.width > (axes ? 16384u : 32768u) || extent.height > 16384 || extent.depth > 2048;
}
inline constexpr const char* allowed_extents =
    "Allowed are up to 131072 elements along one axis, 131072 x 65536 (width x height) of two, and "
    "16384 along each of three. Layered, cubemap and mipmapped arrays allow 32768 along an axis, and 2048 "
    "layers.";

class ArrayMemory final : public Memory {
  public:
    // The extent is in elements. Height and depth are 0 if the array has fewer axes.
    static std::shared_ptr<ArrayMemory> allocate(const DevicePtr& device, const ChannelFormat& format,
                                                 const Extent& extent, unsigned flags);

    Device& device() const override { return *device_; }
    std::size_t bytes() const override { return bytes_; }
    void used_in(const StreamPtr& stream) override;
    std::vector<StreamPtr> users() override { return whole_ ? whole_->users() : uses_.list(); }
    void check_usable() const { device_->check_generation(generation_, "CudaArray"); }
    ArrayHandle handle() const { return handle_; }
    const DevicePtr& device_pointer() const { return device_; }
    const Extent& extent() const { return extent_; }
    std::size_t element_bytes() const;

    // Copies all elements from or to pitched memory of the device, or of the host if `memory` is null.
    void copy(bool from_array, const PitchedPointer& other, const std::shared_ptr<DeviceMemory>& memory,
              const StreamPtr& stream, const KeepAlive& keep_alive);

    // `whole`: for a level of a mipmapped array, the mipmapped array, which owns the memory.
    ArrayMemory(const DevicePtr& device, ArrayHandle handle, const ChannelFormat& format,
                const Extent& extent, std::shared_ptr<Memory> whole = nullptr);
    ~ArrayMemory() override;

  private:
    DevicePtr device_;
    ArrayHandle handle_;
    ChannelFormat format_;
    Extent extent_;
    std::size_t bytes_;
    unsigned generation_;
    std::shared_ptr<Memory> whole_;
    Uses uses_;
};

// A texture or surface object. It keeps the array or memory that it reads alive.
class TextureObject final : public Memory {
  public:
    static std::shared_ptr<TextureObject> texture(const DevicePtr& device,
                                                  const ResourceDescription& resource,
                                                  const TextureDescription& description,
                                                  std::shared_ptr<Memory> source);
    static std::shared_ptr<TextureObject> surface(const std::shared_ptr<ArrayMemory>& array);

    Device& device() const override { return *device_; }
    std::size_t bytes() const override { return source_->bytes(); }
    void used_in(const StreamPtr& stream) override;
    std::vector<StreamPtr> users() override { return uses_.list(); }
    unsigned long long handle() const { return handle_; }

    TextureObject(const DevicePtr& device, unsigned long long handle, bool is_surface,
                  std::shared_ptr<Memory> source);
    ~TextureObject() override;

  private:
    DevicePtr device_;
    unsigned long long handle_;
    bool is_surface_;
    std::shared_ptr<Memory> source_;
    unsigned generation_;
    Uses uses_;
};

}  // namespace cuscope::core
