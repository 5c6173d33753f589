// A number of Python as one element of an array.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "bindings/support/objects.hpp"
#include "core/number.hpp"

namespace cuscope::bindings {
namespace {

// NumPy warns of no conversion while this lives.
class WithoutWarnings {
  public:
    WithoutWarnings() : state_(numpy().attr("errstate")(py::arg("all") = "ignore")) {
        state_.attr("__enter__")();
    }
    WithoutWarnings(const WithoutWarnings&) = delete;
    WithoutWarnings& operator=(const WithoutWarnings&) = delete;
    ~WithoutWarnings() {
        try {
            state_.attr("__exit__")(py::none(), py::none(), py::none());
        } catch (py::error_already_set& error) {
            error.discard_as_unraisable("numpy.errstate");
        }
    }

  private:
    const py::object state_;
};

// Of a Python float or a small int, for integers and floats of up to 8 bytes, without calls of NumPy's
// functions. Nothing: it is not so simple, or the dtype cannot hold the number.
std::optional<py::array> element_of_plain_number(PyObject* value, const py::dtype& dtype) {
    const core::ElementType type = element_of(dtype);
    std::uint64_t stored = 0;
    if (type.size > sizeof stored) return std::nullopt;
    bool fits = false;
    if (PyFloat_CheckExact(value) != 0) {
        fits = type.kind == 'f' && core::store_real(type, PyFloat_AS_DOUBLE(value), &stored);
    } else if (PyLong_CheckExact(value) != 0) {
        constexpr long long most = 1ll << 53;  // all integers up to here are doubles
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow != 0) return std::nullopt;
        if (type.is_integer())
            fits = core::store_integer(type, static_cast<std::uint64_t>(number), number < 0, &stored);
        else if (type.kind == 'f' && number >= -most && number <= most)
            fits = core::store_real(type, static_cast<double>(number), &stored);
    }
    if (!fits) return std::nullopt;
    py::array element(dtype, py::array::ShapeContainer{});
    std::memcpy(element.mutable_data(), &stored, type.size);
    return element;
}

// A dtype of another package, such as ml_dtypes. NumPy knows the conversions, but neither that a value does
// not fit, nor which kinds of numbers are alike.
bool is_of_other_package(const py::dtype& dtype) {
    return dtype.kind() == 'V' && !dtype.attr("type").is(numpy().attr("void"));
}

// Converts a number to one element of such a dtype.
py::array element_of_other_package(const py::array& number, const py::dtype& dtype) {
    const py::module_ np = numpy();
    const auto text = [&](const std::string& reason) {
        return "value: " + py::str(number).cast<std::string>() + " " + reason + " " + describe(dtype);
    };
    const bool integers = np.attr("can_cast")(dtype, "int64").cast<bool>();
    const char kind = number.dtype().kind();
    if (kind == 'c' || (integers && kind == 'f'))
        throw core::WrongKind(text("(" + describe(number.dtype()) + ") is no"));
    const auto converted = [&](const py::object& from) { return from.attr("astype")(dtype); };
    const auto as_double = [](const py::object& from) {
        return from.attr("astype")("float64").cast<double>();
    };
    const WithoutWarnings quiet;
    const py::array element(converted(number));
    const double wanted = as_double(number), stored = as_double(element);
    bool fits = std::isfinite(wanted) ? std::isfinite(stored)
                                      : (std::isnan(wanted) ? std::isnan(stored) : stored == wanted);
    if (integers) {
        fits = stored == wanted;
    } else if (fits && std::isfinite(wanted)) {
        // A type without infinities and NaN takes its last number for all beyond, also for an infinity.
        const double infinity = std::numeric_limits<double>::infinity();
        const double most = as_double(converted(np.attr("asarray")(infinity)));
        const double least = as_double(converted(np.attr("asarray")(-infinity)));
        if (std::isfinite(most)) fits = wanted <= most && wanted >= least;
    }
    if (!fits) throw std::overflow_error(text("does not fit"));
    return element;
}

}  // namespace

py::array one_element(const py::object& value, const py::dtype& dtype) {
    const py::module_ np = numpy();
    if (dtype.kind() == 'V' && (PyTuple_Check(value.ptr()) || PyBytes_Check(value.ptr()))) {
        return py::array(np.attr("array")(value, dtype));  // a structure, field by field
    }
    if (auto element = element_of_plain_number(value.ptr(), dtype)) return std::move(*element);
    check_value(value);
    const bool exact = (PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) && dtype.kind() != 'b';
    if (exact && (dtype.kind() == 'i' || dtype.kind() == 'u')) {
        const core::ElementType type{dtype.kind(), static_cast<std::size_t>(dtype.itemsize())};
        const core::Argument number = to_argument(value, nullptr);
        std::uint64_t stored = 0;
        if (number.too_big || !core::store_integer(type, number.integer, number.negative, &stored)) {
            const core::IntegerLimits limits = core::integer_limits(type);
            throw std::overflow_error("value: " + py::str(value).cast<std::string>() + " does not fit " +
                                      describe(dtype) + ", which holds " + std::to_string(limits.least) +
                                      " to " + std::to_string(limits.most));
        }
        return py::array(np.attr("array")(value, dtype));
    }
    py::array array(np.attr("asarray")(value));
    if (array.ndim() != 0) {
        throw core::WrongKind("value: takes one number, not an array of shape " + describe(shape_of(array)));
    }
    const bool other_package = is_of_other_package(dtype);
    const bool real = dtype.kind() == 'f' || dtype.kind() == 'c' || other_package;
    const auto too_large = [&] {
        return std::overflow_error("value: " + py::str(value).cast<std::string>() + " is too large for " +
                                   describe(dtype));
    };
    if (exact && array.dtype().kind() == 'O') {  // an int of more than 64 bits
        const double number = PyLong_AsDouble(value.ptr());
        if (PyErr_Occurred() != nullptr) {
            PyErr_Clear();
            if (real) throw too_large();
        }
        if (real) array = py::array(np.attr("asarray")(number));
    }
    if (!np.attr("can_cast")(array.dtype(), dtype, "same_kind").cast<bool>()) {
        throw core::WrongKind("value: " + py::repr(value).cast<std::string>() + " (" +
                              describe(array.dtype()) + ") is no " + describe(dtype));
    }
    if (other_package) return element_of_other_package(array, dtype);
    if (!real) return py::array(array.attr("astype")(dtype));
    const WithoutWarnings quiet;
    py::array element(array.attr("astype")(dtype));
    const auto finite = [&](const py::array& a) { return np.attr("isfinite")(a).cast<bool>(); };
    if (!finite(element) && finite(array)) throw too_large();
    return element;
}

}  // namespace cuscope::bindings
