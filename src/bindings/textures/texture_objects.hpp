// The contents of Python's CUDA arrays, textures and surfaces.
#pragma once

#include <string>
#include <vector>

#include "bindings/support/objects.hpp"
#include "core/memory/mipmapped_array.hpp"
#include "core/memory/texture.hpp"

namespace cuscope::bindings {

// The properties that plain and mipmapped arrays share.
struct ArrayLayout {
    std::vector<py::ssize_t> shape;  // of level 0
    py::dtype dtype;
    int channels = 1;
    bool layered = false, cubemap = false, surface = false;

    // The number of axes with coordinates. Layers and faces are chosen by a number or a direction instead.
    std::size_t axes() const { return shape.size() - (layered || cubemap ? 1 : 0); }
    ChannelFormat format() const;
    Extent extent() const;
    unsigned flags() const;
    // "shape=(2, 3), dtype=float32, channels=2, layered"
    std::string text() const;
};
// Throws if there are no such arrays.
ArrayLayout read_layout(const ShapeLike& shape, const OptionalDType& dtype, int channels, bool layered,
                        bool cubemap, bool surface);

struct CudaArray : ArrayLayout {
    Held<core::ArrayMemory> open() const {
        Held<core::ArrayMemory> held = memory.get();
        if (!held) throw std::invalid_argument("CudaArray is closed");
        return held;
    }
    core::DevicePtr device;
    SharedOwner<core::ArrayMemory> memory;  // empty once closed
};

struct MipmappedArray : ArrayLayout {
    Held<core::MipmappedMemory> open() const {
        Held<core::MipmappedMemory> held = memory.get();
        if (!held) throw std::invalid_argument("MipmappedArray is closed");
        return held;
    }
    core::DevicePtr device;
    SharedOwner<core::MipmappedMemory> memory;  // empty once closed
    unsigned levels = 1;
};

// The format of elements with `channels` channels of a NumPy type; throws if arrays cannot have such
// elements.
ChannelFormat format_of(const py::dtype& dtype, int channels);

void bind_cuda_arrays(py::module_& m);
void bind_mipmapped_arrays(py::module_& m);

struct Texture {
    Held<core::TextureObject> open() const {
        Held<core::TextureObject> held = object.get();
        if (!held) throw std::invalid_argument("Texture is closed");
        return held;
    }
    core::DevicePtr device;
    SharedOwner<core::TextureObject> object;  // empty once closed
};

struct Surface {
    Held<core::TextureObject> open() const {
        Held<core::TextureObject> held = object.get();
        if (!held) throw std::invalid_argument("Surface is closed");
        return held;
    }
    core::DevicePtr device;
    SharedOwner<core::TextureObject> object;  // empty once closed
};

// Sets a texture or surface as the argument of a kernel; false for other objects.
bool set_texture(core::Argument& argument, py::handle object);

}  // namespace cuscope::bindings
