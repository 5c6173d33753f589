// How the signatures of functions read: in inspect.signature, in the stub, and in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bindings/support/python.hpp"

namespace cuscope::bindings {

// Replaces pybind11's names of types by the names that a program uses, and leaves out `self`:
// "(self: cuscope._core.Event, n: typing.SupportsIndex) -> None" -> "(n: int) -> None"
std::string readable_signature(std::string signature);

struct SignatureParameter {
    std::string name;           // with the stars of *args and **kwargs; or only "*" or "/"
    std::string type;           // empty if it has none
    std::string default_value;  // empty if it has none
};
// The parameters of "(n: int, *, stream: Stream | None = None) -> None".
std::vector<SignatureParameter> parameters_of(std::string_view signature);

// Sets the module of the types that are bound so far, and of their methods, to "cuscope".
void publish_types(const py::module_& m);
// Moves the signatures of all functions from their docstrings to inspect.signature.
void publish_signatures(const py::module_& m);

}  // namespace cuscope::bindings
