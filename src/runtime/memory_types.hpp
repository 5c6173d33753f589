// Plain types of the contract's memory calls: extents, pitched memory, locations, pools, CUDA arrays,
// textures. The numbers equal CUDA's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cuscope {

using MemPoolHandle = struct MemPoolT*;
using ArrayHandle = struct ArrayT*;
using MipmappedArrayHandle = struct MipmappedArrayT*;
using TextureHandle = unsigned long long;  // cudaTextureObject_t
using SurfaceHandle = unsigned long long;  // cudaSurfaceObject_t

enum class MemcpyKind : int {
    host_to_host = 0,
    host_to_device = 1,
    device_to_host = 2,
    device_to_device = 3,
    by_address = 4,  // cudaMemcpyDefault
};

// cudaExtent: the width is in bytes, or in elements if the copy involves an array.
struct Extent {
    std::size_t width = 0, height = 0, depth = 0;
    bool operator==(const Extent&) const = default;
};

// cudaPos: x is in bytes, or in elements of an array.
struct Position {
    std::size_t x = 0, y = 0, z = 0;
};

// cudaPitchedPtr: `pitch` is the number of bytes from one row to the next, x_size the logical width in bytes,
// y_size the number of rows in a slice.
struct PitchedPointer {
    void* pointer = nullptr;
    std::size_t pitch = 0, x_size = 0, y_size = 0;
};

// cudaMemcpy3DParms: each side is an array or a pitched pointer.
struct Memcpy3DParameters {
    ArrayHandle source_array = nullptr;
    Position source_position;
    PitchedPointer source;
    ArrayHandle destination_array = nullptr;
    Position destination_position;
    PitchedPointer destination;
    Extent extent;
    MemcpyKind kind = MemcpyKind::by_address;
};

// cudaMemLocationType
enum class MemLocationType : int { invalid = 0, device = 1, host = 2, host_numa = 3, host_numa_current = 4 };

// cudaMemLocation: `id` is a device ordinal or a NUMA node.
struct MemLocation {
    MemLocationType type = MemLocationType::device;
    int id = 0;
};
inline constexpr int cpu_device_id = -1, invalid_device_id = -2;

// cudaMemoryAdvise
enum class MemoryAdvice : int {
    set_read_mostly = 1,
    unset_read_mostly = 2,
    set_preferred_location = 3,
    unset_preferred_location = 4,
    set_accessed_by = 5,
    unset_accessed_by = 6,
};

// cudaMemRangeAttribute
enum class MemRangeAttribute : int {
    read_mostly = 1,
    preferred_location = 2,
    accessed_by = 3,
    last_prefetch_location = 4,
};

// cudaMemPoolAttr
enum class MemPoolAttribute : int {
    reuse_follow_event_dependencies = 1,
    reuse_allow_opportunistic = 2,
    reuse_allow_internal_dependencies = 3,
    release_threshold = 4,
    reserved_current = 5,
    reserved_high = 6,
    used_current = 7,
    used_high = 8,
};

// cudaMemPoolProps: a pool of page-locked device memory without handles for other processes.
struct MemPoolProperties {
    MemLocation location;
    std::size_t max_size = 0;  // bytes; 0: limited by the device's memory only
};

// cudaMemAccessFlags, cudaMemAccessDesc
enum class MemAccess : int { none = 0, read = 1, read_write = 3 };
struct MemAccessDescription {
    MemLocation location;
    MemAccess flags = MemAccess::none;
};

// cudaMemcpySrcAccessOrder
enum class SourceAccessOrder : int { stream = 1, during_api_call = 2, any = 3 };

// cudaMemcpyAttributes
struct MemcpyAttributes {
    SourceAccessOrder source_access_order = SourceAccessOrder::stream;
    MemLocation source_location, destination_location;
    unsigned flags = 0;
};

namespace flags {
inline constexpr unsigned host_alloc_portable = 0x1, host_alloc_mapped = 0x2, host_alloc_write_combined = 0x4;
inline constexpr unsigned host_register_portable = 0x1, host_register_mapped = 0x2,
                          host_register_io_memory = 0x4, host_register_read_only = 0x8;
inline constexpr unsigned mem_attach_global = 0x1, mem_attach_host = 0x2;
inline constexpr unsigned array_layered = 0x1, array_surface_load_store = 0x2, array_cubemap = 0x4,
                          array_texture_gather = 0x8;
}  // namespace flags

// cudaChannelFormatKind, cudaChannelFormatDesc: the bits of each component.
enum class ChannelKind : int { signed_integer = 0, unsigned_integer = 1, floating = 2, none = 3 };
struct ChannelFormat {
    int x = 0, y = 0, z = 0, w = 0;
    ChannelKind kind = ChannelKind::none;
    bool operator==(const ChannelFormat&) const = default;
};

// cudaResourceDesc
enum class ResourceType : int { array = 0, mipmapped_array = 1, linear = 2, pitch_2d = 3 };
struct ResourceDescription {
    ResourceType type = ResourceType::array;
    ArrayHandle array = nullptr;
    MipmappedArrayHandle mipmapped_array = nullptr;
    void* pointer = nullptr;  // linear, pitch_2d
    ChannelFormat format;
    std::size_t bytes = 0;                         // linear
    std::size_t width = 0, height = 0, pitch = 0;  // pitch_2d: elements, rows, bytes
};

enum class TextureAddressMode : int { wrap = 0, clamp = 1, mirror = 2, border = 3 };
enum class TextureFilterMode : int { point = 0, linear = 1 };
enum class TextureReadMode : int { element_type = 0, normalized_float = 1 };

// cudaTextureDesc
struct TextureDescription {
    std::array<TextureAddressMode, 3> address_mode{TextureAddressMode::wrap, TextureAddressMode::wrap,
                                                   TextureAddressMode::wrap};
    TextureFilterMode filter_mode = TextureFilterMode::point;
    TextureReadMode read_mode = TextureReadMode::element_type;
    bool srgb = false;
    std::array<float, 4> border_color{};
    bool normalized_coordinates = false;
    // For mipmapped arrays. The level that is read is the requested level plus the bias, clamped to [min,
    // max].
    TextureFilterMode mipmap_filter_mode = TextureFilterMode::point;
    float mipmap_level_bias = 0, min_mipmap_level_clamp = 0, max_mipmap_level_clamp = 0;
};

}  // namespace cuscope
