#include "host/objects/stream.hpp"

#include <algorithm>

#include "host/objects/device.hpp"
#include "host/runtime/thread_state.hpp"
#include "host/sim/timeline.hpp"

namespace cuscope::host {

Stream& Streams::add(Device& device, int priority, bool blocking, bool legacy) {
    auto made = std::make_unique<Stream>();
    made->id = next_id_++;
    timeline_.add_stream(*made, device.ordinal, priority, blocking, legacy);
    device.streams.push_back(std::move(made));
    return *device.streams.back();
}

Found<Stream> Streams::find(StreamHandle handle, Device& current) {
    if (handle == nullptr || handle == stream_legacy) return current.legacy;
    if (handle == stream_per_thread) {
        for (auto& stream : current.streams) {
            if (stream->thread == thread().id) return stream.get();
        }
        Stream& made = add(current, 0, true, false);
        made.thread = thread().id;
        return &made;
    }
    return handles_.find(handle);
}

void Streams::add_legacy(Device& device) { device.legacy = &add(device, 0, true, true); }

StreamHandle Streams::create(Device& device, unsigned flags, int priority) {
    const int clamped = std::clamp(priority, device.model->greatest_priority, device.model->least_priority);
    Stream& made = add(device, clamped, flags != flags::stream_non_blocking, false);
    made.flags = flags;
    reset_.erase(&made);
    return handles_.add(made);
}

void Streams::destroy(Stream& stream, Device& owner) {
    handles_.remove(stream);
    const auto place = std::find_if(owner.streams.begin(), owner.streams.end(),
                                    [&](const auto& other) { return other.get() == &stream; });
    owner.destroyed.push_back(std::move(*place));
    owner.streams.erase(place);
    owner.sweep(timeline_);
}

void Streams::reset(Device& device) {
    for (auto& stream : device.streams) {
        if (stream.get() == device.legacy) continue;
        handles_.remove(*stream);
        reset_.insert(stream.get());
        timeline_.remove_stream(*stream);
    }
    std::erase_if(device.streams, [&](const auto& stream) { return stream.get() != device.legacy; });
}

}  // namespace cuscope::host
