// Copies between NumPy arrays and device arrays without pybind11's dispatch, for the simple case:
// C-contiguous arrays of equal shape and dtype.
#include "bindings/arrays/host_arrays.hpp"
#include "bindings/support/fast_calls.hpp"
#include "bindings/support/objects.hpp"

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

PyObject* fast_copy_from(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* stream) {
    const auto* const array = exactly<DeviceArray>(self);
    if (array == nullptr || count != 1) return nullptr;
    const auto* const source = plain_array(arguments[0]);
    if (source == nullptr || array->read_only || !match(*array, *source)) return nullptr;
    const core::StreamPtr on = plain_stream(stream, array->device);
    if (!on) return nullptr;
    upload(*array, py::reinterpret_borrow<py::array>(arguments[0]), on);
    Py_RETURN_NONE;
}

PyObject* fast_copy_to(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* stream) {
    const auto* const array = exactly<DeviceArray>(self);
    if (array == nullptr || count != 1) return nullptr;
    const auto* const destination = plain_array(arguments[0]);
    if (destination == nullptr || !match(*array, *destination)) return nullptr;
    if ((destination->flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_) == 0) return nullptr;
    const core::StreamPtr on = plain_stream(stream, array->device);
    if (!on) return nullptr;
    auto host = py::reinterpret_borrow<py::array>(arguments[0]);
    download(*array, host, on);
    Py_RETURN_NONE;
}

PyObject* fast_to_host(PyObject* self, PyObject* const*, Py_ssize_t count, PyObject* stream) {
    const auto* const array = exactly<DeviceArray>(self);
    if (array == nullptr || count != 0 || !array->memory.get()) return nullptr;
    const core::StreamPtr on = plain_stream(stream, array->device);
    if (!on || on->capturing()) return nullptr;
    HostArray result(array->dtype, array->shape);
    download(*array, result.array, on);
    without_gil([&] {
        on->synchronize();
        result.touching.reset();
    });
    return result.array.release().ptr();
}

PyObject* fast_to_device(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* stream) {
    if (count != 1 || plain_array(arguments[0]) == nullptr) return nullptr;
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
}

}  // namespace cuscope::bindings
