// Matrix products of the arrays that a program passes.
#pragma once

#include <string_view>

#include "bindings/operations/operands.hpp"

namespace cuscope::bindings {

py::object compute_product(py::handle a, py::handle b, py::handle out, std::string_view variant,
                           py::handle stream);
// The variant that "auto" takes, and the reason.
std::string explain_product(py::handle a, py::handle b, py::handle stream);
// dot() of arrays that are not both vectors.
py::object dot_of_matrices(const Operand& x, const Operand& y, py::handle out, const core::StreamPtr& stream);

}  // namespace cuscope::bindings
