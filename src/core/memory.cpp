#include "core/memory.hpp"

#include <algorithm>
#include <atomic>
#include <map>

#include "core/stream_mark.hpp"

namespace cuscope::core {
namespace {

std::atomic<std::size_t> live_device_memory{0}, live_pinned_memory{0};

// From here on streams that are given no more work are asked whether they are done, so that short-lived ones
// do not pile up.
constexpr std::size_t prune_at = 16;

bool is_idle(const Stream& stream) {
    Device& device = stream.device();
    const DeviceScope scope(device);
    const Status status = device.runtime().stream_query(stream.handle());
    if (status != Status::success && status != Status::not_ready) device.runtime().get_last_error();
    return status == Status::success;
}

// Page-locked memory by address, for the views of it that come without their owner.
struct Registry {
    std::mutex mutex;
    std::map<const std::byte*, std::weak_ptr<PinnedMemory>> entries;
};

Registry& registry() {
    static Registry* const instance = new Registry;  // outlives static destructors
    return *instance;
}

}  // namespace

bool Uses::add(const StreamPtr& stream) {
    if (last_.load(std::memory_order_relaxed) == stream.get()) return false;
    std::vector<StreamPtr> candidates;
    {
        const std::lock_guard lock(mutex_);
        last_.store(stream.get(), std::memory_order_relaxed);
        if (std::find(streams_.begin(), streams_.end(), stream) != streams_.end()) return false;
        streams_.push_back(stream);
        if (streams_.size() < prune_at) return true;
        candidates = streams_;
    }
    candidates.pop_back();
    std::erase_if(candidates,
                  [](const StreamPtr& candidate) { return !candidate->abandoned() || !is_idle(*candidate); });
    const std::lock_guard lock(mutex_);
    std::erase_if(streams_, [&](const StreamPtr& used) {
        return std::find(candidates.begin(), candidates.end(), used) != candidates.end();
    });
    return true;
}

std::vector<StreamPtr> Uses::take() {
    const std::lock_guard lock(mutex_);
    last_.store(nullptr, std::memory_order_relaxed);
    return std::move(streams_);
}

LiveCounts live_counts() noexcept { return {live_device_memory.load(), live_pinned_memory.load()}; }

std::shared_ptr<DeviceMemory> DeviceMemory::allocate(const StreamPtr& stream, std::size_t bytes) {
    stream->check_usable();
    Device& device = stream->device();
    const DeviceScope scope(device);
    device.sweep();
    Allocation allocation{nullptr, bytes, stream, nullptr};
    const unsigned generation = device.generation();
    if (bytes == 0) return std::make_shared<DeviceMemory>(allocation, generation);
    const Status status = device.runtime().malloc_async(&allocation.pointer, bytes, stream->handle());
    if (status != Status::success) {
        device.fail(status, "cudaMallocAsync", std::to_string(bytes) + " bytes on " + device.name(), {});
    }
    auto memory = std::make_shared<DeviceMemory>(allocation, generation);
    device.check(device.take_event(&memory->allocation_.allocated), "cudaEventCreateWithFlags");
    device.check(device.runtime().event_record_with_flags(memory->allocation_.allocated, stream->handle(), 0),
                 "cudaEventRecord");
    return memory;
}

DeviceMemory::DeviceMemory(Allocation allocation, unsigned generation)
    : allocation_(std::move(allocation)), generation_(generation) {
    ++live_device_memory;
}

void DeviceMemory::use(const StreamPtr& stream) {
    check_usable();
    if (stream == allocation_.stream || !uses_.add(stream)) return;
    if (stream->implicitly_ordered_with(*allocation_.stream) || allocation_.allocated == nullptr) return;
    Device& device = stream->device();
    device.check(device.runtime().stream_wait_event(stream->handle(), allocation_.allocated, 0),
                 "cudaStreamWaitEvent");
}

namespace {

// Frees in stream order; if that is refused, waits and frees at once, so that nothing leaks.
Status free_in_order(const DeviceMemory::Allocation& allocation, const std::vector<StreamPtr>& used) {
    Device& device = allocation.stream->device();
    Runtime& runtime = device.runtime();
    Status status = Status::success;
    for (const StreamPtr& stream : used) {
        if (status != Status::success || allocation.stream->implicitly_ordered_with(*stream)) continue;
        status = order(*allocation.stream, *stream);
    }
    if (status == Status::success)
        status = runtime.free_async(allocation.pointer, allocation.stream->handle());
    if (status == Status::success || is_sticky(status)) return status;
    for (const StreamPtr& stream : used) {
        const DeviceScope scope(stream->device());
        stream->device().runtime().stream_synchronize(stream->handle());
    }
    runtime.stream_synchronize(allocation.stream->handle());
    status = runtime.free(allocation.pointer);
    runtime.get_last_error();
    return status;
}

}  // namespace

DeviceMemory::~DeviceMemory() {
    --live_device_memory;
    if (allocation_.pointer == nullptr) return;
    device().give_event(allocation_.allocated, generation_);
    Device& owner = device();
    owner.release(generation_, "cudaFreeAsync",
                  [allocation = std::move(allocation_), used = uses_.take()](Runtime&) {
                      return free_in_order(allocation, used);
                  });
}

std::shared_ptr<PinnedMemory> PinnedMemory::allocate(const DevicePtr& device, std::size_t bytes,
                                                     unsigned flags) {
    const DeviceScope scope(*device);
    device->sweep();
    Runtime& runtime = device->runtime();
    void* pointer = nullptr;
    const Status status = runtime.host_alloc(&pointer, bytes, flags);
    if (status != Status::success) {
        device->fail(status, "cudaHostAlloc", std::to_string(bytes) + " bytes of page-locked memory", {});
    }
    void* device_pointer = nullptr;
    if (runtime.host_get_device_pointer(&device_pointer, pointer, 0) != Status::success) {
        device_pointer = nullptr;  // not mapped: copies only
        runtime.get_last_error();
    }
    auto memory = std::make_shared<PinnedMemory>(device, pointer, bytes, device_pointer);
    const std::lock_guard lock(registry().mutex);
    registry().entries[static_cast<std::byte*>(pointer)] = memory;
    return memory;
}

std::shared_ptr<PinnedMemory> PinnedMemory::find(const Device& device, const void* address,
                                                 std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(address);
    std::shared_ptr<PinnedMemory> found;
    const std::lock_guard lock(registry().mutex);
    auto entry = registry().entries.upper_bound(first);
    if (entry == registry().entries.begin()) return nullptr;
    found = std::prev(entry)->second.lock();
    if (!found || &found->device().runtime() != &device.runtime()) return nullptr;
    const auto offset = static_cast<std::size_t>(first - static_cast<std::byte*>(found->pointer_));
    return offset + bytes <= found->bytes_ ? found : nullptr;
}

PinnedMemory::PinnedMemory(const DevicePtr& device, void* pointer, std::size_t bytes, void* device_pointer)
    : device_(device),
      pointer_(pointer),
      bytes_(bytes),
      device_pointer_(device_pointer),
      generation_(device->generation()) {
    ++live_pinned_memory;
}

void PinnedMemory::use(const StreamPtr& stream) {
    check_usable();
    uses_.add(stream);
}

void* PinnedMemory::device_address(const void* address) const {
    if (device_pointer_ == nullptr) return nullptr;
    const auto offset = static_cast<const std::byte*>(address) - static_cast<std::byte*>(pointer_);
    return static_cast<std::byte*>(device_pointer_) + offset;
}

namespace {

void free_after_uses(Device& device, void* pointer, unsigned generation, const std::vector<StreamPtr>& used) {
    std::vector<StreamMark> marks;
    for (const StreamPtr& stream : used) marks.push_back(mark(stream));
    auto attempt = [&device, pointer, generation, marks = std::move(marks)]() mutable {
        std::erase_if(marks, [](const StreamMark& mark) { return is_past(mark); });
        if (!marks.empty()) return false;
        device.release(generation, "cudaFreeHost",
                       [pointer](Runtime& runtime) { return runtime.free_host(pointer); });
        return true;
    };
    if (!attempt()) device.retire(std::move(attempt));
}

}  // namespace

PinnedMemory::~PinnedMemory() {
    --live_pinned_memory;
    {
        const std::lock_guard lock(registry().mutex);
        registry().entries.erase(static_cast<std::byte*>(pointer_));
    }
    // The host owns the pages, so no stream can free them: they go when every stream is past its uses.
    Device& device = *device_;
    device.release(generation_, "cudaFreeHost",
                   [owner = std::move(device_), pointer = pointer_, generation = generation_,
                    used = uses_.take()](Runtime&) {
                       free_after_uses(*owner, pointer, generation, used);
                       return Status::success;
                   });
}

}  // namespace cuscope::core
