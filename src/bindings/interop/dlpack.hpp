// DLPack's own header (third_party/dlpack), the names of its capsules, and its element types.
#pragma once

#include "bindings/support/objects.hpp"
#include "third_party/dlpack/dlpack.h"

namespace cuscope::bindings::dlpack {

static_assert(DLPACK_MAJOR_VERSION == 1, "capsules of another major version have another layout");

// The names of a capsule: before a consumer takes its content, and after.
template <class Managed>
struct Capsule;
template <>
struct Capsule<DLManagedTensor> {
    static constexpr const char *name = "dltensor", *used = "used_dltensor";
};
template <>
struct Capsule<DLManagedTensorVersioned> {
    static constexpr const char *name = "dltensor_versioned", *used = "used_dltensor_versioned";
};

// The attribute of an array's type that has its C functions, and the name of the capsule in it.
inline constexpr const char *functions_attribute = "__dlpack_c_exchange_api__",
                            *functions_capsule = "dlpack_exchange_api";

// Simulated devices have the type of devices that the standard does not know.
inline constexpr DLDeviceType simulated = kDLExtDev;

// Conversions between NumPy's dtypes and DLPack's. They throw py::buffer_error for a type that the other does
// not have.
py::dtype to_numpy(DLDataType dtype);
DLDataType from_numpy(const py::dtype& dtype);

}  // namespace cuscope::bindings::dlpack
