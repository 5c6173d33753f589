// The state of events and memory for the user's eyes. Like pending(), these methods are no calls: they cost
// no simulated time and let nothing advance.
#include <cstring>

#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

EventLook HostRuntime::look_at(EventHandle event) {
    if (forked_after_use()) return {};
    Lock lock(machine_.mutex, std::defer_lock);
    take(lock);
    const Found<Event> found = machine_.events.find(event);
    if (found == nullptr || found->reset) return {};
    if (found->capture != 0) return {EventState::captured};
    const CommandRef& record = found->record;
    if (record.get() == nullptr) return {EventState::not_recorded};
    const bool ended = record->ended >= 0 && record->ended <= machine_.timeline.now();
    if (!ended || !machine_.effects.functional(record.get())) return {EventState::pending};
    return {EventState::happened, record->ended};
}

GraphNodeHandle HostRuntime::last_captured(StreamHandle handle) {
    if (forked_after_use()) return nullptr;
    Lock lock(machine_.mutex, std::defer_lock);
    take(lock);
    const Found<Stream> stream = machine_.find_stream(handle);
    if (stream == nullptr || !stream->captured() || stream->capture->status != CaptureStatus::active)
        return nullptr;
    const std::vector<GraphNode*>& nodes = stream->tips.nodes;
    return nodes.size() == 1 ? nodes.front()->handle() : nullptr;
}

bool HostRuntime::peek(void* destination, const void* source, std::size_t bytes) {
    if (forked_after_use()) return false;
    Lock lock(machine_.mutex, std::defer_lock);
    take(lock);
    if (machine_.memory.find_range(source, bytes) == nullptr) return false;
    std::memcpy(destination, source, bytes);
    return true;
}

}  // namespace cuscope::host
