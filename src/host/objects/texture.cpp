#include "host/objects/texture.hpp"

#include <algorithm>
#include <string>

#include "host/memory/array_format.hpp"
#include "host/runtime/machine.hpp"

namespace cuscope::host {
namespace {

// Limits of every device of compute capability 5 and later.
constexpr std::size_t most_linear_texels = std::size_t{1} << 28;
constexpr std::size_t most_pitched_width = 131072, most_pitched_height = 65000, most_pitch = 2097120;

// Refuses a resource that no texture reads. `format` is the format of its elements.
Status check_resource(const Machine& machine, const ResourceDescription& resource, ChannelFormat* format) {
    const DeviceProperties& properties = machine.devices.current().model->properties;
    if (resource.type == ResourceType::array) {
        const Found<const Array> array = machine.arrays.find(resource.array);
        if (array == nullptr) return invalid_handle("array");
        *format = array->format;
        return Status::success;
    }
    if (resource.type == ResourceType::mipmapped_array) {
        const Found<const MipmappedArray> array = machine.mipmapped_arrays.find(resource.mipmapped_array);
        if (array == nullptr) return invalid_handle("mipmapped array");
        *format = machine.arrays.find(array->levels.front())->format;
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
    if (machine.memory.find_range(resource.pointer, bytes) == nullptr) {
        return fail(Status::invalid_value, "the address is no memory that holds the texture");
    }
    return Status::success;
}

cuscope_simt::Level level_of(std::byte* base, const Extent& extent, std::size_t element) {
    cuscope_simt::Level level{};
    level.data = reinterpret_cast<char*>(base);
    level.width = extent.width;
    level.height = std::max<std::size_t>(1, extent.height);
    level.depth = std::max<std::size_t>(1, extent.depth);
    level.pitch = level.width * element;
    level.slice = level.pitch * level.height;
    return level;
}

void show(cuscope_simt::Texture& texture, const cuscope_simt::Level& level) {
    texture.data = level.data;
    texture.pitch = level.pitch;
    texture.slice = level.slice;
    texture.width = level.width;
    texture.height = level.height;
    texture.depth = level.depth;
}

void set_format(cuscope_simt::Texture& texture, const ChannelFormat& format) {
    texture.channels = 1 + (format.y != 0) + (format.z != 0) + (format.w != 0);
    texture.bits = format.x;
    texture.kind = static_cast<cuscope_simt::Texture::Kind>(format.kind);
}

}  // namespace

Status TextureObject::make_texture(const Machine& machine, const ResourceDescription& resource,
                                   const TextureDescription& description,
                                   std::unique_ptr<TextureObject>* made) {
    ChannelFormat format;
    TRY(check_resource(machine, resource, &format));
    const bool integer = format.kind != ChannelKind::floating;
    const bool normalized = description.read_mode == TextureReadMode::normalized_float;
    // Linear memory has neither filtering nor normalised coordinates; such settings are ignored.
    const bool linear_memory = resource.type == ResourceType::linear;
    if (normalized && integer && format.x == 32) {
        return fail(Status::invalid_value, "integers of 32 bits are not read as normalised floats");
    }
    const bool filtered = description.filter_mode == TextureFilterMode::linear && !linear_memory;
    if (filtered && integer && !normalized) {
        return fail(Status::invalid_value, "linear filtering is for floats, or for normalised reads");
    }
    auto texture = std::make_unique<TextureObject>();
    set_format(*texture, format);
    texture->device = thread().device;
    const std::size_t element = element_bytes(format);
    if (resource.type == ResourceType::array) {
        const Array& array = *machine.arrays.find(resource.array);
        show(*texture, level_of(array.base, array.extent, element));
    } else if (resource.type == ResourceType::mipmapped_array) {
        for (const ArrayHandle handle : machine.mipmapped_arrays.find(resource.mipmapped_array)->levels) {
            const Array& level = *machine.arrays.find(handle);
            texture->own_levels.push_back(level_of(level.base, level.extent, element));
        }
        show(*texture, texture->own_levels.front());
        texture->levels = texture->own_levels.data();
        texture->level_count = static_cast<unsigned>(texture->own_levels.size());
        texture->linear_levels = description.mipmap_filter_mode == TextureFilterMode::linear;
        texture->level_bias = description.mipmap_level_bias;
        texture->min_level = description.min_mipmap_level_clamp;
        texture->max_level = description.max_mipmap_level_clamp;
    } else {
        texture->data = static_cast<char*>(resource.pointer);
        texture->width = linear_memory ? resource.bytes / element : resource.width;
        texture->height = linear_memory ? 1 : resource.height;
        texture->depth = 1;
        texture->pitch = linear_memory ? 0 : resource.pitch;
        texture->slice = texture->pitch * texture->height;
    }
    for (int i = 0; i < 3; ++i) {
        auto mode = static_cast<cuscope_simt::Texture::AddressMode>(description.address_mode[i]);
        if (mode < cuscope_simt::Texture::wrap || mode > cuscope_simt::Texture::border)
            return fail(Status::invalid_value);
        // Repeating modes (wrap, mirror) need normalised coordinates; without them they become clamp.
        if (!description.normalized_coordinates && mode != cuscope_simt::Texture::border)
            mode = cuscope_simt::Texture::clamp;
        texture->address_mode[i] = mode;
    }
    texture->linear_filter = filtered;
    texture->normalized_float = normalized && integer;
    texture->normalized_coordinates = description.normalized_coordinates;
    texture->srgb = description.srgb;
    std::copy(description.border_color.begin(), description.border_color.end(), texture->border_color);
    *made = std::move(texture);
    return Status::success;
}

Status TextureObject::make_surface(const Machine& machine, const ResourceDescription& resource,
                                   std::unique_ptr<TextureObject>* made) {
    if (resource.type != ResourceType::array) {
        return fail(Status::invalid_value, "a surface is of an array");
    }
    const Found<const Array> array = machine.arrays.find(resource.array);
    if (array == nullptr) return invalid_handle("array");
    auto surface = std::make_unique<TextureObject>();
    set_format(*surface, array->format);
    surface->device = thread().device;
    surface->surface = true;
    show(*surface, level_of(array->base, array->extent, array->element));
    *made = std::move(surface);
    return Status::success;
}

}  // namespace cuscope::host
