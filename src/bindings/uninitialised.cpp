// What `Type.__new__(Type)` would give holds nothing, and pybind11 runs methods on it all the same. CPython
// refuses to make an object by another function than its type's own, so each type gets one of its own.
#include "bindings/objects.hpp"

namespace cuscope::bindings {
namespace {

newfunc make_instance = nullptr;  // pybind11's, which all types have from one base

PyObject* make_own(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
    return make_instance(type, arguments, keywords);
}

}  // namespace

void refuse_uninitialised_objects(const py::module_& m) {
    const py::type ours = py::type::of(py::type::of<StreamObject>());
    for (const auto& [name, value] : m.attr("__dict__").cast<py::dict>()) {
        if (!py::type::of(value).is(ours)) continue;
        auto* const raw = reinterpret_cast<PyTypeObject*>(value.ptr());
        if (raw->tp_new != make_own) make_instance = raw->tp_new;
        raw->tp_new = make_own;
        PyType_Modified(raw);
    }
}

}  // namespace cuscope::bindings
