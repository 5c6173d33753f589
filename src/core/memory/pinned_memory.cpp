// Page-locked host memory, and the host addresses that the runtime gave out.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>

#include "core/graph/capture.hpp"
#include "core/memory/host_ranges.hpp"
#include "core/memory/memory.hpp"
#include "runtime/checking.hpp"

namespace cuscope::core {
namespace {

std::atomic<std::size_t> live_pinned_memory{0};

// Page-locked memory by address, to find it for NumPy views that come without their owner.
struct MemoryRegistry {
    struct HostRange {
        const Device* device;
        std::size_t bytes;
    };
    std::mutex mutex;
    std::map<const std::byte*, std::weak_ptr<PinnedMemory>> entries;
    std::multimap<const void*, HostRange> host_ranges;  // allocated by the runtime, page-locked or managed
};

MemoryRegistry& memory_registry() {
    static MemoryRegistry* const instance = new MemoryRegistry;  // outlives static destructors
    return *instance;
}

}  // namespace

void note_host_range(const void* pointer, const Device& device, std::size_t bytes) {
    const std::lock_guard lock(memory_registry().mutex);
    memory_registry().host_ranges.insert({pointer, {&device, bytes}});
}

void forget_host_range(const void* pointer, const Device& device) {
    auto& ranges = memory_registry().host_ranges;
    const std::lock_guard lock(memory_registry().mutex);
    const auto [first, last] = ranges.equal_range(pointer);
    const auto found =
        std::find_if(first, last, [&](const auto& range) { return range.second.device == &device; });
    if (found != last) ranges.erase(found);
}

void keep_host_addresses(const Device& device) noexcept {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::lock_guard lock(memory_registry().mutex);
    for (const auto& [pointer, range] : memory_registry().host_ranges) {
        if (range.device != &device) continue;
        const auto begin = reinterpret_cast<std::uintptr_t>(pointer) / page * page;
        const auto end = (reinterpret_cast<std::uintptr_t>(pointer) + range.bytes + page - 1) / page * page;
        // Fails if the range is in use by now: by another array on the same page, or by a newer mapping.
        ::mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    }
}

std::size_t PinnedMemory::live() noexcept { return live_pinned_memory.load(); }

namespace {

// Null: not mapped, so usable for copies only.
void* device_view(Runtime& runtime, void* pointer) {
    void* view = nullptr;
    if (runtime.host_get_device_pointer(&view, pointer, 0) == Status::success) return view;
    runtime.get_last_error();
    return nullptr;
}

void leave(const PinnedMemory* memory) {
    std::shared_ptr<PinnedMemory> entered;  // destroyed after the lock is released
    const std::lock_guard lock(memory_registry().mutex);
    const auto entry = memory_registry().entries.find(static_cast<std::byte*>(memory->pointer()));
    if (entry == memory_registry().entries.end()) return;
    entered = entry->second.lock();
    if (!entered || entered.get() == memory) memory_registry().entries.erase(entry);
}

}  // namespace

std::shared_ptr<PinnedMemory> PinnedMemory::allocate(const DevicePtr& device, std::size_t bytes,
                                                     unsigned flags) {
    const DeviceScope scope(*device);
    device->sweep();
    const RelaxedCapture relaxed(*device);
    Runtime& runtime = device->runtime();
    void* pointer = nullptr;
    device->limit_put_off();
    const Status status = device->allocate([&] { return runtime.host_alloc(&pointer, bytes, flags); });
    if (status != Status::success) {
        device->fail(status, "cudaHostAlloc", std::to_string(bytes) + " bytes of page-locked memory", {});
    }
    note_host_range(pointer, *device, bytes);
    if (checking()) label_memory(pointer, bytes);
    return enter(std::make_shared<PinnedMemory>(device, pointer, bytes, device_view(runtime, pointer)));
}

std::shared_ptr<PinnedMemory> PinnedMemory::register_memory(const DevicePtr& device, void* pointer,
                                                            std::size_t bytes, unsigned flags,
                                                            std::shared_ptr<void> owner) {
    const DeviceScope scope(*device);
    device->sweep();
    const RelaxedCapture relaxed(*device);
    Runtime& runtime = device->runtime();
    const Status status = runtime.host_register(pointer, bytes, flags);
    if (status != Status::success) {
        device->fail(status, "cudaHostRegister", std::to_string(bytes) + " bytes of host memory", {});
    }
    return enter(std::make_shared<PinnedMemory>(device, pointer, bytes, device_view(runtime, pointer),
                                                std::move(owner)));
}

std::shared_ptr<PinnedMemory> PinnedMemory::enter(const std::shared_ptr<PinnedMemory>& memory) {
    const std::lock_guard lock(memory_registry().mutex);
    memory_registry().entries[static_cast<std::byte*>(memory->pointer_)] = memory;
    return memory;
}

namespace {

std::shared_mutex& registration_mutex() {
    static auto* const mutex = new std::shared_mutex;  // outlives static destructors
    return *mutex;
}

}  // namespace

std::shared_lock<std::shared_mutex> PinnedMemory::stay_registered() {
    return locked<std::shared_lock<std::shared_mutex>>(registration_mutex());
}

void PinnedMemory::unregister() {
    {
        const auto lock = locked<std::unique_lock<std::shared_mutex>>(registration_mutex());
        if (closed_.exchange(true)) return;
    }
    try {
        if (device_->generation() == generation_) {
            for (const StreamPtr& stream : uses_.list()) {
                Device& on = stream->device();
                const DeviceScope scope(on);
                const RelaxedCapture relaxed(on);
                on.check_wait(on.runtime().stream_synchronize(stream->handle()), "cudaStreamSynchronize");
            }
            const DeviceScope scope(*device_);
            const RelaxedCapture relaxed(*device_);
            device_->check_wait(device_->runtime().host_unregister(pointer_), "cudaHostUnregister");
        }
    } catch (...) {
        closed_ = false;  // it is still locked, and may be closed again
        throw;
    }
    uses_.take();
    leave(this);
}

std::shared_ptr<PinnedMemory> PinnedMemory::find(const Device& device, const void* address,
                                                 std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(address);
    std::shared_ptr<PinnedMemory> found;
    MemoryRegistry& registry = memory_registry();
    const std::lock_guard lock(registry.mutex);
    auto entry = registry.entries.upper_bound(first);
    if (entry == registry.entries.begin()) return nullptr;
    found = std::prev(entry)->second.lock();
    if (!found || found->closed_ || !found->device().shares_runtime(device)) return nullptr;
    const auto offset = static_cast<std::size_t>(first - static_cast<std::byte*>(found->pointer_));
    return offset + bytes <= found->bytes_ ? found : nullptr;
}

bool PinnedMemory::is_page_locked(const void* address, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(address);
    std::shared_ptr<PinnedMemory> found;  // destroyed after the lock is released
    const std::lock_guard lock(memory_registry().mutex);
    auto entry = memory_registry().entries.upper_bound(first);
    if (entry == memory_registry().entries.begin()) return false;
    found = std::prev(entry)->second.lock();
    if (!found || found->closed_) return false;
    return static_cast<std::size_t>(first - static_cast<std::byte*>(found->pointer_)) + bytes <=
           found->bytes_;
}

PinnedMemory::PinnedMemory(const DevicePtr& device, void* pointer, std::size_t bytes, void* device_pointer,
                           std::shared_ptr<void> owner)
    : device_(device),
      pointer_(pointer),
      bytes_(bytes),
      device_pointer_(device_pointer),
      generation_(device->generation()),
      owner_(std::move(owner)) {
    ++live_pinned_memory;
}

void PinnedMemory::used_in(const StreamPtr& stream) {
    check_usable();
    uses_.add(stream);
}

void* PinnedMemory::device_address(const void* address) const {
    if (device_pointer_ == nullptr) return nullptr;
    const auto offset = static_cast<const std::byte*>(address) - static_cast<std::byte*>(pointer_);
    return static_cast<std::byte*>(device_pointer_) + offset;
}

// The host owns the pages, so no stream can free them: they are freed when every stream has finished its
// uses.
PinnedMemory::~PinnedMemory() {
    --live_pinned_memory;
    if (!owner_) forget_host_range(pointer_, *device_);
    if (closed_) return;
    leave(this);
    release_after_uses(
        device_, generation_, owner_ ? "cudaHostUnregister" : "cudaFreeHost", uses_.take(),
        [pointer = pointer_, owner = owner_](Runtime& runtime) {
            return owner ? runtime.host_unregister(pointer) : runtime.free_host(pointer);
        },
        owner_ ? 0 : bytes_);
}

}  // namespace cuscope::core
