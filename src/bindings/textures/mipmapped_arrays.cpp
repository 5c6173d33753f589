// Mipmapped arrays, and their levels as CUDA arrays.
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "bindings/support/objects.hpp"
#include "bindings/textures/texture_objects.hpp"

namespace cuscope::bindings {
namespace {

// The extents of a level. The number of layers and faces is the same in all levels.
std::vector<py::ssize_t> level_shape(const ArrayLayout& array, unsigned level) {
    std::vector<py::ssize_t> shape = array.shape;
    for (std::size_t i = shape.size() - array.axes(); i < shape.size(); ++i)
        shape[i] = std::max<py::ssize_t>(1, shape[i] >> level);
    return shape;
}

// The number of levels down to one element.
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
    py::class_<MipmappedArray> array(
        m, "MipmappedArray",
        R"(An array in several sizes (levels), for textures that choose between them.

Level 0 has the shape that you pass. Each further level has half as many elements along every axis of coordinates,
rounded down, but at least 1. Kernels read a Texture of it with tex2DLod(), tex2DGrad() and their like; tex2D() reads
level 0. You fill every level yourself: the smaller levels are not computed from the larger ones.

Parameters
----------
shape : int or tuple of int
    The shape of level 0, as for a CudaArray.
dtype : dtype
    The type of a channel: integers of 8, 16 or 32 bits, floats of 16 or 32.
levels : int, optional
    The number of levels. Default: as many as lead to one element.
channels : int
    1, 2 or 4. More than 1 are the last axis of the arrays that you copy.
layered, cubemap : bool
    As for a CudaArray. All levels have the same number of layers and faces.
surface : bool
    Allow surfaces of its levels.
device : Device, optional
    Default: the current device.

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
             R"(One level as a CudaArray, for copies, surfaces and textures. It keeps the whole array alive.

Raises IndexError for a level that the array does not have. See cudaGetMipmappedArrayLevel.

>>> import cuscope as cs
>>> cs.MipmappedArray((8, 4)).level(1).shape
(4, 2)

)")
        .def_readonly("levels", &MipmappedArray::levels, "The number of levels.")
        .def_property_readonly(
            "shape", [](const MipmappedArray& self) { return ShapeTuple(shape_tuple(self.shape)); },
            "The extents of level 0 in elements: depth, height, width. The number of layers or faces comes "
            "first.")
        .def_property_readonly(
            "dtype", [](const MipmappedArray& self) { return DType(self.dtype); },
            "The NumPy dtype of a channel.")
        .def_readonly("channels", &MipmappedArray::channels, "The number of channels of an element.")
        .def_readonly("layered", &MipmappedArray::layered,
                      "Does it have layers that kernels choose by number?")
        .def_readonly("cubemap", &MipmappedArray::cubemap,
                      "Does it have faces that kernels choose by a direction?")
        .def_readonly("surface", &MipmappedArray::surface, "Are surfaces of its levels allowed?")
        .def_readonly("device", &MipmappedArray::device, "The device that its memory is on.")
        .def(
            "close", [](MipmappedArray& self) { self.memory.reset(); },
            R"(Give up the array. It is freed once nothing uses it or its levels. Closing twice is no error.

See cudaFreeMipmappedArray.

>>> import cuscope as cs
>>> a = cs.MipmappedArray(4)
>>> a.close()
>>> a.closed
True

)")
        .def_property_readonly(
            "closed", [](const MipmappedArray& self) { return !self.memory.get(); }, "Was the array closed?")
        .def("__repr__", [](const MipmappedArray& self) {
            return "MipmappedArray(" + self.text() + ", levels=" + std::to_string(self.levels) + ", " +
                   self.device->name() + (self.memory.get() ? ")" : ", closed)");
        });
}

}  // namespace cuscope::bindings
