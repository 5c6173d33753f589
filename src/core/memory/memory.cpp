#include "core/memory/memory.hpp"

#include <algorithm>
#include <atomic>

#include "core/graph/capture.hpp"
#include "core/memory/host_ranges.hpp"
#include "core/memory/mem_pool.hpp"
#include "core/memory/small_blocks.hpp"
#include "core/stream/mark.hpp"
#include "runtime/checking.hpp"

namespace cuscope::core {
namespace {

std::atomic<std::size_t> live_device_memory{0};

// When a list of streams reaches this length, idle streams are removed, so that short-lived streams do not
// pile up.
constexpr std::size_t prune_at = 16;

bool is_idle(const Stream& stream) {
    Device& device = stream.device();
    const DeviceScope scope(device);
    const RelaxedCapture relaxed(device);
    const NoWait tidying;  // for checks: the program has not asked
    const Status status = device.runtime().stream_query(stream.handle());
    if (status != Status::success && status != Status::not_ready) device.runtime().get_last_error();
    return status == Status::success;
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

std::vector<StreamPtr> Uses::list() {
    const std::lock_guard lock(mutex_);
    return streams_;
}

void Memory::use_in_capture(const StreamPtr& stream) {
    if (const auto capture = stream->capture()) capture->keep(shared_from_this());
}

LiveCounts live_counts() noexcept { return {live_device_memory.load(), PinnedMemory::live()}; }

std::shared_ptr<DeviceMemory> DeviceMemory::allocate(const StreamPtr& stream, std::size_t bytes,
                                                     const std::shared_ptr<MemPool>& pool) {
    stream->check_usable();
    Device& device = stream->device();
    const Enqueue enqueue(*stream);
    // Memory allocated during a capture exists at once and is kept by the graph.
    if (const auto capture = stream->capture()) {
        auto memory = allocate_plain(device.shared_from_this(), bytes);
        capture->keep(std::static_pointer_cast<Memory>(memory));
        return memory;
    }
    refuse_legacy_in_capture(*stream, "cudaMallocAsync");
    const DeviceScope scope(device);
    device.sweep();
    const RelaxedCapture relaxed(device);
    Allocation allocation;
    allocation.bytes = bytes;
    allocation.stream = stream;
    const unsigned generation = device.generation();
    if (bytes == 0) return std::make_shared<DeviceMemory>(allocation, generation);
    const auto from = pool ? pool : std::static_pointer_cast<MemPool>(device.current_pool());
    // Checks tell freed memory from used memory, so no block is kept for them.
    SmallBlocks* const kept = from || in_host_function() || checking() ? nullptr : stream->small_blocks();
    if (kept != nullptr && bytes <= SmallBlocks::most_bytes) {
        SmallBlocks::Block block = kept->take(*stream, bytes);
        if (block.pointer != nullptr) {
            allocation.pointer = block.pointer;
            allocation.allocated = std::move(block.since);
            return std::make_shared<DeviceMemory>(std::move(allocation), generation);
        }
    }
    allocation.owner = from;
    Runtime& runtime = device.runtime();
    const Status status = device.allocate([&] {
        return from ? runtime.malloc_from_pool_async(&allocation.pointer, bytes, from->handle(),
                                                     stream->handle())
                    : runtime.malloc_async(&allocation.pointer, bytes, stream->handle());
    });
    if (status != Status::success) {
        device.fail(status, from ? "cudaMallocFromPoolAsync" : "cudaMallocAsync",
                    std::to_string(bytes) + " bytes on " + device.name(), {});
    }
    if (checking()) label_memory(allocation.pointer, bytes);
    auto memory = std::make_shared<DeviceMemory>(std::move(allocation), generation);
    memory->allocation_.allocated = RecordedEvent::in(*stream);
    return memory;
}

namespace {

template <class Call>
std::shared_ptr<DeviceMemory> make_memory(const DevicePtr& device, std::size_t bytes, DeviceMemory::Kind kind,
                                          const char* name, Call&& call) {
    const DeviceScope scope(*device);
    device->sweep();
    const RelaxedCapture relaxed(*device);
    DeviceMemory::Allocation allocation;
    allocation.bytes = bytes;
    allocation.stream = device->legacy_stream();
    allocation.kind = kind;
    const unsigned generation = device->generation();
    if (bytes > 0) {
        if (kind == DeviceMemory::Kind::managed) device->limit_put_off();
        const Status status = device->allocate([&] { return call(device->runtime(), &allocation.pointer); });
        if (status != Status::success) {
            device->fail(status, name, std::to_string(bytes) + " bytes on " + device->name(), {});
        }
    }
    if (checking() && bytes > 0) label_memory(allocation.pointer, bytes);
    if (kind == DeviceMemory::Kind::managed) {
        allocation.host_pointer = allocation.pointer;
        if (bytes > 0) note_host_range(allocation.pointer, *device, bytes);
    }
    return std::make_shared<DeviceMemory>(std::move(allocation), generation);
}

}  // namespace

std::shared_ptr<DeviceMemory> DeviceMemory::allocate_plain(const DevicePtr& device, std::size_t bytes) {
    return make_memory(device, bytes, Kind::plain, "cudaMalloc",
                       [&](Runtime& runtime, void** pointer) { return runtime.malloc(pointer, bytes); });
}

std::shared_ptr<DeviceMemory> DeviceMemory::allocate_pitched(const DevicePtr& device, const Extent& extent,
                                                             std::size_t* pitch) {
    PitchedPointer made;
    const bool volume = extent.depth != 1;
    auto memory =
        make_memory(device, extent.width * extent.height * extent.depth, Kind::plain,
                    volume ? "cudaMalloc3D" : "cudaMallocPitch", [&](Runtime& runtime, void** pointer) {
                        const Status status = volume ? runtime.malloc_3d(&made, extent)
                                                     : runtime.malloc_pitch(&made.pointer, &made.pitch,
                                                                            extent.width, extent.height);
                        *pointer = made.pointer;
                        return status;
                    });
    memory->allocation_.bytes = made.pitch * extent.height * extent.depth;
    *pitch = made.pitch;
    return memory;
}

std::shared_ptr<DeviceMemory> DeviceMemory::allocate_managed(const DevicePtr& device, std::size_t bytes,
                                                             unsigned flags) {
    return make_memory(
        device, bytes, Kind::managed, "cudaMallocManaged",
        [&](Runtime& runtime, void** pointer) { return runtime.malloc_managed(pointer, bytes, flags); });
}

std::shared_ptr<DeviceMemory> DeviceMemory::borrow(const DevicePtr& device, void* pointer, void* host_pointer,
                                                   std::size_t bytes, std::shared_ptr<void> owner,
                                                   Memory* used) {
    Allocation allocation;
    allocation.pointer = pointer;
    allocation.bytes = bytes;
    allocation.stream = device->legacy_stream();
    allocation.kind = Kind::borrowed;
    allocation.host_pointer = host_pointer;
    allocation.owner = std::move(owner);
    allocation.used = used;
    return std::make_shared<DeviceMemory>(std::move(allocation), device->generation());
}

std::shared_ptr<DeviceMemory> DeviceMemory::adopt(const DevicePtr& device, void* pointer, void* host_pointer,
                                                  std::size_t bytes, std::shared_ptr<void> owner,
                                                  const StreamPtr& ready, bool in_order) {
    Allocation allocation;
    allocation.pointer = pointer;
    allocation.bytes = bytes;
    allocation.stream = ready ? ready : device->legacy_stream();
    allocation.ready = ready;
    allocation.kind = Kind::foreign;
    allocation.host_pointer = host_pointer;
    allocation.owner = std::move(owner);
    allocation.device = device;
    allocation.in_order = in_order;
    auto memory = std::make_shared<DeviceMemory>(std::move(allocation), device->generation());
    if (!ready) return memory;
    ready->check_usable();
    // Recording an event in a stream of another library could invalidate a capture. In that case the users of
    // the memory wait for the stream itself, if its handle will still be valid.
    if (captures_underway() > 0) {
        if (!ready->lasts()) memory->allocation_.ready = nullptr;
        return memory;
    }
    Device& from = ready->device();
    const DeviceScope scope(from);
    memory->allocation_.allocated = RecordedEvent::in(*ready);
    return memory;
}

DeviceMemory::DeviceMemory(Allocation allocation, unsigned generation)
    : allocation_(std::move(allocation)), generation_(generation) {
    ++live_device_memory;
}

void DeviceMemory::used_in(const StreamPtr& stream) {
    check_usable();
    if (allocation_.used != nullptr) {
        allocation_.used->used_in(stream);
        return;
    }
    if (allocation_.kind == Kind::pooled && stream == allocation_.stream) return;
    if (!uses_.add(stream)) return;
    if (allocation_.allocated == nullptr) {
        if (allocation_.ready && !stream->implicitly_ordered_with(*allocation_.ready))
            stream->device().check(order(*stream, *allocation_.ready), "cudaStreamWaitEvent");
        return;
    }
    if (stream->implicitly_ordered_with(first_stream())) return;
    Device& device = stream->device();
    device.check(device.runtime().stream_wait_event(stream->handle(), allocation_.allocated->handle(), 0),
                 "cudaStreamWaitEvent");
}

std::vector<StreamPtr> DeviceMemory::users() {
    if (allocation_.used != nullptr) return allocation_.used->users();
    std::vector<StreamPtr> users = uses_.list();
    if (allocation_.kind == Kind::pooled) users.push_back(allocation_.stream);
    return users;
}

void DeviceMemory::make_wait(const StreamPtr& later) {
    check_usable();
    later->check_usable();
    Device& device = later->device();
    const DeviceScope scope(device);
    for (const StreamPtr& user : users()) {
        if (later->implicitly_ordered_with(*user)) continue;
        device.check(order(*later, *user), "cudaStreamWaitEvent");
    }
    if (allocation_.kind != Kind::foreign || allocation_.allocated == nullptr) return;
    if (later->implicitly_ordered_with(first_stream())) return;
    device.check(device.runtime().stream_wait_event(later->handle(), allocation_.allocated->handle(), 0),
                 "cudaStreamWaitEvent");
}

bool DeviceMemory::is_ready() const {
    if (allocation_.kind != Kind::foreign || allocation_.allocated == nullptr) return true;
    Runtime& runtime = first_stream().device().own_runtime();
    return runtime.look_at(allocation_.allocated->handle()).state == EventState::happened;
}

void DeviceMemory::lend(const StreamPtr& stream) {
    check_usable();
    stream->check_usable();
    const DeviceScope scope(stream->device());
    const Enqueue enqueue(*stream);
    use(stream, enqueue);
}

void DeviceMemory::outlast_call() {
    if (!allocation_.ready || allocation_.ready->lasts()) return;
    allocation_.stream = device().legacy_stream();
    allocation_.in_order = false;
}

void DeviceMemory::wait() {
    check_usable();
    for (const StreamPtr& user : users()) user->synchronize();
    if (allocation_.kind != Kind::foreign || allocation_.allocated == nullptr) return;
    Device& from = first_stream().device();
    const DeviceScope scope(from);
    const RelaxedCapture relaxed(from);
    from.check_wait(from.runtime().event_synchronize(allocation_.allocated->handle()),
                    "cudaEventSynchronize");
}

namespace {

// Frees in the order of the memory's stream. This can be refused: for a while by a capture, for good if the
// stream went with its library. Then the memory is freed like other memory: once the device is idle.
Status free_in_order(const DeviceMemory::Allocation& allocation) {
    Runtime& runtime = allocation.stream->device().runtime();
    const Status status = runtime.free_async(allocation.pointer, allocation.stream->handle());
    if (status == Status::success && allocation.owner)
        std::static_pointer_cast<MemPool>(allocation.owner)->freed_in(allocation.stream);
    if (status == Status::success || is_sticky(status) || is_put_off(status)) return status;
    runtime.get_last_error();
    return runtime.free(allocation.pointer);
}

// Memory that other streams use is freed in its stream's order only after these streams have finished with
// it, so that the stream never waits for them unless the memory is needed (see Device::retire).
void free_after_uses(const DevicePtr& device, unsigned generation, const DeviceMemory::Allocation& allocation,
                     const std::vector<StreamPtr>& used) noexcept {
    constexpr const char* call = "cudaFreeAsync";
    device->release(generation, call, [device, generation, allocation, used](Runtime&) {
        const auto marks = std::make_shared<std::vector<StreamMark>>();
        for (const StreamPtr& stream : used) marks->push_back(mark(stream));
        auto attempt = [raw = device.get(), generation, allocation, marks] {
            const NoWait::Again again;
            std::erase_if(*marks, [](const StreamMark& mark) { return is_past(mark); });
            if (!marks->empty()) return false;
            raw->release(generation, call, [allocation](Runtime&) { return free_in_order(allocation); });
            return true;
        };
        if (attempt()) return Status::success;
        device->retire(std::move(attempt), [stream = allocation.stream, marks] {
            std::erase_if(*marks, [&](const StreamMark& mark) { return make_wait(*stream, mark); });
        });
        return Status::success;
    });
}

void give_back_foreign(DeviceMemory::Allocation allocation, unsigned generation,
                       const std::vector<StreamPtr>& used) {
    const DevicePtr device = allocation.device;
    allocation.allocated.reset();
    if (allocation.in_order) {
        device->release(generation, "cudaStreamWaitEvent", [stream = allocation.stream, used](Runtime&) {
            Status status = Status::success;
            for (const StreamPtr& user : used) {
                if (status == Status::success && !stream->implicitly_ordered_with(*user)) {
                    status = order(*stream, *user);
                }
            }
            return status;
        });
    }
    // Destroying the last copy of this function releases the owner.
    release_after_uses(device, generation, "cudaEventQuery", used,
                       [owner = std::move(allocation.owner)](Runtime&) { return Status::success; });
}

}  // namespace

DeviceMemory::~DeviceMemory() {
    --live_device_memory;
    if (allocation_.kind == Kind::foreign) {
        give_back_foreign(std::move(allocation_), generation_, uses_.take());
        return;
    }
    if (allocation_.pointer == nullptr || allocation_.kind == Kind::borrowed ||
        allocation_.kind == Kind::graph) {
        return;
    }
    const DevicePtr owner = device().shared_from_this();
    if (allocation_.kind == Kind::managed) forget_host_range(allocation_.pointer, *owner);
    if (allocation_.kind != Kind::pooled) {
        release_after_uses(
            owner, generation_, "cudaFree", uses_.take(),
            [pointer = allocation_.pointer](Runtime& runtime) { return runtime.free(pointer); },
            allocation_.kind == Kind::managed ? allocation_.bytes : 0);
        return;
    }
    allocation_.allocated.reset();
    std::vector<StreamPtr> others = uses_.take();
    // Other users work in the legacy default stream unless they were told otherwise, and it waits for all
    // blocking streams.
    if (exported_) others.push_back(owner->legacy_stream());
    std::erase_if(others, [&](const StreamPtr& stream) {
        return allocation_.stream->implicitly_ordered_with(*stream);
    });
    if (!others.empty()) {
        free_after_uses(owner, generation_, allocation_, others);
        return;
    }
    if (SmallBlocks* const kept = allocation_.owner ? nullptr : allocation_.stream->small_blocks();
        kept != nullptr && allocation_.bytes <= SmallBlocks::most_bytes && !checking() &&
        generation_ == owner->generation()) {
        std::vector<void*> displaced;
        const bool is_kept = kept->keep(allocation_.pointer, allocation_.bytes, generation_, &displaced);
        for (void* const pointer : displaced) {
            owner->release(generation_, "cudaFreeAsync",
                           [pointer, stream = allocation_.stream](Runtime& runtime) {
                               return runtime.free_async(pointer, stream->handle());
                           });
        }
        if (is_kept) return;
    }
    owner->release(generation_, "cudaFreeAsync",
                   [allocation = std::move(allocation_)](Runtime&) { return free_in_order(allocation); });
}

bool DeviceMemory::is_dropped_quickly() const {
    return allocation_.kind == Kind::pooled && allocation_.owner == nullptr &&
           allocation_.bytes <= SmallBlocks::most_bytes && allocation_.stream->small_blocks() != nullptr;
}

namespace {

[[noreturn]] void not_managed() {
    throw std::invalid_argument("the array is not in managed memory: make it with cuscope.empty_managed()");
}

}  // namespace

void DeviceMemory::prefetch(std::size_t offset, std::size_t bytes, const MemLocation& location,
                            const StreamPtr& stream) {
    if (kind() != Kind::managed) not_managed();
    if (bytes == 0) return;
    stream->check_usable();
    refuse_legacy_in_capture(*stream, "cudaMemPrefetchAsync");
    Device& on = stream->device();
    const DeviceScope scope(on);
    const Enqueue enqueue(*stream);
    use(stream, enqueue);
    on.check(on.runtime().mem_prefetch_async(static_cast<std::byte*>(pointer()) + offset, bytes, location, 0,
                                             stream->handle()),
             "cudaMemPrefetchAsync");
}

void DeviceMemory::advise(std::size_t offset, std::size_t bytes, MemoryAdvice advice,
                          const MemLocation& location) {
    check_usable();
    if (kind() != Kind::managed) not_managed();
    if (bytes == 0) return;
    const DeviceScope scope(device());
    device().check(
        device().runtime().mem_advise(static_cast<std::byte*>(pointer()) + offset, bytes, advice, location),
        "cudaMemAdvise");
}

std::vector<int> DeviceMemory::range_attribute(std::size_t offset, std::size_t bytes,
                                               MemRangeAttribute attribute) {
    check_usable();
    if (kind() != Kind::managed) not_managed();
    constexpr std::size_t most_places = 64;
    std::vector<int> data(attribute == MemRangeAttribute::accessed_by ? most_places : 1, invalid_device_id);
    if (bytes == 0) return data;
    const DeviceScope scope(device());
    device().check(
        device().runtime().mem_range_get_attribute(data.data(), data.size() * sizeof(int), attribute,
                                                   static_cast<std::byte*>(pointer()) + offset, bytes),
        "cudaMemRangeGetAttribute");
    return data;
}

void release_after_uses(const DevicePtr& device, unsigned generation, const char* call,
                        const std::vector<StreamPtr>& used, Destroy destroy,
                        std::size_t host_bytes) noexcept {
    // A destructor may run where the runtime cannot be called. So the marks are made inside of the release.
    device->release(generation, call,
                    [device, generation, call, used, destroy = std::move(destroy), host_bytes](Runtime&) {
                        std::vector<StreamMark> marks;
                        for (const StreamPtr& stream : used) marks.push_back(mark(stream));
                        auto attempt = [raw = device.get(), generation, call, destroy, host_bytes,
                                        marks = std::move(marks)]() mutable {
                            const NoWait::Again again(!marks.empty());
                            std::erase_if(marks, [](const StreamMark& mark) { return is_past(mark); });
                            if (!marks.empty()) return false;
                            raw->release(generation, call, destroy, host_bytes);
                            return true;
                        };
                        if (!attempt()) device->retire(std::move(attempt));
                        return Status::success;
                    });
}

}  // namespace cuscope::core
