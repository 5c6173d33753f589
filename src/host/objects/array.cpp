#include "host/objects/array.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "host/memory/array_format.hpp"
#include "host/runtime/thread_state.hpp"
#include "runtime/try.hpp"

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

Status Array::check(const ChannelFormat& format, const Extent& extent, unsigned flags) {
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

std::size_t Array::bytes() const { return element * element_count(extent); }

Status Array::part(const Position& at, const Extent& elements, const char* side, Box* box) const {
    const std::size_t height = std::max<std::size_t>(1, extent.height),
                      depth = std::max<std::size_t>(1, extent.depth);
    if (at.x + elements.width > extent.width || at.y + elements.height > height ||
        at.z + elements.depth > depth) {
        return fail(Status::invalid_value, std::string("the ") + side + " array has " +
                                               std::to_string(extent.width) + " x " + std::to_string(height) +
                                               " x " + std::to_string(depth) +
                                               " elements: the copy is larger");
    }
    const std::size_t pitch = extent.width * element;
    const Box whole{base, pitch, pitch * height};
    *box = {whole.row(at.y, at.z) + at.x * element, whole.pitch, whole.slice};
    return Status::success;
}

// ---- mipmapped arrays

Status MipmappedArray::check(const ChannelFormat& format, const Extent& extent, unsigned flags) {
    TRY(Array::check(format, extent, flags));
    const bool volume = extent.depth > 0 && !is_layered(flags);
    if (!volume && std::max(extent.width, extent.height) > most_mipmapped) {
        return fail(Status::invalid_value, "a mipmapped array of " + describe(extent, flags) +
                                               ": allowed are " + std::to_string(most_mipmapped) +
                                               " elements along each axis");
    }
    if ((flags & flags::array_texture_gather) != 0 && (volume || extent.height == 0 || is_layered(flags)))
        return fail(Status::invalid_value, "gathers are for arrays of 2 axes");
    return Status::success;
}

std::vector<Array> MipmappedArray::levels_of(const ChannelFormat& format, const Extent& extent,
                                             unsigned flags, unsigned count, std::size_t* bytes) {
    std::vector<Array> levels(std::clamp(count, 1U, most_levels(extent, flags)));
    *bytes = 0;
    for (unsigned i = 0; i < levels.size(); ++i) {
        Array& level = levels[i];
        level.format = format;
        level.extent = level_extent(extent, flags, i);
        level.flags = flags;
        level.element = element_bytes(format);
        level.offset = *bytes;
        level.is_level = true;
        *bytes += level.bytes();
        *bytes = (*bytes + level_alignment - 1) / level_alignment * level_alignment;
    }
    return levels;
}

}  // namespace cuscope::host
