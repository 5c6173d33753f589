// Owns one handle of the runtime together with the device that it belongs to, so that its owner needs no
// destructor and no hand-written move. Resources that may only be released after streams have finished use
// release_after_uses() in memory/memory.hpp instead.
#pragma once

#include <utility>

#include "core/device/device.hpp"

namespace cuscope::core {

// Traits: `Handle`; `static Status destroy(Runtime&, Handle)`; `call`, the name of the destroying function.
template <class Traits>
class unique_handle {
  public:
    using Handle = typename Traits::Handle;

    unique_handle() = default;
    unique_handle(DevicePtr device, Handle handle)
        : device_(std::move(device)), generation_(device_->generation()), handle_(handle) {}
    unique_handle(unique_handle&& other) noexcept { swap(other); }
    unique_handle& operator=(unique_handle&& other) noexcept {
        unique_handle(std::move(other)).swap(*this);
        return *this;
    }
    ~unique_handle() {
        if (handle_ == Handle{}) return;
        device_->release(generation_, Traits::call,
                         [handle = handle_](Runtime& runtime) { return Traits::destroy(runtime, handle); });
    }

    Handle get() const { return handle_; }
    // To be called when the runtime has destroyed the handle already.
    void forget() { handle_ = Handle{}; }
    Device& device() const { return *device_; }
    unsigned generation() const { return generation_; }

  private:
    void swap(unique_handle& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(generation_, other.generation_);
        std::swap(handle_, other.handle_);
    }

    DevicePtr device_;
    unsigned generation_ = 0;
    Handle handle_{};
};

}  // namespace cuscope::core
