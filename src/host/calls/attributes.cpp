// Attributes of launches and streams: which values they allow, and how a launch applies them.
#include <algorithm>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

std::string number(int value) { return std::to_string(value); }

}  // namespace

// Checks an event that a launch attribute records. Events with timing are refused: such a record has no time
// of its own.
Status HostRuntime::check_event(const LaunchAttribute& attribute, Event** event) {
    *event = find_event(attribute.event).get();
    if (*event == nullptr) return invalid_handle("event");
    if (((*event)->flags & flags::event_disable_timing) == 0) {
        return fail(Status::not_supported, "an event with timing: a launch records one made without only");
    }
    if (((*event)->flags & flags::event_interprocess) != 0)
        return fail(Status::not_supported, "an event that processes share, which no launch records");
    if ((attribute.event_flags & flags::event_record_external) != 0)
        return fail(Status::illegal_state, "an external record, outside of a capture");
    if (attribute.event_flags != 0) return fail(Status::invalid_value, "record flags that are none");
    return Status::success;
}

// Checks attributes of both streams and launches.
Status HostRuntime::check_attribute(const LaunchAttribute& attribute, LaunchAttributeId id) {
    const LaunchAttributeRow row = launch_attribute_row(id);
    if (id == LaunchAttributeId::priority) return Status::success;  // clamped, like a stream's priority
    if (row.value == LaunchValue::window) {
        const AccessPolicyWindow& window = attribute.window;
        int most = 0;
        device_attribute(*device().model, static_cast<DeviceAttribute>(109), device().memory, &most);
        if (window.bytes > static_cast<std::size_t>(most)) {
            return fail(Status::invalid_value, "an access policy window of " + std::to_string(window.bytes) +
                                                   " bytes; allowed is 0 to " + number(most));
        }
        if (!(window.hit_ratio >= 0.0F && window.hit_ratio <= 1.0F))
            return fail(Status::invalid_value, "a hit ratio outside of 0 to 1");
        if (window.miss < AccessProperty::normal || window.miss > AccessProperty::streaming)
            return fail(Status::invalid_value, "a miss property that is neither normal nor streaming");
        return Status::success;
    }
    if (row.value == LaunchValue::domain_map) {
        int domains = 1;
        device_attribute(*device().model, static_cast<DeviceAttribute>(126), device().memory, &domains);
        if (attribute.default_domain < domains && attribute.remote_domain < domains) return Status::success;
        return fail(Status::invalid_value,
                    "a map to the memory synchronization domains " + number(attribute.default_domain) +
                        " and " + number(attribute.remote_domain) + "; the device has " + number(domains));
    }
    if (row.what == nullptr) {
        return fail(Status::invalid_value,
                    "attribute " + number(static_cast<int>(id)) + " of cudaLaunchAttributeID is none here");
    }
    if (attribute.value >= row.least && attribute.value <= row.most) return Status::success;
    return fail(Status::invalid_value, std::string(row.what) + " of " + number(attribute.value) +
                                           "; allowed is " + number(row.least) + " to " + number(row.most));
}

Status HostRuntime::read_attributes(const LaunchConfig& config, LaunchRequest* request) {
    request->cooperative = config.cooperative;
    if (config.cluster.x != 0) request->cluster = config.cluster;
    for (const LaunchAttribute& attribute : config.attributes) {
        Status status = Status::success;
        switch (attribute.id) {
            case LaunchAttributeId::ignore:
                break;
            case LaunchAttributeId::cooperative:
                request->cooperative = attribute.value != 0;
                break;
            case LaunchAttributeId::cluster_dimension:
                request->cluster = attribute.cluster;
                if (attribute.cluster.x == 0 || attribute.cluster.y == 0 || attribute.cluster.z == 0)
                    status = fail(Status::invalid_cluster_size, "a cluster of no blocks");
                break;
            case LaunchAttributeId::preferred_cluster_dimension:
                request->preferred_cluster = attribute.cluster;
                break;
            case LaunchAttributeId::programmatic_stream_serialization:
                request->overlaps = attribute.value != 0;
                break;
            case LaunchAttributeId::programmatic_event:
                status = check_event(attribute, &request->programmatic_event);
                request->trigger_at_block_start = attribute.trigger_at_block_start;
                break;
            case LaunchAttributeId::launch_completion_event:
                status = check_event(attribute, &request->completion_event);
                break;
            case LaunchAttributeId::priority:
                request->priority = std::clamp(attribute.value, device().model->greatest_priority,
                                               device().model->least_priority);
                break;
            case LaunchAttributeId::device_updatable_kernel_node:
                status = fail(Status::not_supported,
                              "a kernel node that the device updates, outside of a capture");
                break;
            default:
                const LaunchAttributeRow row = launch_attribute_row(attribute.id);
                status =
                    row.scope == LaunchScope::streams
                        ? fail(Status::invalid_value, std::string(row.what) + ", which only streams have")
                        : check_attribute(attribute, attribute.id);
        }
        if (status != Status::success) return status;
    }
    return Status::success;
}

void HostRuntime::record_beside(Event* event, Stream& stream, Command* kernel, Timeline::Moment moment) {
    Command* record = begin(stream, Engine::none, Role::event_record);
    event->record = CommandRef(timeline_.pool(), record);
    timeline_.enqueue_beside(record, kernel, moment);
}

// ---- streams

Status HostRuntime::stream_set_attribute(StreamHandle stream, LaunchAttributeId id,
                                         const LaunchAttribute* value) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (value == nullptr) return fail(Status::invalid_value);
    if (Status status = check_attribute(*value, id); status != Status::success) return status;
    if (!launch_attribute_row(id).of_streams())
        return fail(Status::invalid_value, "an attribute that streams do not have");
    if (id == LaunchAttributeId::priority) {
        found->priority =
            std::clamp(value->value, device().model->greatest_priority, device().model->least_priority);
        return Status::success;
    }
    std::erase_if(found->attributes, [id](const LaunchAttribute& set) { return set.id == id; });
    found->attributes.push_back(*value);
    found->attributes.back().id = id;
    return Status::success;
}

Status HostRuntime::stream_get_attribute(StreamHandle stream, LaunchAttributeId id, LaunchAttribute* value) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<const Stream> found = find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (value == nullptr) return fail(Status::invalid_value);
    if (Status status = admit(*found); status != Status::success) return status;
    const LaunchAttributeRow row = launch_attribute_row(id);
    if (!row.of_streams()) return fail(Status::invalid_value, "an attribute that streams do not have");
    LaunchAttribute answer;
    answer.id = id;
    answer.value = id == LaunchAttributeId::priority ? found->priority : row.unset;
    for (const LaunchAttribute& set : found->attributes)
        if (set.id == id) answer = set;
    *value = answer;
    return Status::success;
}

Status HostRuntime::stream_copy_attributes(StreamHandle destination, StreamHandle source) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<Stream> to = find_stream(destination);
    const Found<const Stream> from = find_stream(source);
    if (to == nullptr || from == nullptr) return invalid_handle("stream");
    to->attributes = from->attributes;
    to->priority = from->priority;
    return Status::success;
}

// Cache lines are not simulated, so none persist.
Status HostRuntime::ctx_reset_persisting_l2_cache() {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    return Status::success;
}

}  // namespace cuscope::host
