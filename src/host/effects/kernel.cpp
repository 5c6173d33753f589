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

std::int64_t blocks_of(const Dim3& grid) { return static_cast<std::int64_t>(grid.x) * grid.y * grid.z; }

// The blocks of a launch that the device holds at once.
std::int64_t resident_blocks(const LaunchRequest& request, const DeviceModel& model) {
    return std::int64_t{request.blocks_per_multiprocessor} * model.properties.multiprocessor_count;
}

// To be called once the counting knows the parameters. Module variables and CUDA arrays are left out: kernels
// do not access them like other allocations.
void add_ranges(const MemoryRegistry& memory, simt::Counting& counting) {
    memory.for_each([&](const Allocation& allocation) {
        if (!allocation.fixed) counting.allow(allocation.base, allocation.bytes);
    });
    counting.divide();
}

std::shared_ptr<simt::Sampling> make_sampling(const MemoryRegistry& memory, const LoadedKernel& loaded,
                                              const Dim3& grid) {
    const auto& image = loaded.kernel->counting[loaded.device->ordinal];
    const auto counting = std::make_shared<simt::Counting>();
    add_ranges(memory, *counting);
    return std::make_shared<simt::Sampling>(image, image->kernel(loaded.kernel->lowered), counting,
                                            static_cast<std::uint64_t>(blocks_of(grid)));
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

namespace {

// The image in which a launch counts.
Status find_counting_image(Machine& machine, const Kernel& kernel, const Kernel& counted,
                           std::shared_ptr<simt::Image>* image) {
    TRY(machine.libraries.instance(*counted.library, thread().device, image));
    if (((*image)->table().flags & cuscope_simt::counts_accesses) == 0 || counted.lowered != kernel.lowered)
        return fail(Status::invalid_value, "the image does not count what this kernel does");
    return Status::success;
}

// Refuses a cooperative grid whose blocks the device does not hold at once.
Status check_cooperative(const LaunchConfig& config, const LaunchRequest& request, const DeviceModel& model) {
    if (!request.cooperative) return Status::success;
    const std::int64_t blocks = blocks_of(config.grid), resident = resident_blocks(request, model);
    if (blocks <= resident) return Status::success;
    return fail(Status::cooperative_launch_too_large,
                "a cooperative grid of " + std::to_string(blocks) + " blocks; the device holds " +
                    std::to_string(resident) + " blocks of this kernel at once, " +
                    std::to_string(request.blocks_per_multiprocessor) +
                    " on each multiprocessor (kernel.occupancy)");
}

// Describes the launch as one that is neither counted nor checked.
void set_launch(const LaunchConfig& config, const LaunchRequest& request, const LoadedKernel& loaded,
                void** arguments, Device& device, simt::Launch& launch) {
    const auto& entry = *loaded.entry;
    const DeviceProperties& properties = device.model->properties;
    launch.image = loaded.image;
    launch.kernel = &entry;
    launch.grid = config.grid;
    launch.block = config.block;
    launch.dynamic_shared_bytes = config.dynamic_shared_bytes;
    launch.cooperative = request.cooperative;
    launch.cluster = request.resolved_cluster;
    launch.heap = device.heap;
    launch.clock_khz = properties.clock_rate;
    launch.multiprocessor_count = static_cast<unsigned>(properties.multiprocessor_count);
    launch.resident_blocks = static_cast<unsigned>(resident_blocks(request, *device.model));
    if (entry.parameter_count > 0) {
        const auto& last = entry.parameters[entry.parameter_count - 1];
        launch.arguments.resize(last.offset + last.size);
    }
    for (unsigned i = 0; i < entry.parameter_count; ++i) {
        const auto& parameter = entry.parameters[i];
        std::memcpy(launch.arguments.data() + parameter.offset, arguments[i], parameter.size);
    }
    launch.stack_bytes = std::max(least_stack, device.limits[static_cast<int>(Limit::stack_size)]);
    // On a GPU, parameters do not occupy the stack. Here every function that takes a large parameter by value
    // has a copy of it on the stack.
    if (launch.arguments.size() > small_arguments)
        launch.stack_bytes += (parameter_copies * launch.arguments.size() / least_stack + 1) * least_stack;
}

// Makes the launch run the counting image, or count a sample of its blocks.
Status set_counting(const MemoryRegistry& memory, const LaunchConfig& config, const LoadedKernel& loaded,
                    void** arguments, const std::shared_ptr<simt::Image>& image, LaunchRequest& request,
                    simt::Launch& launch) {
    const std::shared_ptr<simt::Counting>& counting = request.counting;
    for (unsigned i = 0; i < loaded.entry->parameter_count; ++i)
        point(memory, *counting, i, arguments[i], loaded.entry->parameters[i].size);
    add_ranges(memory, *counting);
    const auto* const kernel = image->kernel(loaded.kernel->lowered);
    const auto blocks = static_cast<std::uint64_t>(blocks_of(config.grid));
    const bool whole = config.profiled_blocks == 0 || config.profiled_blocks >= blocks;
    if (config.profiled) {
        if (!whole && (may_change_variables(*loaded.image) || request.resolved_cluster != Dim3{1, 1, 1}))
            return fail(Status::invalid_value,
                        request.resolved_cluster != Dim3{1, 1, 1}
                            ? "a launch with clusters counts all its blocks or none: leave out blocks="
                            : "the module has __device__ variables, which this kernel may change, so that "
                              "some blocks cannot run a second time to be counted: leave out blocks=, or put "
                              "the kernel into a module without such variables");
        counting->profile = std::make_shared<simt::LineProfile>(image);
        counting->profile->prepare(*counting);
        launch.sampling = std::make_shared<simt::Sampling>(image, kernel, counting, blocks,
                                                           whole ? most_timed_blocks : config.profiled_blocks,
                                                           whole ? nullptr : counting);
        request.profiling = launch.sampling;
    }
    if (whole) {
        launch.counting = counting;
        launch.plain = loaded.image;
        launch.image = image;
        launch.kernel = kernel;
    }
    return Status::success;
}

// The time of a kernel by the bytes of its arrays. If these are not known, all allocations count to which an
// argument points.
Time time_of_bytes(const MemoryRegistry& memory, const LaunchConfig& config, const LoadedKernel& loaded,
                   void** arguments) {
    std::int64_t bytes = std::max<std::int64_t>(0, config.array_bytes);
    for (unsigned i = 0; config.array_bytes < 0 && i < loaded.entry->parameter_count; ++i) {
        if (loaded.entry->parameters[i].size != sizeof(void*)) continue;
        void* address = nullptr;
        std::memcpy(&address, arguments[i], sizeof(address));
        if (const Allocation* allocation = memory.find(address))
            bytes += static_cast<std::int64_t>(allocation->bytes);
    }
    const DeviceModel& model = *loaded.device->model;
    return std::max(
        model.minimum_kernel_ns,
        model.kernel_latency_ns + static_cast<Time>(static_cast<double>(bytes) / model.kernel_rate));
}

// Gives the command the duration that the call asks for, or the time of its shape, or of its bytes. As long
// as the shape has not learned its time, the duration comes from the effect.
void set_duration(const MemoryRegistry& memory, const LaunchConfig& config, const LoadedKernel& loaded,
                  void** arguments, LaunchRequest& request, KernelEffect& effect, Command* command) {
    const DeviceModel& model = *loaded.device->model;
    std::shared_ptr<KernelShape> shape = shape_of(loaded, config, request, memory, arguments);
    // A launch that counts or checks runs no other image beside its own, so it teaches the shape nothing.
    if ((request.counting || effect.launch.check) && shape && !shape->published) shape = nullptr;
    const Time modelled = !shape             ? time_of_bytes(memory, config, loaded, arguments)
                          : shape->published ? shape->time().total_ns
                                             : model.minimum_kernel_ns;
    const Time saved = request.node ? model.minimum_kernel_ns - model.graph_kernel_ns : 0;
    const Time whole = config.duration_ns >= 0 ? config.duration_ns : modelled - saved;
    const std::int64_t resident = resident_blocks(request, model);
    const std::int64_t waves = (blocks_of(config.grid) + resident - 1) / resident;
    command->duration = std::max<Time>(1, whole / waves);
    command->duration_from_effect =
        config.duration_ns < 0 && (loaded.image->table().flags & cuscope_simt::uses_clock) != 0;
    if (shape && !shape->published) {
        effect.shape = shape;
        effect.waves = waves;
        effect.saved_in_graph = saved;
        effect.kernel_latency = model.kernel_latency_ns;
        if (!std::exchange(shape->offered, true))
            shape->offer_sampling(make_sampling(memory, loaded, config.grid));
        command->duration_from_effect = true;
        request.shape = shape;
    }
    if (!command->duration_from_effect) command->tail = tail_of(*command, model.kernel_latency_ns);
}

}  // namespace

Status make_kernel(Machine& machine, const LaunchConfig& config, Kernel& kernel, void** arguments,
                   Stream& stream, LaunchRequest* made_request, Command** made) {
    LoadedKernel loaded;
    TRY(machine.libraries.load_kernel(kernel, &loaded));
    const auto& entry = *loaded.entry;
    LaunchRequest& request = *made_request;
    std::shared_ptr<simt::Image> counting_image;
    if (request.counting) TRY(find_counting_image(machine, kernel, *request.counted, &counting_image));
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
    Device& owner = *loaded.device;
    TRY(check_cooperative(config, request, *owner.model));

    auto effect = std::make_shared<KernelEffect>();
    effect->is_brief = config.brief;
    if (kernel.activity_name == 0) kernel.activity_name = index_of_name(entry.name);
    effect->name = kernel.activity_name;
    simt::Launch& launch = effect->launch;
    set_launch(config, request, loaded, arguments, owner, launch);
    if (request.counting)
        TRY(set_counting(machine.memory, config, loaded, arguments, counting_image, request, launch));
    if (checking()) {
        const bool left_out = config.unchecked || request.counting != nullptr;
        TRY(prepare_check(machine, kernel, left_out, launch));
    }

    const unsigned flags = loaded.image->table().flags;
    owner.has_printed |= (flags & cuscope_simt::uses_print) != 0;
    owner.has_allocated |= (flags & cuscope_simt::uses_heap) != 0;
    Command* command = machine.begin(stream, Engine::compute);
    if (request.priority) command->priority = *request.priority;
    set_duration(machine.memory, config, loaded, arguments, request, *effect, command);
    command->overlaps = request.overlaps;
    command->triggers_at_once = request.programmatic_event != nullptr && request.trigger_at_block_start;
    command->may_trigger = (flags & cuscope_simt::uses_trigger) != 0 || command->triggers_at_once;
    command->blocks_waiting = command->blocks_left = blocks_of(config.grid);
    // Rounded down, so that exactly as many blocks fit on the device as the model says.
    command->block_units = Multiprocessors::units / request.blocks_per_multiprocessor;
    command->shared_memory =
        shared_memory_need(*owner.model, request.blocks_per_multiprocessor,
                           entry.static_shared_bytes + config.dynamic_shared_bytes, loaded.settings.carveout);
    command->effect = std::move(effect);
    *made = command;
    return Status::success;
}

}  // namespace cuscope::host
