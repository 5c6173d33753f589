// An object whose __init__ never ran holds nothing, and pybind11 would run methods on it all the same, over
// memory that it never filled. Two ways lead to such an object, and both end in a TypeError here.
#include "bindings/support/objects.hpp"

namespace cuscope::bindings {
namespace {

newfunc make_instance = nullptr;  // pybind11's, which all types have from one base

PyObject* make_own(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
    return make_instance(type, arguments, keywords);
}

// pybind11 asks for memory here when a method meets an object without a value, and here alone.
void* refuse_to_allocate(std::size_t) { refuse_uninitialised(); }

}  // namespace

std::vector<py::type> own_types(const py::module_& m) {
    const py::type ours = py::type::of(py::type::of<StreamObject>());
    std::vector<py::type> types;
    const auto collect = [&](const auto& self, const py::object& names) -> void {
        for (const auto& [name, value] : py::dict(names)) {
            if (!py::type::of(value).is(ours)) continue;
            types.push_back(py::reinterpret_borrow<py::type>(value));
            self(self, value.attr("__dict__"));
        }
    };
    collect(collect, m.attr("__dict__"));
    return types;
}

void refuse_uninitialised_objects(const py::module_& m) {
    for (const py::type& type : own_types(m)) {
        auto* const raw = reinterpret_cast<PyTypeObject*>(type.ptr());
        // What `Type.__new__(Type)` would give: CPython refuses to make an object by another function than
        // its type's own, so each type gets one of its own.
        if (raw->tp_new != make_own) make_instance = raw->tp_new;
        raw->tp_new = make_own;
        PyType_Modified(raw);
        // What the __init__ of a subclass has in hand before it calls ours.
        py::detail::get_type_info(raw)->operator_new = refuse_to_allocate;
    }
}

}  // namespace cuscope::bindings
