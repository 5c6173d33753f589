// The host runtime's CUDA arrays.
#include <algorithm>

#include "host/memory/array_format.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

std::size_t element_bytes(const ChannelFormat& format) {
    const int bits[] = {format.x, format.y, format.z, format.w};
    const int channels =
        static_cast<int>(std::count_if(std::begin(bits), std::end(bits), [](int b) { return b != 0; }));
    const bool equal = std::all_of(bits, bits + channels, [&](int b) { return b == format.x; });
    if (channels == 0 || channels == 3 || !equal) return 0;
    const bool floating = format.kind == ChannelKind::floating;
    const bool integer =
        format.kind == ChannelKind::signed_integer || format.kind == ChannelKind::unsigned_integer;
    const bool known =
        (format.x == 8 && integer) || ((format.x == 16 || format.x == 32) && (integer || floating));
    return known ? static_cast<std::size_t>(channels * format.x / 8) : 0;
}

std::size_t element_count(const Extent& extent) {
    return extent.width * std::max<std::size_t>(1, extent.height) * std::max<std::size_t>(1, extent.depth);
}

bool fits_array(const Extent& extent, unsigned flags) {
    constexpr std::size_t most_1d = 131072, most_width = 131072, most_height = 65536, most_3d = 16384,
                          most_layered = 32768, most_layers = 2048, faces = 6;
    const bool layered = (flags & flags::array_layered) != 0;
    if (extent.width == 0) return false;
    if ((flags & flags::array_cubemap) != 0) {
        return extent.width == extent.height && extent.width <= most_layered && extent.depth != 0 &&
               (layered ? extent.depth % faces == 0 && extent.depth < most_layers : extent.depth == faces);
    }
    if (layered) {
        return extent.width <= most_layered && extent.height <= most_layered && extent.depth != 0 &&
               extent.depth <= most_layers;
    }
    if (extent.depth == 0)
        return extent.height == 0 ? extent.width <= most_1d
                                  : extent.width <= most_width && extent.height <= most_height;
    return extent.height > 0 && extent.width <= most_3d && extent.height <= most_3d &&
           extent.depth <= most_3d;
}

std::string describe(const Extent& extent, unsigned flags) {
    return std::to_string(extent.width) + " x " + std::to_string(extent.height) + " x " +
           std::to_string(extent.depth) + " elements, flags " + std::to_string(flags);
}

Found<HostRuntime::Array> HostRuntime::find_array(ArrayHandle handle) {
    return live_.contains(handle) ? reinterpret_cast<Array*>(handle) : nullptr;
}

Status HostRuntime::check_array(const ChannelFormat& format, const Extent& extent, unsigned flags) {
    if (element_bytes(format) == 0) {
        return fail(Status::invalid_channel_descriptor,
                    "an element has 1, 2 or 4 equal channels: integers of 8, 16 or 32 bits, or floats of 16 "
                    "or 32");
    }
    constexpr unsigned known = flags::array_layered | flags::array_surface_load_store | flags::array_cubemap |
                               flags::array_texture_gather;
    if ((flags & ~known) != 0) {
        return fail(Status::invalid_value,
                    "an array's flags are layered (1), for surfaces (2), a cubemap (4), for gathers (8)");
    }
    if (!fits_array(extent, flags)) {
        return fail(Status::invalid_value, "an array of " + describe(extent, flags));
    }
    return Status::success;
}

Status HostRuntime::allocate_array(Lock& lock, std::size_t bytes, std::byte** base) {
    const int device = thread().device;
    TRY(allocate(lock, device, bytes, base));
    Allocation allocation{*base, bytes, MemoryType::device, device};
    allocation.fixed = true;
    memory_.add(allocation);
    return Status::success;
}

Status HostRuntime::make_array(Lock& lock, ArrayHandle* array, const ChannelFormat* format,
                               const Extent& extent, unsigned flags) {
    if (array == nullptr || format == nullptr) return fail(Status::invalid_value);
    *array = nullptr;
    TRY(check_array(*format, extent, flags));
    auto made = std::make_unique<Array>();
    made->format = *format;
    made->extent = extent;
    made->flags = flags;
    made->device = thread().device;
    made->element = element_bytes(*format);
    const std::size_t bytes = made->element * element_count(extent);
    TRY(allocate_array(lock, bytes, &made->base));
    live_.insert(made.get());
    *array = reinterpret_cast<ArrayHandle>(made.get());
    arrays_.emplace(made.get(), std::move(made));
    return Status::success;
}

Status HostRuntime::malloc_array(ArrayHandle* array, const ChannelFormat* format, std::size_t width,
                                 std::size_t height, unsigned flags) {
    ENTER(malloc);
    TRY(forbidden());
    return make_array(call.lock(), array, format, {width, height, 0}, flags);
}

Status HostRuntime::malloc_3d_array(ArrayHandle* array, const ChannelFormat* format, Extent extent,
                                    unsigned flags) {
    ENTER(malloc);
    TRY(forbidden());
    return make_array(call.lock(), array, format, extent, flags);
}

Status HostRuntime::free_array_memory(Lock& lock, const char* what,
                                      const std::function<std::byte*()>& base_of) {
    const auto memory_of = [&] {
        std::byte* const base = base_of();
        return base == nullptr ? nullptr : memory_.find_base(base);
    };
    const Allocation* memory = memory_of();
    if (memory == nullptr) return invalid_handle(what);
    const int index = memory->device;
    const std::uint64_t serial = memory->serial;
    TRY(wait_to_free(lock, index));
    memory = memory_of();
    if (memory == nullptr || memory->serial != serial) return invalid_handle(what);
    std::byte* const base = memory->base;
    const std::size_t bytes = memory->bytes;
    memory_.remove(base);
    devices_[index]->arena->release(base, bytes);
    return Status::success;
}

Status HostRuntime::free_array(ArrayHandle array) {
    ENTER(free);
    TRY(forbidden());
    if (array == nullptr) return Status::success;
    // A level is freed together with its mipmapped array. Freeing it alone does nothing and is no error, as
    // on a GPU.
    if (const Found<Array> found = find_array(array); found != nullptr && found->is_level)
        return Status::success;
    const Status status = free_array_memory(call.lock(), "array", [&]() -> std::byte* {
        const Found<Array> found = find_array(array);
        return found == nullptr ? nullptr : found->base;
    });
    if (status != Status::success) return status;
    live_.erase(array);
    arrays_.erase(array);
    return Status::success;
}

Status HostRuntime::array_get_info(ChannelFormat* format, Extent* extent, unsigned* flags,
                                   ArrayHandle array) {
    ENTER(other);
    const Found<const Array> found = find_array(array);
    if (found == nullptr) return invalid_handle("array");
    if (format != nullptr) *format = found->format;
    if (extent != nullptr) *extent = found->extent;
    if (flags != nullptr) *flags = found->flags;
    return Status::success;
}

}  // namespace cuscope::host
