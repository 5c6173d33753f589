// Device arrays: creation, copies, fills and slices.
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/arrays/host_arrays.hpp"
#include "bindings/interop/import.hpp"
#include "core/graph/capture.hpp"
#include "ops/kernel_library.hpp"
#include "runtime/checking.hpp"

namespace cuscope::bindings {
namespace {

// The other array of a copy, and the way to get one of another dtype.
constexpr const char* converted_on_host = ": convert it: source";
constexpr const char* converted_from_device = ": device arrays do not convert: pass source.to_host()";

// `conversion`: null for an array that is written.
void check_match(const DeviceArray& array, const std::vector<py::ssize_t>& shape, const py::dtype& dtype,
                 const char* what, const char* conversion) {
    if (!array.dtype.equal(dtype)) {
        throw core::WrongKind(
            std::string(what) + ": has dtype " + describe(dtype) + ", the array " + describe(array.dtype) +
            (conversion != nullptr
                 ? conversion + astype(array.dtype)
                 : ": a copy does not convert: pass an array of " + describe(array.dtype) + " to write to"));
    }
    if (shape != array.shape) {
        throw std::invalid_argument(std::string(what) + ": has shape " + describe(shape) + ", the array " +
                                    describe(array.shape) + ": shapes must be equal");
    }
}

void check_writeable(const py::array& array, const char* what) {
    if (array.writeable()) return;
    throw std::invalid_argument(std::string(what) +
                                ": is read-only: pass a writeable array, such as numpy.empty(shape, dtype)");
}

// A source of a copy as a NumPy array; other objects than arrays are converted to `dtype`.
py::array source_of_copy(const py::object& source, const py::dtype& dtype) {
    if (py::isinstance<py::array>(source) || source.is_none()) return host_array_of(source, "source");
    try {
        return py::array(numpy().attr("asarray")(source, dtype));
    } catch (const py::error_already_set&) {
        host_array_of(source, "source");  // throws if the source is no array of numbers at all
        throw;
    }
}

void copy_from(const DeviceArray& self, const HostOrDeviceArray& source, const StreamLike& stream) {
    self.open();
    check_writeable(self, "the array");
    const core::StreamPtr on = stream_or_current(stream, self.device);
    const auto from_device = [&](const DeviceArray& other) {
        check_match(self, other.shape, other.dtype, "source", converted_from_device);
        copy_array(self, other, on);
    };
    if (py::isinstance<DeviceArray>(source)) return from_device(source.cast<const DeviceArray&>());
    if (const auto foreign = foreign_array(source, on)) return from_device(*foreign);
    const py::array array = source_of_copy(source, self.dtype);
    check_match(self, shape_of(array), array.dtype(), "source", converted_on_host);
    upload(self, array, on);
}

void copy_to(const DeviceArray& self, const py::object& destination, const StreamLike& stream) {
    self.open();
    const core::StreamPtr on = stream_or_current(stream, self.device);
    const auto to_device = [&](const DeviceArray& other) {
        check_match(self, other.shape, other.dtype, "destination", nullptr);
        check_writeable(other, "destination");
        copy_array(other, self, on);
    };
    if (py::isinstance<DeviceArray>(destination)) return to_device(destination.cast<const DeviceArray&>());
    if (const auto foreign = foreign_array(destination, on)) return to_device(*foreign);
    if (!py::isinstance<py::array>(destination)) {
        throw core::WrongKind(std::string("destination: takes a NumPy array or a DeviceArray, not ") +
                              Py_TYPE(destination.ptr())->tp_name);
    }
    py::array array(destination);
    check_match(self, shape_of(array), array.dtype(), "destination", nullptr);
    check_writeable(array, "destination");
    download(self, array, on);
}

NDArray to_host(const DeviceArray& self, const py::object& out, const StreamLike& stream) {
    self.open();
    const core::StreamPtr on = stream_or_current(stream, self.device);
    if (!out.is_none() && !py::isinstance<py::array>(out)) {
        throw core::WrongKind(std::string("out: takes a NumPy array, not ") + Py_TYPE(out.ptr())->tp_name);
    }
    if (on->capturing()) {
        core::refuse_in_capture(
            Status::stream_capture_unsupported, "cudaMemcpyAsync",
            "to_host() waits for the elements, but captured work does not run: "
            "copy_to(array) captures a copy, or call to_host() once the graph was launched");
    }
    if (out.is_none()) return NDArray(host_copy(self, on));
    py::array result(out);
    check_match(self, shape_of(result), result.dtype(), "out", nullptr);
    check_writeable(result, "out");
    download(self, result, on);
    without_gil([&] { on->synchronize(); });
    return NDArray(result);
}

void fill(const DeviceArray& self, const Scalar& value, const StreamLike& stream) {
    self.open();
    check_writeable(self, "the array");
    const core::StreamPtr on = stream_or_current(stream, self.device);
    fill_array(self, one_element(value, self.dtype), on);
}

void assign(const DeviceArray& self, const Index& index, const py::object& value) {
    const DeviceArray part = item(self, index);
    const bool array = py::isinstance<DeviceArray>(value) || is_foreign_array(value) ||
                       (py::isinstance<py::array>(value) && py::array(value).ndim() != 0) ||
                       py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
    if (array) {
        copy_from(part, HostOrDeviceArray(value), StreamLike(py::none()));
    } else {
        fill(part, Scalar(value), StreamLike(py::none()));
    }
}

std::string repr(const DeviceArray& self) {
    std::string text = "DeviceArray(shape=" + describe(self.shape) + ", dtype=" + describe(self.dtype) +
                       ", " + self.device->name();
    if (!self.memory.get()) text += ", closed";
    return text + ")";
}

DeviceArray to_device(const HostOrDeviceArray& source, const StreamLike& stream) {
    const core::StreamPtr on = stream_or_current(stream);
    if (py::isinstance<DeviceArray>(source)) {
        const auto& other = source.cast<const DeviceArray&>();
        other.open();
        return copy(other, on);
    }
    if (const auto foreign = foreign_array(source, on)) return copy(*foreign, on);
    const py::array array = host_array_of(source, "source");
    const py::dtype dtype = parse_dtype(array.dtype());
    DeviceArray made = new_array(on, shape_of(array), dtype);
    upload(made, array, on);
    return made;
}

bool refuse_number(const DeviceArray&) {
    throw core::WrongKind(
        "the elements are in a device's memory: use .to_host(), and .item() of that for one of them");
}

void bind_class(py::class_<DeviceArray>& array) {
    array.attr("__doc__") =
        R"(An array in the memory of a device; made by empty(), zeros(), full() and to_device().

Slices and transposes share its memory. A stream that uses the array waits for its allocation, but not for the work of
other streams on it: order that with events. When you drop the last array that shares the memory, it is freed in
stream order, after the other streams that used it have finished. Copies and fills run in the current stream unless
you pass another one.

See CUDA C++ Programming Guide, "Device Memory" and "Stream Ordered Memory Allocator".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> x = cs.to_device(np.arange(6, dtype=np.int32).reshape(2, 3))
>>> x.shape, x.dtype, x.nbytes
((2, 3), dtype('int32'), 24)
>>> x[1].to_host()
array([3, 4, 5], dtype=int32)
)";
    array
        .def_property_readonly(
            "shape", [](const DeviceArray& self) { return ShapeTuple(shape_tuple(self.shape)); },
            "The extent of each axis.")
        .def_property_readonly(
            "dtype", [](const DeviceArray& self) { return DType(self.dtype); },
            "The NumPy dtype of the elements.")
        .def_property_readonly(
            "size",
            [](const DeviceArray& self) {
                return self.bytes / static_cast<std::size_t>(self.dtype.itemsize());
            },
            "The number of elements.")
        .def_readonly("nbytes", &DeviceArray::bytes, "The size of all elements in bytes.")
        .def_property_readonly(
            "itemsize", [](const DeviceArray& self) { return self.dtype.itemsize(); },
            "The size of one element in bytes.")
        .def_property_readonly(
            "ndim", [](const DeviceArray& self) { return self.shape.size(); }, "The number of axes.")
        .def_property_readonly(
            "strides",
            [](const DeviceArray& self) {
                // NumPy has rules of its own for the strides of arrays without elements.
                if (self.bytes == 0) return ShapeTuple(py::array(self.dtype, self.shape).attr("strides"));
                return ShapeTuple(shape_tuple(strides_of(self)));
            },
            "The bytes from one element to the next along each axis.")
        .def_readonly("device", &DeviceArray::device, "The device that the memory is on.")
        .def_property_readonly(
            "pointer",
            [](const DeviceArray& self) {
                Held<core::DeviceMemory> memory = self.memory.get();
                return memory ? reinterpret_cast<std::uintptr_t>(self.pointer_in(*memory)) : 0;
            },
            "The device address of the first element; 0 if the array is empty or closed.")
        .def_property_readonly(
            "stream",
            [](const DeviceArray& self) -> std::optional<StreamObjectPtr> {
                Held<core::DeviceMemory> memory = self.memory.get();
                if (!memory) return std::nullopt;
                return wrap(memory->stream());
            },
            "The stream that orders the memory's allocation and its release; None if the array is closed.")
        .def("to_host", to_host, py::kw_only(), py::arg("out") = py::none(), py::arg("stream") = py::none(),
             R"(Copy to a NumPy array. Waits for the stream, and raises exceptions of its host functions.

Returns a new C-contiguous array with the shape and dtype of this one, or `out` if you pass it: an array of the same
shape and dtype, with any strides. Ctrl-C ends the wait. See cudaMemcpyAsync: CUDA C++ Programming Guide, "Device
Memory".

>>> import cuscope as cs
>>> cs.zeros(3).to_host()
array([0., 0., 0.], dtype=float32)
)")
        .def("copy_from", copy_from, py::arg("source"), py::kw_only(), py::arg("stream") = py::none(),
             R"(Copy from an array of the same shape and dtype, on the host or on a device.

The copy is asynchronous from page-locked and device memory; you may change other host memory as soon as this returns.
Lists and other objects are first converted to an array of this dtype. Raises ValueError for another shape, TypeError
for another dtype. See cudaMemcpyAsync: CUDA C++ Programming Guide, "Overlap of Data Transfer and Kernel Execution".

>>> import numpy as np, cuscope as cs
>>> x = cs.empty(2, np.int64)
>>> x.copy_from(np.array([1, 2]))
>>> x.to_host()
array([1, 2])
)")
        .def(
            "copy_to",
            [](const DeviceArray& self, const HostOrDeviceArray& destination, const StreamLike& stream) {
                copy_to(self, destination, stream);
            },
            py::arg("destination"), py::kw_only(), py::arg("stream") = py::none(),
            R"(Copy to an array of the same shape and dtype, on the host or on a device.

The copy is asynchronous to page-locked and device memory: the elements are there once you have synchronized the stream.
Other host memory is filled when this returns, whatever its strides. Raises TypeError for another dtype, ValueError for
another shape or a read-only array. See cudaMemcpyAsync: CUDA C++ Programming Guide, "Overlap of Data Transfer and
Kernel Execution".

>>> import numpy as np, cuscope as cs
>>> y = np.empty(2, np.float32)
>>> cs.full(2, 7.0, np.float32).copy_to(y)
>>> y
array([7., 7.], dtype=float32)
)")
        .def("fill", fill, py::arg("value"), py::kw_only(), py::arg("stream") = py::none(),
             R"(Set every element to one value, in stream order.

Raises TypeError for a value of the wrong type, OverflowError for one that is too large for the dtype. See
cudaMemsetAsync.

>>> import numpy as np, cuscope as cs
>>> x = cs.empty(3, np.int16)
>>> x.fill(-5)
>>> x.to_host()
array([-5, -5, -5], dtype=int16)
)")
        .def(
            "close", [](DeviceArray& self) { self.memory.reset(); },
            R"(Give up the memory. It is freed once no other array shares it and no stream uses it.

Closing twice is no error. See cudaFreeAsync.

>>> import cuscope as cs
>>> x = cs.empty(3)
>>> x.close()
>>> x.closed
True
)")
        .def_property_readonly(
            "closed", [](const DeviceArray& self) { return !self.memory.get(); }, "Was the array closed?")
        .def("__len__",
             [](const DeviceArray& self) -> py::ssize_t {
                 if (self.shape.empty()) throw core::WrongKind("an array without axes has no length");
                 return self.shape[0];
             })
        .def(
            "__getitem__", [](const DeviceArray& self, const Index& index) { return item(self, index); },
            py::arg("index"),
            R"(A view of items or slices. It shares the memory of the array.

Takes everything that NumPy's basic indexing takes: ints, slices with any step, ... and None. An item of an array with
one axis is an array without axes.

>>> import numpy as np, cuscope as cs
>>> x = cs.zeros((3, 2))
>>> x[1:] = 5
>>> x[2] = np.array([1, 2], np.float32)
>>> x.to_host().tolist()
[[0.0, 0.0], [5.0, 5.0], [1.0, 2.0]]
)")
        .def(
            "__setitem__", assign, py::arg("index"), py::arg("value"),
            R"(Fill a view with a value, or copy an array of its shape and dtype into it, in the current stream.)")
        .def(
            "__array__",
            [](const DeviceArray&, const AnyArgs&, const AnyKeywords&) -> NDArray {
                throw core::WrongKind(
                    "the elements are in a device's memory, which NumPy cannot read: use .to_host()");
            },
            "Refused: use to_host().")
        .def_property_readonly("is_contiguous", &DeviceArray::contiguous,
                               "Are the elements contiguous in C order?")
        .def_property_readonly(
            "pitch",
            [](const DeviceArray& self) -> py::ssize_t {
                if (self.shape.size() < 2) throw core::WrongKind("an array without rows has no pitch");
                return strides_of(self)[self.shape.size() - 2];
            },
            "The bytes from one row to the next.")
        .def_property_readonly(
            "T", [](const DeviceArray& self) { return transpose(self); },
            "A view with the axes in reverse order.")
        .def(
            "transpose",
            [](const DeviceArray& self, const py::Args<ShapeLike>& axes) { return transpose(self, axes); },
            R"(A view with the axes in another order; in reverse order if you give none.

>>> import cuscope as cs
>>> cs.empty((2, 3, 4)).transpose(1, 0, 2).shape
(3, 2, 4)
)")
        .def(
            "reshape",
            [](const DeviceArray& self, const py::Args<ShapeLike>& shape) { return reshape(self, shape); },
            R"(The same elements in C order, in another shape. One extent may be -1: it is computed.

Returns a view where that is possible, as for every contiguous array; else a copy, made in the current stream. Raises
ValueError if the sizes differ.

>>> import cuscope as cs
>>> cs.empty(6).reshape(2, -1).shape
(2, 3)
)")
        .def(
            "ravel", [](const DeviceArray& self) { return reshape(self, std::vector<py::ssize_t>{-1}); },
            R"(All elements along one axis, in C order. The same as reshape(-1): a view where that is possible, else a copy.

>>> import numpy as np, cuscope as cs
>>> cs.to_device(np.arange(6).reshape(2, 3)).ravel().to_host()
array([0, 1, 2, 3, 4, 5])

)")
        .def(
            "copy",
            [](const DeviceArray& self, const StreamLike& stream) {
                self.open();
                return copy(self, stream_or_current(stream, self.device));
            },
            py::kw_only(), py::arg("stream") = py::none(),
            R"(A new C-contiguous array with the same elements, on the stream's device.

>>> import numpy as np, cuscope as cs
>>> cs.to_device(np.arange(4))[::-1].copy().to_host()
array([3, 2, 1, 0])
)")
        .def("__iter__",
             [](const py::object& self) {
                 if (self.cast<const DeviceArray&>().shape.empty())
                     throw core::WrongKind("an array without axes has no items: use .to_host()");
                 return py::reinterpret_steal<py::typing::Iterator<DeviceArraySelf>>(
                     PySeqIter_New(self.ptr()));
             })
        .def("__bool__", refuse_number)
        .def("__int__", refuse_number)
        .def("__float__", refuse_number)
        .def("__complex__", refuse_number)
        .def("__repr__", repr);
}

}  // namespace

void check_writeable(const DeviceArray& array, const char* what) {
    if (!array.read_only) return;
    throw std::invalid_argument(
        std::string(what) +
        ": is read-only, as the library that made the array declared: write to .copy() of it");
}

DeviceArray new_array(const core::StreamPtr& stream, std::vector<py::ssize_t> shape, const py::dtype& dtype,
                      const std::shared_ptr<core::MemPool>& pool) {
    const std::size_t bytes = byte_count(shape, dtype);
    return array_over(without_gil([&] {
                          ops::KernelLibrary::load_ahead(stream->device());
                          return core::DeviceMemory::allocate(stream, bytes, pool);
                      }),
                      std::move(shape), dtype);
}

DeviceArray array_over(std::shared_ptr<core::DeviceMemory> memory, std::vector<py::ssize_t> shape,
                       const py::dtype& dtype) {
    const std::size_t bytes = byte_count(shape, dtype);
    if (checking()) [[unlikely]] {
        const auto extents = py::tuple(py::cast(shape));
        describe_memory(memory->pointer(), py::str(dtype), py::str(extents),
                        static_cast<std::size_t>(dtype.itemsize()));
    }
    core::DevicePtr device = memory->device().shared_from_this();
    return {std::move(device),
            SharedOwner<core::DeviceMemory>(std::move(memory)),
            0,
            bytes,
            std::move(shape),
            dtype,
            kernel_element_of(dtype)};
}

void bind_arrays(py::module_& m, Classes& classes) {
    bind_class(classes.array);
    const py::object float32 = numpy().attr("float32");
    m.def(
        "empty",
        [float32](const ShapeLike& shape, const DTypeLike& dtype, const StreamLike& stream) {
            std::vector<py::ssize_t> extents = parse_shape(shape);
            const py::dtype type = parse_dtype(dtype.is_none() ? float32 : py::object(dtype));
            return new_array(stream_or_current(stream), std::move(extents), type);
        },
        py::arg("shape"), py::arg_v("dtype", float32, "numpy.float32"), py::kw_only(),
        py::arg("stream") = py::none(),
        R"(A new array on the current device, or on the stream's. Its elements are not initialised.

Parameters
----------
shape : int or tuple of int
    The extent of each axis, 0 or more.
dtype : dtype
    The type of the elements: a numeric or structured one.
stream : Stream, optional
    The stream in which the memory is allocated. Default: the current one.

Raises
------
TypeError, ValueError
    A dtype that kernels do not support; a negative or impossible shape.
OutOfMemoryError
    The device does not have that much memory left.

See cudaMallocAsync: CUDA C++ Programming Guide, "Device Memory" and "Stream Ordered Memory Allocator".

Examples
--------
>>> import cuscope as cs
>>> cs.empty((2, 3)).shape
(2, 3)
)");
    m.def(
        "zeros",
        [float32](const ShapeLike& shape, const DTypeLike& dtype, const StreamLike& stream) {
            std::vector<py::ssize_t> extents = parse_shape(shape);
            const py::dtype type = parse_dtype(dtype.is_none() ? float32 : py::object(dtype));
            const core::StreamPtr on = stream_or_current(stream);
            DeviceArray made = new_array(on, std::move(extents), type);
            const core::DeviceSpan span = made.span();
            constexpr std::byte zero{0};
            without_gil([&] { core::fill(span, {&zero, 1}, on); });
            return made;
        },
        py::arg("shape"), py::arg_v("dtype", float32, "numpy.float32"), py::kw_only(),
        py::arg("stream") = py::none(),
        R"(A new array of zeros, filled in stream order. Takes the parameters of empty() and raises the same errors.

See cudaMemsetAsync.

>>> import cuscope as cs
>>> cs.zeros(2).to_host()
array([0., 0.], dtype=float32)
)");
    m.def(
        "full",
        [](const ShapeLike& shape, const Scalar& value, const std::optional<DTypeLike>& dtype,
           const StreamLike& stream) {
            std::vector<py::ssize_t> extents = parse_shape(shape);
            const bool given = dtype && !dtype->is_none();
            if (!given) check_value(value);
            const py::object own = given ? py::object(*dtype) : numpy().attr("asarray")(value).attr("dtype");
            if (!given && own.attr("hasobject").cast<bool>()) {
                throw std::overflow_error("value: " + py::str(value).cast<std::string>() +
                                          " needs more than 64 bits: give a dtype that holds it");
            }
            const py::dtype type = parse_dtype(own);
            const py::array element = one_element(value, type);
            const core::StreamPtr on = stream_or_current(stream);
            DeviceArray made = new_array(on, std::move(extents), type);
            fill_array(made, element, on);
            return made;
        },
        py::arg("shape"), py::arg("value"), py::arg("dtype") = py::none(), py::kw_only(),
        py::arg("stream") = py::none(),
        R"(A new array filled with one value. The dtype is the value's own, as NumPy sees it, unless you pass one.

Raises the errors of empty() and of DeviceArray.fill(). See cudaMemsetAsync.

>>> import numpy as np, cuscope as cs
>>> cs.full(2, 1.5, np.float32).to_host()
array([1.5, 1.5], dtype=float32)
)");
    m.def(
        "to_device", to_device, py::arg("source"), py::kw_only(), py::arg("stream") = py::none(),
        R"(A new device array with the elements of a NumPy array, or of anything that NumPy can make an array of.

It has the source's shape and dtype, and is always C-contiguous. If the source is page-locked, the copy is asynchronous
and keeps the source alive until it has ended; you may change other memory as soon as this returns. A DeviceArray is
copied too, also from another device. Raises TypeError for a dtype that kernels do not support, OutOfMemoryError. See
cudaMemcpyAsync: CUDA C++ Programming Guide, "Device Memory".

>>> import numpy as np, cuscope as cs
>>> cs.to_device(np.arange(3)).to_host()
array([0, 1, 2])
)");
}

}  // namespace cuscope::bindings
