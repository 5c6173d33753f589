// The host runtime's CUDA arrays, texture objects and surface objects.
#include <algorithm>

#include "host/call.hpp"
#include "host/host_runtime.hpp"

namespace cuscope::host {
namespace {

// Bytes of an element; 0 if no array has such elements.
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

// What every device of compute capability 5 and later has.
constexpr std::size_t most_linear_texels = std::size_t{1} << 28;
constexpr std::size_t most_pitched_width = 131072, most_pitched_height = 65000, most_pitch = 2097120;

// Has an array such an extent? The limits are those of every device of compute capability 5 and later. Of a
// layered array the depth is the number of layers, of a cubemap that of its faces.
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

}  // namespace

Found<HostRuntime::Array> HostRuntime::find_array(ArrayHandle handle) {
    return live_.contains(handle) ? reinterpret_cast<Array*>(handle) : nullptr;
}

Status HostRuntime::make_array(Lock& lock, ArrayHandle* array, const ChannelFormat* format,
                               const Extent& extent, unsigned flags) {
    if (array == nullptr || format == nullptr) return fail(Status::invalid_value);
    *array = nullptr;
    const std::size_t element = element_bytes(*format);
    if (element == 0) {
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
        return fail(Status::invalid_value,
                    "an array of " + std::to_string(extent.width) + " x " + std::to_string(extent.height) +
                        " x " + std::to_string(extent.depth) + " elements, flags " + std::to_string(flags));
    }
    auto made = std::make_unique<Array>();
    made->format = *format;
    made->extent = extent;
    made->flags = flags;
    made->device = thread().device;
    made->element = element;
    const std::size_t bytes = element * extent.width * std::max<std::size_t>(1, extent.height) *
                              std::max<std::size_t>(1, extent.depth);
    if (Status status = allocate(lock, made->device, bytes, &made->base); status != Status::success)
        return status;
    Allocation allocation{made->base, bytes, MemoryType::device, made->device};
    allocation.fixed = true;
    memory_.add(allocation);
    live_.insert(made.get());
    *array = reinterpret_cast<ArrayHandle>(made.get());
    arrays_.emplace(made.get(), std::move(made));
    return Status::success;
}

Status HostRuntime::malloc_array(ArrayHandle* array, const ChannelFormat* format, std::size_t width,
                                 std::size_t height, unsigned flags) {
    Call call(*this, &CallCosts::malloc);
    if (call.refused()) return call.status();
    if (Status status = forbidden(); status != Status::success) return status;
    return make_array(call.lock(), array, format, {width, height, 0}, flags);
}

Status HostRuntime::malloc_3d_array(ArrayHandle* array, const ChannelFormat* format, Extent extent,
                                    unsigned flags) {
    Call call(*this, &CallCosts::malloc);
    if (call.refused()) return call.status();
    if (Status status = forbidden(); status != Status::success) return status;
    return make_array(call.lock(), array, format, extent, flags);
}

Status HostRuntime::free_array(ArrayHandle array) {
    Call call(*this, &CallCosts::free);
    if (call.refused()) return call.status();
    if (Status status = forbidden(); status != Status::success) return status;
    if (array == nullptr) return Status::success;
    const auto memory_of = [&] {
        const Found<Array> found = find_array(array);
        return found == nullptr ? nullptr : memory_.find_base(found->base);
    };
    const Allocation* memory = memory_of();
    if (memory == nullptr) return invalid_handle("array");
    const int index = memory->device;
    const std::uint64_t serial = memory->serial;
    if (Status status = wait_to_free(call.lock(), index); status != Status::success) return status;
    memory = memory_of();
    if (memory == nullptr || memory->serial != serial) return invalid_handle("array");
    std::byte* const base = memory->base;
    const std::size_t bytes = memory->bytes;
    memory_.remove(base);
    devices_[index]->arena->release(base, bytes);
    live_.erase(array);
    arrays_.erase(array);
    return Status::success;
}

Status HostRuntime::array_get_info(ChannelFormat* format, Extent* extent, unsigned* flags,
                                   ArrayHandle array) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const Found<const Array> found = find_array(array);
    if (found == nullptr) return invalid_handle("array");
    if (format != nullptr) *format = found->format;
    if (extent != nullptr) *extent = found->extent;
    if (flags != nullptr) *flags = found->flags;
    return Status::success;
}

// ---- objects

Status HostRuntime::check_resource(const ResourceDescription& resource, ChannelFormat* format) {
    const DeviceProperties& properties = device().model->properties;
    if (resource.type == ResourceType::array) {
        const Found<const Array> array = find_array(resource.array);
        if (array == nullptr) return invalid_handle("array");
        *format = array->format;
        return Status::success;
    }
    *format = resource.format;
    const std::size_t element = element_bytes(resource.format);
    if (element == 0) return fail(Status::invalid_channel_descriptor);
    std::size_t bytes = resource.bytes;
    if (resource.type == ResourceType::pitch_2d) {
        if (resource.width == 0 || resource.height == 0 || resource.pitch < resource.width * element ||
            resource.pitch % properties.texture_pitch_alignment != 0) {
            return fail(Status::invalid_value,
                        "the pitch of a 2-D texture holds a row and is a multiple of " +
                            std::to_string(properties.texture_pitch_alignment) + " bytes");
        }
        if (resource.width > most_pitched_width || resource.height > most_pitched_height ||
            resource.pitch > most_pitch) {
            return fail(Status::invalid_value,
                        "a 2-D texture of pitched memory has at most " + std::to_string(most_pitched_width) +
                            " x " + std::to_string(most_pitched_height) + " elements and a pitch of " +
                            std::to_string(most_pitch) + " bytes");
        }
        bytes = resource.pitch * (resource.height - 1) + resource.width * element;
    } else if (resource.type != ResourceType::linear) {
        return fail(Status::invalid_value);
    } else if (bytes < element || bytes / element > most_linear_texels) {
        return fail(Status::invalid_value, "linear memory of a texture has from 1 to " +
                                               std::to_string(most_linear_texels) + " elements");
    }
    if (reinterpret_cast<std::uintptr_t>(resource.pointer) % properties.texture_alignment != 0) {
        return fail(Status::invalid_value, "the address of a texture is a multiple of " +
                                               std::to_string(properties.texture_alignment) + " bytes");
    }
    if (memory_.find_range(resource.pointer, bytes) == nullptr) {
        return fail(Status::invalid_value, "the address is no memory that holds the texture");
    }
    return Status::success;
}

namespace {

void set_format(cuscope_simt::Texture& texture, const ChannelFormat& format) {
    texture.channels = 1 + (format.y != 0) + (format.z != 0) + (format.w != 0);
    texture.bits = format.x;
    texture.kind = static_cast<cuscope_simt::Texture::Kind>(format.kind);
}

}  // namespace

Status HostRuntime::create_texture_object(TextureHandle* texture, const ResourceDescription* resource,
                                          const TextureDescription* description) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    if (texture == nullptr || resource == nullptr || description == nullptr)
        return fail(Status::invalid_value);
    *texture = 0;
    ChannelFormat format;
    if (Status status = check_resource(*resource, &format); status != Status::success) return status;
    const bool integer = format.kind != ChannelKind::floating;
    const bool normalized = description->read_mode == TextureReadMode::normalized_float;
    // Linear memory has neither filters nor coordinates, and what is said about them does not count.
    const bool linear_memory = resource->type == ResourceType::linear;
    if (normalized && integer && format.x == 32) {
        return fail(Status::invalid_value, "integers of 32 bits are not read as normalised floats");
    }
    const bool filtered = description->filter_mode == TextureFilterMode::linear && !linear_memory;
    if (filtered && integer && !normalized) {
        return fail(Status::invalid_value, "linear filtering is for floats, or for normalised reads");
    }
    auto made = std::make_unique<cuscope_simt::Texture>();
    *made = {};
    set_format(*made, format);
    made->device = thread().device;
    const std::size_t element = element_bytes(format);
    if (resource->type == ResourceType::array) {
        const Array& array = *find_array(resource->array);
        made->data = reinterpret_cast<char*>(array.base);
        made->width = array.extent.width;
        made->height = std::max<std::size_t>(1, array.extent.height);
        made->depth = std::max<std::size_t>(1, array.extent.depth);
        made->pitch = made->width * element;
    } else {
        made->data = static_cast<char*>(resource->pointer);
        made->width = linear_memory ? resource->bytes / element : resource->width;
        made->height = linear_memory ? 1 : resource->height;
        made->depth = 1;
        made->pitch = linear_memory ? 0 : resource->pitch;
    }
    made->slice = made->pitch * made->height;
    for (int i = 0; i < 3; ++i) {
        auto mode = static_cast<cuscope_simt::Texture::AddressMode>(description->address_mode[i]);
        if (mode < cuscope_simt::Texture::wrap || mode > cuscope_simt::Texture::border)
            return fail(Status::invalid_value);
        // What repeats needs to know where the texture ends: normalised coordinates do.
        if (!description->normalized_coordinates && mode != cuscope_simt::Texture::border)
            mode = cuscope_simt::Texture::clamp;
        made->address_mode[i] = mode;
    }
    made->linear_filter = filtered;
    made->normalized_float = normalized && integer;
    made->normalized_coordinates = description->normalized_coordinates;
    made->srgb = description->srgb;
    std::copy(description->border_color.begin(), description->border_color.end(), made->border_color);
    *texture = reinterpret_cast<TextureHandle>(made.get());
    textures_.emplace(*texture, std::move(made));
    return Status::success;
}

Status HostRuntime::destroy_texture_object(TextureHandle texture) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const auto found = textures_.find(texture);
    if (found == textures_.end() || found->second->surface) return fail(Status::invalid_value);
    textures_.erase(found);
    return Status::success;
}

Status HostRuntime::create_surface_object(SurfaceHandle* surface, const ResourceDescription* resource) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    if (surface == nullptr || resource == nullptr) return fail(Status::invalid_value);
    *surface = 0;
    if (resource->type != ResourceType::array) {
        return fail(Status::invalid_value, "a surface is of an array");
    }
    const Found<const Array> array = find_array(resource->array);
    if (array == nullptr) return invalid_handle("array");
    auto made = std::make_unique<cuscope_simt::Texture>();
    *made = {};
    set_format(*made, array->format);
    made->device = thread().device;
    made->surface = true;
    made->data = reinterpret_cast<char*>(array->base);
    made->width = array->extent.width;
    made->height = std::max<std::size_t>(1, array->extent.height);
    made->depth = std::max<std::size_t>(1, array->extent.depth);
    made->pitch = made->width * array->element;
    made->slice = made->pitch * made->height;
    *surface = reinterpret_cast<SurfaceHandle>(made.get());
    textures_.emplace(*surface, std::move(made));
    return Status::success;
}

Status HostRuntime::destroy_surface_object(SurfaceHandle surface) {
    Call call(*this, &CallCosts::other);
    if (call.refused()) return call.status();
    const auto found = textures_.find(surface);
    if (found == textures_.end() || !found->second->surface) return fail(Status::invalid_value);
    textures_.erase(found);
    return Status::success;
}

}  // namespace cuscope::host
