// CUDA arrays: plain ones, layered ones, and cubemaps.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "bindings/interop/import.hpp"
#include "bindings/support/objects.hpp"
#include "bindings/textures/texture_objects.hpp"

namespace cuscope::bindings {

ChannelFormat format_of(const py::dtype& dtype, int channels) {
    const char kind = dtype.kind();
    const auto size = dtype.itemsize();
    const bool integer = (kind == 'i' || kind == 'u') && (size == 1 || size == 2 || size == 4);
    const bool floating = kind == 'f' && (size == 2 || size == 4);
    if (!(integer || floating) || !element_of(dtype).known()) {
        throw core::WrongKind(
            "dtype: textures have integers of 8, 16 or 32 bits and floats of 16 or 32, not " +
            describe(dtype));
    }
    if (channels != 1 && channels != 2 && channels != 4) {
        throw std::invalid_argument("channels: " + std::to_string(channels) + "; allowed are 1, 2 and 4");
    }
    const int bits = static_cast<int>(size) * 8;
    return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0,
            kind == 'f'   ? ChannelKind::floating
            : kind == 'i' ? ChannelKind::signed_integer
                          : ChannelKind::unsigned_integer};
}

namespace {

using Shape = std::vector<py::ssize_t>;

constexpr py::ssize_t faces = 6;

void check_shape(const Shape& shape, bool layered, bool cubemap) {
    if (shape.empty() || shape.size() > 3 || std::count(shape.begin(), shape.end(), 0) != 0) {
        throw std::invalid_argument("shape: " + describe(shape) +
                                    "; an array has 1 to 3 axes of 1 or more elements");
    }
    if (cubemap) {
        const bool square = shape.size() == 3 && shape[1] == shape[2];
        if (square && (layered ? shape[0] % faces == 0 : shape[0] == faces)) return;
        throw std::invalid_argument(
            "shape: " + describe(shape) + "; a " +
            (layered ? "layered cubemap is (6 * layers, size, size)" : "cubemap is (6, size, size)") +
            ", of square faces +x, -x, +y, -y, +z, -z" +
            (layered ? " of each layer" : "; several of them are layered=True"));
    }
    if (layered && shape.size() == 1) {
        throw std::invalid_argument("shape: " + describe(shape) +
                                    "; a layered array is (layers, width) or (layers, height, width)");
    }
}

}  // namespace

ChannelFormat ArrayLayout::format() const { return format_of(dtype, channels); }

Extent ArrayLayout::extent() const {
    const auto at = [&](std::size_t from_end) {
        return from_end > shape.size() ? std::size_t{0}
                                       : static_cast<std::size_t>(shape[shape.size() - from_end]);
    };
    // For layers with one axis, the height is 0 and the depth is the number of layers.
    const bool lines = layered && shape.size() == 2;
    return {at(1), lines ? 0 : at(2), lines ? at(2) : at(3)};
}

unsigned ArrayLayout::flags() const {
    return (layered ? flags::array_layered : 0) | (cubemap ? flags::array_cubemap : 0) |
           (surface ? flags::array_surface_load_store : 0);
}

std::string ArrayLayout::text() const {
    return "shape=" + describe(shape) + ", dtype=" + describe(dtype) +
           (channels > 1 ? ", channels=" + std::to_string(channels) : "") + (layered ? ", layered" : "") +
           (cubemap ? ", cubemap" : "");
}

ArrayLayout read_layout(const ShapeLike& shape, const OptionalDType& dtype, int channels, bool layered,
                        bool cubemap, bool surface) {
    ArrayLayout layout;
    layout.shape = parse_shape(shape);
    check_shape(layout.shape, layered, cubemap);
    layout.dtype =
        parse_dtype(dtype.is_none() ? py::module_::import("numpy").attr("float32") : py::object(dtype));
    layout.channels = channels;
    layout.layered = layered;
    layout.cubemap = cubemap;
    layout.surface = surface;
    static_cast<void>(layout.format());  // throws if there are no such elements
    return layout;
}

namespace {

CudaArray make_array(const ShapeLike& shape, const OptionalDType& dtype, int channels, bool layered,
                     bool cubemap, bool surface, bool gather, const DeviceLike& device) {
    ArrayLayout layout = read_layout(shape, dtype, channels, layered, cubemap, surface);
    if (gather && (layout.shape.size() != 2 || layered)) {
        throw std::invalid_argument("gather: is for arrays of 2 axes, not of " +
                                    (layered ? std::string("layers") : std::to_string(layout.shape.size())));
    }
    const core::DevicePtr on = device_or_current(device);
    const ChannelFormat format = layout.format();
    const unsigned flags = layout.flags() | (gather ? flags::array_texture_gather : 0);
    auto memory =
        without_gil([&] { return core::ArrayMemory::allocate(on, format, layout.extent(), flags); });
    return {std::move(layout), on, SharedOwner<core::ArrayMemory>(std::move(memory))};
}

// The shape of NumPy arrays with the elements.
Shape full_shape(const CudaArray& self) {
    Shape shape = self.shape;
    if (self.channels > 1) shape.push_back(self.channels);
    return shape;
}

void check_elements(const CudaArray& self, const Shape& shape, const py::dtype& dtype, const char* what) {
    if (!self.dtype.equal(dtype)) {
        throw core::WrongKind(std::string(what) + ": has dtype " + describe(dtype) + ", the array " +
                              describe(self.dtype) + ": convert with " + astype(self.dtype));
    }
    if (shape != full_shape(self)) {
        throw std::invalid_argument(std::string(what) + ": has shape " + describe(shape) + ", the array " +
                                    describe(full_shape(self)) + ": shapes must be equal");
    }
}

// Packed rows of the array's shape.
PitchedPointer packed(const core::ArrayMemory& memory, void* data) {
    const std::size_t row = memory.extent().width * memory.element_bytes();
    return {data, row, row, std::max<std::size_t>(1, memory.extent().height)};
}

void copy_device(const CudaArray& self, bool from_array, const DeviceArray& other,
                 const core::StreamPtr& stream) {
    const auto array = self.open();
    const auto memory = other.open();
    const PitchedPointer side = packed(*array, other.pointer_in(*memory));
    without_gil([&] { array->copy(from_array, side, memory, stream, {}); });
}

void array_copy_from(const CudaArray& self, const HostOrDeviceArray& source, const StreamLike& stream) {
    const auto array = self.open();
    const core::StreamPtr on = stream_or_current(stream, self.device);
    const auto from_device = [&](const DeviceArray& other) {
        check_elements(self, other.shape, other.dtype, "source");
        copy_device(self, false, other.contiguous() ? other : copy(other, on), on);
    };
    if (py::isinstance<DeviceArray>(source)) return from_device(source.cast<const DeviceArray&>());
    if (const auto foreign = foreign_array(source, on)) return from_device(*foreign);
    const py::module_ np = py::module_::import("numpy");
    const py::array given = py::isinstance<py::array>(source)
                                ? py::array(source)
                                : py::array(np.attr("asarray")(source, self.dtype));
    check_elements(self, shape_of(given), given.dtype(), "source");
    const py::array dense(np.attr("ascontiguousarray")(given));
    const PitchedPointer side = packed(*array, const_cast<void*>(dense.data()));
    const core::KeepAlive keep = keeping(dense);
    without_gil([&] { array->copy(false, side, nullptr, on, keep); });
}

NDArray array_to_host(const CudaArray& self, const StreamLike& stream) {
    const auto array = self.open();
    const core::StreamPtr on = stream_or_current(stream, self.device);
    py::array result(self.dtype, full_shape(self));
    const PitchedPointer side = packed(*array, result.mutable_data());
    const core::KeepAlive keep = keeping(result);
    without_gil([&] {
        array->copy(true, side, nullptr, on, keep);
        on->synchronize();
    });
    return NDArray(result);
}

void array_copy_to(const CudaArray& self, const py::object& destination, const StreamLike& stream) {
    self.open();
    const core::StreamPtr on = stream_or_current(stream, self.device);
    const bool ours = py::isinstance<DeviceArray>(destination);
    const auto foreign = ours ? std::nullopt : foreign_array(destination, on);
    if (!ours && !foreign) {
        throw core::WrongKind(std::string("destination: takes a DeviceArray, not ") +
                              Py_TYPE(destination.ptr())->tp_name + ": .to_host() makes a NumPy array");
    }
    const DeviceArray& other = ours ? destination.cast<const DeviceArray&>() : *foreign;
    check_elements(self, other.shape, other.dtype, "destination");
    check_writeable(other, "destination");
    if (other.contiguous()) {
        copy_device(self, true, other, on);
        return;
    }
    const DeviceArray dense = new_array(on, other.shape, other.dtype);
    copy_device(self, true, dense, on);
    copy_array(other, dense, on);
}

}  // namespace

void bind_cuda_arrays(py::module_& m) {
    py::class_<CudaArray> array(m, "CudaArray", R"(An opaque array for textures and surfaces, of 1 to 3 axes.

Its elements have no address: you copy them in and out, and kernels read them through a Texture and write them through a
Surface.

Parameters
----------
shape : int or tuple of int
    (width,), (height, width) or (depth, height, width), as for NumPy arrays; for a layered array (layers, width) or
    (layers, height, width), for a cubemap (6, size, size), for a layered cubemap (6 * layers, size, size).
dtype : dtype
    The type of a channel: integers of 8, 16 or 32 bits, floats of 16 or 32.
channels : int
    1, 2 or 4. More than 1 are the last axis of the arrays that you copy.
layered : bool
    Make layers of one or two axes, which kernels choose by number: tex1DLayered(), tex2DLayered(). See cudaArrayLayered.
cubemap : bool
    Make six square faces, +x, -x, +y, -y, +z, -z, which kernels choose by a direction: texCubemap(), or
    texCubemapLayered() with ``layered``. See cudaArrayCubemap.
surface : bool
    Allow surfaces of it.
gather : bool
    Allow tex2Dgather() to read it.
device : Device, optional
    Default: the current device.

See cudaMallocArray, cudaMalloc3DArray: CUDA C++ Programming Guide, "CUDA Arrays".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> a = cs.CudaArray((2, 3), np.int32)
>>> a.copy_from(np.arange(6, dtype=np.int32).reshape(2, 3))
>>> a.to_host()
array([[0, 1, 2],
       [3, 4, 5]], dtype=int32)
)");
    array
        .def(py::init(&make_array), py::arg("shape"), py::arg("dtype") = py::none(), py::kw_only(),
             py::arg("channels") = 1, py::arg("layered") = false, py::arg("cubemap") = false,
             py::arg("surface") = false, py::arg("gather") = false, py::arg("device") = py::none())
        .def("copy_from", array_copy_from, py::arg("source"), py::kw_only(), py::arg("stream") = py::none(),
             R"(Copy all elements from an array of the same shape and dtype, on the host or on the device.

Channels are the last axis of the source. Raises ValueError for another shape, TypeError for another dtype. See
cudaMemcpy3DAsync: CUDA C++ Programming Guide, "CUDA Arrays".

>>> import numpy as np, cuscope as cs
>>> a = cs.CudaArray(3, np.uint8, channels=2)
>>> a.copy_from(np.arange(6, dtype=np.uint8).reshape(3, 2))
>>> a.to_host()[2]
array([4, 5], dtype=uint8)

)")
        .def("copy_to", array_copy_to, py::arg("destination"), py::kw_only(), py::arg("stream") = py::none(),
             R"(Copy all elements to a DeviceArray of the same shape and dtype.

Raises ValueError for another shape, TypeError for another dtype or an array on the host: use to_host(). See
cudaMemcpy3DAsync: CUDA C++ Programming Guide, "CUDA Arrays".

>>> import numpy as np, cuscope as cs
>>> a, x = cs.CudaArray(3), cs.empty(3)
>>> a.copy_from(np.ones(3, np.float32))
>>> a.copy_to(x)
>>> x.to_host()
array([1., 1., 1.], dtype=float32)

)")
        .def("to_host", array_to_host, py::kw_only(), py::arg("stream") = py::none(),
             R"(Copy all elements to a new NumPy array, and wait for it.

The array has the shape and the dtype of this one, and the channels as its last axis if there is more than one. See
cudaMemcpy3DAsync: CUDA C++ Programming Guide, "CUDA Arrays".

>>> import numpy as np, cuscope as cs
>>> a = cs.CudaArray(2, np.int16)
>>> a.copy_from(np.array([5, 6], np.int16))
>>> a.to_host()
array([5, 6], dtype=int16)

)")
        .def_property_readonly(
            "shape", [](const CudaArray& self) { return ShapeTuple(shape_tuple(self.shape)); },
            "The extents in elements: depth, height, width. The number of layers or faces comes first.")
        .def_property_readonly(
            "dtype", [](const CudaArray& self) { return DType(self.dtype); }, "The NumPy dtype of a channel.")
        .def_readonly("channels", &CudaArray::channels, "The number of channels of an element.")
        .def_readonly("layered", &CudaArray::layered, "Does it have layers that kernels choose by number?")
        .def_readonly("cubemap", &CudaArray::cubemap,
                      "Does it have faces that kernels choose by a direction?")
        .def_readonly("surface", &CudaArray::surface, "Are surfaces of it allowed?")
        .def_readonly("device", &CudaArray::device, "The device that its memory is on.")
        .def(
            "close", [](CudaArray& self) { self.memory.reset(); },
            R"(Give up the array. It is freed once nothing uses it. Closing twice is no error. See cudaFreeArray.

>>> import cuscope as cs
>>> a = cs.CudaArray(4)
>>> a.close()
>>> a.closed
True

)")
        .def_property_readonly(
            "closed", [](const CudaArray& self) { return !self.memory.get(); }, "Was the array closed?")
        .def("__repr__", [](const CudaArray& self) {
            return "CudaArray(" + self.text() + ", " + self.device->name() +
                   (self.memory.get() ? ")" : ", closed)");
        });
}

}  // namespace cuscope::bindings
