// Attributes of launches and streams: which values they allow, and how a launch applies them.
#include <algorithm>

#include "host/effects/kernel.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

std::string number(int value) { return std::to_string(value); }

// Checks an event that a launch attribute records.
Status find_event(const Machine& machine, const LaunchAttribute& attribute, Event** event) {
    *event = machine.events.find(attribute.event).get();
    return *event == nullptr ? invalid_handle("event") : (*event)->check_beside(attribute.event_flags);
}

}  // namespace

// Checks attributes of both streams and launches.
Status check_attribute(const Device& device, const LaunchAttribute& attribute, LaunchAttributeId id) {
    const LaunchAttributeRow row = launch_attribute_row(id);
    if (id == LaunchAttributeId::priority) return Status::success;  // clamped, like a stream's priority
    if (row.value == LaunchValue::window) {
        const AccessPolicyWindow& window = attribute.window;
        int most = 0;
        device_attribute(*device.model, static_cast<DeviceAttribute>(109), device.memory, &most);
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
        device_attribute(*device.model, static_cast<DeviceAttribute>(126), device.memory, &domains);
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

Status read_attributes(Machine& machine, const LaunchConfig& config, LaunchRequest* request) {
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
                status = find_event(machine, attribute, &request->programmatic_event);
                request->trigger_at_block_start = attribute.trigger_at_block_start;
                break;
            case LaunchAttributeId::launch_completion_event:
                status = find_event(machine, attribute, &request->completion_event);
                break;
            case LaunchAttributeId::priority:
                request->priority =
                    std::clamp(attribute.value, machine.devices.current().model->greatest_priority,
                               machine.devices.current().model->least_priority);
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
                        : check_attribute(machine.devices.current(), attribute, attribute.id);
        }
        if (status != Status::success) return status;
    }
    return Status::success;
}

// ---- streams

Status HostRuntime::stream_set_attribute(StreamHandle stream, LaunchAttributeId id,
                                         const LaunchAttribute* value) {
    ENTER(other);
    const Found<Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (value == nullptr) return fail(Status::invalid_value);
    const Device& device = machine_.devices.current();
    TRY(check_attribute(device, *value, id));
    if (!launch_attribute_row(id).of_streams())
        return fail(Status::invalid_value, "an attribute that streams do not have");
    if (id == LaunchAttributeId::priority) {
        found->priority =
            std::clamp(value->value, device.model->greatest_priority, device.model->least_priority);
        return Status::success;
    }
    std::erase_if(found->attributes, [id](const LaunchAttribute& set) { return set.id == id; });
    found->attributes.push_back(*value);
    found->attributes.back().id = id;
    return Status::success;
}

Status HostRuntime::stream_get_attribute(StreamHandle stream, LaunchAttributeId id, LaunchAttribute* value) {
    ENTER(other);
    const Found<const Stream> found = machine_.find_stream(stream);
    if (found == nullptr) return invalid_handle("stream");
    if (value == nullptr) return fail(Status::invalid_value);
    TRY(machine_.captures.admit(*found));
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
    ENTER(other);
    const Found<Stream> to = machine_.find_stream(destination);
    const Found<const Stream> from = machine_.find_stream(source);
    if (to == nullptr || from == nullptr) return invalid_handle("stream");
    to->attributes = from->attributes;
    to->priority = from->priority;
    return Status::success;
}

// Cache lines are not simulated, so none persist.
Status HostRuntime::ctx_reset_persisting_l2_cache() {
    ENTER(other);
    return Status::success;
}

}  // namespace cuscope::host
