#include "host/memory/array_format.hpp"

#include <algorithm>

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
    std::string text = std::to_string(extent.width);
    if (extent.height > 0 || extent.depth > 0) text += " x " + std::to_string(extent.height);
    if (extent.depth > 0) text += " x " + std::to_string(extent.depth);
    return text + " elements" + (flags != 0 ? ", flags " + std::to_string(flags) : "");
}

}  // namespace cuscope::host
