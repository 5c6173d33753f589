#include "host/effects/kernel.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "host/counting/line_counts.hpp"
#include "host/effects/checks.hpp"
#include "host/runtime/machine.hpp"
#include "runtime/checking.hpp"

namespace cuscope::host {
namespace {

// The smallest stack of a thread. Host code needs more stack than device code.
constexpr std::size_t least_stack = std::size_t{64} << 10;
constexpr std::size_t small_arguments = 1024, parameter_copies = 4;

// Checks every aligned word of an argument, since a structure may hold addresses too.
void point(const MemoryRegistry& memory, simt::Counting& counting, unsigned parameter, const void* value,
           std::size_t bytes) {
    for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
        void* address = nullptr;
        std::memcpy(&address, static_cast<const std::byte*>(value) + at, sizeof address);
        if (const Allocation* allocation = memory.find(address))
            counting.point(parameter, address, allocation->base, allocation->bytes);
    }
}

// The blocks whose counts give a profile its time, if it counts more.
constexpr std::uint64_t most_timed_blocks = 96;

// A kernel's work before it waits for the previous kernel is assumed to be its start-up.
Time tail_of(const Command& command, Time kernel_latency) {
    return std::max<Time>(0, command.duration - kernel_latency);
}

bool may_change_variables(const simt::Image& image) {
    const auto& globals = image.globals();
    return std::any_of(globals.begin(), globals.end(), [](const auto& global) { return !global.constant; });
}

std::shared_ptr<simt::Sampling> make_sampling(const MemoryRegistry& memory, const LoadedKernel& loaded,
                                              std::uint64_t blocks) {
    const auto& image = loaded.kernel->counting[loaded.device->ordinal];
    const auto counting = std::make_shared<simt::Counting>();
    memory.for_each([&](const Allocation& allocation) {
        if (!allocation.fixed) counting->allow(allocation.base, allocation.bytes);
    });
    counting->divide();
    return std::make_shared<simt::Sampling>(image, image->kernel(loaded.kernel->lowered), counting, blocks);
}

}  // namespace

void KernelEffect::run() {
    if (shape) launch.sampling = shape->take_sampling();
    outcome = simt::run(launch, control);
    if (!launch.sampling || !shape) return;
    shape->learn(*launch.sampling);
    launch.sampling.reset();
}

Time KernelEffect::elapsed() const {
    Time time = tells_time ? outcome.elapsed_ns : 0;
    if (shape && shape->learned()) time = std::max(time, time_of_shape());
    return time;
}

Time KernelEffect::time_of_shape() const {
    return std::max<Time>(1, (shape->time().total_ns - saved_in_graph) / waves);
}

void publish_time(const std::shared_ptr<KernelShape>& shape, Command* command) {
    command->next = [shape](Command*) { shape->published = shape->learned(); };
}

void take_known_time(Command* command) {
    const KernelEffect& effect = KernelEffect::of(*command);
    if (!effect.shape) return;
    if (!effect.shape->published) {
        if (!command->next) publish_time(effect.shape, command);
        return;
    }
    command->duration = effect.time_of_shape();
    command->duration_from_effect = false;
    command->tail = tail_of(*command, effect.kernel_latency);
}

std::shared_ptr<KernelShape> shape_of(const LoadedKernel& loaded, const LaunchConfig& config,
                                      const LaunchRequest& request, const MemoryRegistry& memory,
                                      void** arguments) {
    const auto found = loaded.kernel->shapes.find(loaded.device->ordinal);
    if (found == loaded.kernel->shapes.end() || config.duration_ns >= 0) return nullptr;
    // Blocks of a cluster access each other's shared memory, which is arranged differently in the two images.
    if (request.resolved_cluster != Dim3{1, 1, 1}) return nullptr;
    if ((loaded.image->table().flags & cuscope_simt::uses_clock) != 0 || may_change_variables(*loaded.image))
        return nullptr;
    std::string geometry, values;
    const auto add = [](std::string& text, const auto& value) {
        text.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    add(geometry, config.grid);
    add(geometry, config.block);
    add(geometry, config.dynamic_shared_bytes);
    const auto& entry = *loaded.entry;
    for (unsigned i = 0; i < entry.parameter_count; ++i) {
        const auto* const bytes = static_cast<const char*>(arguments[i]);
        const std::size_t size = entry.parameters[i].size;
        for (std::size_t at = 0; at < size; at += sizeof(void*)) {
            void* word = nullptr;
            const std::size_t part = std::min(sizeof word, size - at);
            std::memcpy(&word, bytes + at, part);
            if (part == sizeof word && memory.find(word) != nullptr) word = nullptr;
            add(values, word);
        }
    }
    return found->second->find(geometry, values, *loaded.device->model, request.blocks_per_multiprocessor);
}

Status make_kernel(Machine& machine, const LaunchConfig& config, Kernel& kernel, void** arguments,
                   Stream& stream, LaunchRequest* made_request, Command** made) {
    LoadedKernel loaded;
    TRY(machine.libraries.load_kernel(kernel, &loaded));
    const auto& entry = *loaded.entry;
    LaunchRequest& request = *made_request;
    std::shared_ptr<simt::Image> counting_image;
    const std::shared_ptr<simt::Counting>& counting = request.counting;
    if (counting) {
        TRY(machine.libraries.instance(*request.counted->library, thread().device, &counting_image));
        if ((counting_image->table().flags & cuscope_simt::counts_accesses) == 0 ||
            request.counted->lowered != kernel.lowered)
            return fail(Status::invalid_value, "the image does not count what this kernel does");
    }
    TRY(read_attributes(machine, config, &request));
    if (entry.launches_graphs && !request.node) {
        return fail(
            Status::not_supported,
            "the kernel launches graphs, as only a graph's kernels can: capture the launch, or add the "
            "kernel to a graph");
    }
    TRY(loaded.check_launch(config));
    TRY(loaded.resolve(config, &request));
    if (entry.parameter_count > 0 && arguments == nullptr) return fail(Status::invalid_value);

    Device& owner = machine.devices.current();
    const DeviceModel& model = *owner.model;
    const std::int64_t per_multiprocessor = request.blocks_per_multiprocessor;
    const std::int64_t resident = per_multiprocessor * model.properties.multiprocessor_count;
    const std::int64_t blocks = static_cast<std::int64_t>(config.grid.x) * config.grid.y * config.grid.z;
    if (request.cooperative && blocks > resident) {
        return fail(Status::cooperative_launch_too_large,
                    "a cooperative grid of " + std::to_string(blocks) + " blocks; the device holds " +
                        std::to_string(resident) + " blocks of this kernel at once, " +
                        std::to_string(per_multiprocessor) + " on each multiprocessor (kernel.occupancy)");
    }
    auto effect = std::make_shared<KernelEffect>();
    effect->is_brief = config.brief;
    if (kernel.activity_name == 0) kernel.activity_name = index_of_name(entry.name);
    effect->name = kernel.activity_name;
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
        if (counting) point(machine.memory, *counting, i, arguments[i], parameter.size);
        if (array_bytes >= 0 || parameter.size != sizeof(void*)) continue;
        void* address = nullptr;
        std::memcpy(&address, arguments[i], sizeof(address));
        if (const Allocation* allocation = machine.memory.find(address)) {
            counted += static_cast<std::int64_t>(allocation->bytes);
        }
    }
    if (array_bytes < 0) array_bytes = counted;
    launch.cooperative = request.cooperative;
    launch.heap = owner.heap;
    launch.cluster = request.resolved_cluster;
    launch.image = loaded.image;
    launch.kernel = &entry;
    if (counting) {
        // Module variables and CUDA arrays are left out: kernels do not access them like other allocations.
        machine.memory.for_each([&](const Allocation& allocation) {
            if (!allocation.fixed) counting->allow(allocation.base, allocation.bytes);
        });
        counting->divide();
        const auto* const counted_kernel = counting_image->kernel(kernel.lowered);
        const auto grid_blocks = static_cast<std::uint64_t>(blocks);
        const bool whole = config.profiled_blocks == 0 || config.profiled_blocks >= grid_blocks;
        if (config.profiled) {
            if (!whole && (may_change_variables(*loaded.image) || request.resolved_cluster != Dim3{1, 1, 1}))
                return fail(Status::invalid_value,
                            "the blocks of a kernel with __device__ variables or clusters are counted all "
                            "or not at all");
            counting->profile = std::make_shared<simt::LineProfile>(counting_image);
            counting->profile->prepare(*counting);
            launch.sampling = std::make_shared<simt::Sampling>(
                counting_image, counted_kernel, counting, grid_blocks,
                whole ? most_timed_blocks : config.profiled_blocks, whole ? nullptr : counting);
            request.profiling = launch.sampling;
        }
        if (whole) {
            launch.counting = counting;
            launch.plain = loaded.image;
            launch.image = counting_image;
            launch.kernel = counted_kernel;
        }
    }
    if (checking()) TRY(prepare_check(machine, kernel, config.unchecked || counting != nullptr, launch));
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
    std::shared_ptr<KernelShape> shape = shape_of(loaded, config, request, machine.memory, arguments);
    // A launch that counts or checks runs no other image beside its own, so it teaches the shape nothing.
    if ((counting || launch.check) && shape && !shape->published) shape = nullptr;
    const Time modelled =
        shape ? (shape->published ? shape->time().total_ns : model.minimum_kernel_ns)
              : std::max(model.minimum_kernel_ns,
                         model.kernel_latency_ns +
                             static_cast<Time>(static_cast<double>(array_bytes) / model.kernel_rate));
    const Time saved = request.node ? model.minimum_kernel_ns - model.graph_kernel_ns : 0;
    const Time whole = config.duration_ns >= 0 ? config.duration_ns : modelled - saved;

    const unsigned flags = loaded.image->table().flags;
    owner.has_printed |= (flags & cuscope_simt::uses_print) != 0;
    owner.has_allocated |= (flags & cuscope_simt::uses_heap) != 0;
    Command* command = machine.begin(stream, Engine::compute);
    if (request.priority) command->priority = *request.priority;
    command->duration = std::max<Time>(1, whole / waves);
    command->duration_from_effect = config.duration_ns < 0 && (flags & cuscope_simt::uses_clock) != 0;
    if (shape && !shape->published) {
        effect->shape = shape;
        effect->waves = waves;
        effect->saved_in_graph = saved;
        effect->kernel_latency = model.kernel_latency_ns;
        if (!std::exchange(shape->offered, true))
            shape->offer_sampling(make_sampling(machine.memory, loaded, static_cast<std::uint64_t>(blocks)));
        command->duration_from_effect = true;
        request.shape = shape;
    }
    command->overlaps = request.overlaps;
    if (!command->duration_from_effect) command->tail = tail_of(*command, model.kernel_latency_ns);
    command->triggers_at_once = request.programmatic_event != nullptr && request.trigger_at_block_start;
    command->may_trigger = (flags & cuscope_simt::uses_trigger) != 0 || command->triggers_at_once;
    command->blocks_waiting = command->blocks_left = blocks;
    // Rounded down, so that exactly as many blocks fit on the device as the model says.
    command->block_units = Multiprocessors::units / per_multiprocessor;
    command->shared_memory =
        shared_memory_need(model, per_multiprocessor, entry.static_shared_bytes + config.dynamic_shared_bytes,
                           loaded.settings().carveout);
    command->effect = std::move(effect);
    *made = command;
    return Status::success;
}

}  // namespace cuscope::host
