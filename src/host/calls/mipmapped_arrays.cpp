// The host runtime's mipmapped arrays. All levels share one allocation, and each level is an array of its
// own.
#include <algorithm>
#include <bit>

#include "host/memory/array_format.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

constexpr std::size_t most_mipmapped = 32768;  // the limit for arrays with one or two axes
constexpr std::size_t level_alignment = 512;   // bytes

bool is_layered(unsigned flags) { return (flags & (flags::array_layered | flags::array_cubemap)) != 0; }

// The number of layers and faces is the same at every level.
Extent level_extent(const Extent& extent, unsigned flags, unsigned level) {
    const auto half = [level](std::size_t size) {
        return size == 0 ? 0 : std::max<std::size_t>(1, size >> level);
    };
    return {half(extent.width), half(extent.height), is_layered(flags) ? extent.depth : half(extent.depth)};
}

unsigned most_levels(const Extent& extent, unsigned flags) {
    const std::size_t longest =
        std::max({extent.width, extent.height, is_layered(flags) ? std::size_t{0} : extent.depth});
    return static_cast<unsigned>(std::bit_width(longest));
}

}  // namespace

Found<HostRuntime::MipmappedArray> HostRuntime::find_mipmapped_array(MipmappedArrayHandle handle) {
    const auto found = mipmapped_arrays_.find(handle);
    return found == mipmapped_arrays_.end() ? nullptr : found->second.get();
}

Status HostRuntime::malloc_mipmapped_array(MipmappedArrayHandle* array, const ChannelFormat* format,
                                           Extent extent, unsigned levels, unsigned flags) {
    ENTER(malloc);
    TRY(forbidden());
    if (array == nullptr || format == nullptr) return fail(Status::invalid_value);
    *array = nullptr;
    TRY(check_array(*format, extent, flags));
    const bool volume = extent.depth > 0 && !is_layered(flags);
    if (!volume && std::max(extent.width, extent.height) > most_mipmapped) {
        return fail(Status::invalid_value, "a mipmapped array of " + describe(extent, flags) +
                                               ": allowed are " + std::to_string(most_mipmapped) +
                                               " elements along each axis");
    }
    if ((flags & flags::array_texture_gather) != 0 && (volume || extent.height == 0 || is_layered(flags)))
        return fail(Status::invalid_value, "gathers are for arrays of 2 axes");
    levels = std::clamp(levels, 1U, most_levels(extent, flags));
    const std::size_t element = element_bytes(*format);
    std::vector<std::size_t> offsets;
    std::size_t bytes = 0;
    for (unsigned i = 0; i < levels; ++i) {
        offsets.push_back(bytes);
        bytes += element * element_count(level_extent(extent, flags, i));
        bytes = (bytes + level_alignment - 1) / level_alignment * level_alignment;
    }
    auto made = std::make_unique<MipmappedArray>();
    made->device = thread().device;
    TRY(allocate_array(call.lock(), bytes, &made->base));
    for (unsigned i = 0; i < levels; ++i) {
        auto level = std::make_unique<Array>();
        level->format = *format;
        level->extent = level_extent(extent, flags, i);
        level->flags = flags;
        level->device = made->device;
        level->element = element;
        level->base = made->base + offsets[i];
        level->is_level = true;
        live_.insert(level.get());
        made->levels.push_back(reinterpret_cast<ArrayHandle>(level.get()));
        arrays_.emplace(level.get(), std::move(level));
    }
    *array = reinterpret_cast<MipmappedArrayHandle>(made.get());
    mipmapped_arrays_.emplace(made.get(), std::move(made));
    return Status::success;
}

Status HostRuntime::free_mipmapped_array(MipmappedArrayHandle array) {
    ENTER(free);
    TRY(forbidden());
    if (array == nullptr) return Status::success;
    const Status status = free_array_memory(call.lock(), "mipmapped array", [&]() -> std::byte* {
        const Found<MipmappedArray> found = find_mipmapped_array(array);
        return found == nullptr ? nullptr : found->base;
    });
    if (status != Status::success) return status;
    for (const ArrayHandle level : find_mipmapped_array(array)->levels) {
        live_.erase(level);
        arrays_.erase(level);
    }
    mipmapped_arrays_.erase(array);
    return Status::success;
}

Status HostRuntime::get_mipmapped_array_level(ArrayHandle* level, MipmappedArrayHandle array,
                                              unsigned index) {
    ENTER(other);
    if (level == nullptr) return fail(Status::invalid_value);
    *level = nullptr;
    const Found<const MipmappedArray> found = find_mipmapped_array(array);
    if (found == nullptr) return invalid_handle("mipmapped array");
    if (index >= found->levels.size()) {
        return fail(Status::invalid_value, "level " + std::to_string(index) + " of a mipmapped array of " +
                                               std::to_string(found->levels.size()) + " levels");
    }
    *level = found->levels[index];
    return Status::success;
}

}  // namespace cuscope::host
