// The host runtime's devices, their limits, and errors.
#include <deque>

#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"
#include "host/sim/model_fields.hpp"

namespace cuscope::host {
namespace {

constexpr int cuda_version = 13000;

}  // namespace

Status HostRuntime::add_device(int* device, const char* model) {
    ENTER(other, Call::On::host);
    std::string refusal = "a model has a name";
    std::optional<DeviceModel> chosen;
    if (model != nullptr) chosen = read_model(model, &refusal);
    if (!chosen) return fail(Status::invalid_value, refusal);
    // Devices live as long as the process, and so do their models. The runtime's lock guards the list.
    static auto* const models = new std::deque<DeviceModel>;
    *device = machine_.add_device(models->emplace_back(*std::move(chosen))).ordinal;
    return Status::success;
}

Status HostRuntime::get_device_count(int* count) {
    ENTER(other, Call::On::host);
    if (count == nullptr) return fail(Status::invalid_value);
    *count = machine_.devices.count();
    return Status::success;
}

// Takes no lock and costs no simulated time: every object makes its own device current around its calls.
Status HostRuntime::set_device(int device) {
    if (thread().in_host_function) return Status::not_permitted;
    if (!machine_.devices.exist(device)) return fail(Status::invalid_device);
    thread().device = device;
    return Status::success;
}

Status HostRuntime::get_device(int* device) {
    const ThreadState& here = thread();
    if (here.in_host_function) return Status::not_permitted;
    if (device == nullptr) return fail(Status::invalid_value);
    *device = here.device;
    return Status::success;
}

Status HostRuntime::get_device_properties(DeviceProperties* properties, int device) {
    ENTER(other, Call::On::host);
    if (!machine_.devices.exist(device)) return fail(Status::invalid_device);
    if (properties == nullptr) return fail(Status::invalid_value);
    *properties = machine_.devices[device].model->properties;
    properties->total_global_memory = machine_.devices[device].memory;
    return Status::success;
}

Status HostRuntime::device_get_attribute(int* value, DeviceAttribute attribute, int device) {
    ENTER(other, Call::On::host);
    if (!machine_.devices.exist(device)) return fail(Status::invalid_device);
    const Device& asked = machine_.devices[device];
    if (value == nullptr || !device_attribute(*asked.model, attribute, asked.memory, value)) {
        return fail(Status::invalid_value, "the model has no such attribute");
    }
    return Status::success;
}

namespace {

// What a wait for the device brings about. See Machine::wait_for_device().
Status finish_device(Machine& machine, Lock& lock, int index, bool without_captured = false) {
    const Status status = machine.wait_for_device(lock, index, without_captured);
    machine.running.flush_printed(lock);
    if (status != Status::success) return status;
    TRY(machine.devices.current().check());
    machine.devices.current().trim_pools();
    return Status::success;
}

}  // namespace

Status HostRuntime::device_synchronize() {
    ENTER(synchronize);
    const int index = thread().device;
    TRY(machine_.captures.spoil_device(index));
    // Like other calls that may be unsafe during a capture, a wait invalidates captures on other devices.
    TRY(machine_.captures.forbidden());
    return finish_device(machine_, call.lock(), index);
}

Status HostRuntime::wait_beside_captures() {
    ENTER(synchronize);
    return finish_device(machine_, call.lock(), thread().device, true);
}

// Destroys the device's streams, memory and libraries. A lost device stays lost: within this process it
// cannot be recovered.
Status HostRuntime::device_reset() {
    ENTER(other, Call::On::host);
    Device& reset = machine_.devices.current();
    TRY(machine_.captures.spoil_device(reset.ordinal));
    machine_.running.abort_kernels(reset.ordinal);
    {
        const auto ended = [](Device* device) { --device->resets; };
        const std::unique_ptr<Device, decltype(ended)> resetting(&reset, ended);
        ++reset.resets;
        // Repeats while other threads have issued more work to the device: its streams are destroyed next.
        do {
            TRY(machine_.wait_for_device(call.lock(), reset.ordinal));
        } while (!machine_.is_idle(reset.ordinal));
    }
    if (reset.lost != Status::success) {
        reset.lost = Status::devices_unavailable;
        reset.lost_detail = "the device was lost to an earlier error; restart the process";
        return Status::success;
    }
    machine_.reset(reset);
    return Status::success;
}

Status HostRuntime::device_get_limit(std::size_t* value, Limit limit) {
    ENTER(other);
    return machine_.devices.current().get_limit(limit, value);
}

Status HostRuntime::device_set_limit(Limit limit, std::size_t value) {
    ENTER(other);
    TRY(machine_.devices.current().check_limit(limit));
    TRY(machine_.captures.forbidden());
    return machine_.devices.current().set_limit(limit, value);
}

Status HostRuntime::set_device_flags(unsigned flags) {
    ENTER(other);
    return machine_.devices.current().set_flags(flags);
}

Status HostRuntime::get_device_flags(unsigned* flags) {
    ENTER(other);
    if (flags == nullptr) return fail(Status::invalid_value);
    *flags = machine_.devices.current().flags;
    return Status::success;
}

Status HostRuntime::device_can_access_peer(int* can_access, int device, int peer) {
    ENTER(other);
    if (!machine_.devices.exist(device) || !machine_.devices.exist(peer)) return fail(Status::invalid_device);
    if (can_access == nullptr) return fail(Status::invalid_value);
    *can_access = device != peer ? 1 : 0;
    return Status::success;
}

Status HostRuntime::device_enable_peer_access(int peer, unsigned flags) {
    ENTER(other);
    if (!machine_.devices.exist(peer)) return fail(Status::invalid_device);
    if (flags != 0) return fail(Status::invalid_value);
    if (peer == thread().device)
        return fail(Status::peer_access_unsupported, "a device is no peer of itself");
    TRY(machine_.captures.forbidden());
    return machine_.devices.current().enable_peer(peer);
}

Status HostRuntime::device_disable_peer_access(int peer) {
    ENTER(other);
    if (!machine_.devices.exist(peer)) return fail(Status::invalid_device);
    return machine_.devices.current().disable_peer(peer);
}

Status HostRuntime::device_get_stream_priority_range(int* least, int* greatest) {
    ENTER(other);
    if (least != nullptr) *least = machine_.devices.current().model->least_priority;
    if (greatest != nullptr) *greatest = machine_.devices.current().model->greatest_priority;
    return Status::success;
}

Status HostRuntime::driver_get_version(int* version) { return runtime_get_version(version); }

Status HostRuntime::runtime_get_version(int* version) {
    if (thread().in_host_function) return Status::not_permitted;
    if (version == nullptr) return fail(Status::invalid_value);
    *version = cuda_version;
    return Status::success;
}

Status HostRuntime::get_last_error() {
    if (thread().in_host_function) return Status::not_permitted;
    return std::exchange(thread().last, Status::success);
}

Status HostRuntime::peek_at_last_error() {
    if (thread().in_host_function) return Status::not_permitted;
    return thread().last;
}

}  // namespace cuscope::host
