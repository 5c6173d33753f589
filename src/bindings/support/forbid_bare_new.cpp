// Refuses objects without a C++ value. If __init__ never ran, pybind11 would still run methods on the object,
// over uninitialised memory. There are two ways to such an object, and both end in a TypeError here.
#include "bindings/support/objects.hpp"

namespace cuscope::bindings {
namespace {

newfunc make_instance = nullptr;  // pybind11's function, which all types inherit from one base

PyObject* make_own(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
    return make_instance(type, arguments, keywords);
}

// pybind11 calls this only when a method is called on an object without a value.
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
        // The first way is `Type.__new__(Type)`, which finds the __new__ of the base class. CPython refuses
        // that if the type's tp_new differs from the base's. So each type gets one that only forwards.
        if (raw->tp_new != make_own) make_instance = raw->tp_new;
        raw->tp_new = make_own;
        PyType_Modified(raw);
        // The second way is a method call in the __init__ of a subclass before it calls ours.
        py::detail::get_type_info(raw)->operator_new = refuse_to_allocate;
    }
}

}  // namespace cuscope::bindings
