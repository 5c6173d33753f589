#include "core/stream/stream.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "core/device/devices.hpp"
#include "core/graph/capture.hpp"
#include "core/memory/kept_memory.hpp"
#include "core/memory/small_blocks.hpp"
#include "core/stream/event.hpp"
#include "core/stream/host_task.hpp"

namespace cuscope::core {
namespace {

unsigned long long next_serial() {
    static std::atomic<unsigned long long> last{0};
    return ++last;
}

void check_same_runtime(const Device& waiting, const Device& other, const char* what) {
    if (waiting.shares_runtime(other)) return;
    throw std::invalid_argument("a stream of " + waiting.name() + " cannot wait for " + what + " of " +
                                other.name() + ", which is of another runtime: synchronize() that one first");
}

// Streams by the runtime's stream number. A number is never reused; handles are.
struct Numbered {
    std::mutex mutex;
    std::map<std::pair<const Runtime*, unsigned long long>, std::weak_ptr<Stream>> streams;
    std::size_t prune_at = 64;
};

Numbered& numbered() {
    static Numbered* const instance = new Numbered;  // outlives static destructors
    return *instance;
}

}  // namespace

// Returns the stream itself, or the Stream object that already represents it.
StreamPtr Stream::enter(const StreamPtr& stream) {
    if (stream->id_ == 0) return stream;
    Numbered& known = numbered();
    StreamPtr same;  // destroyed after the lock is released
    const std::lock_guard lock(known.mutex);
    const std::pair<const Runtime*, unsigned long long> number{&stream->device_.own_runtime(), stream->id_};
    if (const auto found = known.streams.find(number); found != known.streams.end()) {
        same = found->second.lock();
        if (same && same->generation_ == stream->generation_) return same;
    }
    if (!stream->lasts()) return stream;
    known.streams[number] = stream;
    if (known.streams.size() >= known.prune_at) {
        std::erase_if(known.streams, [](const auto& pair) { return pair.second.expired(); });
        known.prune_at = std::max<std::size_t>(64, 2 * known.streams.size());
    }
    return stream;
}

StreamPtr Stream::adopt(const DevicePtr& near, StreamHandle handle, std::shared_ptr<void> owner) {
    if (handle == nullptr || handle == stream_legacy) return near->legacy_stream();
    if (handle == stream_per_thread) return near->per_thread_stream();
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    // lower addresses are never mapped, so a real runtime would crash on them
    constexpr std::uintptr_t no_address = 4096;
    if (StreamPtr ours = made_here(near->own_runtime(), handle)) return ours;
    int ordinal = near->ordinal();
    const DeviceScope scope(*near);
    // Queries of a stream that is being captured invalidate the capture, except for this one.
    CaptureStatus capture = CaptureStatus::none;
    Status status = number < no_address ? Status::invalid_resource_handle
                                        : near->runtime().stream_is_capturing(handle, &capture);
    const bool captured = status == Status::success && capture != CaptureStatus::none;
    if (status == Status::success && !captured) status = near->runtime().stream_get_device(handle, &ordinal);
    if (status != Status::success) {
        std::ostringstream text;
        text << "0x" << std::hex << number << " is no stream of " << near->name();
        near->fail(status, "cudaStreamGetDevice", text.str(), {});
    }
    const DevicePtr device =
        ordinal == near->ordinal() ? near : find_device(near->kind() + ":" + std::to_string(ordinal));
    auto made = std::make_shared<Stream>(device, handle, std::move(owner), captured);
    return enter(made);
}

StreamPtr Stream::made_here(const Runtime& runtime, StreamHandle handle) {
    Numbered& known = numbered();
    std::vector<StreamPtr> others;  // destroyed after the lock is released
    const std::lock_guard lock(known.mutex);
    for (const auto& [number, entry] : known.streams) {
        if (number.first != &runtime) continue;
        StreamPtr stream = entry.lock();
        if (!stream) continue;
        // While a stream created here is open, its handle cannot belong to another stream.
        if (stream->owned_.get() == handle && stream->generation_ == stream->device_.generation())
            return stream;
        others.push_back(std::move(stream));
    }
    return nullptr;
}

std::vector<StreamPtr> Stream::all_of(Device& device) {
    std::vector<StreamPtr> streams{device.legacy_stream(), device.per_thread_stream()};
    Numbered& known = numbered();
    const std::lock_guard lock(known.mutex);
    for (const auto& [number, entry] : known.streams) {
        StreamPtr stream = entry.lock();
        if (stream && &stream->device_ == &device && stream->generation_ == device.generation())
            streams.push_back(std::move(stream));
    }
    return streams;
}

std::shared_ptr<Stream> Stream::create(const DevicePtr& device, unsigned flags, int priority) {
    const DeviceScope scope(*device);
    device->sweep();
    const RelaxedCapture relaxed(*device);
    StreamHandle handle = nullptr;
    device->check(device->runtime().stream_create_with_priority(&handle, flags, priority),
                  "cudaStreamCreateWithPriority");
    return enter(std::make_shared<Stream>(device, handle, flags, priority));
}

Stream::Stream(Device& device, StreamHandle default_handle)
    : device_(device),
      handle_(default_handle),
      flags_(flags::stream_default),
      generation_(device.generation()),
      serial_(next_serial()),
      small_blocks_(make_small_blocks()) {}

Stream::Stream(const DevicePtr& device, StreamHandle handle, unsigned flags, int priority)
    : device_(*device),
      owned_(device, handle),
      handle_(handle),
      flags_(flags),
      priority_(priority),
      generation_(device->generation()),
      serial_(next_serial()),
      small_blocks_(make_small_blocks()) {
    device->note_used();
    ask_what_it_is();
}

Stream::Stream(const DevicePtr& device, StreamHandle handle, std::shared_ptr<void> owner, bool captured)
    : device_(*device),
      kept_device_(device),
      owner_(std::move(owner)),
      handle_(handle),
      flags_(flags::stream_default),
      generation_(device->generation()),
      serial_(next_serial()),
      abandoned_(true),
      small_blocks_(make_small_blocks()) {
    if (captured) return;
    if (device->runtime().stream_get_flags(handle, &flags_) != Status::success) {
        device->runtime().get_last_error();
    }
    ask_what_it_is();
}

std::unique_ptr<SmallBlocks> Stream::make_small_blocks() const {
    const bool keeps = !device_.simulated() && handle_ != stream_per_thread && lasts() && keeps_memory();
    return keeps ? std::make_unique<SmallBlocks>() : nullptr;
}

Stream::~Stream() {
    if (!small_blocks_) return;
    // The stream's order is right for the frees, but if they are put off, the handle will be gone.
    const auto open = std::make_shared<std::atomic<bool>>(true);
    for (void* const pointer : small_blocks_->take_all(generation_)) {
        device_.release(
            generation_, "cudaFreeAsync",
            [pointer, open, handle = handle_, thread = std::this_thread::get_id()](Runtime& runtime) {
                const bool in_order = *open && thread == std::this_thread::get_id();
                return in_order ? runtime.free_async(pointer, handle) : runtime.free(pointer);
            });
    }
    *open = false;
}

void Stream::ask_what_it_is() {
    Runtime& runtime = device_.runtime();
    // The runtime clamps the priority into its range. Store the result.
    int taken = priority_;
    if (runtime.stream_get_priority(handle_, &taken) != Status::success ||
        runtime.stream_get_id(handle_, &id_) != Status::success) {
        runtime.get_last_error();
    }
    priority_ = taken;
}

unsigned long long Stream::ask_id() {
    constexpr const char* call = "cudaStreamGetId";
    if (capturing()) {
        refuse_in_capture(Status::stream_capture_unsupported, call,
                          "the stream is being captured: ask for its number before or afterwards");
    }
    refuse_legacy_in_capture(*this, call);
    const DeviceScope scope(device_);
    unsigned long long id = 0;
    device_.check(device_.runtime().stream_get_id(handle_, &id), call);
    return id;
}

LaunchAttribute Stream::attribute(LaunchAttributeId id) {
    check_usable();
    const DeviceScope scope(device_);
    LaunchAttribute value;
    device_.check(device_.runtime().stream_get_attribute(handle_, id, &value), "cudaStreamGetAttribute");
    return value;
}

void Stream::set_attribute(LaunchAttributeId id, const LaunchAttribute& value) {
    check_usable();
    const DeviceScope scope(device_);
    Runtime& runtime = device_.runtime();
    device_.check(runtime.stream_set_attribute(handle_, id, &value), "cudaStreamSetAttribute");
    if (id != LaunchAttributeId::priority) return;
    int taken = value.value;
    if (runtime.stream_get_priority(handle_, &taken) != Status::success) runtime.get_last_error();
    priority_ = taken;
}

void Stream::copy_attributes(const Stream& source) {
    check_usable();
    source.check_usable();
    if (&source.device_ != &device_) {
        throw std::invalid_argument("source: a stream of " + source.device_.name() +
                                    "; attributes are copied between streams of one device, here " +
                                    device_.name());
    }
    const DeviceScope scope(device_);
    Runtime& runtime = device_.runtime();
    device_.check(runtime.stream_copy_attributes(handle_, source.handle_), "cudaStreamCopyAttributes");
    int taken = priority();
    if (runtime.stream_get_priority(handle_, &taken) != Status::success) runtime.get_last_error();
    priority_ = taken;
}

bool Stream::implicitly_ordered_with(const Stream& other) const {
    if (this == &other) return true;
    if (&device_ != &other.device_) return false;
    const bool legacy = handle_ == stream_legacy || other.handle_ == stream_legacy;
    return legacy && ((flags_ | other.flags_) & flags::stream_non_blocking) == 0;
}

namespace {

std::mutex& stream_captures_mutex() {
    static std::mutex* const instance = new std::mutex;  // outlives static destructors
    return *instance;
}

[[noreturn]] void refuse_wait(const char* call) {
    refuse_in_capture(
        Status::stream_capture_unsupported, call,
        "the stream is being captured, and captured work does not run: there is nothing to wait "
        "for before the graph is launched");
}

}  // namespace

StreamPtr shared_from(Stream& stream) {
    if (stream.handle() == stream_legacy) return stream.device().legacy_stream();
    if (stream.handle() == stream_per_thread) return stream.device().per_thread_stream();
    return stream.shared_from_this();
}

std::shared_ptr<Capture> Stream::capture() const {
    if (!capturing()) return nullptr;
    const std::lock_guard lock(stream_captures_mutex());
    return capture_;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) {
    const std::lock_guard lock(stream_captures_mutex());
    capturing_ = capture != nullptr;
    capture_.swap(capture);
}

CaptureStatus Stream::capture_status(unsigned long long* id) const {
    check_usable();
    const HandleScope scope(device_, is_default());
    CaptureStatus status = CaptureStatus::none;
    Runtime& runtime = device_.runtime();
    if (runtime.stream_get_capture_info(handle_, &status, id, nullptr, nullptr, nullptr, nullptr) !=
        Status::success) {
        runtime.get_last_error();
    }
    return status;
}

void Stream::synchronize() {
    check_usable();
    if (capturing()) refuse_wait("cudaStreamSynchronize");
    refuse_legacy_in_capture(*this, "cudaStreamSynchronize");
    const DeviceScope scope(device_);
    const RelaxedCapture relaxed(device_);
    const std::uint64_t given = enqueued_.last();
    device_.check_wait(device_.runtime().stream_synchronize(handle_), "cudaStreamSynchronize");
    enqueued_.ended(given);
    device_.sweep();
    device_.raise_failure(serial_);
}

bool Stream::query() {
    check_usable();
    if (capturing()) refuse_wait("cudaStreamQuery");
    refuse_legacy_in_capture(*this, "cudaStreamQuery");
    const HandleScope scope(device_, is_default());
    const RelaxedCapture relaxed(device_);
    const Status status = device_.runtime().stream_query(handle_);
    if (status == Status::not_ready) return false;
    device_.check(status, "cudaStreamQuery");
    device_.sweep();
    return true;
}

void Stream::wait(const Event& event, bool external) {
    check_usable();
    event.check_usable();
    check_same_runtime(device_, event.device(), "an event");
    if (capturing() || event.captured() || external) {
        const ClosedGates closed(*this);  // the stream may join the event's capture
        wait_in_capture(event, external);
        return;
    }
    refuse_legacy_in_capture(*this, "cudaStreamWaitEvent");
    const HandleScope scope(device_, is_default());
    device_.check(device_.runtime().stream_wait_event(handle_, event.handle(), 0), "cudaStreamWaitEvent");
    if (captures_underway() > 0) join_what_it_waits_for();
    if (event.stream() != 0) note(Enqueued::event_wait, event.stream());
}

// Another thread may have recorded the event in a capture just now, without having marked the event yet.
void Stream::join_what_it_waits_for() {
    unsigned long long id = 0;
    if (capturing() || capture_status(&id) == CaptureStatus::none) return;
    const ClosedGates closed(*this);
    if (capturing()) return;
    if (const auto joined = Capture::of_id(device_, id)) joined->join(shared_from(*this));
}

void Stream::wait_in_capture(const Event& event, bool external) {
    const std::shared_ptr<Capture> own = capture(), recorded = event.capture();
    if (external) {
        if (!own) {
            throw std::invalid_argument(
                "external: the stream is not being captured; leave out external=True");
        }
    } else if (!recorded && event.captured()) {
        throw Error(Status::invalid_value, "cudaStreamWaitEvent",
                    "the event was last recorded in a capture, which has ended", "Record it again.");
    } else if (own && own != recorded) {
        refuse_in_capture(
            recorded ? Status::stream_capture_merge : Status::stream_capture_isolation, "cudaStreamWaitEvent",
            recorded
                ? "the event was recorded in another capture: two captures cannot become one"
                : "the event was not recorded in this capture: record it in a stream that takes part, or "
                  "wait(event, external=True) for a node that waits whenever the graph runs");
    } else if (!own && handle_ == stream_legacy) {
        refuse_in_capture(Status::stream_capture_implicit, "cudaStreamWaitEvent",
                          "the legacy default stream takes part in no capture: use another stream");
    }
    const HandleScope scope(device_, is_default());
    device_.check(device_.runtime().stream_wait_event(handle_, event.handle(),
                                                      external ? flags::event_wait_external : 0),
                  "cudaStreamWaitEvent");
    if (!own && recorded) recorded->join(shared_from(*this));
    if (external) own->keep(event.keeper());
}

void Stream::wait(const Stream& other) {
    check_usable();
    other.check_usable();
    check_same_runtime(device_, other.device(), "a stream");
    if (!capturing()) {
        refuse_legacy_in_capture(*this, "cudaStreamWaitEvent");
        refuse_legacy_in_capture(other, "cudaEventRecord");
    }
    std::optional<ClosedGates> closed;
    if (captures_underway() > 0) closed.emplace(*this);  // the stream may join the other's capture
    const std::shared_ptr<Capture> own = capture(), others = other.capture();
    if (own != others) {
        if (own && others) {
            refuse_in_capture(
                Status::stream_capture_merge, "cudaStreamWaitEvent",
                "the other stream takes part in another capture: two captures cannot become one");
        }
        if (own) {
            refuse_in_capture(Status::stream_capture_isolation, "cudaStreamWaitEvent",
                              "the other stream takes no part in the capture: its work is not in the graph. "
                              "Let it wait for a captured stream first, or wait for it before the "
                              "capture begins");
        }
        if (handle_ == stream_legacy) {
            refuse_in_capture(Status::stream_capture_implicit, "cudaStreamWaitEvent",
                              "the legacy default stream takes part in no capture: use another stream");
        }
    }
    device_.check(order(*this, other), "cudaStreamWaitEvent");
    if (!own && others) others->join(shared_from(*this));
    closed.reset();
    if (captures_underway() > 0) join_what_it_waits_for();
    note(Enqueued::event_wait, other.serial());
}

Status order(const Stream& later, const Stream& earlier) {
    Device& from = earlier.device();
    const unsigned generation = from.generation();
    EventHandle event = nullptr;
    Status status = Status::success;
    {
        const DeviceScope scope(from);
        status = from.take_event(&event);
        if (status == Status::success) {
            status = from.runtime().event_record_with_flags(event, earlier.handle(), 0);
        }
    }
    if (status == Status::success) {
        const DeviceScope scope(later.device());
        status = later.device().runtime().stream_wait_event(later.handle(), event, 0);
    }
    from.give_event(event, generation);
    return status;
}

void Stream::add_host_task(std::unique_ptr<HostTask> task) {
    check_usable();
    refuse_legacy_in_capture(*this, "cudaLaunchHostFunc");
    const DeviceScope scope(device_);
    const Enqueue enqueue(*this);
    if (const std::shared_ptr<Capture> own = capture()) {
        const auto kept = std::make_shared<GraphTask>(device_, std::move(task));
        device_.check(device_.runtime().launch_host_func(handle_, run_graph_task, kept->ticket()),
                      "cudaLaunchHostFunc");
        own->keep(kept);
        return;
    }
    device_.sweep();
    void* const ticket = register_host_task(device_, serial_, std::move(task));
    note(Enqueued::host_function, reinterpret_cast<std::uintptr_t>(ticket));
    const Status status = device_.runtime().launch_host_func(handle_, run_host_task, ticket);
    if (status != Status::success) {
        drop_host_task(ticket);
        device_.fail(status, "cudaLaunchHostFunc", {}, {});
    }
}

}  // namespace cuscope::core
