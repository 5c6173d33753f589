// The docstrings of the reductions, from the parts that they share.
#include "bindings/operations/reductions.hpp"

namespace cuscope::bindings {
namespace {

using ops::Operation;

struct Parts {
    const char* summary;
    const char* dtype;  // the default of the argument; null: there is no such argument
    const char* type_errors;
    const char* note;
    const char* example;
    bool one_axis = false, needs_elements = false;
};

constexpr const char* wide_integers = "int64 or uint64 for integers, else the dtype of x.";
constexpr const char* unsupported = "The operation does not support the dtype.";
constexpr const char* unordered = "The operation does not support the dtype. Complex numbers have no order.";
constexpr const char* places = "Without an axis, the index counts the elements in C order.\n\n";

Parts parts_of(Operation operation) {
    switch (operation) {
        case Operation::sum:
            return {"The sum, as numpy.sum has it.", wide_integers, unsupported,
                    "Sums of float8, float16, bfloat16 and float32 are computed in double precision and "
                    "rounded once. All "
                    "sums have the same\nbits on every run.\n\n",
                    R"(>>> cs.sum(np.ones((2, 3), np.float32), axis=0)
array([2., 2., 2.], dtype=float32)
)"};
        case Operation::prod:
            return {"The product, as numpy.prod has it.", wide_integers, unsupported, "",
                    ">>> int(cs.prod(np.array([2, 3, 4])))\n24\n"};
        case Operation::min:
            return {"The smallest element, as numpy.min has it: NaN if there is one.",
                    nullptr,
                    unordered,
                    "",
                    ">>> int(cs.min(np.array([3, 1, 2])))\n1\n",
                    false,
                    true};
        case Operation::max:
            return {"The largest element, as numpy.max has it: NaN if there is one.",  nullptr, unordered, "",
                    ">>> cs.max(np.array([[3, 1], [2, 5]]), axis=1)\narray([3, 5])\n", false,   true};
        case Operation::mean:
            return {"The arithmetic mean, as numpy.mean has it.",
                    "float64 for integers, else the dtype of x.", unsupported,
                    "The mean of an empty array is NaN, with a RuntimeWarning.\n\n",
                    ">>> float(cs.mean(np.array([1, 2, 6])))\n3.0\n"};
        case Operation::argmin:
            return {
                "The index of the smallest element, as numpy.argmin has it: of the first of equal ones; of "
                "the "
                "first NaN, if any.",
                nullptr,
                unordered,
                places,
                ">>> int(cs.argmin(np.array([3, 1, 2, 1])))\n1\n",
                true,
                true};
        case Operation::argmax:
            return {
                "The index of the largest element, as numpy.argmax has it: of the first of equal ones; of "
                "the "
                "first NaN, if any.",
                nullptr,
                unordered,
                places,
                ">>> int(cs.argmax(np.array([3.0, np.nan, 5.0])))\n1\n",
                true,
                true};
        case Operation::any:
            return {"Is any element not 0? As numpy.any has it.", nullptr, unsupported, "",
                    ">>> bool(cs.any(np.array([0, 0, 2])))\nTrue\n"};
        default:
            return {"Is no element 0? As numpy.all has it.", nullptr, unsupported, "",
                    ">>> bool(cs.all(np.array([1, 0, 2])))\nFalse\n"};
    }
}

}  // namespace

std::string documentation(Operation operation) {
    const Parts parts = parts_of(operation);
    std::string doc = std::string(parts.summary) + R"(

Parameters
----------
x : array
    A NumPy array or a device array (also of another library), of any strides.
)";
    doc += parts.one_axis
               ? "axis : int, optional\n    The axis to search. Default: all elements as one axis.\n"
               : "axis : int or tuple of int, optional\n    The axes to reduce. Default: all.\n";
    if (parts.dtype != nullptr) {
        doc += "dtype : dtype, optional\n    The dtype of the computation and the result. Default: ";
        doc += std::string(parts.dtype) + "\n";
    }
    doc += R"(out : array, optional
    The array for the result. It must have the result's shape, and a dtype that the result can be cast to.
)";
    if (parts.dtype != nullptr) doc += "    Floats are computed in its dtype if that is wider.\n";
    doc += R"(keepdims : bool
    Keep the reduced axes, with an extent of 1.
stream : Stream, optional
    The stream for the work. Default: the current stream.

Returns
-------
A NumPy scalar or array for NumPy arrays, when the result is there; for a device array a device array, at once.

Raises
------
)";
    if (parts.needs_elements) doc += "ValueError\n    The array has no elements to reduce.\n";
    doc += std::string("TypeError\n    ") + parts.type_errors + R"(

See CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Memory Fence Functions".

)";
    doc += std::string(parts.note) + ">>> import numpy as np, cuscope as cs\n" + parts.example;
    return doc;
}

}  // namespace cuscope::bindings
