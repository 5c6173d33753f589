// The host runtime's CUDA arrays and mipmapped arrays. All levels of a mipmapped array share one allocation,
// and each level is an array of its own.
#include <functional>

#include "host/memory/array_format.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

Status allocate_memory(Machine& machine, Lock& lock, std::size_t bytes, std::byte** base) {
    const int device = thread().device;
    TRY(machine.allocate(lock, device, bytes, base));
    Allocation allocation{*base, bytes, MemoryType::device, device};
    allocation.fixed = true;
    machine.memory.add(allocation);
    return Status::success;
}

// `base_of` returns null once another thread has freed the array.
Status free_memory(Machine& machine, Lock& lock, const char* what,
                   const std::function<std::byte*()>& base_of) {
    const auto memory_of = [&] {
        std::byte* const base = base_of();
        return base == nullptr ? nullptr : machine.memory.find_base(base);
    };
    const Allocation* memory = memory_of();
    if (memory == nullptr) return invalid_handle(what);
    const std::uint64_t serial = memory->serial;
    TRY(machine.wait_to_free(lock, memory->device));
    memory = memory_of();
    if (memory == nullptr || memory->serial != serial) return invalid_handle(what);
    const Allocation freed = *memory;
    machine.memory.remove(freed.base);
    machine.release(freed);
    return Status::success;
}

Status make_array(Machine& machine, Lock& lock, ArrayHandle* array, const ChannelFormat* format,
                  const Extent& extent, unsigned flags) {
    if (array == nullptr || format == nullptr) return fail(Status::invalid_value);
    *array = nullptr;
    TRY(Array::check(*format, extent, flags));
    auto made = std::make_unique<Array>();
    made->format = *format;
    made->extent = extent;
    made->flags = flags;
    made->device = thread().device;
    made->element = element_bytes(*format);
    TRY(allocate_memory(machine, lock, made->bytes(), &made->base));
    *array = machine.arrays.add(std::move(made));
    return Status::success;
}

}  // namespace

Status HostRuntime::malloc_array(ArrayHandle* array, const ChannelFormat* format, std::size_t width,
                                 std::size_t height, unsigned flags) {
    ENTER(malloc);
    TRY(machine_.captures.forbidden());
    return make_array(machine_, call.lock(), array, format, {width, height, 0}, flags);
}

Status HostRuntime::malloc_3d_array(ArrayHandle* array, const ChannelFormat* format, Extent extent,
                                    unsigned flags) {
    ENTER(malloc);
    TRY(machine_.captures.forbidden());
    return make_array(machine_, call.lock(), array, format, extent, flags);
}

Status HostRuntime::free_array(ArrayHandle array) {
    ENTER(free);
    TRY(machine_.captures.forbidden());
    if (array == nullptr) return Status::success;
    // A level is freed together with its mipmapped array. Freeing it alone does nothing and is no error, as
    // on a GPU.
    if (const Found<Array> found = machine_.arrays.find(array); found != nullptr && found->is_level)
        return Status::success;
    TRY(free_memory(machine_, call.lock(), "array", [&]() -> std::byte* {
        const Found<Array> found = machine_.arrays.find(array);
        return found == nullptr ? nullptr : found->base;
    }));
    machine_.arrays.remove(array);
    return Status::success;
}

Status HostRuntime::array_get_info(ChannelFormat* format, Extent* extent, unsigned* flags,
                                   ArrayHandle array) {
    ENTER(other);
    const Found<const Array> found = machine_.arrays.find(array);
    if (found == nullptr) return invalid_handle("array");
    if (format != nullptr) *format = found->format;
    if (extent != nullptr) *extent = found->extent;
    if (flags != nullptr) *flags = found->flags;
    return Status::success;
}

// ---- mipmapped arrays

Status HostRuntime::malloc_mipmapped_array(MipmappedArrayHandle* array, const ChannelFormat* format,
                                           Extent extent, unsigned levels, unsigned flags) {
    ENTER(malloc);
    TRY(machine_.captures.forbidden());
    if (array == nullptr || format == nullptr) return fail(Status::invalid_value);
    *array = nullptr;
    TRY(MipmappedArray::check(*format, extent, flags));
    std::size_t bytes = 0;
    const std::vector<Array> made_levels = MipmappedArray::levels_of(*format, extent, flags, levels, &bytes);
    auto made = std::make_unique<MipmappedArray>();
    made->device = thread().device;
    TRY(allocate_memory(machine_, call.lock(), bytes, &made->base));
    for (const Array& each : made_levels) {
        auto level = std::make_unique<Array>(each);
        level->device = made->device;
        level->base = made->base + level->offset;
        made->levels.push_back(machine_.arrays.add(std::move(level)));
    }
    *array = machine_.mipmapped_arrays.add(std::move(made));
    return Status::success;
}

Status HostRuntime::free_mipmapped_array(MipmappedArrayHandle array) {
    ENTER(free);
    TRY(machine_.captures.forbidden());
    if (array == nullptr) return Status::success;
    TRY(free_memory(machine_, call.lock(), "mipmapped array", [&]() -> std::byte* {
        const Found<MipmappedArray> found = machine_.mipmapped_arrays.find(array);
        return found == nullptr ? nullptr : found->base;
    }));
    const std::unique_ptr<MipmappedArray> freed = machine_.mipmapped_arrays.remove(array);
    for (const ArrayHandle level : freed->levels) machine_.arrays.remove(level);
    return Status::success;
}

Status HostRuntime::get_mipmapped_array_level(ArrayHandle* level, MipmappedArrayHandle array,
                                              unsigned index) {
    ENTER(other);
    if (level == nullptr) return fail(Status::invalid_value);
    *level = nullptr;
    const Found<const MipmappedArray> found = machine_.mipmapped_arrays.find(array);
    if (found == nullptr) return invalid_handle("mipmapped array");
    if (index >= found->levels.size()) {
        return fail(Status::invalid_value, "level " + std::to_string(index) + " of a mipmapped array of " +
                                               std::to_string(found->levels.size()) + " levels");
    }
    *level = found->levels[index];
    return Status::success;
}

}  // namespace cuscope::host
