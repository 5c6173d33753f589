// Mipmapped arrays: a chain of levels, each a CUDA array half as large as the level before.
#pragma once

#include <memory>

#include "core/memory/texture.hpp"

namespace cuscope::core {

class MipmappedMemory final : public Memory {
  public:
    // `extent` is that of level 0.
    static std::shared_ptr<MipmappedMemory> allocate(const DevicePtr& device, const ChannelFormat& format,
                                                     const Extent& extent, unsigned levels, unsigned flags);

    Device& device() const override { return *device_; }
    std::size_t bytes() const override { return bytes_; }
    void used_in(const StreamPtr& stream) override;
    std::vector<StreamPtr> users() override { return uses_.list(); }
    void check_usable() const { device_->check_generation(generation_, "MipmappedArray"); }
    MipmappedArrayHandle handle() const { return handle_; }

    // One level. It keeps the whole mipmapped array alive.
    std::shared_ptr<ArrayMemory> level(unsigned index, const Extent& extent);

    MipmappedMemory(const DevicePtr& device, MipmappedArrayHandle handle, const ChannelFormat& format,
                    std::size_t bytes);
    ~MipmappedMemory() override;

  private:
    DevicePtr device_;
    MipmappedArrayHandle handle_;
    ChannelFormat format_;
    std::size_t bytes_;  // of all levels, approximately
    unsigned generation_;
    Uses uses_;
};

}  // namespace cuscope::core
