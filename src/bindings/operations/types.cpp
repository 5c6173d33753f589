#include "bindings/operations/types.hpp"

#include <array>
#include <atomic>
#include <string>

#include "bindings/support/fast_calls.hpp"
#include "runtime/element_types.hpp"

namespace cuscope::bindings {
namespace {

constexpr std::size_t type_count = element_types.size();

std::optional<ops::Type> type_with(char kind, std::size_t size) {
    for (std::size_t i = 0; i < type_count; ++i) {
        if (element_types[i].kind == kind && element_types[i].bytes == size && element_types[i].in_numpy())
            return static_cast<ops::Type>(i);
    }
    return std::nullopt;
}

// For dtypes of other packages than NumPy.
std::optional<ops::Type> type_named(const py::dtype& dtype) {
    const auto name = dtype.attr("name").cast<std::string>();
    for (std::size_t i = 0; i < type_count; ++i) {
        if (element_types[i].name == name) return static_cast<ops::Type>(i);
    }
    return std::nullopt;
}

bool is_native(const py::dtype& dtype) {
    const char order = dtype.byteorder();
    return order == '=' || order == '|' || dtype.attr("isnative").cast<bool>();
}

std::optional<ops::Type> type_in_any_order(const py::dtype& dtype) {
    if (dtype.num() < first_foreign_dtype)
        return type_with(dtype.kind(), static_cast<std::size_t>(dtype.itemsize()));
    return type_named(dtype);
}

// "bool, int8 to int64, uint8 to uint64, float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, ..."
std::string list_of_types() {
    std::vector<std::string> parts;
    const auto add = [&](const auto& wanted, bool range) {
        std::vector<std::string> names;
        for (const ElementRow& row : element_types) {
            if (wanted(row.kind)) names.emplace_back(row.name);
        }
        if (range) names = {names.front() + " to " + names.back()};
        parts.insert(parts.end(), names.begin(), names.end());
    };
    add([](char kind) { return kind == 'b'; }, false);
    add([](char kind) { return kind == 'i'; }, true);
    add([](char kind) { return kind == 'u'; }, true);
    add([](char kind) { return std::string_view("biuc").find(kind) == std::string_view::npos; }, false);
    add([](char kind) { return kind == 'c'; }, false);
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i)
        text += (i == 0 ? "" : i + 1 < parts.size() ? ", " : " or ") + parts[i];
    return text;
}

// A table with NumPy's answer for each pair of types, filled when it is first asked.
template <class Answer>
using TypePairs = std::array<std::array<Answer, type_count>, type_count>;

bool can_cast(const py::dtype& from, const py::dtype& to, const char* rule) {
    return numpy().attr("can_cast")(from, to, rule).cast<bool>();
}

enum class CastAnswer : char { not_yet, no, yes };

using CastAnswers = TypePairs<std::atomic<CastAnswer>>;

bool can_cast(CastAnswers& table, ops::Type from, ops::Type to, const char* rule) {
    if (from == to) return true;
    auto& known = table[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    CastAnswer answer = known.load(std::memory_order_relaxed);
    if (answer == CastAnswer::not_yet) {
        answer = can_cast(dtype_of(from), dtype_of(to), rule) ? CastAnswer::yes : CastAnswer::no;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer == CastAnswer::yes;
}

// The last dtype of another package than NumPy, because NumPy takes microseconds for the name of a dtype.
class LastForeign {
  public:
    std::optional<ops::Type> find(const py::dtype& dtype) {
        const std::lock_guard lock(lock_);
        return dtype.ptr() == dtype_ ? std::optional(type_) : std::nullopt;
    }
    void set(const py::dtype& dtype, ops::Type type) {
        PyObject* before = py::object(dtype).release().ptr();
        {
            const std::lock_guard lock(lock_);
            std::swap(before, dtype_);
            type_ = type;
        }
        Py_XDECREF(before);
    }

  private:
    PyObject* dtype_ = nullptr;
    ops::Type type_{};
    [[no_unique_address]] StateLock lock_;
};

constinit LastForeign last_foreign;

}  // namespace

const DeviceArray* device_array_in(py::handle object) {
    if (const auto* const array = exactly<DeviceArray>(object.ptr())) return array;
    // of a derived class
    return py::isinstance<DeviceArray>(object) ? &object.cast<const DeviceArray&>() : nullptr;
}

std::optional<ops::Type> type_of_dtype(const py::dtype& dtype) {
    if (const auto type = last_foreign.find(dtype)) return type;
    const auto type = type_in_any_order(dtype);
    if (!type || !is_native(dtype)) return std::nullopt;
    if (!element_types[static_cast<std::size_t>(*type)].in_numpy()) last_foreign.set(dtype, *type);
    return type;
}

core::ElementType kernel_element_of(const py::dtype& dtype) {
    if (dtype.num() < first_foreign_dtype) return element_of(dtype);
    const auto type = type_of_dtype(dtype);
    if (!type) return {0, static_cast<std::size_t>(dtype.itemsize())};
    const ElementRow& row = element_types[static_cast<std::size_t>(*type)];
    return {row.kind, row.bytes};
}

std::optional<ops::Type> type_of_elements(const DeviceArray& array) {
    if (array.element.in_numpy()) return type_with(array.element.kind, array.element.size);
    return type_of_dtype(array.dtype);
}

ops::Type checked_type(const py::dtype& dtype, std::string_view place) {
    const auto type = type_of_dtype(dtype);
    if (!type) refuse_type(dtype, place);
    return *type;
}

void refuse_type(const py::dtype& dtype, std::string_view place) {
    const std::string what = std::string(place) + ": dtype " + describe(dtype);
    if (!type_in_any_order(dtype))
        throw core::WrongKind(what + " is none that kernels have; allowed are " + list_of_types());
    throw core::WrongKind(what +
                          " has its bytes in the other order; allowed is the processor's: convert it with "
                          "array.astype(array.dtype.newbyteorder('=')) before it goes to the device");
}

py::dtype dtype_of(ops::Type type) {
    static constinit std::array<MadeOnce, type_count> dtypes;
    return py::reinterpret_borrow<py::dtype>(
        dtypes[static_cast<std::size_t>(type)].get([&] { return py::dtype(std::string(ops::name(type))); }));
}

py::dtype in_native_order(const py::dtype& dtype) {
    return is_native(dtype) ? dtype : py::dtype(dtype.attr("newbyteorder")("="));
}

ElementDType common_type(ops::Type a, ops::Type b) {
    if (a == b) return {a, dtype_of(a)};
    static constinit TypePairs<std::atomic<int>> table{};  // the type's number plus 1; 0: not yet known
    std::atomic<int>& known = table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    int number = known.load(std::memory_order_relaxed);
    if (number == 0) {
        const py::module_ np = numpy();
        const py::dtype left = dtype_of(a), right = dtype_of(b);
        py::object common;
        try {
            common = np.attr("result_type")(left, right);
        } catch (const py::error_already_set& error) {
            if (!error.matches(PyExc_TypeError)) throw;
            // bfloat16 with float16, float8 with another one, or either with integers that it cannot hold:
            // NumPy widens both
            common = np.attr("multiply")(np.attr("empty")(0, left), np.attr("empty")(0, right)).attr("dtype");
        }
        number = static_cast<int>(checked_type(in_native_order(py::dtype(common)), "operands")) + 1;
        known.store(number, std::memory_order_relaxed);
    }
    const auto type = static_cast<ops::Type>(number - 1);
    return {type, dtype_of(type)};
}

ElementDType product_type(const ElementDType& common) {
    if (!ops::is_float8(common.type)) return common;
    return {ops::Type::float32, dtype_of(ops::Type::float32)};
}

bool casts_safely(ops::Type from, ops::Type to) {
    static constinit CastAnswers table{};
    return can_cast(table, from, to, "safe");
}

bool casts_within_kind(const ElementDType& from, const py::dtype& to) {
    static constinit CastAnswers table{};
    if (const auto type = type_of_dtype(to)) return can_cast(table, from.type, *type, "same_kind");
    return can_cast(from.dtype, to, "same_kind");
}

py::handle numpy_class(const char* name, MadeOnce* known) {
    return known->get([&] { return numpy().attr(name); });
}

ElementDType wider_of(const ElementDType& type, py::handle out) {
    if (out.is_none()) return type;
    py::object dtype;
    if (const DeviceArray* const array = device_array_in(out)) {
        dtype = array->dtype;
    } else if (py::isinstance<py::array>(out)) {
        dtype = py::reinterpret_borrow<py::array>(out).dtype();
    } else {
        return type;
    }
    const py::dtype native = in_native_order(py::dtype(dtype));
    const auto wide = type_of_dtype(native);
    if (!wide || std::string_view("biu").find(ops::kind_of(*wide)) != std::string_view::npos) return type;
    // NumPy does not call these casts safe, but each of the two types holds every float8.
    const bool holds = ops::is_float8(type.type) && ops::size_of(*wide) == 2;
    return holds || casts_safely(type.type, *wide) ? ElementDType{*wide, native} : type;
}

}  // namespace cuscope::bindings
