// Makes the signatures of bound functions readable. pybind11 writes "name(self: T, n: typing.SupportsIndex)"
// as the first line of a docstring, which inspect.signature does not understand. CPython has its own form for
// functions in C: the docstring begins with "name(self, n=0)\n--\n\n", which inspect.signature reads and
// __doc__ leaves out. That form has no types, so a line with readable types follows it: help() shows both,
// and Sphinx takes the types from that line.
#include "bindings/support/signatures.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "bindings/support/objects.hpp"

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

// inspect.signature only takes defaults that are literals.
std::string literal(const std::string& value) {
    constexpr std::string_view numpy = "numpy.";
    return value.starts_with(numpy) ? "'" + value.substr(numpy.size()) + "'" : value;
}

// "(self, /, n, *, stream=None)". `self` is empty for functions without it.
std::string text_signature(std::string_view signature, std::string_view self) {
    std::string text = self.empty() ? "" : std::string(self) + ", /";
    for (const SignatureParameter& one : parameters_of(signature)) {
        if (one.name == "/" && !self.empty()) continue;
        if (!text.empty()) text += ", ";
        text += one.name;
        if (!one.default_value.empty()) text += "=" + literal(one.default_value);
    }
    return "(" + text + ")";
}

enum class Role { function, method, accessor };

// The docstring for CPython; empty if there is no signature to rewrite.
std::string rewritten(const char* name, std::string_view doc, Role role, std::string_view self) {
    const std::string_view signature = signature_in(doc);
    if (signature.empty()) return {};
    const std::string_view rest = doc.substr(std::min(doc.find('\n'), doc.size()));
    const std::string typed = readable_signature(std::string(signature));
    if (role == Role::accessor) return typed + std::string(rest);
    return name + text_signature(typed, role == Role::method ? self : "") + "\n--\n\n" + name + typed +
           std::string(rest);
}

// pybind11 frees the docstrings of its functions with std::free.
char* allocated(const std::string& text) {
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

void rewrite(PyMethodDef& definition, Role role, std::string_view self, bool of_pybind) {
    if (definition.ml_doc == nullptr) return;
    const std::string text = rewritten(definition.ml_name, definition.ml_doc, role, self);
    if (text.empty()) return;
    if (of_pybind) std::free(const_cast<char*>(definition.ml_doc));
    definition.ml_doc = allocated(text);
}

PyCFunctionObject* function_in(py::handle value) {
    PyObject* raw = value.ptr();
    if (raw != nullptr && PyInstanceMethod_Check(raw)) raw = PyInstanceMethod_GET_FUNCTION(raw);
    return raw != nullptr && PyCFunction_Check(raw) ? reinterpret_cast<PyCFunctionObject*>(raw) : nullptr;
}

// A bound method of pybind11 is a MethodType around a function, from whose signature inspect.signature
// removes the first parameter. A method descriptor binds itself, and "$self" marks the parameter to remove.
constexpr std::string_view self_of_pybind = "self", self_of_descriptor = "$self";

void rewrite_member(py::handle value) {
    if (PyCFunctionObject* const method = function_in(value)) {
        rewrite(*method->m_ml, Role::method, self_of_pybind, true);
    } else if (Py_IS_TYPE(value.ptr(), &PyMethodDescr_Type)) {
        rewrite(*reinterpret_cast<PyMethodDescrObject*>(value.ptr())->d_method, Role::method,
                self_of_descriptor, false);
    } else if (Py_IS_TYPE(value.ptr(), &PyStaticMethod_Type)) {
        const py::object held = value.attr("__func__");
        if (PyCFunctionObject* const function = function_in(held))
            rewrite(*function->m_ml, Role::function, "", true);
    } else if (PyObject_TypeCheck(value.ptr(), &PyProperty_Type) != 0) {
        for (const char* const part : {"fget", "fset"}) {
            const py::object held = value.attr(part);
            if (PyCFunctionObject* const function = function_in(held))
                rewrite(*function->m_ml, Role::accessor, "", true);
        }
    }
}

// inspect.signature reads the parameters of a class from tp_doc. __doc__ is an attribute of its own.
void rewrite_constructor(const py::type& type) {
    const py::dict members(type.attr("__dict__"));
    PyCFunctionObject* const init = members.contains("__init__") ? function_in(members["__init__"]) : nullptr;
    if (init == nullptr || init->m_ml->ml_doc == nullptr) return;
    const std::string_view signature = signature_in(init->m_ml->ml_doc);
    if (signature.empty()) return;
    const std::string text = type.attr("__name__").cast<std::string>() +
                             text_signature(readable_signature(std::string(signature)), "") + "\n--\n\n";
    auto* const raw = reinterpret_cast<PyTypeObject*>(type.ptr());
#if PY_VERSION_HEX >= 0x030D0000
    constexpr auto allocate = PyMem_Malloc;
    constexpr auto release = PyMem_Free;
#else
    constexpr auto allocate = PyObject_Malloc;
    constexpr auto release = PyObject_Free;
#endif
    auto* const copy = static_cast<char*>(allocate(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    release(const_cast<char*>(raw->tp_doc));
    raw->tp_doc = copy;
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
    for (const auto& [name, value] : py::dict(m.attr("__dict__"))) {
        if (PyCFunctionObject* const function = function_in(value)) {
            // Functions of FastMethod have no object of pybind11 as self, and own their docstring.
            rewrite(*function->m_ml, Role::function, "", function->m_self != nullptr);
        }
    }
    for (const py::type& type : own_types(m)) {
        rewrite_constructor(type);
        for (const auto& [name, value] : py::dict(type.attr("__dict__"))) rewrite_member(value);
    }
}

}  // namespace cuscope::bindings
