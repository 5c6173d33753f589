// The host runtime's launches.
#include "host/effects/kernel.hpp"
#include "host/graph/nodes/captured.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

void record_beside(Machine& machine, Event& event, Stream& stream, Command* kernel, Timeline::Moment moment) {
    Command* record = machine.begin(stream, Engine::none, Role::event_record);
    event.record = CommandRef(machine.timeline.pool(), record);
    machine.timeline.enqueue_beside(record, kernel, moment);
}

// Launches a kernel in a stream. With `counting` set it runs the counting image and waits for the kernel.
Status launch(Machine& machine, Lock& lock, const LaunchConfig& config, KernelHandle kernel, void** arguments,
              LaunchRequest request) {
    const Found<Kernel> found = machine.libraries.find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    if (config.checked != nullptr) found->checked = config.checked;
    const Found<Stream> stream = machine.find_stream(config.stream);
    if (stream == nullptr) return invalid_handle("stream");
    const OnDevice on(stream->device);  // the stream's device, not the current one
    TRY(machine.captures.admit(*stream));
    if (request.counting && stream->captured())
        return fail(Status::stream_capture_unsupported,
                    "a launch that counts is waited for: it is not captured");
    request.node = stream->captured();
    Command* command = nullptr;
    const Status made = make_kernel(machine, config, *found, arguments, *stream, &request, &command);
    if (made != Status::success) {
        if (stream->captured())
            machine.captures.spoil(*stream->capture, Status::success, "a launch failed: " + thread().detail);
        return made;
    }
    if (stream->captured()) return capture_kernel(machine, *stream, config, kernel, request, command);
    const CommandRef keep(machine.timeline.pool(), command);
    machine.commit(command);
    if (request.completion_event != nullptr)
        record_beside(machine, *request.completion_event, *stream, command, Timeline::Moment::begun);
    if (request.programmatic_event != nullptr)
        record_beside(machine, *request.programmatic_event, *stream, command, Timeline::Moment::triggered);
    if (machine.launch_blocking || request.counting) return machine.waits.wait_for(lock, command);
    machine.waits.relieve(lock);
    return Status::success;
}

}  // namespace

Status HostRuntime::launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) {
    ENTER(launch);
    return launch(machine_, call.lock(), config, kernel, arguments, {});
}

Status HostRuntime::launch_counted(const LaunchConfig& config, KernelHandle kernel, void** arguments,
                                   KernelHandle counting, LaunchCounts* counts) {
    ENTER(launch);
    LaunchRequest request;
    request.counted = machine_.libraries.find_kernel(counting).get();
    if (request.counted == nullptr) return invalid_handle("kernel");
    if (counts == nullptr) return fail(Status::invalid_value);
    const auto sums = std::make_shared<simt::Counting>();
    request.counting = sums;
    const Found<const Stream> stream = machine_.find_stream(config.stream);
    if (stream == nullptr) return invalid_handle("stream");
    const int index = stream->device;
    TRY(launch(machine_, call.lock(), config, kernel, arguments, std::move(request)));
    machine_.running.flush_printed(call.lock());
    TRY(machine_.devices[index].check());
    *counts = sums->counts();
    return Status::success;
}

}  // namespace cuscope::host
