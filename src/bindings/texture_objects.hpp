// What Python's CUDA arrays, textures and surfaces hold.
#pragma once

#include <string>
#include <vector>

#include "bindings/objects.hpp"
#include "core/texture.hpp"

namespace cuscope::bindings {

struct CudaArray {
    const std::shared_ptr<core::ArrayMemory>& open() const {
        if (!memory.get()) throw std::invalid_argument("CudaArray is closed");
        return memory.get();
    }
    core::DevicePtr device;
    SharedOwner<core::ArrayMemory> memory;  // empty once closed
    std::vector<py::ssize_t> shape;
    py::dtype dtype;
    int channels = 1;
    bool layered = false, cubemap = false, surface = false;

    // Those that coordinates go along: layers and faces are chosen.
    std::size_t axes() const { return shape.size() - (layered || cubemap ? 1 : 0); }
};

// Of elements with so many channels of NumPy's type; throws where no array has such elements.
ChannelFormat format_of(const py::dtype& dtype, int channels);

void bind_cuda_arrays(py::module_& m);

struct Texture {
    const std::shared_ptr<core::TextureObject>& open() const {
        if (!object.get()) throw std::invalid_argument("Texture is closed");
        return object.get();
    }
    core::DevicePtr device;
    SharedOwner<core::TextureObject> object;  // empty once closed
};

struct Surface {
    const std::shared_ptr<core::TextureObject>& open() const {
        if (!object.get()) throw std::invalid_argument("Surface is closed");
        return object.get();
    }
    core::DevicePtr device;
    SharedOwner<core::TextureObject> object;  // empty once closed
};

// A texture or surface as the argument of a kernel; false for anything else.
bool set_texture(core::Argument& argument, py::handle object);

}  // namespace cuscope::bindings
