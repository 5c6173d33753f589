// Makes the signatures of bound functions readable. pybind11 writes "name(self: T, n: typing.SupportsIndex)"
// as the first line of a docstring. The line is taken out of the docstring and kept, with readable types, for
// inspect.signature, help() and Sphinx: see typed_functions.hpp.
#include "bindings/support/signatures.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "bindings/support/objects.hpp"
#include "bindings/support/typed_functions.hpp"

namespace cuscope::bindings {
namespace {

constexpr std::string_view public_module = "cuscope";

struct Spelling {
    std::string_view from, to;
};
// In this order: a longer spelling comes before its parts.
constexpr std::array spellings{
    Spelling{"typing.SupportsInt | typing.SupportsIndex", "int"},
    Spelling{"typing.SupportsFloat | typing.SupportsIndex", "float"},
    Spelling{"typing.SupportsIndex", "int"},
    Spelling{"cuscope._core.", ""},
    Spelling{"cuscope._profiling.", ""},
    Spelling{"cuscope._protocols.", ""},
    Spelling{"cuscope.", ""},
    Spelling{"collections.abc.", ""},
    Spelling{"numpy.typing.", ""},
    Spelling{"typing.", ""},
    Spelling{"types.", ""},
    Spelling{"os.PathLike", "PathLike"},
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

SignatureParameter parameter(std::string_view text) {
    const std::size_t equals = text.find(" = ");
    const std::string_view declared = text.substr(0, equals);
    const std::size_t colon = declared.find(':');
    return {std::string(trimmed(declared.substr(0, colon))),
            colon == std::string_view::npos ? "" : std::string(trimmed(declared.substr(colon + 1))),
            equals == std::string_view::npos ? "" : std::string(trimmed(text.substr(equals + 3)))};
}

// The part of a docstring from the "(" of its first line to the line's end; empty if pybind11 did not write
// it.
std::string_view signature_in(std::string_view doc) {
    const std::string_view line = doc.substr(0, doc.find('\n'));
    const std::size_t begin = line.find('(');
    return begin == std::string_view::npos || line.find(") -> ") == std::string_view::npos
               ? std::string_view{}
               : line.substr(begin);
}

// pybind11 frees the docstrings of its functions with std::free.
char* allocated(const std::string& text) {
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

// The signature that pybind11 wrote into a docstring, which loses it; empty if it wrote none.
std::string take_signature(PyMethodDef& definition, bool accessor, bool of_pybind) {
    const std::string_view doc = definition.ml_doc == nullptr ? "" : definition.ml_doc;
    const std::string_view found = signature_in(doc);
    if (found.empty()) return {};
    std::string signature = readable_signature(std::string(found));
    if (accessor && signature.starts_with("(arg0: ")) {  // pybind11 does not always name `self` there
        const std::size_t end = std::min(signature.find(", "), signature.find(") -> "));
        signature.erase(1, end - 1 + (signature[end] == ',' ? 2 : 0));
    }
    std::string_view rest = doc.substr(std::min(doc.find('\n'), doc.size()));
    while (rest.starts_with('\n')) rest.remove_prefix(1);
    char* const text = allocated(std::string(rest));
    if (of_pybind) std::free(const_cast<char*>(definition.ml_doc));
    definition.ml_doc = text;
    return signature;
}

PyCFunctionObject* function_in(py::handle value) {
    PyObject* raw = value.ptr();
    if (raw != nullptr && PyInstanceMethod_Check(raw)) raw = PyInstanceMethod_GET_FUNCTION(raw);
    return raw != nullptr && PyCFunction_Check(raw) ? reinterpret_cast<PyCFunctionObject*>(raw) : nullptr;
}

enum class Role { function, method, accessor };

void publish_function(PyCFunctionObject* function, std::string name, Role role, bool of_pybind = true) {
    std::string signature = take_signature(*function->m_ml, role == Role::accessor, of_pybind);
    if (signature.empty()) return;
    add_types(function, {std::move(name), std::move(signature), role != Role::function});
}

// A method or getter of FastMethod.
bool publish_fast(const std::string& name, py::handle value, bool accessor) {
    if (!Py_IS_TYPE(value.ptr(), &PyMethodDescr_Type)) return false;
    auto* const descriptor = reinterpret_cast<PyMethodDescrObject*>(value.ptr());
    std::string signature = take_signature(*descriptor->d_method, accessor, false);
    if (!signature.empty()) add_types(descriptor, {name, std::move(signature), true});
    return true;
}

void publish_member(const std::string& name, py::handle value) {
    if (publish_fast(name, value, false)) return;
    if (PyCFunctionObject* const method = function_in(value)) {
        publish_function(method, name, Role::method);
    } else if (Py_IS_TYPE(value.ptr(), &PyStaticMethod_Type)) {
        const py::object held = value.attr("__func__");
        if (PyCFunctionObject* const function = function_in(held))
            publish_function(function, name, Role::function);
    } else if (PyObject_TypeCheck(value.ptr(), &PyProperty_Type) != 0) {
        for (const char* const part : {"fget", "fset"}) {
            const py::object held = value.attr(part);
            if (publish_fast(name, held, true)) continue;
            if (PyCFunctionObject* const function = function_in(held))
                publish_function(function, name, Role::accessor);
        }
    }
}

}  // namespace

std::string readable_signature(std::string signature) {
    if (signature.starts_with("(self: ")) {
        const std::size_t end = std::min(signature.find(", "), signature.find(") -> "));
        if (end != std::string::npos) signature.erase(1, end - 1 + (signature[end] == ',' ? 2 : 0));
    }
    for (const auto& [from, to] : spellings) replace_all(signature, from, to);
    return signature;
}

std::vector<SignatureParameter> parameters_of(std::string_view signature) {
    std::vector<SignatureParameter> parameters;
    int depth = 0;
    bool quoted = false;
    std::size_t begin = 1;
    for (std::size_t at = 0; at < signature.size(); ++at) {
        const char c = signature[at];
        if (c == '\'') quoted = !quoted;
        if (quoted) continue;
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') --depth;
        if (depth == 0 || (depth == 1 && c == ',')) {
            const std::string_view text = trimmed(signature.substr(begin, at - begin));
            if (!text.empty()) parameters.push_back(parameter(text));
            begin = at + 1;
        }
        if (depth == 0) break;
    }
    return parameters;
}

void publish_types(const py::module_& m) {
    const py::str module_name(public_module.data(), public_module.size());
    for (const py::type& type : own_types(m)) {
        type.attr("__module__") = module_name;
        auto* const raw = reinterpret_cast<PyTypeObject*>(type.ptr());
        // CPython's own messages take the name from here. A type of a module lives as long as the process.
        const std::string name = std::string(public_module) + "." + type.attr("__name__").cast<std::string>();
        raw->tp_name = allocated(name);
        for (const auto& [key, value] : py::dict(type.attr("__dict__"))) {
            if (PyCFunctionObject* const method = function_in(value))
                py::handle(reinterpret_cast<PyObject*>(method)).attr("__module__") = module_name;
        }
    }
}

void publish_signatures(const py::module_& m) {
    prepare_typed_functions();
    for (const auto& [name, value] : py::dict(m.attr("__dict__"))) {
        if (PyCFunctionObject* const function = function_in(value)) {
            // Functions of FastMethod have no object of pybind11 as self, and own their docstring.
            publish_function(function, name.cast<std::string>(), Role::function, function->m_self != nullptr);
        }
    }
    for (const py::type& type : own_types(m)) {
        const auto class_name = type.attr("__name__").cast<std::string>();
        const py::dict members(type.attr("__dict__"));
        for (const auto& [name, value] : members)
            publish_member(class_name + "." + name.cast<std::string>(), value);
        PyCFunctionObject* const init =
            members.contains("__init__") ? function_in(members["__init__"]) : nullptr;
        if (init != nullptr) show_constructor(type, init);
    }
}

}  // namespace cuscope::bindings
