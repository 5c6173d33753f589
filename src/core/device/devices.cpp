#include "core/device/devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

#include "core/trace/order_checks.hpp"
#include "core/trace/recording.hpp"
#include "runtime/process.hpp"
#include "runtime/registry.hpp"

namespace cuscope::core {
namespace {

// Devices are created once and never destroyed, because handles may outlive static destructors.
struct Known {
    std::mutex mutex;
    std::map<std::pair<std::string, int>, DevicePtr> devices;
    std::map<std::string, std::shared_ptr<Runtime>> runtimes;  // runtimes that were asked for
};

Known& known() {
    static Known* const instance = new Known;
    return *instance;
}

DevicePtr device_of(const std::string& kind, const std::shared_ptr<Runtime>& runtime, int ordinal) {
    {
        const std::lock_guard lock(known().mutex);
        const auto found = known().devices.find({kind, ordinal});
        if (found != known().devices.end()) return found->second;
    }
    auto made = std::make_shared<Device>(runtime, ordinal, kind + ":" + std::to_string(ordinal));
    DevicePtr device;
    {
        const std::lock_guard lock(known().mutex);
        device = known().devices.try_emplace({kind, ordinal}, std::move(made)).first->second;
    }
    trace_device(*device);
    check_order_of(*device);
    return device;
}

int device_count(Runtime& runtime, Status* status) {
    int count = 0;
    *status = runtime.get_device_count(&count);
    if (*status == Status::success) return count;
    runtime.get_last_error();
    return 0;
}

struct Scope {
    DevicePtr entered;  // the value of `device` until set_current_device() changes it
    DevicePtr device;
    StreamPtr stream;   // null: only the device
    int previous = -1;  // the runtime's current device before; -1: not known
};

struct ThreadState {
    DevicePtr base;  // null until first asked for
    std::vector<Scope> scopes;
};

thread_local ThreadState thread_state;

DevicePtr initial_device() {
    const char* const name = std::getenv("CUSCOPE_DEVICE");
    if (name != nullptr && *name != '\0') {
        try {
            return find_device(name);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(std::string("CUSCOPE_DEVICE: ") + error.what());
        }
    }
    const std::vector<DevicePtr> all = devices();
    if (all.empty()) throw Error(Status::no_device, "cudaGetDeviceCount");
    return all.front();
}

// Sets the device in the runtime too, so that other libraries on this thread see the same current device.
int make_current(Device& device) {
    refuse_after_fork();
    int previous = -1;
    if (device.runtime().get_device(&previous) != Status::success) previous = -1;
    if (previous != device.ordinal()) {
        device.check(device.runtime().set_device(device.ordinal()), "cudaSetDevice");
    }
    return previous;
}

void restore(const Scope& scope) {
    if (scope.previous < 0 || scope.previous == scope.device->ordinal()) return;
    if (process_exiting() || forked_after_use()) return;
    scope.device->runtime().set_device(scope.previous);
}

// Scopes may be left out of order, for example by a generator that was abandoned inside its `with`. So this
// removes the innermost matching scope, wherever it stands.
template <class Matches>
void pop(Matches matches, const char* what) {
    auto& scopes = thread_state.scopes;
    const auto found = std::find_if(scopes.rbegin(), scopes.rend(), matches);
    if (found == scopes.rend()) {
        throw std::invalid_argument(std::string("this thread did not enter this ") + what);
    }
    const Scope scope = std::move(*found);
    const bool innermost = found == scopes.rbegin();
    scopes.erase(std::next(found).base());
    if (innermost) restore(scope);
}

}  // namespace

std::shared_ptr<Runtime> use_runtime(const std::string& kind) {
    auto runtime = cuscope::runtime(kind);
    const std::lock_guard lock(known().mutex);
    if (runtime) known().runtimes[kind] = runtime;
    return runtime;
}

void shut_down_runtimes() noexcept {
    if (forked_after_use()) return;  // the runtimes belong to the parent
    std::map<std::string, std::shared_ptr<Runtime>> runtimes;
    {
        const std::lock_guard lock(known().mutex);
        runtimes.swap(known().runtimes);
    }
    for (const auto& [kind, runtime] : runtimes) runtime->shut_down();
}

std::vector<DevicePtr> known_devices() {
    std::vector<DevicePtr> all;
    const std::lock_guard lock(known().mutex);
    for (const auto& [key, device] : known().devices) all.push_back(device);
    return all;
}

std::vector<DevicePtr> devices() {
    // If no runtime may be called, the error comes when one of the devices is used.
    if (forked_after_use() || in_host_function()) return known_devices();
    std::vector<DevicePtr> all;
    for (const std::string& kind : runtime_kinds()) {
        const auto runtime = use_runtime(kind);
        if (!runtime) continue;
        Status status = Status::success;
        const int count = device_count(*runtime, &status);
        for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(device_of(kind, runtime, ordinal));
    }
    return all;
}

DevicePtr find_device(const std::string& name) {
    const std::vector<DevicePtr> all = devices();
    for (const DevicePtr& device : all) {
        if (device->name() == name) return device;
    }
    std::ostringstream message;
    message << "there is no device '" << name << "'; there are:";
    for (const DevicePtr& device : all) message << ' ' << device->name();
    message << " (cuscope.devices())";
    throw std::invalid_argument(message.str());
}

DevicePtr add_host_device(const std::string& model) {
    refuse_after_fork();
    const auto runtime = use_runtime("host");
    if (!runtime) throw Error(Status::not_supported, "cuscopeAddDevice", "this build has no host runtime");
    int ordinal = 0;
    const Status status = runtime->add_device(&ordinal, model.c_str());
    if (status != Status::success) {
        const std::string detail = runtime->error_detail();
        runtime->get_last_error();
        if (status == Status::invalid_value) throw std::invalid_argument("model: " + detail);
        throw Error(status, "cuscopeAddDevice", detail);
    }
    return device_of("host", runtime, ordinal);
}

std::vector<RuntimeAnswer> runtime_answers() {
    std::vector<RuntimeAnswer> answers;
    for (const std::string& kind : runtime_kinds()) {
        const auto runtime = use_runtime(kind);
        if (!runtime) continue;
        RuntimeAnswer answer;
        answer.kind = kind;
        answer.device_count = device_count(*runtime, &answer.status);
        if (answer.status != Status::success) answer.detail = runtime->error_detail();
        if (runtime->driver_get_version(&answer.driver_version) != Status::success) answer.driver_version = 0;
        if (runtime->runtime_get_version(&answer.runtime_version) != Status::success)
            answer.runtime_version = 0;
        runtime->get_last_error();
        answers.push_back(std::move(answer));
    }
    return answers;
}

const DevicePtr* known_current_device() noexcept {
    const ThreadState& state = thread_state;
    if (!state.scopes.empty()) return &state.scopes.back().device;
    return state.base ? &state.base : nullptr;
}

DevicePtr current_device() {
    if (const DevicePtr* const known = known_current_device()) return *known;
    return thread_state.base = initial_device();
}

StreamPtr current_stream(const DevicePtr& device) {
    StreamPtr stream = innermost_stream(device);
    if (stream->closed()) [[unlikely]] {
        throw std::invalid_argument("Stream is closed: stream #" + std::to_string(stream->id()) + " of " +
                                    device->name() +
                                    " was closed inside its `with` block and is still the current stream: "
                                    "close it after the block, or pass another one (stream=)");
    }
    return stream;
}

StreamPtr innermost_stream(const DevicePtr& device) {
    const auto& scopes = thread_state.scopes;
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
        if (scope->stream && scope->entered == device) return scope->stream;
    }
    return device->legacy_stream();
}

void set_current_device(const DevicePtr& device) {
    make_current(*device);
    if (thread_state.scopes.empty()) {
        thread_state.base = device;
    } else if (Scope& scope = thread_state.scopes.back(); scope.device != device) {
        // Lasts until the scope is left, which restores the device before it.
        if (!scope.device->shares_runtime(*device)) {
            restore(scope);
            scope.previous = -1;
        }
        scope.device = device;
    }
}

void push_device(const DevicePtr& device) {
    const int previous = make_current(*device);
    thread_state.scopes.push_back({device, device, nullptr, previous});
}

void push_stream(const StreamPtr& stream) {
    stream->check_usable();
    const DevicePtr device = stream->device().shared_from_this();
    const int previous = make_current(*device);
    thread_state.scopes.push_back({device, device, stream, previous});
}

void pop_device(const DevicePtr& device) {
    pop([&](const Scope& scope) { return !scope.stream && scope.entered == device; }, "Device");
}

void pop_stream(unsigned long long serial) {
    pop([&](const Scope& scope) { return scope.stream && scope.stream->serial() == serial; }, "Stream");
}

CurrentDeviceScope::CurrentDeviceScope(const DevicePtr& device) : scopes_(thread_state.scopes.size()) {
    thread_state.scopes.push_back({device, device, nullptr, -1});
}

CurrentDeviceScope::~CurrentDeviceScope() {
    if (thread_state.scopes.size() > scopes_) thread_state.scopes.resize(scopes_);
}

}  // namespace cuscope::core
