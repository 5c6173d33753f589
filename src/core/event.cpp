#include "core/event.hpp"

namespace cuscope::core {

std::shared_ptr<Event> Event::create(const DevicePtr& device, unsigned flags) {
    const DeviceScope scope(*device);
    device->sweep();
    EventHandle handle = nullptr;
    device->check(device->runtime().event_create_with_flags(&handle, flags), "cudaEventCreateWithFlags");
    return std::make_shared<Event>(device, handle);
}

void Event::record(const Stream& stream) {
    check_usable();
    stream.check_usable();
    Device& device = handle_.device();
    if (&stream.device() != &device) {
        throw std::invalid_argument("an event of " + device.name() + " cannot be recorded in a stream of " +
                                    stream.device().name() + ": make the event on that device");
    }
    const HandleScope scope(device, stream.is_default());
    device.check(device.runtime().event_record_with_flags(handle_.get(), stream.handle(), 0),
                 "cudaEventRecord");
    stream_.store(stream.serial(), std::memory_order_relaxed);
}

bool Event::query() const {
    check_usable();
    const HandleScope scope(device());
    const Status status = device().runtime().event_query(handle_.get());
    if (status == Status::not_ready) return false;
    device().check(status, "cudaEventQuery");
    return true;
}

void Event::synchronize() const {
    check_usable();
    const DeviceScope scope(device());
    device().check_wait(device().runtime().event_synchronize(handle_.get()), "cudaEventSynchronize");
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
    const DeviceScope scope(device);
    float milliseconds = 0;
    device.check(device.runtime().event_elapsed_time(&milliseconds, start.handle(), stop.handle()),
                 "cudaEventElapsedTime");
    return milliseconds;
}

}  // namespace cuscope::core
