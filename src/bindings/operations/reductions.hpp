// Reductions of the arrays that a program passes.
#pragma once

#include <string_view>

#include "bindings/operations/operands.hpp"
#include "ops/reduce/reduce.hpp"

namespace cuscope::bindings {

// The arguments of a reduction, as the program passed them.
struct ReductionCall {
    py::handle x, axis = Py_None, dtype = Py_None, out = Py_None, keepdims = Py_False, stream = Py_None;
    std::string_view variant = "auto";
};

py::object compute_reduction(ops::Operation operation, const ReductionCall& call);
// The variant that "auto" takes, and the reason.
std::string explain_reduction(ops::Operation operation, const ReductionCall& call);
py::object compute_dot(py::handle x, py::handle y, py::handle out, py::handle stream);

// The docstring of the function of an operation.
std::string documentation(ops::Operation operation);

}  // namespace cuscope::bindings
