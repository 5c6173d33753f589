#include "core/stream/event.hpp"

#include <mutex>

#include "core/graph/capture.hpp"

namespace cuscope::core {
namespace {

std::mutex& event_captures_mutex() {
    static std::mutex* const instance = new std::mutex;  // outlives static destructors
    return *instance;
}

}  // namespace

std::shared_ptr<Event> Event::create(const DevicePtr& device, unsigned flags) {
    const DeviceScope scope(*device);
    device->sweep();
    const RelaxedCapture relaxed(*device);
    EventHandle handle = nullptr;
    device->check(device->runtime().event_create_with_flags(&handle, flags), "cudaEventCreateWithFlags");
    return std::make_shared<Event>(device, handle);
}

std::shared_ptr<Capture> Event::capture() const {
    if (!captured()) return nullptr;
    const std::lock_guard lock(event_captures_mutex());
    const std::shared_ptr<Capture> recorded = capture_.lock();
    return recorded && recorded->origin()->capture() == recorded ? recorded : nullptr;
}

void Event::record_in_capture(const Stream& stream, bool external) {
    const std::shared_ptr<Capture> capture = stream.capture();
    if (external) {
        if (!capture) {
            throw std::invalid_argument(
                "external: the stream is not being captured; leave out external=True");
        }
        device().check(device().runtime().event_record_with_flags(handle(), stream.handle(),
                                                                  flags::event_record_external),
                       "cudaEventRecordWithFlags");
        capture->keep(keeper());
        captured_ = false;
        return;
    }
    device().check(device().runtime().event_record_with_flags(handle(), stream.handle(), 0),
                   "cudaEventRecord");
    const std::lock_guard lock(event_captures_mutex());
    capture_ = capture;
    captured_ = capture != nullptr;
}

void Event::refuse_if_captured(const char* call) const {
    if (!captured()) return;
    if (capture() != nullptr) {
        refuse_in_capture(
            Status::captured_event, call,
            "the event was recorded in a stream that is being captured, and captured work has not run");
    }
    throw Error(
        Status::invalid_value, call,
        "the event was last recorded in a capture, which has ended: it has no time",
        "record(external=True) makes a node that records it whenever the graph runs; or record it again "
        "outside of a capture.");
}

void Event::record(const Stream& stream, bool external) {
    check_usable();
    stream.check_usable();
    Device& device = handle_->device();
    if (&stream.device() != &device) {
        throw std::invalid_argument("an event of " + device.name() + " cannot be recorded in a stream of " +
                                    stream.device().name() + ": make the event on that device");
    }
    refuse_legacy_in_capture(stream, "cudaEventRecord");
    const HandleScope scope(device, stream.is_default());
    // Recording is too quick a call for Enqueue. Instead, the gate's version is compared afterwards: if a
    // capture began or ended meanwhile, the event is recorded again.
    const std::uint32_t version = stream.gate().version();
    bool again = version % 2 != 0 || stream.capturing() || captured() || external;
    if (!again) {
        device.check(device.runtime().event_record_with_flags(handle_->get(), stream.handle(), 0),
                     "cudaEventRecord");
        again = stream.gate().version() != version;
    }
    if (again) {
        const Enqueue enqueue(stream);
        record_in_capture(stream, external);
    }
    stream_.store(stream.serial(), std::memory_order_relaxed);
}

bool Event::query() const {
    check_usable();
    refuse_if_captured("cudaEventQuery");
    const HandleScope scope(device());
    const RelaxedCapture relaxed(device());
    const Status status = device().runtime().event_query(handle_->get());
    if (status == Status::not_ready) return false;
    device().check(status, "cudaEventQuery");
    return true;
}

void Event::synchronize() const {
    check_usable();
    refuse_if_captured("cudaEventSynchronize");
    const DeviceScope scope(device());
    const RelaxedCapture relaxed(device());
    device().check_wait(device().runtime().event_synchronize(handle_->get()), "cudaEventSynchronize");
    device().sweep();
    device().raise_failure(stream_.load(std::memory_order_relaxed));
}

float elapsed_ms(const Event& start, const Event& stop) {
    start.check_usable();
    stop.check_usable();
    Device& device = stop.device();
    if (&start.device() != &device) {
        throw std::invalid_argument("the events belong to " + start.device().name() + " and " +
                                    device.name() + ": a duration needs two events of one device");
    }
    start.refuse_if_captured("cudaEventElapsedTime");
    stop.refuse_if_captured("cudaEventElapsedTime");
    const DeviceScope scope(device);
    const RelaxedCapture relaxed(device);
    float milliseconds = 0;
    device.check(device.runtime().event_elapsed_time(&milliseconds, start.handle(), stop.handle()),
                 "cudaEventElapsedTime");
    return milliseconds;
}

}  // namespace cuscope::core
