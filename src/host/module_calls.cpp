// The host runtime's modules, functions and launches.
#include <algorithm>
#include <cstring>

#include "host/call.hpp"
#include "host/host_runtime.hpp"
#include "host/simt/compiler.hpp"

namespace cuscope::host {
namespace {

constexpr int warp = 32;
// Registers have no meaning here; so many never limit occupancy.
constexpr int assumed_registers = 32;
// What every device with clusters supports.
constexpr std::uint64_t max_cluster_blocks = 8;
// What a thread's stack is at least: host code needs more of it than device code.
constexpr std::size_t least_stack = std::size_t{64} << 10;

std::string dimensions(const Dim3& d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

unsigned threads_of(const Dim3& block) { return block.x * block.y * block.z; }

}  // namespace

HostRuntime::Kernel* HostRuntime::find_kernel(KernelHandle handle) {
    return live_.contains(handle) ? reinterpret_cast<Kernel*>(handle) : nullptr;
}

HostRuntime::Library* HostRuntime::find_library(LibraryHandle handle) {
    return live_.contains(handle) ? reinterpret_cast<Library*>(handle) : nullptr;
}

Status HostRuntime::compile(const CompileRequest& request, CompileResult* result) {
    simt::Target target;
    {
        Call call(*this, &CallCosts::other, Call::On::host);
        if (call.refused()) return call.status();
        if (result == nullptr) return fail(Status::invalid_value);
        target.compute_capability_major = device().model->properties.compute_capability_major;
        target.compute_capability_minor = device().model->properties.compute_capability_minor;
    }
    const Status status = simt::compile(request, target, result);
    return status == Status::success ? status : fail(status);
}

// An instance of an image holds its __device__ and __constant__ variables, so each device has its own.
Status HostRuntime::instance(Library& library, int index, std::shared_ptr<simt::Image>* image) {
    auto& loaded = library.instances[index];
    if (!loaded) {
        std::string detail;
        const Status status = simt::Image::load(library.image, &loaded, &detail);
        if (status != Status::success) {
            library.instances.erase(index);
            return fail(status, detail);
        }
        const auto& table = loaded->table();
        for (unsigned i = 0; i < table.global_count; ++i) {
            const auto& global = table.globals[i];
            Allocation variable{static_cast<std::byte*>(global.address), global.bytes, MemoryType::device,
                                index};
            variable.fixed = true;
            memory_.add(variable);
        }
    }
    *image = loaded;
    return Status::success;
}

Status HostRuntime::library_load_data(LibraryHandle* library, const void* image, std::size_t bytes) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    if (library == nullptr || image == nullptr) return fail(Status::invalid_value);
    release_unloaded();
    auto made = std::make_unique<Library>();
    made->image.assign(static_cast<const char*>(image), bytes);
    std::shared_ptr<simt::Image> first;
    if (Status status = instance(*made, thread().device, &first); status != Status::success) return status;
    for (unsigned i = 0; i < first->table().kernel_count; ++i) {
        auto kernel = std::make_unique<Kernel>(Kernel{made.get(), first->table().kernels[i].lowered, {}});
        live_.insert(kernel.get());
        made->kernels.push_back(std::move(kernel));
    }
    live_.insert(made.get());
    *library = reinterpret_cast<LibraryHandle>(made.get());
    libraries_.emplace(made.get(), std::move(made));
    return Status::success;
}

// What runs of it goes on; the code and the variables go when that has ended.
Status HostRuntime::library_unload(LibraryHandle library) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Library* found = find_library(library);
    if (found == nullptr) return invalid_handle("library");
    Unloaded unloaded;
    for (const auto& [device, image] : found->instances) {
        for (CommandRef& last : last_of_device(device)) unloaded.last.push_back(std::move(last));
    }
    for (auto& kernel : found->kernels) live_.erase(kernel.get());
    live_.erase(found);
    unloaded.library = std::move(libraries_.extract(found).mapped());
    unloaded_.push_back(std::move(unloaded));
    release_unloaded();
    return Status::success;
}

void HostRuntime::release_unloaded() {
    std::erase_if(unloaded_, [&](const Unloaded& unloaded) {
        for (const CommandRef& last : unloaded.last) {
            if (!effects_.functional(last.get())) return false;
        }
        for (const auto& [device, image] : unloaded.library->instances) {
            const auto& table = image->table();
            for (unsigned i = 0; i < table.global_count; ++i) memory_.remove(table.globals[i].address);
        }
        return true;
    });
}

Status HostRuntime::library_get_kernel(KernelHandle* kernel, LibraryHandle library,
                                       const char* lowered_name) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Library* found = find_library(library);
    if (found == nullptr) return invalid_handle("library");
    if (kernel == nullptr || lowered_name == nullptr) return fail(Status::invalid_value);
    const auto named = std::find_if(found->kernels.begin(), found->kernels.end(),
                                    [&](const auto& other) { return other->lowered == lowered_name; });
    if (named == found->kernels.end()) {
        return fail(Status::symbol_not_found,
                    std::string("the library has no kernel '") + lowered_name + "'");
    }
    *kernel = reinterpret_cast<KernelHandle>(named->get());
    return Status::success;
}

Status HostRuntime::library_get_kernel_count(unsigned* count, LibraryHandle library) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Library* found = find_library(library);
    if (found == nullptr) return invalid_handle("library");
    if (count == nullptr) return fail(Status::invalid_value);
    *count = static_cast<unsigned>(found->kernels.size());
    return Status::success;
}

Status HostRuntime::library_enumerate_kernels(KernelHandle* kernels, unsigned count, LibraryHandle library) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Library* found = find_library(library);
    if (found == nullptr) return invalid_handle("library");
    if (kernels == nullptr) return fail(Status::invalid_value);
    for (unsigned i = 0; i < std::min<std::size_t>(count, found->kernels.size()); ++i) {
        kernels[i] = reinterpret_cast<KernelHandle>(found->kernels[i].get());
    }
    return Status::success;
}

Status HostRuntime::library_get_global(void** pointer, std::size_t* bytes, LibraryHandle library,
                                       const char* name) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Library* found = find_library(library);
    if (found == nullptr) return invalid_handle("library");
    if (name == nullptr) return fail(Status::invalid_value);
    std::shared_ptr<simt::Image> image;
    if (Status status = instance(*found, thread().device, &image); status != Status::success) return status;
    const auto* global = image->global(name);
    if (global == nullptr) {
        return fail(Status::symbol_not_found, std::string("the library has no variable '") + name + "'");
    }
    if (pointer != nullptr) *pointer = global->address;
    if (bytes != nullptr) *bytes = global->bytes;
    return Status::success;
}

// ---- functions

Status HostRuntime::func_get_name(const char** name, KernelHandle kernel) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Kernel* found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    if (name == nullptr) return fail(Status::invalid_value);
    *name = found->lowered.c_str();
    return Status::success;
}

Status HostRuntime::func_get_param_info(KernelHandle kernel, std::size_t index, std::size_t* offset,
                                        std::size_t* size) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Kernel* found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    std::shared_ptr<simt::Image> image;
    if (Status status = instance(*found->library, thread().device, &image); status != Status::success)
        return status;
    const auto* entry = image->kernel(found->lowered);
    if (offset == nullptr || index >= entry->parameter_count) return fail(Status::invalid_value);
    *offset = entry->parameters[index].offset;
    if (size != nullptr) *size = entry->parameters[index].size;
    return Status::success;
}

int HostRuntime::max_dynamic_shared(const Kernel& kernel, const cuscope_simt::KernelEntry& entry) const {
    const int index = thread().device;
    const auto set = kernel.max_dynamic_shared.find(index);
    if (set != kernel.max_dynamic_shared.end()) return set->second;
    const auto whole = static_cast<int>(devices_[index]->model->properties.shared_memory_per_block);
    return std::max(0, whole - static_cast<int>(entry.static_shared_bytes));
}

Status HostRuntime::func_get_attributes(FunctionAttributes* attributes, KernelHandle kernel) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Kernel* found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    if (attributes == nullptr) return fail(Status::invalid_value);
    std::shared_ptr<simt::Image> image;
    if (Status status = instance(*found->library, thread().device, &image); status != Status::success)
        return status;
    const auto* entry = image->kernel(found->lowered);
    const DeviceProperties& properties = device().model->properties;
    *attributes = {};
    attributes->shared_size = entry->static_shared_bytes;
    for (unsigned i = 0; i < image->table().global_count; ++i) {
        if (image->table().globals[i].constant) attributes->const_size += image->table().globals[i].bytes;
    }
    attributes->max_threads_per_block = entry->max_threads_per_block != 0
                                            ? static_cast<int>(entry->max_threads_per_block)
                                            : properties.max_threads_per_block;
    attributes->binary_version =
        10 * properties.compute_capability_major + properties.compute_capability_minor;
    attributes->ptx_version = attributes->binary_version;
    attributes->max_dynamic_shared_size = max_dynamic_shared(*found, *entry);
    attributes->preferred_shared_memory_carveout = -1;
    return Status::success;
}

Status HostRuntime::func_set_attribute(KernelHandle kernel, FunctionAttribute attribute, int value) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Kernel* found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    std::shared_ptr<simt::Image> image;
    if (Status status = instance(*found->library, thread().device, &image); status != Status::success)
        return status;
    const auto* entry = image->kernel(found->lowered);
    switch (attribute) {
        case FunctionAttribute::max_dynamic_shared_size: {
            const auto most = static_cast<int>(device().model->properties.shared_memory_per_block_optin) -
                              static_cast<int>(entry->static_shared_bytes);
            if (value < 0 || value > most) {
                return fail(Status::invalid_value, "a block of this kernel may have at most " +
                                                       std::to_string(most) +
                                                       " bytes of dynamic shared memory; " +
                                                       std::to_string(value) + " were asked for");
            }
            found->max_dynamic_shared[thread().device] = value;
            return Status::success;
        }
        case FunctionAttribute::preferred_shared_memory_carveout:
            return value < -1 || value > 100 ? fail(Status::invalid_value) : Status::success;
    }
    return fail(Status::invalid_value);
}

Status HostRuntime::occupancy_max_active_blocks_per_multiprocessor(int* blocks, KernelHandle kernel,
                                                                   int block_size,
                                                                   std::size_t dynamic_shared_bytes) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Kernel* found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    if (blocks == nullptr || block_size <= 0) return fail(Status::invalid_value);
    std::shared_ptr<simt::Image> image;
    if (Status status = instance(*found->library, thread().device, &image); status != Status::success)
        return status;
    const auto* entry = image->kernel(found->lowered);
    *blocks = blocks_per_multiprocessor(*device().model, static_cast<unsigned>(block_size),
                                        entry->static_shared_bytes + dynamic_shared_bytes, assumed_registers);
    return Status::success;
}

Status HostRuntime::occupancy_max_potential_block_size(int* min_grid_size, int* block_size,
                                                       KernelHandle kernel, std::size_t dynamic_shared_bytes,
                                                       int block_size_limit) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    Kernel* found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    if (min_grid_size == nullptr || block_size == nullptr) return fail(Status::invalid_value);
    std::shared_ptr<simt::Image> image;
    if (Status status = instance(*found->library, thread().device, &image); status != Status::success)
        return status;
    const auto* entry = image->kernel(found->lowered);
    const DeviceModel& model = *device().model;
    int limit = model.properties.max_threads_per_block;
    if (entry->max_threads_per_block != 0)
        limit = std::min(limit, static_cast<int>(entry->max_threads_per_block));
    if (block_size_limit > 0) limit = std::min(limit, block_size_limit);
    int best_threads = 0;
    *min_grid_size = *block_size = 0;
    for (int size = (limit + warp - 1) / warp * warp; size > 0; size -= warp) {
        const int threads = std::min(size, limit);
        const int blocks =
            blocks_per_multiprocessor(model, static_cast<unsigned>(threads),
                                      entry->static_shared_bytes + dynamic_shared_bytes, assumed_registers);
        if (blocks * threads <= best_threads) continue;
        best_threads = blocks * threads;
        *min_grid_size = blocks * model.properties.multiprocessor_count;
        *block_size = threads;
        if (best_threads == model.properties.max_threads_per_multiprocessor) break;
    }
    return Status::success;
}

// ---- launches

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

// What the kernel says of its clusters holds, if it says anything.
Status HostRuntime::cluster_of(const LaunchConfig& config, const cuscope_simt::KernelEntry& entry,
                               Dim3* cluster) {
    const auto& own = entry.cluster_dim;
    const Dim3& asked = config.cluster;
    const Dim3 none{1, 1, 1};
    *cluster = own.x != 0 ? Dim3{own.x, own.y, own.z} : asked.x != 0 ? asked : none;
    if (own.x != 0 && asked.x != 0 && (asked.x != own.x || asked.y != own.y || asked.z != own.z)) {
        return fail(Status::invalid_cluster_size, "clusters of " + dimensions(asked) +
                                                      " blocks; the kernel's __cluster_dims__ says " +
                                                      dimensions(*cluster));
    }
    const std::uint64_t blocks = std::uint64_t{cluster->x} * cluster->y * cluster->z;
    if (blocks == 0 || blocks > max_cluster_blocks) {
        return fail(Status::invalid_cluster_size, "clusters of " + dimensions(*cluster) +
                                                      " blocks; allowed are 1 to " +
                                                      std::to_string(max_cluster_blocks) + " blocks");
    }
    if (config.grid.x % cluster->x != 0 || config.grid.y % cluster->y != 0 ||
        config.grid.z % cluster->z != 0) {
        return fail(Status::invalid_value, "a grid of " + dimensions(config.grid) +
                                               " blocks, which clusters of " + dimensions(*cluster) +
                                               " do not divide");
    }
    return Status::success;
}

Status HostRuntime::launch_kernel(const LaunchConfig& config, KernelHandle kernel, void** arguments) {
    Call call(*this, &CallCosts::launch);
    if (call.refused()) return call.status();
    Kernel* found = find_kernel(kernel);
    if (found == nullptr) return invalid_handle("kernel");
    Stream* stream = find_stream(config.stream);
    if (stream == nullptr) return invalid_handle("stream");
    if (stream->device != thread().device)
        return fail(Status::invalid_resource_handle, "a stream of another device");
    std::shared_ptr<simt::Image> image;
    if (Status status = instance(*found->library, thread().device, &image); status != Status::success)
        return status;
    const auto& entry = *image->kernel(found->lowered);
    if (Status status = check_launch(config, *found, entry); status != Status::success) return status;
    Dim3 cluster;
    if (Status status = cluster_of(config, entry, &cluster); status != Status::success) return status;
    if (entry.parameter_count > 0 && arguments == nullptr) return fail(Status::invalid_value);

    Device& owner = device();
    const DeviceModel& model = *owner.model;
    const std::int64_t per_multiprocessor =
        std::max(1, blocks_per_multiprocessor(model, threads_of(config.block),
                                              entry.static_shared_bytes + config.dynamic_shared_bytes,
                                              assumed_registers));
    const std::int64_t resident = per_multiprocessor * model.properties.multiprocessor_count;
    const std::int64_t blocks = static_cast<std::int64_t>(config.grid.x) * config.grid.y * config.grid.z;
    if (config.cooperative && blocks > resident) {
        return fail(Status::cooperative_launch_too_large,
                    "a cooperative grid of " + std::to_string(blocks) + " blocks; the device holds " +
                        std::to_string(resident) + " blocks of this kernel at once, " +
                        std::to_string(per_multiprocessor) + " on each multiprocessor (kernel.occupancy)");
    }
    auto effect = std::make_unique<KernelEffect>();
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
        if (array_bytes >= 0 || parameter.size != sizeof(void*)) continue;
        void* address = nullptr;
        std::memcpy(&address, arguments[i], sizeof(address));
        if (const Allocation* allocation = memory_.find(address)) {
            counted += static_cast<std::int64_t>(allocation->bytes);
        }
    }
    if (array_bytes < 0) array_bytes = counted;
    launch.cooperative = config.cooperative;
    launch.cluster = cluster;
    launch.image = image;
    launch.kernel = &entry;
    launch.grid = config.grid;
    launch.block = config.block;
    launch.dynamic_shared_bytes = config.dynamic_shared_bytes;
    launch.clock_khz = model.properties.clock_rate;
    launch.multiprocessor_count = static_cast<unsigned>(model.properties.multiprocessor_count);
    launch.resident_blocks = static_cast<unsigned>(resident);
    launch.stack_bytes = std::max(least_stack, owner.limits[static_cast<int>(Limit::stack_size)]);

    const std::int64_t waves = (blocks + resident - 1) / resident;
    const Time modelled = std::max(
        model.minimum_kernel_ns,
        model.kernel_latency_ns + static_cast<Time>(static_cast<double>(array_bytes) / model.kernel_rate));
    const Time whole = config.duration_ns >= 0 ? config.duration_ns : modelled;

    Command* command = begin(*stream, Engine::compute);
    command->duration = std::max<Time>(1, whole / waves);
    command->duration_from_effect =
        config.duration_ns < 0 && (image->table().flags & cuscope_simt::uses_clock) != 0;
    command->blocks_waiting = command->blocks_left = blocks;
    // Rounded down: as many blocks fit on the device as the model says.
    command->block_units = Timeline::units_per_multiprocessor / per_multiprocessor;
    command->effect = std::move(effect);
    const CommandRef keep(timeline_.pool(), command);
    commit(command);
    if (launch_blocking_) return wait_for(call.lock(), command);
    relieve(call.lock());
    return Status::success;
}

}  // namespace cuscope::host
