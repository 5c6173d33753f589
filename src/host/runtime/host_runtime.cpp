#include "host/runtime/host_runtime.hpp"

#include "host/runtime/call.hpp"
#include "runtime/process.hpp"
#include "runtime/registry.hpp"

namespace cuscope::host {
namespace {

const RuntimeRegistration registration({"host", 10, []() -> std::shared_ptr<Runtime> {
                                            return std::make_shared<HostRuntime>();
                                        }});

}  // namespace

std::int64_t HostRuntime::clock_ns() {
    if (thread().in_host_function) return thread().host_function_time;
    if (forked_after_use()) return 0;
    const Call call(machine_, &CallCosts::other, Call::On::host);
    return machine_.timeline.now();
}

void HostRuntime::host_work(std::int64_t nanoseconds) {
    if (thread().in_host_function) {
        thread().host_function_time += nanoseconds;
        return;
    }
    if (forked_after_use()) return;
    Call call(machine_, &CallCosts::other, Call::On::host);
    machine_.timeline.spend(nanoseconds);
    machine_.waits.catch_up(call.lock());
    machine_.waits.drain(call.lock());
}

std::int64_t HostRuntime::trace_clock_ns() {
    if (thread().in_host_function) return thread().host_function_time;
    if (forked_after_use()) return 0;
    return machine_.timeline.now();
}

WorkRecording HostRuntime::set_recorder(ActivityRecorder* recorder) {
    if (forked_after_use()) return {};
    const Lock lock(machine_.mutex);
    machine_.set_recorder(recorder);
    return {WorkSource::simulation, ""};
}

// Nothing to do: the timeline records a command as soon as it has ended in simulated time.
std::string HostRuntime::flush_records(bool) { return ""; }

bool HostRuntime::describe_stream(StreamHandle handle, StreamRecord* record) {
    if (thread().in_host_function || forked_after_use()) return false;
    const Lock lock(machine_.mutex);
    const Found<Stream> stream = machine_.find_stream(handle);
    if (stream == nullptr || machine_.captures.reach(*stream)) return false;
    *record = machine_.describe(*stream);
    return true;
}

std::string HostRuntime::error_detail() { return thread().detail; }

void HostRuntime::shut_down() noexcept {
    if (forked_after_use()) return;
    Lock lock(machine_.mutex);
    if (machine_.running.stopping()) return;
    machine_.running.stop();
    machine_.waits.stop(lock);
}

}  // namespace cuscope::host
