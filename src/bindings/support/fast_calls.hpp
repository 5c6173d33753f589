// Calls without pybind11's dispatch, which takes longer than the runtime calls that programs make hundreds of
// thousands of times a second. A fast function only takes simple arguments (exact types, positional). It
// leaves everything else, wrong arguments included, to pybind11's method of the same name, so that no check
// and no message exists twice.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

// The arguments of a call, as Python's vectorcall passes them.
struct Arguments {
    PyObject* const* values;  // the positional ones, and those with a keyword behind them
    Py_ssize_t count;         // of the positional ones
    PyObject* keywords;       // a tuple of names; null if there are none

    PyObject* operator[](Py_ssize_t i) const { return values[i]; }
    Py_ssize_t named() const { return keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords); }
    // Are there this many, all of them positional?
    bool are(Py_ssize_t wanted) const { return count == wanted && named() == 0; }
};

// `self` is null for a function of a module. Returns null without an exception to leave the call to
// pybind11's method.
using FastFunction = PyObject* (*)(PyObject* self, const Arguments& arguments);

// Sets *stream to the value of the keyword `stream`, or to null if it was left out. False: there are other
// keywords.
inline bool take_stream(const Arguments& arguments, PyObject** stream) {
    *stream = nullptr;
    if (arguments.named() == 0) return true;
    if (arguments.named() > 1 ||
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(arguments.keywords, 0), "stream") != 0)
        return false;
    *stream = arguments[arguments.count];
    return true;
}

template <std::size_t most>
bool are_there(const std::array<PyObject*, most>& values, std::size_t required) {
    for (std::size_t i = 0; i < required; ++i) {
        if (values[i] == nullptr) return false;
    }
    return true;
}

// Sets values[i] to the argument for the parameter names[i], or to null if it was left out. The first
// `positional` may come without a name, the first `required` are never left out. False: the call is wrong.
template <std::size_t most>
bool bind_arguments(ParameterNames<most>& parameters, std::size_t positional, std::size_t required,
                    const Arguments& arguments, std::array<PyObject*, most>* values) {
    const auto without_name = static_cast<std::size_t>(arguments.count);
    if (without_name > positional) return false;
    for (std::size_t i = 0; i < most; ++i) (*values)[i] = i < without_name ? arguments.values[i] : nullptr;
    const Py_ssize_t named = arguments.named();
    if (named == 0) return are_there(*values, required);
    const ParameterNames<most>& names = parameters.made();
    for (Py_ssize_t i = 0; i < named; ++i) {
        PyObject* const name = PyTuple_GET_ITEM(arguments.keywords, i);
        // Names in a program are interned, so they mostly are the same object.
        std::size_t at = 0;
        while (at < most && names[at] != name) ++at;
        for (std::size_t other = 0; at == most && other < most; ++other) {
            if (PyUnicode_Compare(names[other], name) == 0) at = other;
        }
        if (at == most || (*values)[at] != nullptr) return false;
        (*values)[at] = arguments[arguments.count + i];
    }
    return are_there(*values, required);
}

// The Python type for the C++ type T; set when the module is created.
template <class T>
inline PyTypeObject* type_of = nullptr;
template <class T>
void remember_type(py::handle type) {
    type_of<T> = reinterpret_cast<PyTypeObject*>(type.ptr());
}

// The C++ object in a Python object of exactly this type; else null. Null, too, if __init__ never ran.
template <class T>
T* exactly(PyObject* object) {
    if (Py_TYPE(object) != type_of<T>) return nullptr;
    auto* const instance = reinterpret_cast<py::detail::instance*>(object);
    void* const value = instance->simple_layout ? instance->simple_value_holder[0]
                                                : instance->nonsimple.values_and_holders[0];
    return static_cast<T*>(value);
}

// For the argument `stream`: the current stream of the device if it was not passed. Null if it is not an open
// stream.
inline core::StreamPtr plain_stream(PyObject* stream, const core::DevicePtr& device) {
    if (stream == nullptr || stream == Py_None) return core::current_stream(device);
    const auto* const object = exactly<StreamObject>(stream);
    return object == nullptr ? nullptr : object->stream.get();
}

// Calls `function` and translates C++ exceptions to Python's, as pybind11 does.
template <class Function>
PyObject* translated(Function&& function) {
    try {
        return function();
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (...) {
        py::detail::try_translate_exceptions();
    }
    return nullptr;
}

// Calls pybind11's function, with self before the arguments if it is a method.
inline PyObject* call_slowly(PyObject* slow, PyObject* self, const Arguments& arguments) {
    const auto count = static_cast<std::size_t>(arguments.count);
    if (self == nullptr) return PyObject_Vectorcall(slow, arguments.values, count, arguments.keywords);
    const std::size_t all = count + static_cast<std::size_t>(arguments.named());
    std::array<PyObject*, 16> few;
    std::vector<PyObject*> many;
    PyObject** stack = few.data();
    if (all + 1 > few.size()) {
        many.resize(all + 1);
        stack = many.data();
    }
    stack[0] = self;
    std::copy_n(arguments.values, all, stack + 1);
    return PyObject_Vectorcall(slow, stack, count + 1, arguments.keywords);
}

// pybind11's methods that fast functions have replaced. These references keep them alive, since no type or
// module has them as attributes any more.
inline std::vector<PyObject*> slow_functions;

// Replaces a method or a property's getter of a type, or a function of a module, by one that tries a fast
// function first.
template <FastFunction fast>
class FastMethod {
  public:
    static void put_before(py::handle type, const char* name) {
        define(type.attr(name), name);
        type.attr(name) = method_of(type);
    }
    static void put_before(const py::module_& module, const char* name) {
        define(module.attr(name), name);
        const py::object module_name = module.attr("__name__");
        module.attr(name) =
            py::reinterpret_steal<py::object>(PyCFunction_NewEx(&definition, nullptr, module_name.ptr()));
    }
    static void put_before_getter(py::handle type, const char* name) {
        const py::object property = type.attr(name);
        define(property.attr("fget"), name);
        type.attr(name) = py::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))(
            method_of(type), property.attr("fset"), py::none(), property.attr("__doc__"));
    }

  private:
    static void define(const py::object& replaced, const char* name) {
        slow = py::object(replaced).release().ptr();
        slow_functions.push_back(slow);
        static const std::string doc = py::str(replaced.attr("__doc__"));
        definition = {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                      METH_FASTCALL | METH_KEYWORDS, doc.c_str()};
    }
    static py::object method_of(py::handle type) {
        auto* const raw = reinterpret_cast<PyTypeObject*>(type.ptr());
        return py::reinterpret_steal<py::object>(PyDescr_NewMethod(raw, &definition));
    }
    static PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* keywords) {
        const Arguments arguments{values, count, keywords};
        PyObject* const result = translated([&] { return fast(self, arguments); });
        if (result != nullptr || PyErr_Occurred() != nullptr) return result;
        return call_slowly(slow, self, arguments);
    }

    static inline PyObject* slow = nullptr;
    static inline PyMethodDef definition{};
};

}  // namespace cuscope::bindings
