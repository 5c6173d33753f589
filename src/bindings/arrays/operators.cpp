// The operators of device arrays. All of them raise TypeError: none computes element by element, and none
// compares the objects instead, as Python would do by default.
#include <array>
#include <string>

#include "bindings/interop/import.hpp"

namespace cuscope::bindings {
namespace {

struct Operator {
    const char* name;    // of the method
    const char* symbol;  // in a program
    bool reflected = false;
};

constexpr std::array binary{
    Operator{"__eq__", "=="},       Operator{"__ne__", "!="},
    Operator{"__lt__", "<"},        Operator{"__le__", "<="},
    Operator{"__gt__", ">"},        Operator{"__ge__", ">="},
    Operator{"__add__", "+"},       Operator{"__radd__", "+", true},
    Operator{"__sub__", "-"},       Operator{"__rsub__", "-", true},
    Operator{"__mul__", "*"},       Operator{"__rmul__", "*", true},
    Operator{"__truediv__", "/"},   Operator{"__rtruediv__", "/", true},
    Operator{"__floordiv__", "//"}, Operator{"__rfloordiv__", "//", true},
    Operator{"__mod__", "%"},       Operator{"__rmod__", "%", true},
    Operator{"__pow__", "**"},      Operator{"__rpow__", "**", true},
    Operator{"__matmul__", "@"},    Operator{"__rmatmul__", "@", true},
    Operator{"__lshift__", "<<"},   Operator{"__rlshift__", "<<", true},
    Operator{"__rshift__", ">>"},   Operator{"__rrshift__", ">>", true},
    Operator{"__and__", "&"},       Operator{"__rand__", "&", true},
    Operator{"__or__", "|"},        Operator{"__ror__", "|", true},
    Operator{"__xor__", "^"},       Operator{"__rxor__", "^", true},
};
constexpr std::array unary{Operator{"__neg__", "-"}, Operator{"__pos__", "+"}, Operator{"__invert__", "~"}};

bool is_numpy(py::handle object) {
    static constinit MadeOnce generic;
    return py::isinstance<py::array>(object) ||
           py::isinstance(object, generic.get([] { return numpy().attr("generic"); }));
}

// Can the object be compared and combined with an array element by element? True for arrays, numbers and
// sequences.
bool has_elements(py::handle object) {
    PyObject* const raw = object.ptr();
    if (PyUnicode_Check(raw) || PyBytes_Check(raw) || PyType_Check(raw)) return false;
    return py::isinstance<DeviceArray>(object) || PyLong_Check(raw) || PyFloat_Check(raw) ||
           PyComplex_Check(raw) || PyList_Check(raw) || PyTuple_Check(raw) || is_numpy(object) ||
           is_foreign_array(object);
}

// Should Python ask the other operand? An object without elements may know how to combine itself with an
// array. NumPy does so if the host can reach the array's memory.
bool is_others_matter(const DeviceArray& self, py::handle other) {
    if (!has_elements(other)) return true;
    Held<core::DeviceMemory> memory = self.memory.get();
    return !py::isinstance<DeviceArray>(other) && memory && memory->host_pointer() != nullptr &&
           is_numpy(other);
}

py::object combine(const Operator& which, const DeviceArray& self, const py::object& other) {
    if (is_others_matter(self, other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    const std::string symbol = which.symbol;
    const std::string ours = "x.to_host()";
    const std::string theirs = py::isinstance<DeviceArray>(other) ? "y.to_host()" : "y";
    std::string advice =
        which.reflected ? theirs + " " + symbol + " " + ours : ours + " " + symbol + " " + theirs;
    if (symbol == "==" || symbol == "!=") advice += ", or `x is y` to ask whether both are one object";
    if (symbol == "@") advice = "cuscope.matmul(x, y) multiplies on the device";
    const std::string with = kind_of(other);
    throw core::WrongKind(
        "x " + symbol + " y: a DeviceArray has no operators, which would work element by element (" +
        (which.reflected ? "x: " + with + ", y: DeviceArray" : "x: DeviceArray, y: " + with) +
        "): " + advice);
}

}  // namespace

void bind_array_operators(Classes& classes) {
    // Arrays can be keys of dicts and members of sets, by identity: both look for the same object before they
    // compare with ==.
    classes.array.def("__hash__", [](const py::object& self) -> py::ssize_t {
        return PyBaseObject_Type.tp_hash(self.ptr());
    });
    for (const Operator& which : binary) {
        classes.array.def(
            which.name,
            [which](const DeviceArray& self, const Scalar& other) {
                return Scalar(combine(which, self, other));
            },
            py::arg("other"), "Raises TypeError. Use to_host(), which returns an array that has operators.");
    }
    for (const Operator& which : unary) {
        classes.array.def(
            which.name,
            [which](const DeviceArray&) -> Scalar {
                throw core::WrongKind(std::string(which.symbol) +
                                      "x: a DeviceArray has no operators: " + which.symbol + "x.to_host()");
            },
            "Raises TypeError. Use to_host(), which returns an array that has operators.");
    }
    classes.array.def(
        "__contains__",
        [](const DeviceArray&, const Scalar&) -> bool {
            throw core::WrongKind(
                "value in x: the elements are in a device's memory: use `value in x.to_host()`");
        },
        py::arg("value"), "Raises TypeError. Use to_host(), which returns an array that can be searched.");
}

}  // namespace cuscope::bindings
