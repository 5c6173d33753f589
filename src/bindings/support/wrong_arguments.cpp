// The message for arguments of wrong types. It replaces pybind11's own message, which shows the names of
// private types and the values in full.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/support/fast_calls.hpp"
#include "bindings/support/objects.hpp"
#include "bindings/support/signatures.hpp"

namespace cuscope::bindings {
namespace {

using Dispatcher = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);
Dispatcher dispatch = nullptr;  // pybind11's function, which all bound functions share
// The names of properties by the `self` of their setters, because pybind11 gives setters no names.
std::unordered_map<const PyObject*, std::string> setters;

constexpr std::string_view mark = "(): incompatible ";

std::string short_name(const char* type) {
    const std::string_view name = type;
    return std::string(name.substr(name.rfind('.') + 1));
}

// The signatures that pybind11's message lists, without the types of results.
std::vector<std::string> listed(std::string_view message) {
    std::vector<std::string> signatures;
    for (std::size_t at = 0; at < message.size();) {
        const std::size_t end = std::min(message.find('\n', at), message.size());
        std::string_view line = message.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("Invoked with")) break;
        const std::size_t begin = line.find('(');
        if (!line.starts_with("    ") || begin == std::string_view::npos) continue;
        std::string signature = readable_signature(std::string(line.substr(begin)));
        if (const auto result = signature.rfind(") -> "); result != std::string::npos)
            signature.resize(result + 1);
        signatures.push_back(std::move(signature));
    }
    return signatures;
}

std::string joined(const std::vector<std::string>& signatures, const std::string& name) {
    std::string text;
    for (const std::string& signature : signatures) text += (text.empty() ? "" : ", or ") + name + signature;
    return text;
}

std::string given(PyObject* const* arguments, std::size_t first, std::size_t count, PyObject* names) {
    std::string text;
    for (std::size_t i = first; i < count; ++i) text += (i == first ? "" : ", ") + kind_of(arguments[i]);
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < named; ++i) {
        text += (text.empty() ? "" : ", ") + py::str(PyTuple_GET_ITEM(names, i)).cast<std::string>() + "=" +
                kind_of(arguments[count + static_cast<std::size_t>(i)]);
    }
    return "(" + text + ")";
}

bool is_instance_of(PyObject* value, std::string_view type) {
    for (PyTypeObject* each = Py_TYPE(value); each != nullptr; each = each->tp_base) {
        if (short_name(each->tp_name) == type) return true;
    }
    return false;
}

// Can `value` be an argument of this one type, such as "str"? True if the name of the type does not tell.
bool may_be(PyObject* value, std::string_view type) {
    if (type == "None") return value == Py_None;
    if (type == "str") return PyUnicode_Check(value) != 0;
    if (type == "bool")
        return PyBool_Check(value) != 0 || short_name(Py_TYPE(value)->tp_name).starts_with("bool");
    if (type == "int") return PyIndex_Check(value) != 0;
    if (type == "float") return PyNumber_Check(value) != 0 && PyComplex_Check(value) == 0;
    const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const bool plain = std::all_of(type.begin(), type.end(),
                                   [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
    const py::object module = py::module_::import("cuscope._core");
    const std::string name(type);
    if (!plain || type.empty() || !upper(type.front()) || !py::hasattr(module, name.c_str())) return true;
    return is_instance_of(value, type);
}

bool fits(PyObject* value, std::string_view types) {
    if (types.empty()) return true;
    for (std::size_t at = 0; at <= types.size();) {
        const std::size_t end = std::min(types.find(" | ", at), types.size());
        if (may_be(value, types.substr(at, end - at))) return true;
        at = end + 3;
    }
    return false;
}

std::string wrong_type(const SignatureParameter& parameter, PyObject* value) {
    return fits(value, parameter.type)
               ? ""
               : "'" + parameter.name + "' takes " + parameter.type + ", not " + kind_of(value);
}

// Why a call is wrong. The text is empty if the signature does not tell.
struct Reason {
    std::string text;
    bool with_given = true;  // the message lists the arguments of the call, too
};

// Which argument is wrong, for a function with one signature.
Reason reason(const std::vector<SignatureParameter>& parameters, PyObject* const* arguments,
              std::size_t count, PyObject* names) {
    std::size_t position = 0;
    bool by_name_only = false, all_positions = false, all_names = false;
    std::string missing, twice;  // names of arguments
    std::vector<std::pair<const SignatureParameter*, PyObject*>> passed;
    const auto named = static_cast<std::size_t>(names == nullptr ? 0 : PyTuple_GET_SIZE(names));
    const auto name_at = [&](std::size_t i) {
        return py::str(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i))).cast<std::string>();
    };
    const auto value_of = [&](const std::string& name) -> PyObject* {
        for (std::size_t i = 0; i < named; ++i) {
            if (name_at(i) == name) return arguments[count + i];
        }
        return nullptr;
    };
    for (const SignatureParameter& one : parameters) {
        if (one.name == "/") continue;
        if (one.name.starts_with("**")) {
            all_names = true;
        } else if (one.name.starts_with('*')) {
            by_name_only = true;
            all_positions = one.name.size() > 1;
        } else if (!by_name_only && position < count) {
            passed.emplace_back(&one, arguments[position++]);
            if (twice.empty() && value_of(one.name) != nullptr) twice = one.name;
        } else if (PyObject* const value = value_of(one.name)) {
            passed.emplace_back(&one, value);
        } else if (one.default_value.empty() && missing.empty()) {
            missing = one.name;
        }
    }
    for (std::size_t i = 0; i < named && !all_names; ++i) {
        const std::string name = name_at(i);
        if (std::none_of(parameters.begin(), parameters.end(),
                         [&](const auto& one) { return one.name == name; }))
            return {"there is no argument '" + name + "'"};
    }
    if (!twice.empty()) return {"'" + twice + "' is given twice"};
    if (position < count && !all_positions) {
        return {position == 0 ? "takes no arguments without a name"
                              : "takes at most " + std::to_string(position) + " without a name, not " +
                                    std::to_string(count)};
    }
    if (!missing.empty()) return {"'" + missing + "' is missing", count + named > 0};
    for (const auto& [parameter, value] : passed) {
        if (std::string text = wrong_type(*parameter, value); !text.empty()) return {text, false};
    }
    return {};
}

// Replaces the error that is set if it is pybind11's.
void explain(const PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* names) {
    py::error_already_set error;
    const auto message = py::str(error.value()).cast<std::string>();
    const std::size_t end = message.find(mark);
    if (end == std::string::npos || message.find("argument types are supported") == std::string::npos) {
        error.restore();
        return;
    }
    const auto setter = setters.find(self);
    if (setter != setters.end() && count == 2) {
        const auto parameters = parameters_of(listed(message).front());
        const std::string text =
            setter->second + ": takes " + parameters.back().type + ", not " + kind_of(arguments[1]);
        PyErr_SetString(PyExc_TypeError, text.c_str());
        return;
    }
    std::string name = message.substr(0, end);
    const bool constructor = name == "__init__";
    const bool method = constructor || message.find("1. (self: ") != std::string::npos;
    if (method && count > 0) {
        const std::string type = short_name(Py_TYPE(arguments[0])->tp_name);
        name = constructor ? type : type + "." + name;
    }
    const std::size_t first = method && count > 0 ? 1 : 0;
    const std::vector<std::string> signatures = listed(message);
    Reason why;
    if (signatures.size() == 1)
        why = reason(parameters_of(signatures.front()), arguments + first, count - first, names);
    std::string text = name + "(): " + (why.text.empty() ? "takes other arguments" : why.text);
    if (why.with_given) text += "; given is " + given(arguments, first, count, names);
    text += "; allowed is " + joined(signatures, name);
    PyErr_SetString(PyExc_TypeError, text.c_str());
}

PyObject* dispatch_and_explain(PyObject* self, PyObject* const* arguments, std::size_t count,
                               PyObject* names) {
    PyObject* const result = dispatch(self, arguments, count, names);
    if (result == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
        try {
            explain(self, arguments, static_cast<std::size_t>(PyVectorcall_NARGS(count)), names);
        } catch (py::error_already_set& error) {
            error.restore();
        }
    }
    return result;
}

void adopt_function(py::handle value, const std::string& name) {
    PyObject* raw = value.ptr();
    if (PyInstanceMethod_Check(raw)) raw = PyInstanceMethod_GET_FUNCTION(raw);
    py::object held;
    if (Py_IS_TYPE(raw, &PyStaticMethod_Type)) {
        held = py::handle(raw).attr("__func__");
        raw = held.ptr();
    } else if (PyObject_TypeCheck(raw, &PyProperty_Type) != 0) {
        held = py::handle(raw).attr("fset");
        raw = held.ptr();
    }
    if (PyInstanceMethod_Check(raw)) raw = PyInstanceMethod_GET_FUNCTION(raw);
    if (PyCFunction_Check(raw) == 0) return;
    if (PyObject_TypeCheck(value.ptr(), &PyProperty_Type) != 0) setters[PyCFunction_GET_SELF(raw)] = name;
    PyMethodDef* const definition = reinterpret_cast<PyCFunctionObject*>(raw)->m_ml;
    if (definition->ml_flags != (METH_FASTCALL | METH_KEYWORDS)) return;
    const auto method = reinterpret_cast<Dispatcher>(reinterpret_cast<void*>(definition->ml_meth));
    if (method != dispatch) return;
    definition->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(dispatch_and_explain));
}

}  // namespace

void explain_wrong_arguments(const py::module_& m) {
    const py::cpp_function any([] {});
    dispatch = reinterpret_cast<Dispatcher>(
        reinterpret_cast<void*>(reinterpret_cast<PyCFunctionObject*>(any.ptr())->m_ml->ml_meth));
    const auto adopt_all = [](const py::object& names) {
        for (const auto& [name, value] : py::dict(names)) adopt_function(value, name.cast<std::string>());
    };
    adopt_all(m.attr("__dict__"));
    for (PyObject* const function : slow_functions) adopt_function(function, "");
    for (const py::type& type : own_types(m)) adopt_all(type.attr("__dict__"));
}

}  // namespace cuscope::bindings
