// DLPack's element types and NumPy's. Types that NumPy itself does not have come from the package ml_dtypes.
#include <array>

#include "bindings/interop/dlpack.hpp"

namespace cuscope::bindings::dlpack {
namespace {

struct SmallFloat {
    const char* name;
    std::uint8_t code, bits;
};

constexpr std::array small_floats{
    SmallFloat{"bfloat16", bfloat, 16},  SmallFloat{"float8_e3m4", 7, 8},
    SmallFloat{"float8_e4m3", 8, 8},     SmallFloat{"float8_e4m3b11fnuz", 9, 8},
    SmallFloat{"float8_e4m3fn", 10, 8},  SmallFloat{"float8_e4m3fnuz", 11, 8},
    SmallFloat{"float8_e5m2", 12, 8},    SmallFloat{"float8_e5m2fnuz", 13, 8},
    SmallFloat{"float8_e8m0fnu", 14, 8},
};

py::dtype small_float(const SmallFloat& type) {
    py::object found;
    try {
        found = py::module_::import("ml_dtypes").attr(type.name);
    } catch (py::error_already_set& error) {
        if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) throw;
    }
    if (found) return py::dtype::from_args(found);
    throw py::buffer_error(std::string("the elements are ") + type.name +
                           ", which NumPy has from the package ml_dtypes: pip install ml_dtypes");
}

std::string describe_type(DataType dtype) {
    return "code " + std::to_string(dtype.code) + ", " + std::to_string(dtype.bits) + " bits, " +
           std::to_string(dtype.lanes) + " lanes";
}

}  // namespace

py::dtype to_numpy(DataType dtype) {
    const auto refuse = [&]() -> py::dtype {
        throw py::buffer_error(
            "the elements are of a type that NumPy does not have (DLPack: " + describe_type(dtype) + ")");
    };
    if (dtype.lanes != 1) return refuse();
    for (const SmallFloat& type : small_floats) {
        if (dtype.code == type.code && dtype.bits == type.bits) return small_float(type);
    }
    const bool whole = dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
    char kind = 0;
    switch (dtype.code) {
        case integer:
            kind = whole ? 'i' : 0;
            break;
        case natural:
            kind = whole ? 'u' : 0;
            break;
        case real:
            kind = whole && dtype.bits != 8 ? 'f' : 0;
            break;
        case complex:
            kind = dtype.bits == 64 || dtype.bits == 128 ? 'c' : 0;
            break;
        case boolean:
            kind = dtype.bits == 8 ? 'b' : 0;
            break;
        default:
            break;
    }
    if (kind == 0) return refuse();
    return py::dtype::from_args(py::str(kind + std::to_string(dtype.bits / 8)));
}

DataType from_numpy(const py::dtype& dtype) {
    const auto bits = static_cast<std::uint8_t>(dtype.itemsize() * 8);
    const std::string name = py::str(dtype.attr("name"));
    for (const SmallFloat& type : small_floats) {
        if (name == type.name) return {type.code, type.bits, 1};
    }
    switch (element_of(dtype).kind) {
        case 'b':
            return {boolean, bits, 1};
        case 'i':
            return {integer, bits, 1};
        case 'u':
            return {natural, bits, 1};
        case 'f':
            return {real, bits, 1};
        case 'c':
            if (dtype.itemsize() <= 16) return {complex, bits, 1};
            break;
        default:
            break;
    }
    throw py::buffer_error("DLPack has no elements of dtype " + describe(dtype) +
                           ": pass a view of numbers in the machine's byte order");
}

}  // namespace cuscope::bindings::dlpack
