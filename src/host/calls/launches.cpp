// The host runtime's launches.
#include <algorithm>
#include <cstring>

#include "host/effects/kernel.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

// The smallest stack of a thread. Host code needs more stack than device code.
constexpr std::size_t least_stack = std::size_t{64} << 10;
constexpr std::size_t small_arguments = 1024, parameter_copies = 4;

std::string dimensions(const Dim3& d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

unsigned threads_of(const Dim3& block) { return block.x * block.y * block.z; }

bool given(const Dim3& cluster) { return cluster.x != 0 || cluster.y != 0 || cluster.z != 0; }

}  // namespace

Status HostRuntime::check_launch(const LaunchConfig& config, Kernel& kernel,
                                 const cuscope_simt::KernelEntry& entry) {
    const DeviceProperties& properties = device().model->properties;
    const auto within = [](const Dim3& value, const Dim3& most) {
        return value.x > 0 && value.y > 0 && value.z > 0 && value.x <= most.x && value.y <= most.y &&
               value.z <= most.z;
    };
    if (!within(config.grid, properties.max_grid_dim)) {
        return fail(Status::invalid_value, "a grid of " + dimensions(config.grid) +
                                               " blocks; allowed is from 1 to " +
                                               dimensions(properties.max_grid_dim));
    }
    if (!within(config.block, properties.max_block_dim)) {
        return fail(Status::invalid_value, "a block of " + dimensions(config.block) +
                                               " threads; allowed is from 1 to " +
                                               dimensions(properties.max_block_dim));
    }
    const unsigned threads = threads_of(config.block);
    const auto most = entry.max_threads_per_block != 0
                          ? entry.max_threads_per_block
                          : static_cast<unsigned>(properties.max_threads_per_block);
    if (threads > most) {
        return fail(Status::invalid_value, "a block of " + std::to_string(threads) +
                                               " threads; this kernel allows " + std::to_string(most));
    }
    const int shared = max_dynamic_shared(kernel, entry);
    if (config.dynamic_shared_bytes > static_cast<std::size_t>(shared)) {
        return fail(Status::invalid_value,
                    std::to_string(config.dynamic_shared_bytes) +
                        " bytes of dynamic shared memory; this kernel allows " + std::to_string(shared) +
                        ", and up to " +
                        std::to_string(properties.shared_memory_per_block_optin - entry.static_shared_bytes) +
                        " once its max_dynamic_shared attribute says so");
    }
    return Status::success;
}

// A size that the kernel was compiled with takes precedence, then the launch's, then the one that
// func_set_attribute set.
Status HostRuntime::cluster_of(const LaunchConfig& config, const LaunchRequest& request, const Kernel& kernel,
                               const cuscope_simt::KernelEntry& entry, Dim3* cluster) {
    const Dim3 own{entry.cluster_dim.x, entry.cluster_dim.y, entry.cluster_dim.z};
    const Dim3 required = given(own) ? own : settings_of(kernel).cluster;
    const Dim3& asked = request.cluster;
    *cluster = given(required) ? required : given(asked) ? asked : Dim3{1, 1, 1};
    if (given(required) && given(asked) && asked != required) {
        return fail(Status::invalid_cluster_size, "clusters of " + dimensions(asked) +
                                                      " blocks; the kernel requires clusters of " +
                                                      dimensions(required));
    }
    const std::uint64_t blocks = std::uint64_t{cluster->x} * cluster->y * cluster->z;
    const auto most = static_cast<std::uint64_t>(max_cluster_blocks(kernel));
    if (blocks == 0 || blocks > most) {
        return fail(Status::invalid_cluster_size,
                    "clusters of " + dimensions(*cluster) + " blocks; allowed are 1 to " +
                        std::to_string(most) + " blocks" +
                        (most == 8 && blocks <= 16
                             ? ", and 16 once the kernel's attribute non_portable_cluster_size_allowed is set"
                             : ""));
    }
    const auto divides = [](const Dim3& part, const Dim3& whole) {
        return part.x != 0 && part.y != 0 && part.z != 0 && whole.x % part.x == 0 && whole.y % part.y == 0 &&
               whole.z % part.z == 0;
    };
    if (!divides(*cluster, config.grid)) {
        return fail(Status::invalid_cluster_size, "a grid of " + dimensions(config.grid) +
                                                      " blocks, which clusters of " + dimensions(*cluster) +
                                                      " do not divide");
    }
    const Dim3& preferred = request.preferred_cluster;
    if (given(preferred) &&
        (!given(asked) || !divides(*cluster, preferred) || !divides(preferred, config.grid))) {
        return fail(
            Status::invalid_cluster_size,
            "preferred clusters of " + dimensions(preferred) +
                " blocks; they are a multiple of the launch's clusters, which it has to have, and divide "
                "its grid");
    }
    return Status::success;
}

Status HostRuntime::make_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments,
                                Stream& stream, LaunchRequest* made_request, Command** made) {
    const Found<Kernel> found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    std::shared_ptr<simt::Image> image;
    TRY(instance(*found->library, thread().device, &image));
    const auto& entry = *image->kernel(found->lowered);
    LaunchRequest& request = *made_request;
    std::shared_ptr<simt::Image> counting_image;
    const std::shared_ptr<simt::Counting>& counting = request.counting;
    if (counting) {
        const Status status = instance(*request.counted->library, thread().device, &counting_image);
        if (status != Status::success) return status;
        if ((counting_image->table().flags & cuscope_simt::counts_accesses) == 0 ||
            request.counted->lowered != found->lowered)
            return fail(Status::invalid_value, "the image does not count what this kernel does");
    }
    TRY(read_attributes(config, &request));
    if (entry.launches_graphs && !request.node) {
        return fail(
            Status::not_supported,
            "the kernel launches graphs, as only a graph's kernels can: capture the launch, or add the "
            "kernel to a graph");
    }
    TRY(check_launch(config, *found, entry));
    Dim3 cluster;
    TRY(cluster_of(config, request, *found, entry, &cluster));
    if (entry.parameter_count > 0 && arguments == nullptr) return fail(Status::invalid_value);

    Device& owner = device();
    const DeviceModel& model = *owner.model;
    const std::int64_t per_multiprocessor =
        std::max(1, blocks_per_multiprocessor(model, threads_of(config.block),
                                              entry.static_shared_bytes + config.dynamic_shared_bytes,
                                              DeviceModel::assumed_registers));
    const std::int64_t resident = per_multiprocessor * model.properties.multiprocessor_count;
    const std::int64_t blocks = static_cast<std::int64_t>(config.grid.x) * config.grid.y * config.grid.z;
    if (request.cooperative && blocks > resident) {
        return fail(Status::cooperative_launch_too_large,
                    "a cooperative grid of " + std::to_string(blocks) + " blocks; the device holds " +
                        std::to_string(resident) + " blocks of this kernel at once, " +
                        std::to_string(per_multiprocessor) + " on each multiprocessor (kernel.occupancy)");
    }
    auto effect = std::make_shared<KernelEffect>();
    simt::Launch& launch = effect->launch;
    std::int64_t array_bytes = config.array_bytes;
    std::int64_t counted = 0;
    if (entry.parameter_count > 0) {
        const auto& last = entry.parameters[entry.parameter_count - 1];
        launch.arguments.resize(last.offset + last.size);
    }
    for (unsigned i = 0; i < entry.parameter_count; ++i) {
        const auto& parameter = entry.parameters[i];
        std::memcpy(launch.arguments.data() + parameter.offset, arguments[i], parameter.size);
        if (counting) point(*counting, i, arguments[i], parameter.size);
        if (array_bytes >= 0 || parameter.size != sizeof(void*)) continue;
        void* address = nullptr;
        std::memcpy(&address, arguments[i], sizeof(address));
        if (const Allocation* allocation = memory_.find(address)) {
            counted += static_cast<std::int64_t>(allocation->bytes);
        }
    }
    if (array_bytes < 0) array_bytes = counted;
    launch.cooperative = request.cooperative;
    launch.heap = owner.heap;
    launch.cluster = cluster;
    launch.image = image;
    launch.kernel = &entry;
    if (counting) {
        // Module variables and CUDA arrays are left out: kernels do not access them like other allocations.
        memory_.for_each([&](const Allocation& allocation) {
            if (!allocation.fixed) counting->allow(allocation.base, allocation.bytes);
        });
        counting->divide();
        launch.counting = counting;
        launch.plain = image;
        launch.image = counting_image;
        launch.kernel = counting_image->kernel(found->lowered);
    }
    launch.grid = config.grid;
    launch.block = config.block;
    launch.dynamic_shared_bytes = config.dynamic_shared_bytes;
    launch.clock_khz = model.properties.clock_rate;
    launch.multiprocessor_count = static_cast<unsigned>(model.properties.multiprocessor_count);
    launch.resident_blocks = static_cast<unsigned>(resident);
    launch.stack_bytes = std::max(least_stack, owner.limits[static_cast<int>(Limit::stack_size)]);
    // On a GPU, parameters do not occupy the stack. Here every function that takes a large parameter by value
    // has a copy of it on the stack.
    if (launch.arguments.size() > small_arguments)
        launch.stack_bytes += (parameter_copies * launch.arguments.size() / least_stack + 1) * least_stack;

    const std::int64_t waves = (blocks + resident - 1) / resident;
    const Time modelled = std::max(
        model.minimum_kernel_ns,
        model.kernel_latency_ns + static_cast<Time>(static_cast<double>(array_bytes) / model.kernel_rate));
    const Time saved = request.node ? model.minimum_kernel_ns - model.graph_kernel_ns : 0;
    const Time whole = config.duration_ns >= 0 ? config.duration_ns : modelled - saved;

    const unsigned flags = image->table().flags;
    owner.has_printed |= (flags & cuscope_simt::uses_print) != 0;
    owner.has_allocated |= (flags & cuscope_simt::uses_heap) != 0;
    Command* command = begin(stream, Engine::compute);
    if (request.priority) command->priority = *request.priority;
    command->duration = std::max<Time>(1, whole / waves);
    command->duration_from_effect = config.duration_ns < 0 && (flags & cuscope_simt::uses_clock) != 0;
    command->overlaps = request.overlaps;
    // A kernel's work before it waits for the previous kernel is assumed to be its start-up.
    if (!command->duration_from_effect)
        command->tail = std::max<Time>(0, command->duration - model.kernel_latency_ns);
    command->triggers_at_once = request.programmatic_event != nullptr && request.trigger_at_block_start;
    command->may_trigger = (flags & cuscope_simt::uses_trigger) != 0 || command->triggers_at_once;
    command->blocks_waiting = command->blocks_left = blocks;
    // Rounded down, so that exactly as many blocks fit on the device as the model says.
    command->block_units = Timeline::units_per_multiprocessor / per_multiprocessor;
    command->effect = std::move(effect);
    *made = command;
    return Status::success;
}

Status HostRuntime::launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) {
    ENTER(launch);
    return launch(call.lock(), config, kernel, arguments, {});
}

Status HostRuntime::launch_counted(const LaunchConfig& config, KernelHandle kernel, void** arguments,
                                   KernelHandle counting, LaunchCounts* counts) {
    ENTER(launch);
    LaunchRequest request;
    request.counted = find_kernel(counting).get();
    if (request.counted == nullptr) return invalid_handle("kernel");
    if (counts == nullptr) return fail(Status::invalid_value);
    const auto sums = std::make_shared<simt::Counting>();
    request.counting = sums;
    const Found<const Stream> stream = find_stream(config.stream);
    if (stream == nullptr) return invalid_handle("stream");
    const int index = stream->device;
    const Status status = launch(call.lock(), config, kernel, arguments, std::move(request));
    if (status != Status::success) return status;
    flush_printed(call.lock());
    if (devices_[index]->lost != Status::success)
        return fail(devices_[index]->lost, devices_[index]->lost_detail);
    *counts = sums->counts();
    return Status::success;
}

Status HostRuntime::launch(Lock& lock, const LaunchConfig& config, KernelHandle kernel, void** arguments,
                           LaunchRequest request) {
    if (find_kernel(kernel) == nullptr) return invalid_handle("kernel");
    const Found<Stream> stream = find_stream(config.stream);
    if (stream == nullptr) return invalid_handle("stream");
    const OnDevice on(stream->device);  // the stream's device, not the current one
    TRY(admit(*stream));
    if (request.counting && stream->capture != nullptr)
        return fail(Status::stream_capture_unsupported,
                    "a launch that counts is waited for: it is not captured");
    request.node = stream->capture != nullptr;
    Command* command = nullptr;
    if (Status status = make_kernel(config, kernel, arguments, *stream, &request, &command);
        status != Status::success) {
        if (stream->capture != nullptr)
            spoil(*stream->capture, Status::success, "a launch failed: " + thread().detail);
        return status;
    }
    if (stream->capture != nullptr) return capture_kernel(*stream, config, kernel, request, command);
    const CommandRef keep(timeline_.pool(), command);
    commit(command);
    if (request.completion_event != nullptr)
        record_beside(request.completion_event, *stream, command, Timeline::Moment::begun);
    if (request.programmatic_event != nullptr)
        record_beside(request.programmatic_event, *stream, command, Timeline::Moment::triggered);
    if (launch_blocking_ || request.counting) return wait_for(lock, command);
    relieve(lock);
    return Status::success;
}

// Checks every aligned word of an argument, since a structure may hold addresses too.
void HostRuntime::point(simt::Counting& counting, unsigned parameter, const void* value, std::size_t bytes) {
    for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
        void* address = nullptr;
        std::memcpy(&address, static_cast<const std::byte*>(value) + at, sizeof address);
        if (const Allocation* allocation = memory_.find(address))
            counting.point(parameter, address, allocation->base, allocation->bytes);
    }
}

}  // namespace cuscope::host
