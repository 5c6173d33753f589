// Mipmapped arrays, and their levels as CUDA arrays.
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "bindings/support/objects.hpp"
#include "bindings/textures/texture_objects.hpp"

namespace cuscope::bindings {
namespace {

// Layers and faces stay as many as they are.
std::vector<py::ssize_t> level_shape(const ArrayLayout& array, unsigned level) {
    std::vector<py::ssize_t> shape = array.shape;
    for (std::size_t i = shape.size() - array.axes(); i < shape.size(); ++i)
        shape[i] = std::max<py::ssize_t>(1, shape[i] >> level);
    return shape;
}

// Down to one element.
unsigned most_levels(const ArrayLayout& array) {
    const auto axes = static_cast<std::ptrdiff_t>(array.axes());
    return static_cast<unsigned>(std::bit_width(
        static_cast<std::size_t>(*std::max_element(array.shape.end() - axes, array.shape.end()))));
}

MipmappedArray make_mipmapped(const ShapeLike& shape, const OptionalDType& dtype,
                              const std::optional<long long>& levels, int channels, bool layered,
                              bool cubemap, bool surface, const DeviceLike& device) {
    ArrayLayout layout = read_layout(shape, dtype, channels, layered, cubemap, surface);
    const unsigned most = most_levels(layout);
    if (levels && (*levels < 1 || *levels > most)) {
        throw std::invalid_argument("levels: " + std::to_string(*levels) + "; an array of shape " +
                                    describe(layout.shape) + " has from 1 to " + std::to_string(most));
    }
    const unsigned count = levels ? static_cast<unsigned>(*levels) : most;
    const core::DevicePtr on = device_or_current(device);
    const ChannelFormat format = layout.format();
    auto memory = without_gil(
        [&] { return core::MipmappedMemory::allocate(on, format, layout.extent(), count, layout.flags()); });
    return {std::move(layout), on, SharedOwner<core::MipmappedMemory>(std::move(memory)), count};
}

CudaArray level_of(const MipmappedArray& array, long long index) {
    const auto whole = array.open();
    if (index < 0 || index >= array.levels) {
        throw py::index_error("level: " + std::to_string(index) + "; the array has the levels 0 to " +
                              std::to_string(array.levels - 1));
    }
    ArrayLayout layout = array;
    layout.shape = level_shape(array, static_cast<unsigned>(index));
    auto memory = without_gil([&] { return whole->level(static_cast<unsigned>(index), layout.extent()); });
    return {std::move(layout), array.device, SharedOwner<core::ArrayMemory>(std::move(memory))};
}

}  // namespace

void bind_mipmapped_arrays(py::module_& m) {
    py::class_<MipmappedArray> array(m, "MipmappedArray",
                                     R"(An array at several sizes, for textures that choose one.

Level 0 has the shape that is asked for, and each next level half as many elements along every axis of coordinates,
rounded down, but at least 1. A Texture of it is read by tex2DLod(), tex2DGrad() and their like; tex2D() reads level 0.
The program fills every level: nothing makes the smaller levels from the larger.

Parameters
----------
shape : int or tuple of int
    Of level 0, as of a CudaArray.
dtype : dtype
    Of a channel: integers of 8, 16 or 32 bits, floats of 16 or 32.
levels : int, optional
    How many there are. Unless given, as many as lead to one element.
channels : int
    1, 2 or 4; more than 1 are the last axis of the arrays that are copied.
layered, cubemap : bool
    As of a CudaArray. All levels have as many layers and faces.
surface : bool
    Surfaces of its levels may be made.
device : Device, optional
    The current device unless given.

See cudaMallocMipmappedArray: CUDA C++ Programming Guide, "Texture Memory".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> a = cs.MipmappedArray((4, 4))
>>> a.levels
3
>>> for i in range(a.levels):
...     a.level(i).copy_from(np.full(a.level(i).shape, i, np.float32))
>>> mod = cs.Module('''__global__ void read(cudaTextureObject_t t, float* x) {
...     *x = tex2DLod<float>(t, 0.5f, 0.5f, 1.25f); }''')
>>> x = cs.empty(1)
>>> mod.read[1, 1](cs.Texture(a, normalized_coordinates=True, mipmap_filter="linear"), x)
>>> x.to_host()
array([1.25], dtype=float32)
)");
    array
        .def(py::init(&make_mipmapped), py::arg("shape"), py::arg("dtype") = py::none(), py::kw_only(),
             py::arg("levels") = py::none(), py::arg("channels") = 1, py::arg("layered") = false,
             py::arg("cubemap") = false, py::arg("surface") = false, py::arg("device") = py::none())
        .def("level", level_of, py::arg("index"),
             "A level as a CudaArray, to copy to and from and to make surfaces and textures of. It keeps the "
             "whole array alive. See cudaGetMipmappedArrayLevel.")
        .def_readonly("levels", &MipmappedArray::levels, "How many levels there are.")
        .def_property_readonly(
            "shape", [](const MipmappedArray& self) { return ShapeTuple(shape_tuple(self.shape)); },
            "The extents of level 0 in elements: depth, height, width. Of layers and faces their number "
            "comes first.")
        .def_property_readonly(
            "dtype", [](const MipmappedArray& self) { return DType(self.dtype); },
            "NumPy's type of a channel.")
        .def_readonly("channels", &MipmappedArray::channels, "How many channels an element has.")
        .def_readonly("layered", &MipmappedArray::layered,
                      "Does it have layers that kernels choose by number?")
        .def_readonly("cubemap", &MipmappedArray::cubemap,
                      "Does it have faces that kernels choose by a direction?")
        .def_readonly("surface", &MipmappedArray::surface, "May surfaces of its levels be made?")
        .def_readonly("device", &MipmappedArray::device, "The device whose memory it is.")
        .def(
            "close", [](MipmappedArray& self) { self.memory.reset(); },
            "Give it up; it is freed once nothing uses it, nor any of its levels. Closing twice is no error. "
            "See cudaFreeMipmappedArray.")
        .def_property_readonly(
            "closed", [](const MipmappedArray& self) { return !self.memory.get(); }, "Was it closed?")
        .def("__repr__", [](const MipmappedArray& self) {
            return "MipmappedArray(" + self.text() + ", levels=" + std::to_string(self.levels) + ", " +
                   self.device->name() + (self.memory.get() ? ")" : ", closed)");
        });
}

}  // namespace cuscope::bindings
