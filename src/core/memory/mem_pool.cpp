#include "core/memory/mem_pool.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "core/graph/capture.hpp"
#include "core/memory/kept_memory.hpp"
#include "core/memory/small_blocks.hpp"

namespace cuscope::core {
namespace {

// All pools that were made, so that a device can be given access to all pools of another.
struct PoolRegistry {
    std::mutex mutex;
    std::vector<std::weak_ptr<MemPool>> pools;
};

PoolRegistry& pool_registry() {
    static PoolRegistry* const instance = new PoolRegistry;  // outlives static destructors
    return *instance;
}

std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

void give_access(const MemPool& pool, int other, MemAccess access) {
    const DeviceScope scope(*pool.device());
    const RelaxedCapture relaxed(*pool.device());
    const MemAccessDescription description{{MemLocationType::device, other}, access};
    pool.device()->check(pool.device()->runtime().mem_pool_set_access(pool.handle(), &description, 1),
                         "cudaMemPoolSetAccess");
}

}  // namespace

MemPool::MemPool(DevicePtr device, MemPoolHandle handle, std::size_t limit, bool owned)
    : device_(std::move(device)),
      generation_(device_->generation()),
      handle_(handle),
      limit_(limit),
      owned_(owned),
      serial_(owned ? next_serial() : 0) {}

// CUDA's documentation allows destroying a pool before its frees are done. Waiting for them lets all of its
// memory go back to the device at once.
MemPool::~MemPool() {
    if (!owned_) return;
    release_after_uses(device_, generation_, "cudaMemPoolDestroy", frees_.take(),
                       [handle = handle_](Runtime& runtime) { return runtime.mem_pool_destroy(handle); });
}

std::shared_ptr<MemPool> MemPool::create(const DevicePtr& device, std::size_t limit) {
    const DeviceScope scope(*device);
    const MemPoolProperties properties{{MemLocationType::device, device->ordinal()}, limit};
    const RelaxedCapture relaxed(*device);
    MemPoolHandle handle = nullptr;
    device->check(device->runtime().mem_pool_create(&handle, &properties), "cudaMemPoolCreate");
    auto pool = std::make_shared<MemPool>(device, handle, limit, true);
    {
        const std::lock_guard lock(pool_registry().mutex);
        std::erase_if(pool_registry().pools, [](const auto& made) { return made.expired(); });
        pool_registry().pools.push_back(pool);
    }
    // The pool is registered now, so a device that is given access from here on also gets it to this pool.
    for (const int other : device->reached_by()) give_access(*pool, other, MemAccess::read_write);
    for (const int other : device->copied_by()) give_access(*pool, other, MemAccess::read_write);
    return pool;
}

bool MemPool::let_copy(Device& device, const DeviceMemory& memory) {
    Device& owner = memory.device();
    // Memory of another library may come from a pool too, most likely the device's default pool.
    const bool may_be_of_pool =
        memory.kind() == DeviceMemory::Kind::pooled || memory.kind() == DeviceMemory::Kind::foreign;
    if (&owner == &device || !may_be_of_pool || device.reaches(owner)) return true;
    const std::vector<int> by = owner.copied_by();
    if (std::find(by.begin(), by.end(), device.ordinal()) != by.end()) return true;
    if (!device.can_access_peer(owner)) return false;
    set_access(owner, device.ordinal(), MemAccess::read_write);
    owner.note_copied_by(device.ordinal());
    // Repeated, for a pool that was made after the first call had listed the pools and before the device was
    // noted.
    set_access(owner, device.ordinal(), MemAccess::read_write);
    return true;
}

void MemPool::set_access(Device& owner, int other, MemAccess access) {
    std::vector<std::shared_ptr<MemPool>> pools;
    {
        const std::lock_guard lock(pool_registry().mutex);
        for (const auto& made : pool_registry().pools) {
            auto pool = made.lock();
            if (pool && pool->device_.get() == &owner && pool->generation_ == owner.generation())
                pools.push_back(std::move(pool));
        }
    }
    pools.push_back(default_of(owner.shared_from_this()));
    for (const auto& pool : pools) give_access(*pool, other, access);
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
    return current ? current : default_of(device);
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

std::shared_ptr<MemPool> MemPool::of_results(const Stream& stream, std::size_t bytes) {
    Device& device = stream.device();
    if (bytes <= SmallBlocks::most_bytes || !keeps_memory() || stream.capturing() || device.current_pool())
        return nullptr;
    if (auto known = std::static_pointer_cast<MemPool>(device.result_pool())) return known;
    try {
        const auto made = create(device.shared_from_this(), 0);
        made->set_attribute(MemPoolAttribute::release_threshold, kept_memory(device));
        device.set_result_pool(made);
        return made;
    } catch (const Error&) {  // the current pool serves as well
        return nullptr;
    }
}

std::uint64_t MemPool::attribute(MemPoolAttribute attribute) const {
    if (!owned_ && !Look::active()) release_small_blocks(*device_);  // no array uses them
    const DeviceScope scope(*device_);
    const RelaxedCapture relaxed(*device_);
    std::uint64_t value = 0;
    device_->check(device_->runtime().mem_pool_get_attribute(handle(), attribute, &value),
                   "cudaMemPoolGetAttribute");
    return value;
}

void MemPool::set_attribute(MemPoolAttribute attribute, std::uint64_t value) {
    const DeviceScope scope(*device_);
    const RelaxedCapture relaxed(*device_);
    device_->check(device_->runtime().mem_pool_set_attribute(handle(), attribute, value),
                   "cudaMemPoolSetAttribute");
}

void MemPool::trim(std::size_t keep) {
    const DeviceScope scope(*device_);
    device_->sweep();
    if (!owned_) {
        release_small_blocks(*device_);
        if (const auto results = std::static_pointer_cast<MemPool>(device_->result_pool())) results->trim(0);
    }
    const RelaxedCapture relaxed(*device_);
    device_->check(device_->runtime().mem_pool_trim_to(handle(), keep), "cudaMemPoolTrimTo");
}

}  // namespace cuscope::core
