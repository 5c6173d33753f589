// DLPack's element types and NumPy's. Types that NumPy itself does not have come from the package ml_dtypes.
#include <algorithm>
#include <array>
#include <limits>

#include "bindings/interop/dlpack.hpp"
#include "runtime/element_types.hpp"

namespace cuscope::bindings::dlpack {
namespace {

// NumPy's dtype of a row. NumPy's own dtypes are kept, because NumPy takes long to find one by its name. They
// live as long as the process.
py::dtype dtype_of(std::size_t place) {
    static constinit std::array<MadeOnce, every_element_type.size()> known;
    const ElementRow& row = every_element_type[place];
    const std::string name(row.name);
    if (row.in_numpy()) {
        return py::reinterpret_borrow<py::dtype>(
            known[place].get([&] { return py::dtype::from_args(py::str(name)); }));
    }
    py::object found;
    try {
        found = py::module_::import("ml_dtypes").attr(name.c_str());
    } catch (py::error_already_set& error) {
        if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) throw;
    }
    if (found) return py::dtype::from_args(found);
    throw py::buffer_error("the elements are " + name +
                           ", which NumPy has from the package ml_dtypes: pip install ml_dtypes");
}

std::string describe_type(DLDataType dtype) {
    return "code " + std::to_string(dtype.code) + ", " + std::to_string(dtype.bits) + " bits, " +
           std::to_string(dtype.lanes) + " lanes";
}

}  // namespace

py::dtype to_numpy(DLDataType dtype) {
    for (std::size_t i = 0; i < every_element_type.size(); ++i) {
        const ElementRow& row = every_element_type[i];
        if (dtype.lanes == 1 && dtype.code == row.dlpack_code && dtype.bits == 8 * row.bytes)
            return dtype_of(i);
    }
    throw py::buffer_error(
        "the elements are of a type that NumPy does not have (DLPack: " + describe_type(dtype) + ")");
}

DLDataType from_numpy(const py::dtype& dtype) {
    const auto bits = static_cast<std::uint64_t>(dtype.itemsize()) * 8;
    // Only a dtype of ml_dtypes needs its name, which NumPy composes at each access.
    const std::string name =
        dtype.num() < first_foreign_dtype ? "" : py::str(dtype.attr("name")).cast<std::string>();
    const char kind = element_of(dtype).kind;
    const auto found = [&](const auto& is_same) {
        return std::find_if(every_element_type.begin(), every_element_type.end(), is_same);
    };
    // The types of ml_dtypes first: NumPy's kind of some of them is 'f', too.
    auto row = found([&](const ElementRow& r) { return !r.in_numpy() && r.name == name; });
    // By kind, because NumPy has sizes that the table lacks, such as the size of long double.
    if (row == every_element_type.end())
        row = found([&](const ElementRow& r) { return r.in_numpy() && r.kind == kind; });
    if (row != every_element_type.end() && bits <= std::numeric_limits<std::uint8_t>::max())
        return {row->dlpack_code, static_cast<std::uint8_t>(bits), 1};
    throw py::buffer_error("DLPack has no elements of dtype " + describe(dtype) +
                           ": pass a view of numbers in the machine's byte order");
}

}  // namespace cuscope::bindings::dlpack
