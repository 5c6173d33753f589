// Calls without pybind11's dispatch, which takes longer than the runtime calls that programs make hundreds of
// thousands of times a second. A fast function only takes simple arguments (exact types, positional). It
// leaves everything else, wrong arguments included, to pybind11's method of the same name, so that no check
// and no message exists twice.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

// Returns null without an exception to leave the call to pybind11's method.
using FastFunction = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count);
// The same with the keyword `stream`, which is null if it was not passed.
using FastStreamFunction = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                                         PyObject* stream);

// The same for a function or a method with several keywords: the values of the arguments are behind the
// positional ones.
struct Keywords {
    PyObject* names;  // a tuple; null if there are none
};
using FastKeywordFunction = PyObject* (*)(PyObject* const* arguments, Py_ssize_t count, Keywords keywords);
using FastKeywordMethod = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                                        Keywords keywords);

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
                    PyObject* const* arguments, Py_ssize_t count, Keywords keywords,
                    std::array<PyObject*, most>* values) {
    const auto without_name = static_cast<std::size_t>(count);
    if (without_name > positional) return false;
    for (std::size_t i = 0; i < most; ++i) (*values)[i] = i < without_name ? arguments[i] : nullptr;
    const Py_ssize_t named = keywords.names == nullptr ? 0 : PyTuple_GET_SIZE(keywords.names);
    if (named == 0) return are_there(*values, required);
    const ParameterNames<most>& names = parameters.made();
    for (Py_ssize_t i = 0; i < named; ++i) {
        PyObject* const name = PyTuple_GET_ITEM(keywords.names, i);
        // Names in a program are interned, so they mostly are the same object.
        std::size_t at = 0;
        while (at < most && names[at] != name) ++at;
        for (std::size_t other = 0; at == most && other < most; ++other) {
            if (PyUnicode_Compare(names[other], name) == 0) at = other;
        }
        if (at == most || (*values)[at] != nullptr) return false;
        (*values)[at] = arguments[count + i];
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

// Calls the method `slow` with self before the arguments.
inline PyObject* call_slowly(PyObject* slow, PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                             PyObject* keywords) {
    const Py_ssize_t all = count + (keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords));
    std::array<PyObject*, 16> few;
    std::vector<PyObject*> many;
    PyObject** stack = few.data();
    if (static_cast<std::size_t>(all) + 1 > few.size()) {
        many.resize(static_cast<std::size_t>(all) + 1);
        stack = many.data();
    }
    stack[0] = self;
    for (Py_ssize_t i = 0; i < all; ++i) stack[i + 1] = arguments[i];
    return PyObject_Vectorcall(slow, stack, static_cast<std::size_t>(count) + 1, keywords);
}

// Returns null without an exception if the arguments are not for this function.
template <auto fast>
PyObject* call_fast(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
    if constexpr (std::is_same_v<decltype(fast), FastStreamFunction>) {
        PyObject* stream = nullptr;
        if (keywords != nullptr) {
            if (PyTuple_GET_SIZE(keywords) != 1) return nullptr;
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "stream") != 0)
                return nullptr;
            stream = arguments[count];
        }
        return translated([&] { return fast(self, arguments, count, stream); });
    } else if constexpr (std::is_same_v<decltype(fast), FastKeywordFunction>) {
        return translated([&] { return fast(arguments, count, {keywords}); });
    } else if constexpr (std::is_same_v<decltype(fast), FastKeywordMethod>) {
        return translated([&] { return fast(self, arguments, count, {keywords}); });
    } else {
        if (keywords != nullptr) return nullptr;
        return translated([&] { return fast(self, arguments, count); });
    }
}

// pybind11's methods that fast functions have replaced. These references keep them alive, since no type or
// module has them as attributes any more.
inline std::vector<PyObject*> slow_functions;

// Replaces a method or a property's getter of a type, or a function of a module, by one that tries a fast
// function first.
template <auto fast>
class FastMethod {
  public:
    static void put_before(py::handle type, const char* name) {
        define(type, name, call);
        auto* const raw = reinterpret_cast<PyTypeObject*>(type.ptr());
        type.attr(name) = py::reinterpret_steal<py::object>(PyDescr_NewMethod(raw, &definition));
    }
    static void put_before(const py::module_& module, const char* name) {
        define(module, name, call_function);
        const py::object module_name = module.attr("__name__");
        module.attr(name) =
            py::reinterpret_steal<py::object>(PyCFunction_NewEx(&definition, nullptr, module_name.ptr()));
    }
    static void put_before_getter(py::handle type, const char* name) {
        const py::object property = type.attr(name);
        define(property, "fget", call_getter);
        definition.ml_name = name;
        const py::object getter =
            py::reinterpret_steal<py::object>(PyCFunction_NewEx(&definition, nullptr, nullptr));
        type.attr(name) = py::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))(
            getter, property.attr("fset"), py::none(), property.attr("__doc__"));
    }

  private:
    using Call = PyObject*(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

    static void define(py::handle scope, const char* name, Call* function) {
        slow = py::object(scope.attr(name)).release().ptr();
        slow_functions.push_back(slow);
        static const std::string doc = py::str(scope.attr(name).attr("__doc__"));
        definition = {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
                      METH_FASTCALL | METH_KEYWORDS, doc.c_str()};
    }
    static PyObject* call(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
        PyObject* const result = call_fast<fast>(self, arguments, count, keywords);
        if (result != nullptr || PyErr_Occurred() != nullptr) return result;
        return call_slowly(slow, self, arguments, count, keywords);
    }
    static PyObject* call_function(PyObject*, PyObject* const* arguments, Py_ssize_t count,
                                   PyObject* keywords) {
        PyObject* const result = call_fast<fast>(nullptr, arguments, count, keywords);
        if (result != nullptr || PyErr_Occurred() != nullptr) return result;
        return PyObject_Vectorcall(slow, arguments, static_cast<std::size_t>(count), keywords);
    }
    static PyObject* call_getter(PyObject*, PyObject* const* arguments, Py_ssize_t count,
                                 PyObject* keywords) {
        if (count == 1) {
            PyObject* const result = call_fast<fast>(arguments[0], nullptr, 0, keywords);
            if (result != nullptr || PyErr_Occurred() != nullptr) return result;
        }
        return PyObject_Vectorcall(slow, arguments, static_cast<std::size_t>(count), keywords);
    }

    static inline PyObject* slow = nullptr;
    static inline PyMethodDef definition{};
};

}  // namespace cuscope::bindings
