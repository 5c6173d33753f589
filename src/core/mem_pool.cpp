#include "core/mem_pool.hpp"

namespace cuscope::core {

MemPool::MemPool(DevicePtr device, MemPoolHandle handle, std::size_t limit, bool owned)
    : device_(std::move(device)),
      generation_(device_->generation()),
      handle_(handle),
      limit_(limit),
      owned_(owned) {
    if (owned) owner_ = unique_handle<MemPoolTraits>(device_, handle);
}

std::shared_ptr<MemPool> MemPool::create(const DevicePtr& device, std::size_t limit) {
    const DeviceScope scope(*device);
    const MemPoolProperties properties{{MemLocationType::device, device->ordinal()}, limit};
    MemPoolHandle handle = nullptr;
    device->check(device->runtime().mem_pool_create(&handle, &properties), "cudaMemPoolCreate");
    return std::make_shared<MemPool>(device, handle, limit, true);
}

std::shared_ptr<MemPool> MemPool::default_of(const DevicePtr& device) {
    const DeviceScope scope(*device);
    MemPoolHandle handle = nullptr;
    device->check(device->runtime().device_get_default_mem_pool(&handle, device->ordinal()),
                  "cudaDeviceGetDefaultMemPool");
    return std::make_shared<MemPool>(device, handle, 0, false);
}

std::shared_ptr<MemPool> MemPool::current_of(const DevicePtr& device) {
    auto current = std::static_pointer_cast<MemPool>(device->current_pool());
    if (current && current->generation_ == device->generation()) return current;
    return default_of(device);
}

void MemPool::make_current(const std::shared_ptr<MemPool>& pool) {
    Device& device = *pool->device_;
    const DeviceScope scope(device);
    device.check(device.runtime().device_set_mem_pool(device.ordinal(), pool->handle()),
                 "cudaDeviceSetMemPool");
    device.set_current_pool(pool->owned_ ? pool : nullptr);
}

MemPoolHandle MemPool::handle() const {
    if (owned_) device_->check_generation(generation_, "MemoryPool");
    return handle_;
}

std::uint64_t MemPool::attribute(MemPoolAttribute attribute) const {
    const DeviceScope scope(*device_);
    std::uint64_t value = 0;
    device_->check(device_->runtime().mem_pool_get_attribute(handle(), attribute, &value),
                   "cudaMemPoolGetAttribute");
    return value;
}

void MemPool::set_attribute(MemPoolAttribute attribute, std::uint64_t value) {
    const DeviceScope scope(*device_);
    device_->check(device_->runtime().mem_pool_set_attribute(handle(), attribute, value),
                   "cudaMemPoolSetAttribute");
}

void MemPool::trim(std::size_t keep) {
    const DeviceScope scope(*device_);
    device_->sweep();
    device_->check(device_->runtime().mem_pool_trim_to(handle(), keep), "cudaMemPoolTrimTo");
}

}  // namespace cuscope::core
