// The contract's calls on memory of other kinds, for tests; structures are passed as tuples.
#include <pybind11/stl.h>

#include <array>
#include <tuple>
#include <vector>

#include "bindings/testing/contract_method.hpp"

namespace cuscope::bindings {
namespace {

using py::arg;
using std::size_t;
using Sizes = std::tuple<size_t, size_t, size_t>;
using Pitched = std::tuple<Address, size_t, size_t, size_t>;  // pointer, pitch, x_size, y_size
using Place = std::tuple<int, int>;                           // type, id
using Format = std::tuple<int, int, int, int, int>;           // x, y, z, w, kind

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

struct Side {  // of a 3-D copy
    Address array = 0;
    Pitched pitched;
    Sizes position;
};

Memcpy3DParameters parameters_of(const Side& destination, const Side& source, const Sizes& extent, int kind) {
    Memcpy3DParameters p;
    p.destination_array = as_pointer<ArrayHandle>(destination.array);
    p.destination = pitched_of(destination.pitched);
    p.destination_position = position_of(destination.position);
    p.source_array = as_pointer<ArrayHandle>(source.array);
    p.source = pitched_of(source.pitched);
    p.source_position = position_of(source.position);
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

template <class Class>
void bind_copies(Class& contract) {
    py::class_<Side>(contract, "Side", "One side of a 3-D copy.")
        .def(py::init([](Address array, const Pitched& pitched, const Sizes& position) {
                 return Side{array, pitched, position};
             }),
             arg("array") = 0, arg("pitched") = Pitched{}, arg("position") = Sizes{});
    contract
        .def(
            "memcpy_3d",
            [](const Contract& c, const Side& destination, const Side& source, const Sizes& extent,
               int kind) {
                const Memcpy3DParameters p = parameters_of(destination, source, extent, kind);
                return answer(c.call([&](Runtime& r) { return r.memcpy_3d(&p); }));
            },
            arg("destination"), arg("source"), arg("extent"), arg("kind") = 4)
        .def(
            "memcpy_3d_async",
            [](const Contract& c, const Side& destination, const Side& source, const Sizes& extent, int kind,
               Address stream) {
                const Memcpy3DParameters p = parameters_of(destination, source, extent, kind);
                return answer(c.call(
                    [&](Runtime& r) { return r.memcpy_3d_async(&p, as_pointer<StreamHandle>(stream)); }));
            },
            arg("destination"), arg("source"), arg("extent"), arg("kind") = 4, arg("stream") = 0)
        .def(
            "memcpy_batch_async",
            [](const Contract& c, const std::vector<Address>& destinations,
               const std::vector<Address>& sources, const std::vector<size_t>& sizes, int source_access_order,
               Address stream) {
                std::vector<void*> to;
                std::vector<const void*> from;
                for (const Address address : destinations) to.push_back(as_pointer<void*>(address));
                for (const Address address : sources) from.push_back(as_pointer<void*>(address));
                MemcpyAttributes attributes;
                attributes.source_access_order = static_cast<SourceAccessOrder>(source_access_order);
                const size_t first = 0;
                return answer(c.call([&](Runtime& r) {
                    return r.memcpy_batch_async(to.data(), from.data(), sizes.data(), sizes.size(),
                                                &attributes, &first, 1, as_pointer<StreamHandle>(stream));
                }));
            },
            arg("destinations"), arg("sources"), arg("sizes"), arg("source_access_order") = 1,
            arg("stream") = 0)
        .def(
            "memset_3d",
            [](const Contract& c, const Pitched& pitched, int value, const Sizes& extent) {
                return answer(c.call(
                    [&](Runtime& r) { return r.memset_3d(pitched_of(pitched), value, extent_of(extent)); }));
            },
            arg("pitched"), arg("value"), arg("extent"))
        .def(
            "memset_3d_async",
            [](const Contract& c, const Pitched& pitched, int value, const Sizes& extent, Address stream) {
                return answer(c.call([&](Runtime& r) {
                    return r.memset_3d_async(pitched_of(pitched), value, extent_of(extent),
                                             as_pointer<StreamHandle>(stream));
                }));
            },
            arg("pitched"), arg("value"), arg("extent"), arg("stream") = 0);
}

template <class Class>
void bind_places(Class& contract) {
    contract
        .def(
            "malloc_3d",
            [](const Contract& c, const Sizes& extent) {
                PitchedPointer out;
                const Status status =
                    c.call([&](Runtime& r) { return r.malloc_3d(&out, extent_of(extent)); });
                return answer(status, out.pointer, out.pitch, out.x_size, out.y_size);
            },
            arg("extent"))
        .def(
            "mem_prefetch_async",
            [](const Contract& c, Address pointer, size_t bytes, const Place& place, unsigned flags,
               Address stream) {
                return answer(c.call([&](Runtime& r) {
                    return r.mem_prefetch_async(as_pointer<void*>(pointer), bytes, place_of(place), flags,
                                                as_pointer<StreamHandle>(stream));
                }));
            },
            arg("pointer"), arg("bytes"), arg("location"), arg("flags") = 0, arg("stream") = 0)
        .def(
            "mem_advise",
            [](const Contract& c, Address pointer, size_t bytes, int advice, const Place& place) {
                return answer(c.call([&](Runtime& r) {
                    return r.mem_advise(as_pointer<void*>(pointer), bytes, static_cast<MemoryAdvice>(advice),
                                        place_of(place));
                }));
            },
            arg("pointer"), arg("bytes"), arg("advice"), arg("location"))
        .def(
            "mem_range_get_attribute",
            [](const Contract& c, Address pointer, size_t bytes, int attribute, size_t count) {
                std::vector<int> data(count);
                const Status status = c.call([&](Runtime& r) {
                    return r.mem_range_get_attribute(data.data(), count * sizeof(int),
                                                     static_cast<MemRangeAttribute>(attribute),
                                                     as_pointer<void*>(pointer), bytes);
                });
                return answer(status, data);
            },
            arg("pointer"), arg("bytes"), arg("attribute"), arg("count") = 1)
        .def(
            "mem_pool_create",
            [](const Contract& c, int device, size_t max_size, int location_type) {
                const MemPoolProperties properties{{static_cast<MemLocationType>(location_type), device},
                                                   max_size};
                MemPoolHandle out = nullptr;
                const Status status =
                    c.call([&](Runtime& r) { return r.mem_pool_create(&out, &properties); });
                return answer(status, out);
            },
            arg("device"), arg("max_size") = 0, arg("location_type") = 1)
        .def(
            "mem_pool_set_access",
            [](const Contract& c, Address pool, const std::vector<std::pair<int, int>>& access) {
                std::vector<MemAccessDescription> descriptions;
                for (const auto& [device, flags] : access) {
                    descriptions.push_back(
                        {{MemLocationType::device, device}, static_cast<MemAccess>(flags)});
                }
                return answer(c.call([&](Runtime& r) {
                    return r.mem_pool_set_access(as_pointer<MemPoolHandle>(pool), descriptions.data(),
                                                 descriptions.size());
                }));
            },
            arg("pool"), arg("access"))
        .def(
            "mem_pool_get_access",
            [](const Contract& c, Address pool, int device) {
                MemAccess flags = MemAccess::none;
                MemLocation location{MemLocationType::device, device};
                const Status status = c.call([&](Runtime& r) {
                    return r.mem_pool_get_access(&flags, as_pointer<MemPoolHandle>(pool), &location);
                });
                return answer(status, static_cast<int>(flags));
            },
            arg("pool"), arg("device"));
}

template <class Class>
void bind_textures(Class& contract) {
    contract
        .def(
            "malloc_array",
            [](const Contract& c, const Format& format, size_t width, size_t height, unsigned flags) {
                const ChannelFormat channels = format_of(format);
                ArrayHandle out = nullptr;
                const Status status =
                    c.call([&](Runtime& r) { return r.malloc_array(&out, &channels, width, height, flags); });
                return answer(status, out);
            },
            arg("format"), arg("width"), arg("height") = 0, arg("flags") = 0)
        .def(
            "malloc_3d_array",
            [](const Contract& c, const Format& format, const Sizes& extent, unsigned flags) {
                const ChannelFormat channels = format_of(format);
                ArrayHandle out = nullptr;
                const Status status = c.call(
                    [&](Runtime& r) { return r.malloc_3d_array(&out, &channels, extent_of(extent), flags); });
                return answer(status, out);
            },
            arg("format"), arg("extent"), arg("flags") = 0)
        .def(
            "malloc_mipmapped_array",
            [](const Contract& c, const Format& format, const Sizes& extent, unsigned levels,
               unsigned flags) {
                const ChannelFormat channels = format_of(format);
                MipmappedArrayHandle out = nullptr;
                const Status status = c.call([&](Runtime& r) {
                    return r.malloc_mipmapped_array(&out, &channels, extent_of(extent), levels, flags);
                });
                return answer(status, out);
            },
            arg("format"), arg("extent"), arg("levels"), arg("flags") = 0)
        .def(
            "array_get_info",
            [](const Contract& c, Address array) {
                ChannelFormat format;
                Extent extent;
                unsigned flags = 0;
                const Status status = c.call([&](Runtime& r) {
                    return r.array_get_info(&format, &extent, &flags, as_pointer<ArrayHandle>(array));
                });
                return answer(status,
                              Format{format.x, format.y, format.z, format.w, static_cast<int>(format.kind)},
                              Sizes{extent.width, extent.height, extent.depth}, flags);
            },
            arg("array"))
        .def(
            "create_texture_object",
            [](const Contract& c, const AnswerDict& resource, const std::array<int, 3>& address_mode,
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
            },
            arg("resource"), arg("address_mode") = std::array<int, 3>{}, arg("filter_mode") = 0,
            arg("read_mode") = 0, arg("normalized_coordinates") = false,
            arg("border_color") = std::array<float, 4>{}, arg("srgb") = false, arg("mipmap_filter_mode") = 0,
            arg("mipmap_level_bias") = 0.0F, arg("mipmap_level_clamp") = std::array<float, 2>{})
        .def(
            "create_surface_object",
            [](const Contract& c, const AnswerDict& resource) {
                const ResourceDescription what = resource_of(resource);
                SurfaceHandle out = 0;
                const Status status =
                    c.call([&](Runtime& r) { return r.create_surface_object(&out, &what); });
                return answer(status, out);
            },
            arg("resource"));
}

}  // namespace

#define METHOD(name, ...) def(#name, contract_method(&Runtime::name) __VA_OPT__(, ) __VA_ARGS__)

void bind_contract_memory(py::class_<Contract>& contract) {
    bind_copies(contract);
    bind_places(contract);
    bind_textures(contract);
    contract.METHOD(malloc_pitch, arg("width"), arg("height"))
        .METHOD(malloc_managed, arg("bytes"), arg("flags") = 1)
        .METHOD(host_register, arg("pointer"), arg("bytes"), arg("flags") = 0)
        .METHOD(host_unregister, arg("pointer"))
        .METHOD(memcpy_2d, arg("destination"), arg("destination_pitch"), arg("source"), arg("source_pitch"),
                arg("width"), arg("height"), arg("kind") = 4)
        .METHOD(memcpy_2d_async, arg("destination"), arg("destination_pitch"), arg("source"),
                arg("source_pitch"), arg("width"), arg("height"), arg("kind") = 4, arg("stream") = 0)
        .METHOD(memcpy_peer, arg("destination"), arg("destination_device"), arg("source"),
                arg("source_device"), arg("bytes"))
        .METHOD(memcpy_peer_async, arg("destination"), arg("destination_device"), arg("source"),
                arg("source_device"), arg("bytes"), arg("stream") = 0)
        .METHOD(memset_2d, arg("pointer"), arg("pitch"), arg("value"), arg("width"), arg("height"))
        .METHOD(memset_2d_async, arg("pointer"), arg("pitch"), arg("value"), arg("width"), arg("height"),
                arg("stream") = 0)
        .METHOD(memset_d2d16_async, arg("pointer"), arg("pitch"), arg("value"), arg("width"), arg("height"),
                arg("stream") = 0)
        .METHOD(memset_d2d32_async, arg("pointer"), arg("pitch"), arg("value"), arg("width"), arg("height"),
                arg("stream") = 0)
        .METHOD(device_get_default_mem_pool, arg("device"))
        .METHOD(device_get_mem_pool, arg("device"))
        .METHOD(device_set_mem_pool, arg("device"), arg("pool"))
        .METHOD(mem_pool_destroy, arg("pool"))
        .METHOD(mem_pool_get_attribute, arg("pool"), arg("attribute"))
        .METHOD(mem_pool_set_attribute, arg("pool"), arg("attribute"), arg("value"))
        .METHOD(mem_pool_trim_to, arg("pool"), arg("bytes"))
        .METHOD(malloc_from_pool_async, arg("bytes"), arg("pool"), arg("stream") = 0)
        .METHOD(free_array, arg("array"))
        .METHOD(free_mipmapped_array, arg("array"))
        .METHOD(get_mipmapped_array_level, arg("array"), arg("index"))
        .METHOD(destroy_texture_object, arg("texture"))
        .METHOD(destroy_surface_object, arg("surface"));
}
#undef METHOD

}  // namespace cuscope::bindings
