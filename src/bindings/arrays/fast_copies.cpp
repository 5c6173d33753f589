// Copies between NumPy arrays and device arrays without pybind11's dispatch, for the simple case:
// C-contiguous NumPy arrays of the device array's shape and dtype, and device arrays of equal shape and
// dtype.
#include "bindings/arrays/host_arrays.hpp"
#include "bindings/support/fast_calls.hpp"
#include "bindings/support/objects.hpp"
#include "core/memory/copy_batch.hpp"

namespace cuscope::bindings {
namespace {

// The object as an array if it is exactly a C-contiguous ndarray; else null.
const py::detail::PyArray_Proxy* plain_array(PyObject* object) {
    if (Py_TYPE(object) != py::detail::npy_api::get().PyArray_Type_) return nullptr;
    const auto* const array = py::detail::array_proxy(object);
    return (array->flags & py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_) != 0 ? array : nullptr;
}

bool match(const DeviceArray& array, const py::detail::PyArray_Proxy& host) {
    return array.memory.get() && array.contiguous() && host.descr == array.dtype.ptr() &&
           static_cast<std::size_t>(host.nd) == array.shape.size() &&
           std::equal(array.shape.begin(), array.shape.end(), host.dimensions);
}

bool is_writeable(const py::detail::PyArray_Proxy& array) {
    return (array.flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_) != 0;
}

// Copies between two device arrays. False: they are not so simple.
bool copied_on_device(const DeviceArray& to, const DeviceArray& from, PyObject* stream,
                      const core::DevicePtr& device) {
    if (!to.memory.get() || !from.memory.get() || to.read_only) return false;
    if (to.shape != from.shape || to.dtype.ptr() != from.dtype.ptr()) return false;
    const core::StreamPtr on = plain_stream(stream, device);
    if (!on) return false;
    copy_array(to, from, on);
    return true;
}

PyObject* fast_copy_from(PyObject* self, const Arguments& arguments) {
    const auto* const array = exactly<DeviceArray>(self);
    PyObject* stream;
    if (array == nullptr || arguments.count != 1 || !take_stream(arguments, &stream)) return nullptr;
    if (const auto* const other = exactly<DeviceArray>(arguments[0])) {
        if (!copied_on_device(*array, *other, stream, array->device)) return nullptr;
        Py_RETURN_NONE;
    }
    const auto* const source = plain_array(arguments[0]);
    if (source == nullptr || array->read_only || !match(*array, *source)) return nullptr;
    const core::StreamPtr on = plain_stream(stream, array->device);
    if (!on) return nullptr;
    upload(*array, py::reinterpret_borrow<py::array>(arguments[0]), on);
    Py_RETURN_NONE;
}

PyObject* fast_copy_to(PyObject* self, const Arguments& arguments) {
    const auto* const array = exactly<DeviceArray>(self);
    PyObject* stream;
    if (array == nullptr || arguments.count != 1 || !take_stream(arguments, &stream)) return nullptr;
    if (const auto* const other = exactly<DeviceArray>(arguments[0])) {
        if (!copied_on_device(*other, *array, stream, array->device)) return nullptr;
        Py_RETURN_NONE;
    }
    const auto* const destination = plain_array(arguments[0]);
    if (destination == nullptr || !match(*array, *destination) || !is_writeable(*destination)) return nullptr;
    const core::StreamPtr on = plain_stream(stream, array->device);
    if (!on) return nullptr;
    auto host = py::reinterpret_borrow<py::array>(arguments[0]);
    download(*array, host, on);
    Py_RETURN_NONE;
}

PyObject* fast_to_host(PyObject* self, const Arguments& arguments) {
    static constinit ParameterNames names("out", "stream");
    std::array<PyObject*, 2> values;
    const auto* const array = exactly<DeviceArray>(self);
    if (array == nullptr || !array->memory.get()) return nullptr;
    if (!bind_arguments(names, 0, 0, arguments, &values)) return nullptr;
    const auto [out, stream] = values;
    const core::StreamPtr on = plain_stream(stream, array->device);
    if (!on || on->capturing()) return nullptr;
    if (out != nullptr && out != Py_None) {
        const auto* const given = plain_array(out);
        if (given == nullptr || !match(*array, *given) || !is_writeable(*given)) return nullptr;
        auto host = py::reinterpret_borrow<py::array>(out);
        download(*array, host, on);
        without_gil([&] { on->synchronize(); });
        return host.release().ptr();
    }
    return host_copy(*array, on).release().ptr();
}

// One side of a copy in a batch, and the dtype of its elements. False: it is not so simple.
bool set_side(PyObject* object, bool written, core::BatchSide* side, std::size_t* bytes,
              const PyObject** dtype) {
    if (const auto* const array = exactly<DeviceArray>(object)) {
        Held<core::DeviceMemory> memory = array->memory.get();
        if (!memory || !array->contiguous() || (written && array->read_only)) return false;
        *side = {array->pointer_in(*memory), memory};
        *bytes = array->bytes;
        *dtype = array->dtype.ptr();
        return true;
    }
    const auto* const host = plain_array(object);
    if (host == nullptr || (written && !is_writeable(*host))) return false;
    const auto array = py::reinterpret_borrow<py::array>(object);
    *side = {static_cast<std::byte*>(const_cast<void*>(array.data())), nullptr};
    *bytes = static_cast<std::size_t>(array.nbytes());
    *dtype = host->descr;
    return true;
}

PyObject* fast_copy_batch(PyObject*, const Arguments& arguments) {
    PyObject* stream;
    if (arguments.count != 1 || !take_stream(arguments, &stream) || PyList_CheckExact(arguments[0]) == 0)
        return nullptr;
    const core::StreamPtr on = plain_stream(stream, current_device());
    if (!on) return nullptr;
    // Another thread may change the list meanwhile.
    const auto pairs = py::reinterpret_steal<py::object>(PyList_AsTuple(arguments[0]));
    if (!pairs) throw py::error_already_set();
    const Py_ssize_t length = PyTuple_GET_SIZE(pairs.ptr());
    std::vector<core::BatchCopy> batch(static_cast<std::size_t>(length));
    for (Py_ssize_t i = 0; i < length; ++i) {
        PyObject* const pair = PyTuple_GET_ITEM(pairs.ptr(), i);
        if (PyTuple_CheckExact(pair) == 0 || PyTuple_GET_SIZE(pair) != 2) return nullptr;
        core::BatchCopy& copy = batch[static_cast<std::size_t>(i)];
        std::size_t read = 0;
        const PyObject *dtype_to = nullptr, *dtype_from = nullptr;
        if (!set_side(PyTuple_GET_ITEM(pair, 0), true, &copy.to, &copy.bytes, &dtype_to)) return nullptr;
        if (!set_side(PyTuple_GET_ITEM(pair, 1), false, &copy.from, &read, &dtype_from)) return nullptr;
        if (read != copy.bytes || dtype_to != dtype_from) return nullptr;
    }
    without_gil([&] {
        core::copy_batch(batch, on);
        batch.clear();
    });
    Py_RETURN_NONE;
}

PyObject* fast_to_device(PyObject*, const Arguments& arguments) {
    PyObject* stream;
    if (arguments.count != 1 || !take_stream(arguments, &stream) || plain_array(arguments[0]) == nullptr)
        return nullptr;
    const auto source = py::reinterpret_borrow<py::array>(arguments[0]);
    const core::StreamPtr on = plain_stream(stream, current_device());
    if (!on) return nullptr;
    DeviceArray made = new_array(on, shape_of(source), parse_dtype(source.dtype()));
    upload(made, source, on);
    return object_of(std::move(made));
}

}  // namespace

void bind_fast_copies(py::module_& m, Classes& classes) {
    FastMethod<fast_copy_from>::put_before(classes.array, "copy_from");
    FastMethod<fast_copy_to>::put_before(classes.array, "copy_to");
    FastMethod<fast_to_host>::put_before(classes.array, "to_host");
    FastMethod<fast_to_device>::put_before(m, "to_device");
    FastMethod<fast_copy_batch>::put_before(m, "copy_batch");
}

}  // namespace cuscope::bindings
