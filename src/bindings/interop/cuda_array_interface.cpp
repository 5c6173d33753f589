// __cuda_array_interface__, version 3, in both directions.
#include "bindings/interop/import.hpp"

namespace cuscope::bindings {
namespace {

constexpr std::size_t newest_version = 3;

std::string entry(const char* key) { return std::string("__cuda_array_interface__['") + key + "']"; }

py::object value_of(const py::dict& interface, const char* key) {
    return interface.contains(key) ? py::object(interface[key]) : py::object(py::none());
}

std::size_t version_of(const py::dict& interface) {
    return parse_size(value_of(interface, "version"), entry("version").c_str());
}

py::dtype dtype_of(const py::dict& interface) {
    const py::object typestr = value_of(interface, "typestr"), descr = value_of(interface, "descr");
    if (!py::isinstance<py::str>(typestr)) {
        throw core::WrongKind(entry("typestr") + ": takes a str, not " + Py_TYPE(typestr.ptr())->tp_name);
    }
    const py::dtype plain = parse_dtype(typestr);
    if (plain.kind() != 'V' || !py::isinstance<py::list>(descr) || py::len(descr) == 0) return plain;
    const py::dtype structure = parse_dtype(descr);
    return structure.itemsize() == plain.itemsize() ? structure : plain;
}

std::vector<py::ssize_t> stated_shape(const py::dict& interface) {
    const py::object shape = value_of(interface, "shape");
    if (!py::isinstance<py::tuple>(shape)) {
        throw core::WrongKind(entry("shape") + ": takes a tuple of ints, not " +
                              Py_TYPE(shape.ptr())->tp_name);
    }
    return parse_shape(shape);
}

std::vector<py::ssize_t> stated_strides(const py::dict& interface, std::size_t axes) {
    const py::object given = value_of(interface, "strides");
    if (given.is_none()) return {};
    if (!py::isinstance<py::tuple>(given)) {
        throw core::WrongKind(entry("strides") + ": takes None or a tuple of ints, not " +
                              Py_TYPE(given.ptr())->tp_name);
    }
    std::vector<py::ssize_t> strides;
    for (const py::handle stride : py::reinterpret_borrow<py::tuple>(given)) {
        if (PyIndex_Check(stride.ptr()) == 0) {
            throw core::WrongKind(entry("strides") + ": takes ints, not " + Py_TYPE(stride.ptr())->tp_name);
        }
        strides.push_back(PyNumber_AsSsize_t(stride.ptr(), PyExc_ValueError));
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    }
    if (strides.size() != axes) {
        throw std::invalid_argument(entry("strides") + ": has " + std::to_string(strides.size()) +
                                    " entries for " + std::to_string(axes) + " axes");
    }
    return strides;
}

py::dict require_dict(const py::object& interface) {
    if (py::isinstance<py::dict>(interface)) return py::reinterpret_borrow<py::dict>(interface);
    throw core::WrongKind(std::string("__cuda_array_interface__: takes a dict, not ") +
                          Py_TYPE(interface.ptr())->tp_name);
}

}  // namespace

bool states_its_stream(const py::object& interface) {
    if (!py::isinstance<py::dict>(interface)) return false;
    const py::object version = value_of(py::reinterpret_borrow<py::dict>(interface), "version");
    return PyLong_CheckExact(version.ptr()) && PyLong_AsLongLong(version.ptr()) == newest_version;
}

bool says_read_only(const py::object& interface) {
    if (!py::isinstance<py::dict>(interface)) return false;
    const py::object data = value_of(py::reinterpret_borrow<py::dict>(interface), "data");
    if (!py::isinstance<py::tuple>(data) || py::len(data) != 2) return false;
    return py::object(py::reinterpret_borrow<py::tuple>(data)[1]).is(py::bool_(true));
}

DeviceArray from_cuda_array_interface(const py::object& object, const py::object& given,
                                      const core::DevicePtr& near) {
    const py::dict interface = require_dict(given);
    if (const std::size_t version = version_of(interface); version > newest_version) {
        throw std::invalid_argument(entry("version") + ": is " + std::to_string(version) +
                                    "; understood are 0 to " + std::to_string(newest_version));
    }
    ForeignLayout layout;
    layout.shape = stated_shape(interface);
    layout.strides = stated_strides(interface, layout.shape.size());
    layout.dtype = dtype_of(interface);
    if (!value_of(interface, "mask").is_none()) {
        throw std::invalid_argument(entry("mask") +
                                    ": an array with a mask cannot be seen without it: pass its filled copy");
    }
    const py::object data = value_of(interface, "data");
    if (!py::isinstance<py::tuple>(data) || py::len(data) != 2) {
        throw core::WrongKind(entry("data") + ": takes a tuple (pointer, read_only), not " +
                              py::repr(data).cast<std::string>());
    }
    const auto pair = py::reinterpret_borrow<py::tuple>(data);
    const py::object pointer = pair[0];
    layout.address = pointer.is_none() ? 0 : parse_size(pointer, entry("data").c_str());
    const int read_only = PyObject_IsTrue(py::object(pair[1]).ptr());
    if (read_only < 0) throw py::error_already_set();
    layout.read_only = read_only == 1;

    const py::object stream = value_of(interface, "stream");
    std::uintptr_t handle = 0;
    if (!stream.is_none()) {
        handle = parse_size(stream, entry("stream").c_str());
        if (handle == 0) {
            throw std::invalid_argument(entry("stream") +
                                        ": is 0, which the protocol does not allow: 1 is the legacy default "
                                        "stream, 2 the per-thread one, None asks for no order");
        }
    }
    // The protocol requires that the array keeps its stream alive. CuPy's arrays do not.
    return adopt(layout, near, kept(object), {nullptr, reinterpret_cast<StreamHandle>(handle), handle != 0});
}

py::dict cuda_array_interface(const DeviceArray& array) {
    if (array.device->simulated()) {
        throw py::attribute_error(
            "__cuda_array_interface__: the array is on " + array.device->name() +
            ", which is simulated: CUDA libraries cannot reach its memory. Copy it with .to_host()");
    }
    const auto memory = array.open();
    const py::object descr = array.dtype.attr("descr"), typestr = array.dtype.attr("str");
    if (array.dtype.attr("fields").is_none() && !py::dtype::from_args(typestr).equal(array.dtype)) {
        throw py::attribute_error("__cuda_array_interface__: has no elements of dtype " +
                                  describe(array.dtype) + ": hand it over by DLPack");
    }
    const core::StreamPtr stream = memory->stream();
    memory->set_exported();
    without_gil([&] { memory->make_wait(stream); });
    py::dict interface;
    interface["shape"] = shape_tuple(array.shape);
    interface["typestr"] = typestr;
    interface["descr"] = descr;
    interface["data"] = py::make_tuple(
        array.bytes == 0 ? 0 : reinterpret_cast<std::uintptr_t>(array.pointer()), array.read_only);
    interface["strides"] =
        array.contiguous() ? py::object(py::none()) : py::object(shape_tuple(array.strides));
    interface["stream"] = reinterpret_cast<std::uintptr_t>(stream->handle());
    interface["version"] = newest_version;
    return interface;
}

}  // namespace cuscope::bindings
