// What `Type.__new__(Type)` would give holds nothing, and pybind11 runs methods on it all the same: it is
// refused. Calling the type goes by its slot, which stays pybind11's.
#include "bindings/objects.hpp"

namespace cuscope::bindings {

void refuse_uninitialised_objects(const py::module_& m) {
    const py::type ours = py::type::of(py::type::of<StreamObject>());
    for (const auto& [name, value] : m.attr("__dict__").cast<py::dict>()) {
        if (!py::type::of(value).is(ours)) continue;
        auto* const raw = reinterpret_cast<PyTypeObject*>(value.ptr());
        const py::cpp_function make(
            [raw](const py::type& type, const py::args&, const py::kwargs&) {
                if (type.ptr() == reinterpret_cast<PyObject*>(raw)) {
                    const std::string called = py::type(type).attr("__name__").cast<std::string>();
                    throw core::WrongKind(called +
                                          ".__new__() alone gives an object that holds nothing: help(" +
                                          called + ") says how one is made");
                }
                const py::tuple nothing;
                return py::reinterpret_steal<py::object>(
                    raw->tp_new(reinterpret_cast<PyTypeObject*>(type.ptr()), nothing.ptr(), nullptr));
            },
            py::name("__new__"));
        const py::object method = py::reinterpret_steal<py::object>(PyStaticMethod_New(make.ptr()));
        // Not as an attribute: that would take the slot as well.
        if (PyDict_SetItemString(raw->tp_dict, "__new__", method.ptr()) != 0) throw py::error_already_set();
        PyType_Modified(raw);
    }
}

}  // namespace cuscope::bindings
