// Matrix products of the arrays that a program passes.
#pragma once

#include <string_view>

#include "bindings/operations/operands.hpp"

namespace cuscope::bindings {

// The names in messages: of the function and of its arguments.
struct ProductNames {
    const char *function = "matmul", *a = "a", *b = "b", *place_of_a = "matmul: a", *place_of_b = "matmul: b";
};

py::object compute_product(py::handle a, py::handle b, py::handle out, std::string_view variant,
                           py::handle stream, const ProductNames& names = {});
// The variant that "auto" takes, and the reason.
std::string explain_product(py::handle a, py::handle b, py::handle stream);
// dot() of arrays that are not both vectors.
py::object dot_of_matrices(const Operand& x, const Operand& y, py::handle out, const core::StreamPtr& stream);

}  // namespace cuscope::bindings
