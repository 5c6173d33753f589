// The host runtime's launches.
#include "host/counting/line_counts.hpp"
#include "host/effects/kernel.hpp"
#include "host/graph/nodes/captured.hpp"
#include "host/kernel_time/model.hpp"
#include "host/kernel_time/rates.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

void record_beside(Machine& machine, Event& event, Stream& stream, Command* kernel, Timeline::Moment moment) {
    Command* record = machine.begin(stream, Engine::none, Role::event_record);
    event.record = CommandRef(machine.timeline.pool(), record);
    machine.timeline.enqueue_beside(record, kernel, moment);
}

LaunchProfile::Peaks peaks_of(const DeviceModel& model) {
    const Rates rates = rates_of(model);
    const double cycles = model.properties.multiprocessor_count * (model.properties.clock_rate / 1e6);
    // A warp has 32 lanes, and a fused operation counts twice.
    return {model.kernel_rate, rates.l2_bytes_per_ns, rates.pipes[1] * cycles * 64,
            rates.pipes[2] * cycles * 64, rates.issue * cycles};
}

// Launches a kernel in a stream. With `counting` set it runs the counting image and waits for the kernel.
Status launch(Machine& machine, Lock& lock, const LaunchConfig& config, KernelHandle kernel, void** arguments,
              LaunchRequest* asked) {
    LaunchRequest& request = *asked;
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
    const Status made = make_kernel(machine, config, *found, arguments, *stream, asked, &command);
    if (made != Status::success) {
        if (stream->captured())
            machine.captures.spoil(*stream->capture, Status::success, "a launch failed: " + thread().detail);
        return made;
    }
    if (stream->captured()) return capture_kernel(machine, *stream, config, kernel, request, command);
    const CommandRef keep(machine.timeline.pool(), command);
    const int index = stream->device;  // another thread may destroy the stream during the wait
    if (request.shape) publish_time(request.shape, command);
    machine.commit(command);
    if (request.completion_event != nullptr)
        record_beside(machine, *request.completion_event, *stream, command, Timeline::Moment::begun);
    if (request.programmatic_event != nullptr)
        record_beside(machine, *request.programmatic_event, *stream, command, Timeline::Moment::triggered);
    if (machine.launch_blocking || request.counting) {
        TRY(machine.waits.wait_for(lock, command));
        // Else the error of the kernel shows at the next call.
        return machine.launch_blocking ? machine.devices[index].check() : Status::success;
    }
    machine.waits.relieve(lock);
    return Status::success;
}

}  // namespace

Status HostRuntime::launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) {
    ENTER(launch);
    LaunchRequest request;
    return launch(machine_, call.lock(), config, kernel, arguments, &request);
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
    TRY(launch(machine_, call.lock(), config, kernel, arguments, &request));
    machine_.running.flush_printed(call.lock());
    TRY(machine_.devices[index].check());
    *counts = sums->counts();
    if (request.profiling == nullptr) return Status::success;
    const auto profile = sums->profile->result(*sums);
    const auto& profiles = request.profiling->profiles();
    profile->blocks = request.profiling->blocks();
    profile->counted_blocks = request.profiling->counted_blocks();
    if (!profiles.empty())
        profile->time = host::kernel_time(*machine_.devices[index].model, profile->blocks,
                                          request.blocks_per_multiprocessor, profiles);
    profile->peaks = peaks_of(*machine_.devices[index].model);
    counts->profile = profile;
    return Status::success;
}

Status HostRuntime::kernel_time_by_counts(KernelHandle handle, const CompileRequest& request) {
    CompileRequest timing = request;
    timing.kind = ImageKind::timing;
    int device = 0;
    {
        ENTER(other);
        const Found<Kernel> kernel = machine_.libraries.find_kernel(handle);
        if (kernel == nullptr) return invalid_handle("kernel");
        device = thread().device;
        if (kernel->counting.contains(device)) return Status::success;
    }
    // Errors of compiling are not errors of the program.
    CompileResult result;
    TRY(compile(timing, &result));
    std::shared_ptr<simt::Image> image;
    std::string detail;
    TRY(simt::Image::load(result.image, &image, &detail));
    // Its initialisers need not run: each launch gives constants the values of the launched image, and
    // kernels with other variables are not counted.
    ENTER(other);
    const Found<Kernel> launched = machine_.libraries.find_kernel(handle);
    if (launched == nullptr) return invalid_handle("kernel");
    for (const auto& kernel : launched->library->kernels) {
        if (image->kernel(kernel->lowered) == nullptr) continue;
        kernel->counting.try_emplace(device, image);
        kernel->shapes.try_emplace(device, std::make_shared<KernelShapes>());
    }
    return Status::success;
}

Status HostRuntime::kernel_time(const LaunchConfig& config, KernelHandle handle, void** arguments,
                                KernelTime* time) {
    ENTER(other);
    const Found<Kernel> kernel = machine_.libraries.find_kernel(handle);
    if (kernel == nullptr) return invalid_handle("kernel");
    const Found<const Stream> stream = machine_.find_stream(config.stream);
    if (stream == nullptr) return invalid_handle("stream");
    const OnDevice on(stream->device);
    LoadedKernel loaded;
    TRY(machine_.libraries.load_kernel(*kernel, &loaded));
    LaunchRequest request;
    TRY(read_attributes(machine_, config, &request));
    if (loaded.resolve(config, &request) != Status::success) return Status::not_supported;
    const auto shape = shape_of(loaded, config, request, machine_.memory, arguments);
    if (shape == nullptr) return Status::not_supported;
    if (!shape->learned()) return Status::not_ready;
    *time = shape->time();
    return Status::success;
}

}  // namespace cuscope::host
