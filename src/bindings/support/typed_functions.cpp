#include "bindings/support/typed_functions.hpp"

#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cuscope::bindings {
namespace {

// All objects of one function share its definition, also the objects that `stream.query` makes at each
// access. Never destroyed: other threads may still ask at the end of the process.
auto& texts = *new std::unordered_map<const PyMethodDef*, FunctionText>;

template <class Function>
PyObject* returned(Function&& function) {
    try {
        return function().release().ptr();
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return nullptr;
}

const PyMethodDef* definition_of(PyObject* object) {
    return PyCFunction_Check(object) ? reinterpret_cast<PyCFunctionObject*>(object)->m_ml
                                     : reinterpret_cast<PyMethodDescrObject*>(object)->d_method;
}

// Is it a method that is bound to its object? Methods of pybind11 are bound by types.MethodType instead.
bool is_bound(PyObject* object) {
    return PyCFunction_Check(object) && texts.at(definition_of(object)).descriptor;
}

py::object signature_of(PyObject* object) {
    const FunctionText& text = texts.at(definition_of(object));
    const bool with_self = text.method && !is_bound(object);
    return py::module_::import("cuscope._signatures").attr("signature")(text.signature, with_self);
}

PyObject* get_signature(PyObject* self, void*) {
    return returned([&] { return signature_of(self); });
}

PyObject* get_annotations(PyObject* self, void*) {
    return returned([&] {
        const py::object module = py::module_::import("cuscope._signatures");
        return py::object(module.attr("annotations_of")(signature_of(self)));
    });
}

PyObject* get_globals(PyObject*, void*) {
    return returned(
        [] { return py::object(py::module_::import("cuscope._signatures").attr("names_of_types")()); });
}

PyObject* get_qualified_name(PyObject* self, void*) {
    return returned([&] { return py::str(texts.at(definition_of(self)).qualified_name); });
}

// A derived type does not inherit this attribute.
PyObject* get_doc(PyObject* self, void*) {
    const char* const doc = definition_of(self)->ml_doc;
    return returned([&]() -> py::object {
        return doc == nullptr || *doc == '\0' ? py::none() : py::object(py::str(doc));
    });
}

// pickle finds a function by its module and this name. A bound method is pickled with its object, as usual.
PyObject* reduce(PyObject* self, PyObject*) {
    if (is_bound(self)) {
        return returned([&] {
            const py::object getattr = py::module_::import("builtins").attr("getattr");
            return py::make_tuple(getattr, py::make_tuple(py::handle(PyCFunction_GET_SELF(self)),
                                                          definition_of(self)->ml_name));
        });
    }
    return get_qualified_name(self, nullptr);
}

std::array attributes{
    PyGetSetDef{"__signature__", get_signature, nullptr, nullptr, nullptr},
    PyGetSetDef{"__annotations__", get_annotations, nullptr, nullptr, nullptr},
    PyGetSetDef{"__globals__", get_globals, nullptr, nullptr, nullptr},
    PyGetSetDef{"__doc__", get_doc, nullptr, nullptr, nullptr},
    PyGetSetDef{"__qualname__", get_qualified_name, nullptr, nullptr, nullptr},
    PyGetSetDef{},
};

std::array methods{
    PyMethodDef{"__reduce__", reduce, METH_NOARGS, nullptr},
    PyMethodDef{},
};

PyTypeObject blank_type() {
    PyTypeObject type{};
    Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
    return type;
}

PyTypeObject function_type = blank_type();
PyTypeObject method_type = blank_type();

// CPython may keep the memory of a function for the next one, and expects its own type there.
void release_function(PyObject* self) {
    Py_SET_TYPE(self, &PyCFunction_Type);
    PyCFunction_Type.tp_dealloc(self);
}

PyObject* bind_method(PyObject* self, PyObject* object, PyObject* type) {
    PyObject* const bound = PyMethodDescr_Type.tp_descr_get(self, object, type);
    if (bound != nullptr && Py_IS_TYPE(bound, &PyCFunction_Type)) Py_SET_TYPE(bound, &function_type);
    return bound;
}

// An attribute of a class: the signature of the class, but not of its objects, which may be callable as well.
struct ConstructorSignature {
    PyObject_HEAD PyObject* constructor;
    PyObject* init;  // the attribute __init__ of the class
};

PyTypeObject constructor_type = blank_type();

PyObject* get_constructor_signature(PyObject* self, PyObject* object, PyObject* type) {
    const auto* const shown = reinterpret_cast<ConstructorSignature*>(self);
    if (object == nullptr || object == Py_None) {
        // A class that is derived from this one may have an __init__ of its own.
        PyObject* const init =
            _PyType_Lookup(reinterpret_cast<PyTypeObject*>(type), py::str("__init__").ptr());
        if (init == shown->init) {
            return returned([&] {
                const FunctionText& text = texts.at(definition_of(shown->constructor));
                return py::object(
                    py::module_::import("cuscope._signatures").attr("signature")(text.signature, false));
            });
        }
    }
    PyErr_SetString(PyExc_AttributeError, "__signature__");
    return nullptr;
}

void ready(PyTypeObject& type) {
    if (PyType_Ready(&type) != 0) throw py::error_already_set();
}

}  // namespace

void prepare_typed_functions() {
    for (auto [type, base, name] : {std::tuple{&function_type, &PyCFunction_Type, "cuscope.function"},
                                    std::tuple{&method_type, &PyMethodDescr_Type, "cuscope.method"}}) {
        type->tp_base = base;
        type->tp_name = name;
        type->tp_getset = attributes.data();
        type->tp_flags = Py_TPFLAGS_DEFAULT;
    }
    function_type.tp_methods = methods.data();
    function_type.tp_dealloc = release_function;
    method_type.tp_descr_get = bind_method;
    method_type.tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
    ready(function_type);
    ready(method_type);
    constructor_type.tp_name = "cuscope.constructor_signature";
    constructor_type.tp_basicsize = sizeof(ConstructorSignature);
    constructor_type.tp_flags = Py_TPFLAGS_DEFAULT;
    constructor_type.tp_descr_get = get_constructor_signature;
    ready(constructor_type);
}

void add_types(PyCFunctionObject* function, FunctionText text) {
    texts[function->m_ml] = std::move(text);
    Py_SET_TYPE(reinterpret_cast<PyObject*>(function), &function_type);
}

void add_types(PyMethodDescrObject* method, FunctionText text) {
    text.descriptor = true;
    texts[method->d_method] = std::move(text);
    Py_SET_TYPE(reinterpret_cast<PyObject*>(method), &method_type);
}

void show_constructor(const py::type& type, PyCFunctionObject* constructor) {
    auto* const shown = PyObject_New(ConstructorSignature, &constructor_type);
    if (shown == nullptr) throw py::error_already_set();
    // A bound class lives as long as the process, and so do these references.
    shown->constructor =
        py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(constructor)).release().ptr();
    shown->init = py::object(type.attr("__dict__")["__init__"]).release().ptr();
    type.attr("__signature__") = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(shown));
}

}  // namespace cuscope::bindings
