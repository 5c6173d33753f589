// The element types of operations as NumPy's dtypes, and NumPy's rules for them.
#pragma once

#include <optional>
#include <string_view>

#include "bindings/support/objects.hpp"
#include "ops/array.hpp"

namespace cuscope::bindings {

// The array in a Python object; null if it is no DeviceArray.
const DeviceArray* device_array_in(py::handle object);

struct ElementDType {
    ops::Type type;
    py::dtype dtype;
};

// Nothing for dtypes that kernels do not have, also for those in the other byte order.
std::optional<ops::Type> type_of_dtype(const py::dtype& dtype);
std::optional<ops::Type> type_of_elements(const DeviceArray& array);
// Throws WrongKind in place of nothing; the message begins with `place`.
ops::Type checked_type(const py::dtype& dtype, std::string_view place);
[[noreturn]] void refuse_type(const py::dtype& dtype, std::string_view place);
// The dtype of NumPy or, for types that NumPy does not have, of ml_dtypes.
py::dtype dtype_of(ops::Type type);
// The same kind of number in the processor's byte order.
py::dtype in_native_order(const py::dtype& dtype);

// The dtype in which NumPy multiplies elements of these types.
ElementDType common_type(ops::Type a, ops::Type b);
// The type of a product of elements of a type: float32 for float8, which has no room for sums.
ElementDType product_type(const ElementDType& common);
// Does NumPy allow the cast, by its rules "safe" and "same_kind"?
bool casts_safely(ops::Type from, ops::Type to);
bool casts_within_kind(const ElementDType& from, const py::dtype& to);

// NumPy's class of this name, "integer" for example. `known` keeps it from the first call on. It is no static
// variable with an initialiser, because that would hold a lock of C++ while Python runs.
py::handle numpy_class(const char* name, MadeOnce* known);

// A floating type to compute in: that of the argument `out` if it is wider, so that nothing is rounded on the
// way; else the same.
ElementDType wider_of(const ElementDType& type, py::handle out);

}  // namespace cuscope::bindings
