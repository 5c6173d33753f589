// The contract's calls on memory of other kinds, for tests; structures are passed as tuples.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "bindings/testing/contract.hpp"

namespace cuscope::bindings {
namespace {

using std::size_t;
using Sizes = std::tuple<size_t, size_t, size_t>;
using Pitched = std::tuple<Address, size_t, size_t, size_t>;  // pointer, pitch, x_size, y_size
using Place = std::tuple<int, int>;                           // type, id
using Format = std::tuple<int, int, int, int, int>;           // x, y, z, w, kind
using Side = std::tuple<Address, Pitched, Sizes>;  // of a 3-D copy: array, pitched pointer, position

Extent extent_of(const Sizes& sizes) { return {std::get<0>(sizes), std::get<1>(sizes), std::get<2>(sizes)}; }
Position position_of(const Sizes& sizes) {
    return {std::get<0>(sizes), std::get<1>(sizes), std::get<2>(sizes)};
}
PitchedPointer pitched_of(const Pitched& p) {
    return {as_pointer<void*>(std::get<0>(p)), std::get<1>(p), std::get<2>(p), std::get<3>(p)};
}
MemLocation place_of(const Place& place) {
    return {static_cast<MemLocationType>(std::get<0>(place)), std::get<1>(place)};
}
ChannelFormat format_of(const Format& format) {
    const auto& [x, y, z, w, kind] = format;
    return {x, y, z, w, static_cast<ChannelKind>(kind)};
}

Memcpy3DParameters parameters_of(const Side& destination, const Side& source, const Sizes& extent, int kind) {
    Memcpy3DParameters p;
    p.destination_array = as_pointer<ArrayHandle>(std::get<0>(destination));
    p.destination = pitched_of(std::get<1>(destination));
    p.destination_position = position_of(std::get<2>(destination));
    p.source_array = as_pointer<ArrayHandle>(std::get<0>(source));
    p.source = pitched_of(std::get<1>(source));
    p.source_position = position_of(std::get<2>(source));
    p.extent = extent_of(extent);
    p.kind = static_cast<MemcpyKind>(kind);
    return p;
}

ResourceDescription resource_of(const py::dict& given) {
    const auto get = [&]<class T>(const char* key, T fallback) {
        return given.contains(key) ? given[key].cast<T>() : fallback;
    };
    ResourceDescription resource;
    resource.type = static_cast<ResourceType>(get("type", 0));
    resource.array = as_pointer<ArrayHandle>(get("array", Address{0}));
    resource.mipmapped_array = as_pointer<MipmappedArrayHandle>(get("mipmapped_array", Address{0}));
    resource.pointer = as_pointer<void*>(get("pointer", Address{0}));
    resource.format = format_of(get("format", Format{}));
    resource.bytes = get("bytes", size_t{0});
    resource.width = get("width", size_t{0});
    resource.height = get("height", size_t{0});
    resource.pitch = get("pitch", size_t{0});
    return resource;
}

void add_copies(ContractMethods& methods) {
    methods.add(
        "Side", "array=0, pitched=(0, 0, 0, 0), position=(0, 0, 0)",
        +[](const Contract&, Address array, const Pitched& pitched, const Sizes& position) {
            return py::object(py::make_tuple(array, pitched, position));
        });
    methods.add(
        "memcpy_3d", "destination, source, extent, kind=4",
        +[](const Contract& c, const Side& destination, const Side& source, const Sizes& extent, int kind) {
            const Memcpy3DParameters p = parameters_of(destination, source, extent, kind);
            return answer(c.call([&](Runtime& r) { return r.memcpy_3d(&p); }));
        });
    methods.add(
        "memcpy_3d_async", "destination, source, extent, kind=4, stream=0",
        +[](const Contract& c, const Side& destination, const Side& source, const Sizes& extent, int kind,
            Address stream) {
            const Memcpy3DParameters p = parameters_of(destination, source, extent, kind);
            return answer(
                c.call([&](Runtime& r) { return r.memcpy_3d_async(&p, as_pointer<StreamHandle>(stream)); }));
        });
    methods.add(
        "memcpy_batch_async", "destinations, sources, sizes, source_access_order=1, stream=0",
        +[](const Contract& c, const std::vector<Address>& destinations, const std::vector<Address>& sources,
            const std::vector<size_t>& sizes, int source_access_order, Address stream) {
            std::vector<void*> to;
            std::vector<const void*> from;
            for (const Address address : destinations) to.push_back(as_pointer<void*>(address));
            for (const Address address : sources) from.push_back(as_pointer<void*>(address));
            MemcpyAttributes attributes;
            attributes.source_access_order = static_cast<SourceAccessOrder>(source_access_order);
            const size_t first = 0;
            return answer(c.call([&](Runtime& r) {
                return r.memcpy_batch_async(to.data(), from.data(), sizes.data(), sizes.size(), &attributes,
                                            &first, 1, as_pointer<StreamHandle>(stream));
            }));
        });
    methods.add(
        "memset_3d", "pitched, value, extent",
        +[](const Contract& c, const Pitched& pitched, int value, const Sizes& extent) {
            return answer(c.call(
                [&](Runtime& r) { return r.memset_3d(pitched_of(pitched), value, extent_of(extent)); }));
        });
    methods.add(
        "memset_3d_async", "pitched, value, extent, stream=0",
        +[](const Contract& c, const Pitched& pitched, int value, const Sizes& extent, Address stream) {
            return answer(c.call([&](Runtime& r) {
                return r.memset_3d_async(pitched_of(pitched), value, extent_of(extent),
                                         as_pointer<StreamHandle>(stream));
            }));
        });
}

void add_tensor_maps(ContractMethods& methods) {
    methods.add(
        "tensor_map_encode_tiled",
        "type, address, extents, strides, box, element_strides=(1, 1, 1, 1, 1), swizzle=0, l2_promotion=0, "
        "fill=0",
        +[](const Contract& c, int type, Address address, const std::vector<std::uint64_t>& extents,
            const std::vector<std::uint64_t>& strides, const std::vector<std::uint32_t>& box,
            const std::vector<std::uint32_t>& element_strides, int swizzle, int l2_promotion, int fill) {
            TensorMapDescription given;
            given.type = static_cast<TensorMapType>(type);
            given.rank = static_cast<unsigned>(extents.size());
            given.address = as_pointer<void*>(address);
            const auto take = [](auto& to, const auto& from) {
                std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
            };
            take(given.extents, extents);
            take(given.strides, strides);
            take(given.box, box);
            take(given.element_strides, element_strides);
            given.swizzle = static_cast<TensorMapSwizzle>(swizzle);
            given.l2_promotion = static_cast<TensorMapL2Promotion>(l2_promotion);
            given.fill = static_cast<TensorMapFill>(fill);
            TensorMapBytes map{};
            return answer(c.call([&](Runtime& r) { return r.tensor_map_encode_tiled(&map, &given); }));
        });
}

void add_places(ContractMethods& methods) {
    methods.add(
        "malloc_3d", "extent", +[](const Contract& c, const Sizes& extent) {
            PitchedPointer out;
            const Status status = c.call([&](Runtime& r) { return r.malloc_3d(&out, extent_of(extent)); });
            return answer(status, out.pointer, out.pitch, out.x_size, out.y_size);
        });
    methods.add(
        "mem_prefetch_async", "pointer, bytes, location, flags=0, stream=0",
        +[](const Contract& c, Address pointer, size_t bytes, const Place& place, unsigned flags,
            Address stream) {
            return answer(c.call([&](Runtime& r) {
                return r.mem_prefetch_async(as_pointer<void*>(pointer), bytes, place_of(place), flags,
                                            as_pointer<StreamHandle>(stream));
            }));
        });
    methods.add(
        "mem_advise", "pointer, bytes, advice, location",
        +[](const Contract& c, Address pointer, size_t bytes, int advice, const Place& place) {
            return answer(c.call([&](Runtime& r) {
                return r.mem_advise(as_pointer<void*>(pointer), bytes, static_cast<MemoryAdvice>(advice),
                                    place_of(place));
            }));
        });
    methods.add(
        "mem_range_get_attribute", "pointer, bytes, attribute, count=1",
        +[](const Contract& c, Address pointer, size_t bytes, int attribute, size_t count) {
            std::vector<int> data(count);
            const Status status = c.call([&](Runtime& r) {
                return r.mem_range_get_attribute(data.data(), count * sizeof(int),
                                                 static_cast<MemRangeAttribute>(attribute),
                                                 as_pointer<void*>(pointer), bytes);
            });
            return answer(status, data);
        });
    methods.add(
        "mem_pool_create", "device, max_size=0, location_type=1",
        +[](const Contract& c, int device, size_t max_size, int location_type) {
            const MemPoolProperties properties{{static_cast<MemLocationType>(location_type), device},
                                               max_size};
            MemPoolHandle out = nullptr;
            const Status status = c.call([&](Runtime& r) { return r.mem_pool_create(&out, &properties); });
            return answer(status, out);
        });
    methods.add(
        "mem_pool_set_access", "pool, access",
        +[](const Contract& c, Address pool, const std::vector<std::pair<int, int>>& access) {
            std::vector<MemAccessDescription> descriptions;
            for (const auto& [device, flags] : access) {
                descriptions.push_back({{MemLocationType::device, device}, static_cast<MemAccess>(flags)});
            }
            return answer(c.call([&](Runtime& r) {
                return r.mem_pool_set_access(as_pointer<MemPoolHandle>(pool), descriptions.data(),
                                             descriptions.size());
            }));
        });
    methods.add(
        "mem_pool_get_access", "pool, device", +[](const Contract& c, Address pool, int device) {
            MemAccess flags = MemAccess::none;
            MemLocation location{MemLocationType::device, device};
            const Status status = c.call([&](Runtime& r) {
                return r.mem_pool_get_access(&flags, as_pointer<MemPoolHandle>(pool), &location);
            });
            return answer(status, static_cast<int>(flags));
        });
}

void add_textures(ContractMethods& methods) {
    methods.add(
        "malloc_array", "format, width, height=0, flags=0",
        +[](const Contract& c, const Format& format, size_t width, size_t height, unsigned flags) {
            const ChannelFormat channels = format_of(format);
            ArrayHandle out = nullptr;
            const Status status =
                c.call([&](Runtime& r) { return r.malloc_array(&out, &channels, width, height, flags); });
            return answer(status, out);
        });
    methods.add(
        "malloc_3d_array", "format, extent, flags=0",
        +[](const Contract& c, const Format& format, const Sizes& extent, unsigned flags) {
            const ChannelFormat channels = format_of(format);
            ArrayHandle out = nullptr;
            const Status status = c.call(
                [&](Runtime& r) { return r.malloc_3d_array(&out, &channels, extent_of(extent), flags); });
            return answer(status, out);
        });
    methods.add(
        "malloc_mipmapped_array", "format, extent, levels, flags=0",
        +[](const Contract& c, const Format& format, const Sizes& extent, unsigned levels, unsigned flags) {
            const ChannelFormat channels = format_of(format);
            MipmappedArrayHandle out = nullptr;
            const Status status = c.call([&](Runtime& r) {
                return r.malloc_mipmapped_array(&out, &channels, extent_of(extent), levels, flags);
            });
            return answer(status, out);
        });
    methods.add(
        "array_get_info", "array", +[](const Contract& c, Address array) {
            ChannelFormat format;
            Extent extent;
            unsigned flags = 0;
            const Status status = c.call([&](Runtime& r) {
                return r.array_get_info(&format, &extent, &flags, as_pointer<ArrayHandle>(array));
            });
            return answer(status,
                          Format{format.x, format.y, format.z, format.w, static_cast<int>(format.kind)},
                          Sizes{extent.width, extent.height, extent.depth}, flags);
        });
    methods.add(
        "create_texture_object",
        "resource, address_mode=(0, 0, 0), filter_mode=0, read_mode=0, normalized_coordinates=False, "
        "border_color=(0, 0, 0, 0), srgb=False, mipmap_filter_mode=0, mipmap_level_bias=0.0, "
        "mipmap_level_clamp=(0, 0)",
        +[](const Contract& c, const py::dict& resource, const std::array<int, 3>& address_mode,
            int filter_mode, int read_mode, bool normalized_coordinates,
            const std::array<float, 4>& border_color, bool srgb, int mipmap_filter_mode,
            float mipmap_level_bias, const std::array<float, 2>& mipmap_level_clamp) {
            const ResourceDescription what = resource_of(resource);
            TextureDescription how;
            for (size_t i = 0; i < 3; ++i)
                how.address_mode[i] = static_cast<TextureAddressMode>(address_mode[i]);
            how.filter_mode = static_cast<TextureFilterMode>(filter_mode);
            how.read_mode = static_cast<TextureReadMode>(read_mode);
            how.normalized_coordinates = normalized_coordinates;
            how.border_color = border_color;
            how.srgb = srgb;
            how.mipmap_filter_mode = static_cast<TextureFilterMode>(mipmap_filter_mode);
            how.mipmap_level_bias = mipmap_level_bias;
            how.min_mipmap_level_clamp = mipmap_level_clamp[0];
            how.max_mipmap_level_clamp = mipmap_level_clamp[1];
            TextureHandle out = 0;
            const Status status =
                c.call([&](Runtime& r) { return r.create_texture_object(&out, &what, &how); });
            return answer(status, out);
        });
    methods.add(
        "create_surface_object", "resource", +[](const Contract& c, const py::dict& resource) {
            const ResourceDescription what = resource_of(resource);
            SurfaceHandle out = 0;
            const Status status = c.call([&](Runtime& r) { return r.create_surface_object(&out, &what); });
            return answer(status, out);
        });
}

}  // namespace

void add_memory_methods(ContractMethods& methods) {
    add_copies(methods);
    add_places(methods);
    add_tensor_maps(methods);
    add_textures(methods);
}

}  // namespace cuscope::bindings
