// Texture and surface objects in kernels: fetches, filtering, addressing and normalised modes as in the CUDA
// C++ Programming Guide's "Texture Fetching", with the filter's weights in the device's fixed point.
#pragma once
#pragma GCC system_header

#include <math.h>
#include <string.h>

#include "cuscope_simt/fiber.h"
#include "cuscope_simt/mipmaps.h"
#include "cuscope_simt/vectors.h"

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero = 0,
    cudaBoundaryModeClamp = 1,
    cudaBoundaryModeTrap = 2
};

namespace cuscope_simt {

// The number of channels of a result type, and its construction from channel values.
template <class T>
struct Channels {
    static T make(const double* v) { return static_cast<T>(v[0]); }
};
#define CUSCOPE_CHANNELS(type, name)                                                                        \
    template <>                                                                                             \
    struct Channels<name##1> {                                                                              \
        static name##1 make(const double* v) { return {static_cast<type>(v[0])}; }                          \
    };                                                                                                      \
    template <>                                                                                             \
    struct Channels<name##2> {                                                                              \
        static name##2 make(const double* v) { return {static_cast<type>(v[0]), static_cast<type>(v[1])}; } \
    };                                                                                                      \
    template <>                                                                                             \
    struct Channels<name##4> {                                                                              \
        static name##4 make(const double* v) {                                                              \
            return {static_cast<type>(v[0]), static_cast<type>(v[1]), static_cast<type>(v[2]),              \
                    static_cast<type>(v[3])};                                                               \
        }                                                                                                   \
    };
CUSCOPE_CHANNELS(signed char, char)
CUSCOPE_CHANNELS(unsigned char, uchar)
CUSCOPE_CHANNELS(short, short)
CUSCOPE_CHANNELS(unsigned short, ushort)
CUSCOPE_CHANNELS(int, int)
CUSCOPE_CHANNELS(unsigned, uint)
CUSCOPE_CHANNELS(float, float)
#undef CUSCOPE_CHANNELS

inline float half_bits_to_float(unsigned short bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value = exponent == 0    ? ldexpf(static_cast<float>(fraction), -24)
                  : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                   : ldexpf(static_cast<float>(fraction + 1024), exponent - 25);
    return bits & 0x8000 ? -value : value;
}

template <class T>
double load(const char* from) {
    T value;
    memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
}

// One channel of an element as a number. A double holds every channel type exactly.
inline double channel(const Texture& t, const char* element, int index) {
    if (index >= t.channels) return 0;
    const char* const at = element + index * (t.bits / 8);
    double value = 0;
    if (t.kind == Texture::floating) {
        value = t.bits == 32 ? load<float>(at)
                             : half_bits_to_float(static_cast<unsigned short>(load<unsigned short>(at)));
    } else if (t.kind == Texture::signed_integer) {
        value = t.bits == 8 ? load<signed char>(at) : t.bits == 16 ? load<short>(at) : load<int>(at);
    } else {
        value = t.bits == 8    ? load<unsigned char>(at)
                : t.bits == 16 ? load<unsigned short>(at)
                               : load<unsigned>(at);
    }
    if (!t.normalized_float) return value;
    const bool negative = t.kind == Texture::signed_integer;
    const double most = t.bits == 8 ? (negative ? 127 : 255) : (negative ? 32767 : 65535);
    value = value / most;
    if (value < -1) value = -1;
    if (!t.srgb || t.bits != 8 || index == 3) return value;
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

// The index after the address mode has been applied; -1: on the border.
inline long long place(Texture::AddressMode mode, long long index, long long count) {
    if (index >= 0 && index < count) return index;
    switch (mode) {
        case Texture::border:
            return -1;
        case Texture::clamp:
            return index < 0 ? 0 : count - 1;
        case Texture::wrap:
            index %= count;
            return index < 0 ? index + count : index;
        default: {
            index %= 2 * count;
            if (index < 0) index += 2 * count;
            return index < count ? index : 2 * count - 1 - index;
        }
    }
}

// An axis of a fetch: two neighbours and the weight of the second, or one element.
struct AxisFetch {
    long long first, second;
    double weight;
};

inline AxisFetch fetch_axis(const Texture& t, int axis, unsigned long long count, float coordinate) {
    const auto extent = static_cast<long long>(count);
    if (t.normalized_coordinates) coordinate *= static_cast<float>(extent);
    // Limits the coordinate to a value beyond every index; NaN becomes 0.
    constexpr float far = 1099511627776.0f;
    coordinate = coordinate != coordinate ? 0
                 : coordinate > far       ? far
                 : coordinate < -far      ? -far
                                          : coordinate;
    if (!t.linear_filter) {
        const auto index = static_cast<long long>(floorf(coordinate));
        return {place(t.address_mode[axis], index, extent), 0, 0};
    }
    // Eight bits of fraction, like the filter.
    const double fixed = floor((static_cast<double>(coordinate) - 0.5) * 256 + 0.5);
    const auto index = static_cast<long long>(floor(fixed / 256));
    return {place(t.address_mode[axis], index, extent), place(t.address_mode[axis], index + 1, extent),
            fixed / 256 - static_cast<double>(index)};
}

inline double border_channel(const Texture& t, int index) {
    if (index >= t.channels) return 0;
    if (t.kind == Texture::floating || t.normalized_float) return t.border_color[index];
    int bits;
    memcpy(&bits, &t.border_color[index], sizeof bits);
    return t.kind == Texture::signed_integer ? static_cast<double>(bits)
                                             : static_cast<double>(static_cast<unsigned>(bits));
}

inline double element_channel(const Texture& t, long long x, long long y, long long z, int index) {
    if (x < 0 || y < 0 || z < 0) return border_channel(t, index);
    const auto bytes = static_cast<unsigned long long>(t.channels * t.bits / 8);
    return channel(t,
                   t.data + static_cast<unsigned long long>(z) * t.slice +
                       static_cast<unsigned long long>(y) * t.pitch +
                       static_cast<unsigned long long>(x) * bytes,
                   index);
}

// The place that a fetch reads. `layer`: for layered textures, which have one or two axes.
struct Place {
    int axes;
    float x, y, z;
    long long layer;
};

inline void add_sample(const Texture& t, const Place& at, double factor, double (&result)[4]) {
    const AxisFetch a = fetch_axis(t, 0, t.width, at.x);
    const AxisFetch b = at.axes > 1 ? fetch_axis(t, 1, t.height, at.y) : AxisFetch{0, 0, 0};
    const AxisFetch c = at.axes > 2 ? fetch_axis(t, 2, t.depth, at.z) : AxisFetch{at.layer, 0, 0};
    for (int i = 0; i < t.channels; ++i) {
        for (int corner = 0; corner < 8; ++corner) {
            const bool right = corner & 1, lower = corner & 2, behind = corner & 4;
            const double weight = (right ? a.weight : 1 - a.weight) * (lower ? b.weight : 1 - b.weight) *
                                  (behind ? c.weight : 1 - c.weight);
            if (weight == 0) continue;
            result[i] += factor * weight *
                         element_channel(t, right ? a.second : a.first, lower ? b.second : b.first,
                                         behind ? c.second : c.first, i);
        }
    }
}

template <class T>
T sample_texture(const Texture& t, const Place& at, Lod lod) {
    double result[4] = {};
    if (t.level_count == 0) {
        add_sample(t, at, 1, result);
        return Channels<T>::make(result);
    }
    const LevelChoice level = choose_level(t, lod);
    if (level.weight < 1) add_sample(texture_level(t, level.first), at, 1 - level.weight, result);
    if (level.weight > 0) add_sample(texture_level(t, level.first + 1), at, level.weight, result);
    return Channels<T>::make(result);
}
template <class T>
T sample(cudaTextureObject_t object, int axes, float x, float y, float z, Lod lod = {}) {
    return sample_texture<T>(*reinterpret_cast<const Texture*>(object), {axes, x, y, z, 0}, lod);
}
template <class T>
T sample_slopes(cudaTextureObject_t object, int axes, float x, float y, float z, const Slopes& slopes) {
    const Texture& t = *reinterpret_cast<const Texture*>(object);
    return sample_texture<T>(t, {axes, x, y, z, 0}, level_of_slopes(t, axes, slopes));
}

// A layer out of range becomes the last one, also a negative one: a GPU takes the number as unsigned.
inline long long clamped_layer(int layer, unsigned long long count) {
    const auto asked = static_cast<unsigned>(layer);
    return asked < count ? asked : static_cast<long long>(count) - 1;
}

template <class T>
T sample_layer(cudaTextureObject_t object, int axes, float x, float y, int layer, Lod lod = {}) {
    const Texture& t = *reinterpret_cast<const Texture*>(object);
    return sample_texture<T>(t, {axes, x, y, 0, clamped_layer(layer, t.depth)}, lod);
}
template <class T>
T sample_layer_slopes(cudaTextureObject_t object, int axes, float x, float y, int layer,
                      const Slopes& slopes) {
    const Texture& t = *reinterpret_cast<const Texture*>(object);
    return sample_layer<T>(object, axes, x, y, layer, level_of_slopes(t, axes, slopes));
}
// Samples in a direction. The coordinate with the largest magnitude decides the face; among equal ones, the
// last. See the Programming Guide, "Cubemap Textures". An H200 was also asked for directions with components
// that are NaN or infinity: it takes such a component as 0 for the choice of the face. If a component is
// infinite or all are 0, it reads the middle of the face.
template <class T>
T sample_cubemap(cudaTextureObject_t object, float x, float y, float z, int layer, Lod lod = {}) {
    Texture t = *reinterpret_cast<const Texture*>(object);
    const bool infinite = isinf(x) || isinf(y) || isinf(z);
    if (!isfinite(x)) x = 0;
    if (!isfinite(y)) y = 0;
    if (!isfinite(z)) z = 0;
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    int face;
    float m, u, v;
    if (az >= ax && az >= ay) {
        face = z >= 0 ? 4 : 5, m = az, u = z >= 0 ? x : -x, v = -y;
    } else if (ay >= ax) {
        face = y >= 0 ? 2 : 3, m = ay, u = x, v = y >= 0 ? z : -z;
    } else {
        face = x >= 0 ? 0 : 1, m = ax, u = x >= 0 ? -z : z, v = -y;
    }
    if (m == 0 || infinite) m = INFINITY;
    t.normalized_coordinates = true;
    return sample_texture<T>(
        t, {2, (u / m + 1) / 2, (v / m + 1) / 2, 0, 6 * clamped_layer(layer, t.depth / 6) + face}, lod);
}

template <class T>
T fetch(cudaTextureObject_t object, int index) {
    const Texture& t = *reinterpret_cast<const Texture*>(object);
    double result[4] = {};
    if (index >= 0 && static_cast<unsigned long long>(index) < t.width) {
        for (int i = 0; i < t.channels; ++i) result[i] = element_channel(t, index, 0, 0, i);
    }
    return Channels<T>::make(result);
}

// The four elements that a filter would use, counter-clockwise from the lower left.
template <class T>
T gather(cudaTextureObject_t object, float x, float y, int component) {
    Texture t = *reinterpret_cast<const Texture*>(object);
    t.linear_filter = true;
    const AxisFetch a = fetch_axis(t, 0, t.width, x), b = fetch_axis(t, 1, t.height, y);
    const double result[4] = {element_channel(t, a.first, b.second, 0, component),
                              element_channel(t, a.second, b.second, 0, component),
                              element_channel(t, a.second, b.first, 0, component),
                              element_channel(t, a.first, b.first, 0, component)};
    return Channels<T>::make(result);
}

// The address of an element of a surface. Null: it is outside, so it is not read or written. x is in bytes.
inline char* surface_element(cudaSurfaceObject_t object, unsigned long bytes, int x, int y, int z,
                             cudaSurfaceBoundaryMode mode) {
    const Texture& t = *reinterpret_cast<const Texture*>(object);
    const long long row = static_cast<long long>(t.width) * t.channels * t.bits / 8;
    const long long most[3] = {row - static_cast<long long>(bytes), static_cast<long long>(t.height) - 1,
                               static_cast<long long>(t.depth) - 1};
    long long at[3] = {x, y, z};
    for (int i = 0; i < 3; ++i) {
        if (at[i] >= 0 && at[i] <= most[i]) continue;
        if (mode == cudaBoundaryModeZero) return nullptr;
        if (mode == cudaBoundaryModeTrap) fault(Fault::trap, "a surface access outside its array", nullptr);
        at[i] = at[i] < 0 ? 0 : most[i];
    }
    if (at[0] % static_cast<long long>(bytes) != 0) fault(Fault::misaligned, nullptr, nullptr);
    return t.data + static_cast<unsigned long long>(at[2]) * t.slice +
           static_cast<unsigned long long>(at[1]) * t.pitch + at[0];
}

template <class T>
T surface_read(cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    T value{};
    if (const char* const at = surface_element(object, sizeof(T), x, y, z, mode))
        memcpy(&value, at, sizeof value);
    return value;
}

template <class T>
void surface_write(T value, cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    if (char* const at = surface_element(object, sizeof(T), x, y, z, mode)) memcpy(at, &value, sizeof value);
}

}  // namespace cuscope_simt

// Each function in both forms of CUDA: returning the value, and storing it.
#define CUSCOPE_FETCH(name, parameters, parameters_after, call) \
    template <class T>                                          \
    T name parameters {                                         \
        return ::cuscope_simt::call;                            \
    }                                                           \
    template <class T>                                          \
    void name parameters_after {                                \
        *result = ::cuscope_simt::call;                         \
    }
#define CUSCOPE_LIST(...) (__VA_ARGS__)
#define CUSCOPE_AFTER(...) (T * result, __VA_ARGS__)
#define CUSCOPE_BOTH(...) CUSCOPE_LIST(__VA_ARGS__), CUSCOPE_AFTER(__VA_ARGS__)
#define CUSCOPE_FETCHES(name, both, call) CUSCOPE_FETCHES_(name, both, call)
#define CUSCOPE_FETCHES_(name, ...) CUSCOPE_FETCH(name, __VA_ARGS__)
CUSCOPE_FETCHES(tex1Dfetch, CUSCOPE_BOTH(cudaTextureObject_t t, int x), fetch<T>(t, x))
CUSCOPE_FETCHES(tex1D, CUSCOPE_BOTH(cudaTextureObject_t t, float x), sample<T>(t, 1, x, 0, 0))
CUSCOPE_FETCHES(tex2D, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y), sample<T>(t, 2, x, y, 0))
CUSCOPE_FETCHES(tex3D, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float z),
                sample<T>(t, 3, x, y, z))
CUSCOPE_FETCHES(tex1DLod, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float level),
                sample<T>(t, 1, x, 0, 0, level))
CUSCOPE_FETCHES(tex2DLod, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float level),
                sample<T>(t, 2, x, y, 0, level))
CUSCOPE_FETCHES(tex3DLod, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float z, float level),
                sample<T>(t, 3, x, y, z, level))
CUSCOPE_FETCHES(tex1DGrad, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float dx, float dy),
                sample_slopes<T>(t, 1, x, 0, 0, {{dx}, {dy}}))
CUSCOPE_FETCHES(tex2DGrad, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float2 dx, float2 dy),
                sample_slopes<T>(t, 2, x, y, 0, {{dx.x, dx.y}, {dy.x, dy.y}}))
CUSCOPE_FETCHES(tex3DGrad,
                CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float z, float4 dx, float4 dy),
                sample_slopes<T>(t, 3, x, y, z, {{dx.x, dx.y, dx.z}, {dy.x, dy.y, dy.z}}))
CUSCOPE_FETCHES(tex1DLayered, CUSCOPE_BOTH(cudaTextureObject_t t, float x, int layer),
                sample_layer<T>(t, 1, x, 0, layer))
CUSCOPE_FETCHES(tex2DLayered, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, int layer),
                sample_layer<T>(t, 2, x, y, layer))
CUSCOPE_FETCHES(tex1DLayeredLod, CUSCOPE_BOTH(cudaTextureObject_t t, float x, int layer, float level),
                sample_layer<T>(t, 1, x, 0, layer, level))
CUSCOPE_FETCHES(tex2DLayeredLod,
                CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, int layer, float level),
                sample_layer<T>(t, 2, x, y, layer, level))
CUSCOPE_FETCHES(tex1DLayeredGrad, CUSCOPE_BOTH(cudaTextureObject_t t, float x, int layer, float dx, float dy),
                sample_layer_slopes<T>(t, 1, x, 0, layer, {{dx}, {dy}}))
CUSCOPE_FETCHES(tex2DLayeredGrad,
                CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, int layer, float2 dx, float2 dy),
                sample_layer_slopes<T>(t, 2, x, y, layer, {{dx.x, dx.y}, {dy.x, dy.y}}))
CUSCOPE_FETCHES(texCubemap, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float z),
                sample_cubemap<T>(t, x, y, z, 0))
CUSCOPE_FETCHES(texCubemapLod, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float z, float level),
                sample_cubemap<T>(t, x, y, z, 0, level))
CUSCOPE_FETCHES(texCubemapLayered, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float z, int layer),
                sample_cubemap<T>(t, x, y, z, layer))
CUSCOPE_FETCHES(texCubemapLayeredLod,
                CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, float z, int layer, float level),
                sample_cubemap<T>(t, x, y, z, layer, level))
CUSCOPE_FETCHES(tex2Dgather, CUSCOPE_BOTH(cudaTextureObject_t t, float x, float y, int component = 0),
                gather<T>(t, x, y, component))
CUSCOPE_FETCHES(surf1Dread,
                CUSCOPE_BOTH(cudaSurfaceObject_t s, int x,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap),
                surface_read<T>(s, x, 0, 0, mode))
CUSCOPE_FETCHES(surf2Dread,
                CUSCOPE_BOTH(cudaSurfaceObject_t s, int x, int y,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap),
                surface_read<T>(s, x, y, 0, mode))
// Layers, and faces of cubemaps, follow each other in memory.
CUSCOPE_FETCHES(surf1DLayeredread,
                CUSCOPE_BOTH(cudaSurfaceObject_t s, int x, int layer,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap),
                surface_read<T>(s, x, 0, layer, mode))
CUSCOPE_FETCHES(surf2DLayeredread,
                CUSCOPE_BOTH(cudaSurfaceObject_t s, int x, int y, int layer,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap),
                surface_read<T>(s, x, y, layer, mode))
CUSCOPE_FETCHES(surfCubemapread,
                CUSCOPE_BOTH(cudaSurfaceObject_t s, int x, int y, int face,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap),
                surface_read<T>(s, x, y, face, mode))
CUSCOPE_FETCHES(surfCubemapLayeredread,
                CUSCOPE_BOTH(cudaSurfaceObject_t s, int x, int y, int layer_and_face,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap),
                surface_read<T>(s, x, y, layer_and_face, mode))
CUSCOPE_FETCHES(surf3Dread,
                CUSCOPE_BOTH(cudaSurfaceObject_t s, int x, int y, int z,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap),
                surface_read<T>(s, x, y, z, mode))
#undef CUSCOPE_FETCH
#undef CUSCOPE_FETCHES
#undef CUSCOPE_FETCHES_
#undef CUSCOPE_LIST
#undef CUSCOPE_AFTER
#undef CUSCOPE_BOTH

template <class T>
void surf1Dwrite(T value, cudaSurfaceObject_t s, int x, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::cuscope_simt::surface_write(value, s, x, 0, 0, mode);
}
template <class T>
void surf2Dwrite(T value, cudaSurfaceObject_t s, int x, int y,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::cuscope_simt::surface_write(value, s, x, y, 0, mode);
}
template <class T>
void surf3Dwrite(T value, cudaSurfaceObject_t s, int x, int y, int z,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::cuscope_simt::surface_write(value, s, x, y, z, mode);
}
template <class T>
void surf1DLayeredwrite(T value, cudaSurfaceObject_t s, int x, int layer,
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::cuscope_simt::surface_write(value, s, x, 0, layer, mode);
}
template <class T>
void surf2DLayeredwrite(T value, cudaSurfaceObject_t s, int x, int y, int layer,
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::cuscope_simt::surface_write(value, s, x, y, layer, mode);
}
template <class T>
void surfCubemapwrite(T value, cudaSurfaceObject_t s, int x, int y, int face,
                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::cuscope_simt::surface_write(value, s, x, y, face, mode);
}
template <class T>
void surfCubemapLayeredwrite(T value, cudaSurfaceObject_t s, int x, int y, int layer_and_face,
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    ::cuscope_simt::surface_write(value, s, x, y, layer_and_face, mode);
}
