// The Python interface for arrays and streams of other libraries: imports, and exports of our own.
#include <pybind11/stl.h>

#include "bindings/interop/import.hpp"
#include "bindings/support/fast_calls.hpp"

namespace cuscope::bindings {
std::optional<bool> parse_copy(const py::object& copy) {
    if (copy.is_none()) return std::nullopt;
    if (PyBool_Check(copy.ptr()) != 0) return copy.is(py::bool_(true));
    throw core::WrongKind(std::string("copy: takes True, False or None, not ") +
                          Py_TYPE(copy.ptr())->tp_name);
}

namespace {

core::StreamPtr stream_on(const core::StreamPtr& stream, const core::DevicePtr& device) {
    return &stream->device() == device.get() ? stream : core::current_stream(device);
}

DeviceArray upload_new(const py::object& source, const core::StreamPtr& on) {
    const py::array array = host_array_of(source, "object");
    DeviceArray made = new_array(on, shape_of(array), parse_dtype(array.dtype()));
    upload(made, array, on);
    return made;
}

DeviceArraySelf as_array(const py::object& object, const py::object& copy_flag, const StreamLike& stream) {
    const std::optional<bool> copied = parse_copy(copy_flag);
    const core::StreamPtr on = stream_or_current(stream);
    if (py::isinstance<DeviceArray>(object)) {
        const auto& array = object.cast<const DeviceArray&>();
        array.open();
        if (copied != true) return DeviceArraySelf(object);
        return DeviceArraySelf(py::cast(copy(array, stream_on(on, array.device))));
    }
    if (auto array = foreign_array(object, on)) {
        if (copied != true) {
            array->open()->outlast_call();
            return DeviceArraySelf(py::cast(std::move(*array)));
        }
        return DeviceArraySelf(py::cast(copy(*array, stream_on(on, array->device))));
    }
    if (copied == false) {
        throw std::invalid_argument(std::string("object: ") + Py_TYPE(object.ptr())->tp_name +
                                    " is in the host's memory, which has to be copied: leave out copy=False");
    }
    return DeviceArraySelf(py::cast(upload_new(object, on)));
}

DeviceArray from_dlpack(const py::object& object, const DeviceLike& device, const py::object& copy_flag,
                        const StreamLike& stream) {
    const std::optional<bool> copied = parse_copy(copy_flag);
    const core::DevicePtr to = device.is_none() ? nullptr : device_or_current(device);
    const core::StreamPtr on = stream_or_current(stream, to);
    const bool capsule = PyCapsule_CheckExact(object.ptr()) != 0;
    if (!capsule &&
        !(optional_attribute(object, "__dlpack__") && optional_attribute(object, "__dlpack_device__"))) {
        throw core::WrongKind(
            std::string("object: ") + Py_TYPE(object.ptr())->tp_name +
            " has no __dlpack__() and __dlpack_device__(): cuscope.asarray() takes other arrays");
    }
    const core::DevicePtr near = on->device().shared_from_this();
    if (!capsule && dlpack_device_of(object).first == kDLCPU) {
        if (copied == false) {
            throw py::buffer_error(
                "the array is in the host's memory, which has to be copied: leave out copy=False");
        }
        return upload_new(py::module_::import("numpy").attr("from_dlpack")(object), on);
    }
    const auto taken = [&]() -> DeviceArray {
        if (capsule) return from_dlpack_capsule(object, near, nullptr);
        // Our own functions order work by the current stream alone, our method by all streams that used the
        // array.
        if (!py::isinstance<DeviceArray>(object)) {
            if (auto array = from_dlpack_functions(object, on)) return std::move(*array);
        }
        return from_dlpack_object(object, on);
    };
    DeviceArray array = taken();
    const bool elsewhere = to && to != array.device;
    if (!elsewhere && copied != true) return array;
    if (elsewhere && copied == false) {
        throw py::buffer_error("the array is on " + array.device->name() + " and has to be copied to " +
                               to->name() + ": leave out copy=False");
    }
    return copy(array, elsewhere ? on : stream_on(on, array.device));
}

// ---- views on the host

void refuse_host(const DeviceArray& array) {
    if (array.open()->host_pointer() != nullptr || array.bytes == 0) return;
    throw py::buffer_error("the elements are in the memory of " + array.device->name() +
                           ", which the host cannot read: use .to_host()");
}

// A view of memory that the host can reach, after all uses of it so far.
NDArray settled_view(const DeviceArray& array) {
    const auto memory = array.open();
    without_gil([&] { memory->wait(); });
    return host_view(array);
}

int get_buffer(PyObject* self, Py_buffer* buffer, int flags) {
    buffer->obj = nullptr;
    int result = -1;
    translated([&]() -> PyObject* {
        const auto& array = py::handle(self).cast<const DeviceArray&>();
        refuse_host(array);
        const NDArray view = settled_view(array);
        result = PyObject_GetBuffer(view.ptr(), buffer, flags);
        return nullptr;
    });
    return result;
}

void give_buffers(py::handle type) {
    auto* const heap = reinterpret_cast<PyHeapTypeObject*>(type.ptr());
    heap->as_buffer.bf_getbuffer = get_buffer;
    heap->ht_type.tp_as_buffer = &heap->as_buffer;
    PyType_Modified(&heap->ht_type);
}

py::object array_interface(const DeviceArray& self) {
    if (self.open()->host_pointer() == nullptr) {
        throw py::attribute_error("__array_interface__: the elements are in the memory of " +
                                  self.device->name() + ", which the host cannot read: use .to_host()");
    }
    return settled_view(self).attr("__array_interface__");
}

AnyCallable cuda_stream(const StreamObjectPtr& self) {
    if (self->device->simulated()) {
        throw py::attribute_error("__cuda_stream__: the stream is of " + self->device->name() +
                                  ", which is simulated: CUDA libraries cannot use it");
    }
    return AnyCallable(py::cpp_function(
        [self] { return py::make_tuple(0, reinterpret_cast<std::uintptr_t>(self->open()->handle())); }));
}

// The simple cases: an array of ours, and an array whose type has the C functions of DLPack.
PyObject* fast_as_array(PyObject*, const Arguments& arguments) {
    PyObject* stream;
    if (arguments.count != 1 || !take_stream(arguments, &stream)) return nullptr;
    PyObject* const object = arguments[0];
    if (const auto* const array = exactly<DeviceArray>(object); array != nullptr)
        return stream == nullptr && array->memory.get() ? Py_NewRef(object) : nullptr;
    const core::StreamPtr on = plain_stream(stream, current_device());
    if (!on) return nullptr;
    auto array = from_dlpack_functions(py::reinterpret_borrow<py::object>(object), on);
    if (!array) return nullptr;
    array->open()->outlast_call();
    return object_of(std::move(*array));
}

}  // namespace

void bind_interop(py::module_& m, Classes& classes) {
    give_buffers(classes.array);
    classes.array.attr(dlpack::functions_attribute) = dlpack_functions();
    classes.array
        .def_property_readonly(
            "__cuda_array_interface__",
            [](const DeviceArray& self) { return AnswerDict(cuda_array_interface(self)); },
            "The array for other CUDA libraries, version 3. An array on a simulated device has no such "
            "attribute. "
            "The stream in it waits for all uses of the array up to the time when you read the attribute.")
        .def(
            "__dlpack_device__",
            [](const DeviceArray& self) {
                const auto [type, id] = dlpack_device(self);
                return ShapeTuple(py::make_tuple(type, id));
            },
            R"(The kind of memory as DLPack's (type, id): 2 a GPU's, 3 page-locked, 13 managed, 12 a simulated device's.

>>> import cuscope as cs
>>> cs.empty(1, stream=cs.Stream(device=cs.Device("host:0"))).__dlpack_device__()
(12, 0)
)")
        .def(
            "__dlpack__",
            [](const DeviceArray& self, const Scalar& stream, const Scalar& max_version,
               const Scalar& dl_device,
               const Scalar& copy) { return Scalar(to_dlpack(self, stream, max_version, dl_device, copy)); },
            py::arg("stream") = py::none(), py::kw_only(), py::arg("max_version") = py::none(),
            py::arg("dl_device") = py::none(), py::arg("copy") = py::none(),
            R"(A DLPack capsule of the array, without a copy unless you ask for one.

Parameters
----------
stream : int, optional
    The handle of the consumer's stream, which will wait for all uses of the array so far. None and 1 are the legacy
    default stream, 2 the per-thread one, -1 asks for no order.
max_version : tuple of int, optional
    (1, 0) and later return a versioned capsule.
dl_device : tuple of int, optional
    (1, 0) waits and returns the elements on the host: in a copy, unless the host can reach the memory.
copy : bool, optional
    True: always copy; False: never copy.

Raises BufferError for an array that cannot be exported in this way, ValueError for stream=0. See DLPack,
"Python Specification".

>>> import numpy as np, cuscope as cs
>>> np.from_dlpack(cs.full(2, 1.5), device="cpu")
array([1.5, 1.5])
)")
        .def_property_readonly(
            "__array_interface__", array_interface,
            "The array for NumPy, if the host can reach its memory. Waits for all uses of the array. Other "
            "arrays have no such attribute.")
        .def_readonly("read_only", &DeviceArray::read_only,
                      "Is writing forbidden? Only arrays of other libraries can be read-only.");
    classes.stream.def_property_readonly(
        "__cuda_stream__", cuda_stream,
        "A method that returns (0, handle), with which other CUDA libraries use the stream. A simulated "
        "device's stream has no such attribute.");

    m.def(
        "asarray", as_array, py::arg("object"), py::kw_only(), py::arg("copy") = py::none(),
        py::arg("stream") = py::none(),
        R"(Any array as a DeviceArray: without a copy if it is in a device's memory, else copied as by to_device().

Takes objects with __cuda_array_interface__ or __dlpack__ (CuPy, PyTorch, JAX, Numba, ...) and NumPy arrays. The object
stays alive until all streams that used the result have finished with it. All streams that use the result wait for the
work that the other library had enqueued. A DeviceArray is returned unchanged.

Parameters
----------
object : array
    An array of any library.
copy : bool, optional
    True: always copy; False: never copy.
stream : Stream, optional
    The stream that DLPack prepares the array for, and in which a copy is made. Default: the current one.

Raises
------
ValueError, TypeError, BufferError
    The object does not describe an array that a device can reach; or copy=False for an array on the host.

Examples
--------
>>> import numpy as np, cuscope as cs
>>> x = cs.asarray(np.arange(3))
>>> cs.asarray(x) is x
True
)");
    FastMethod<fast_as_array>::put_before(m, "asarray");
    m.def("from_dlpack", from_dlpack, py::arg("object"), py::kw_only(), py::arg("device") = py::none(),
          py::arg("copy") = py::none(), py::arg("stream") = py::none(),
          R"(An array of another library by DLPack, without a copy if it is in a device's memory.

Parameters
----------
object : array or capsule
    An object with __dlpack__ and __dlpack_device__. A capsule has no information about streams: order them yourself.
device : Device, optional
    The device of the result. Default: where the array is; for an array on the host, the current device.
copy : bool, optional
    True: always copy; False: never copy.
stream : Stream, optional
    The stream that the other library prepares its array for; other streams wait for it. Default: the current one.

Raises
------
BufferError
    An array on a device that cuscope does not know, with elements that NumPy does not support, from another major
    version of DLPack, or one that must be copied although copy=False.
ValueError
    A capsule that has been consumed already.

Examples
--------
>>> import numpy as np, cuscope as cs
>>> cs.from_dlpack(np.arange(3)).to_host()
array([0, 1, 2])
)");
    m.def(
        "as_stream",
        [](const StreamLike& object, const DeviceLike& device) {
            const core::DevicePtr near = device_or_current(device);
            if (auto stream = parse_stream(object, near)) return stream;
            throw core::WrongKind("object: takes a stream, not None");
        },
        py::arg("object"), py::kw_only(), py::arg("device") = py::none(),
        R"(A stream of another library as a Stream, which keeps the object alive. A Stream is returned unchanged.

If the handle belongs to one of cuscope's own streams, the result is equal to that Stream; closing the result leaves that
Stream open.

Takes objects with __cuda_stream__ (or PyTorch's cuda_stream). You need not call it for an argument `stream`, which takes
such objects too. Handles of default streams mean the default streams of ``device`` (default: the current device). Raises
TypeError for other objects, CudaError for an unknown handle of a simulated device.

>>> import cuscope as cs
>>> stream = cs.Stream()
>>> cs.as_stream(stream) is stream
True
)");
}

}  // namespace cuscope::bindings
