// The functions of the package for reductions and matrix products, and the questions that tests ask of them.
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "bindings/operations/products.hpp"
#include "bindings/operations/reductions.hpp"
#include "bindings/support/fast_calls.hpp"
#include "core/stream/same_device.hpp"
#include "ops/prediction.hpp"
#include "runtime/element_types.hpp"

namespace cuscope::bindings {

// Types that only determine how a signature reads.
class AxisLike : public py::object {
  public:
    PYBIND11_OBJECT_DEFAULT(AxisLike, object, PyObject_Type)
};
class OutputLike : public py::object {
  public:
    PYBIND11_OBJECT_DEFAULT(OutputLike, object, PyObject_Type)
};
class Flag : public py::object {
  public:
    PYBIND11_OBJECT_DEFAULT(Flag, object, PyObject_Type)
};

}  // namespace cuscope::bindings

template <>
struct pybind11::detail::handle_type_name<cuscope::bindings::AxisLike> {
    static constexpr auto name = const_name("typing.SupportsIndex | tuple[typing.SupportsIndex, ...] | None");
};
template <>
struct pybind11::detail::handle_type_name<cuscope::bindings::OutputLike> {
    static constexpr auto name =
        const_name("cuscope._core.DeviceArray | numpy.typing.NDArray[typing.Any] | None");
};
template <>
struct pybind11::detail::handle_type_name<cuscope::bindings::Flag> {
    static constexpr auto name = const_name("bool");
};

namespace cuscope::bindings {
namespace {

using ops::Operation;
using Names = py::typing::Tuple<py::str, py::str>;
using Axes = py::typing::Tuple<py::int_, py::ellipsis>;
using Table = py::typing::List<py::typing::Tuple<py::str, py::str, py::str>>;

Table listed(const std::vector<ops::Variant>& variants) {
    Table list;
    for (const ops::Variant& variant : variants)
        list.append(py::make_tuple(variant.name, variant.needs, variant.does));
    return list;
}

ops::Operand checked_operand(const DeviceArray& array, const core::StreamPtr& stream) {
    core::check_same_device({"array"}, *array.device, *stream);
    return operand_of(array, checked_type(array.dtype, "array"));
}

// A text that stays as long as the object.
std::string_view text_of(py::handle object, const char* name) {
    if (PyUnicode_Check(object.ptr()) == 0)
        throw core::WrongKind(std::string(name) + ": takes a str, not " + kind_of(object));
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &length);
    if (text == nullptr) throw py::error_already_set();
    return {text, static_cast<std::size_t>(length)};
}

Operation parse_operation(py::handle op) {
    constexpr std::array all{Operation::sum,    Operation::prod, Operation::min,
                             Operation::max,    Operation::mean, Operation::argmin,
                             Operation::argmax, Operation::any,  Operation::all};
    const std::string_view asked = PyUnicode_Check(op.ptr()) != 0 ? text_of(op, "op") : "";
    for (const Operation operation : all)
        if (asked == ops::name(operation)) return operation;
    std::string names;
    for (const Operation operation : all)
        names += (names.empty() ? "" : ", ") + std::string(ops::name(operation));
    throw std::invalid_argument("op: there is no operation " + py::repr(op).cast<std::string>() +
                                "; allowed are " + names);
}

// ---- calls without pybind11's dispatch

py::handle given(PyObject* value, PyObject* otherwise = Py_None) {
    return value == nullptr ? otherwise : value;
}

template <Operation operation>
PyObject* fast_reduction(PyObject*, const Arguments& arguments) {
    static constinit ParameterNames names("x", "axis", "out", "keepdims", "stream");
    std::array<PyObject*, 5> values;
    if (!bind_arguments(names, 4, 1, arguments, &values)) return nullptr;
    const auto [x, axis, out, keepdims, stream] = values;
    return compute_reduction(operation,
                             {x, given(axis), Py_None, given(out), given(keepdims, Py_False), given(stream)})
        .release()
        .ptr();
}

// The same with the argument `dtype`.
template <Operation operation>
PyObject* fast_sum(PyObject*, const Arguments& arguments) {
    static constinit ParameterNames names("x", "axis", "dtype", "out", "keepdims", "stream");
    std::array<PyObject*, 6> values;
    if (!bind_arguments(names, 5, 1, arguments, &values)) return nullptr;
    const auto [x, axis, dtype, out, keepdims, stream] = values;
    return compute_reduction(operation, {x, given(axis), given(dtype), given(out), given(keepdims, Py_False),
                                         given(stream)})
        .release()
        .ptr();
}

PyObject* fast_dot(PyObject*, const Arguments& arguments) {
    static constinit ParameterNames names("x", "y", "out", "stream");
    std::array<PyObject*, 4> values;
    if (!bind_arguments(names, 3, 2, arguments, &values)) return nullptr;
    const auto [x, y, out, stream] = values;
    return compute_dot(x, y, given(out), given(stream)).release().ptr();
}

PyObject* fast_matmul(PyObject*, const Arguments& arguments) {
    static constinit ParameterNames names("a", "b", "out", "variant", "stream");
    std::array<PyObject*, 5> values;
    if (!bind_arguments(names, 5, 2, arguments, &values)) return nullptr;
    const auto [a, b, out, variant, stream] = values;
    return compute_product(a, b, given(out), variant == nullptr ? "auto" : text_of(variant, "variant"),
                           given(stream))
        .release()
        .ptr();
}

PyObject* fast_reduce(PyObject*, const Arguments& arguments) {
    static constinit ParameterNames names("x", "op", "axis", "dtype", "out", "keepdims", "variant", "stream");
    std::array<PyObject*, 8> values;
    if (!bind_arguments(names, 8, 8, arguments, &values)) return nullptr;
    const auto [x, op, axis, dtype, out, keepdims, variant, stream] = values;
    return compute_reduction(parse_operation(op),
                             {x, axis, dtype, out, keepdims, stream, text_of(variant, "variant")})
        .release()
        .ptr();
}

template <Operation operation>
void bind_sum(py::module_& m) {
    m.def(
        ops::name(operation),
        [](const HostOrDeviceArray& x, const AxisLike& axis, const OptionalDType& dtype,
           const OutputLike& out, const Flag& keepdims, const StreamLike& stream) {
            return Scalar(compute_reduction(operation, {x, axis, dtype, out, keepdims, stream}));
        },
        py::arg("x"), py::arg("axis") = py::none(), py::arg("dtype") = py::none(),
        py::arg("out") = py::none(), py::arg("keepdims") = false, py::kw_only(),
        py::arg("stream") = py::none(), documentation(operation).c_str());
    FastMethod<fast_sum<operation>>::put_before(m, ops::name(operation));
}

template <Operation operation, class Axis = AxisLike>
void bind_reduction(py::module_& m) {
    m.def(
        ops::name(operation),
        [](const HostOrDeviceArray& x, const Axis& axis, const OutputLike& out, const Flag& keepdims,
           const StreamLike& stream) {
            return Scalar(compute_reduction(operation, {x, axis, Py_None, out, keepdims, stream}));
        },
        py::arg("x"), py::arg("axis") = py::none(), py::arg("out") = py::none(), py::arg("keepdims") = false,
        py::kw_only(), py::arg("stream") = py::none(), documentation(operation).c_str());
    FastMethod<fast_reduction<operation>>::put_before(m, ops::name(operation));
}

void bind_functions(py::module_& m) {
    bind_sum<Operation::sum>(m);
    bind_sum<Operation::prod>(m);
    bind_sum<Operation::mean>(m);
    bind_reduction<Operation::min>(m);
    bind_reduction<Operation::max>(m);
    bind_reduction<Operation::any>(m);
    bind_reduction<Operation::all>(m);
    bind_reduction<Operation::argmin, OptionalInt>(m);
    bind_reduction<Operation::argmax, OptionalInt>(m);
    m.def(
        "dot",
        [](const HostOrDeviceArray& x, const HostOrDeviceArray& y, const OutputLike& out,
           const StreamLike& stream) { return Scalar(compute_dot(x, y, out, stream)); },
        py::arg("x"), py::arg("y"), py::arg("out") = py::none(), py::kw_only(),
        py::arg("stream") = py::none(),
        R"(The dot product, as numpy.dot has it: for two vectors the sum of their products; else for the last axis of x and the
second last of y.

Takes and returns arrays as matmul() does. Products of vectors are summed as by sum(), without a temporary array.
Raises ValueError for shapes that do not match and for numbers without dimensions, TypeError for dtypes that kernels
do not support.

See CUDA C++ Programming Guide, "Warp Shuffle Functions".

>>> import numpy as np, cuscope as cs
>>> float(cs.dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
11.0
)");
    FastMethod<fast_dot>::put_before(m, "dot");
    m.def(
        "matmul",
        [](const HostOrDeviceArray& a, const HostOrDeviceArray& b, const OutputLike& out, const Text& variant,
           const StreamLike& stream) {
            return Scalar(compute_product(a, b, out, text_of(variant, "variant"), stream));
        },
        py::arg("a"), py::arg("b"), py::arg("out") = py::none(), py::arg("variant") = "auto",
        py::arg("stream") = py::none(), "The call of cuscope.matmul.");
    FastMethod<fast_matmul>::put_before(m, "matmul");
    m.def(
        "reduce",
        [](const HostOrDeviceArray& x, const Text& op, const AxisLike& axis, const OptionalDType& dtype,
           const OutputLike& out, const Flag& keepdims, const Text& variant, const StreamLike& stream) {
            return Scalar(compute_reduction(
                parse_operation(op), {x, axis, dtype, out, keepdims, stream, text_of(variant, "variant")}));
        },
        py::arg("x"), py::arg("op"), py::arg("axis"), py::arg("dtype"), py::arg("out"), py::arg("keepdims"),
        py::arg("variant"), py::arg("stream"), "The call of cuscope.reduce.");
    FastMethod<fast_reduce>::put_before(m, "reduce");
    m.def(
        "explain_matmul",
        [](const HostOrDeviceArray& a, const HostOrDeviceArray& b, const StreamLike& stream) {
            return explain_product(a, b, stream);
        },
        py::arg("a"), py::arg("b"), py::arg("stream"), "The variant that auto would take, and the reason.");
    m.def(
        "explain_reduce",
        [](const HostOrDeviceArray& x, const Text& op, const AxisLike& axis, const OptionalDType& dtype,
           const StreamLike& stream) {
            return explain_reduction(parse_operation(op), {x, axis, dtype, Py_None, Py_False, stream});
        },
        py::arg("x"), py::arg("op"), py::arg("axis"), py::arg("dtype"), py::arg("stream"),
        "The variant that auto would take, and the reason.");
}

}  // namespace

void bind_operations(py::module_& m) {
    bind_functions(m);
    m.def(
        "predict_matmul",
        [](const core::DevicePtr& device, const std::string& variant, const std::string& dtype,
           std::int64_t rows, std::int64_t columns, std::int64_t depth, std::int64_t batch) {
            return ops::predict_matmul(*device, variant, ops::type_named(dtype), rows, columns, depth, batch);
        },
        py::arg("device"), py::arg("variant"), py::arg("dtype"), py::arg("rows"), py::arg("columns"),
        py::arg("depth"), py::arg("batch"), "Nanoseconds on a simulated device; -1 if unknown.");
    m.def(
        "predict_matmul_instance",
        [](const core::DevicePtr& device, const std::string& kernel, std::int64_t rows, std::int64_t columns,
           std::int64_t depth) {
            for (const matmul::Instance& instance : matmul::instances()) {
                if (instance.kernel == kernel)
                    return ops::predict_matmul(*device, instance, {rows, columns, depth, 1});
            }
            throw std::invalid_argument("kernel: there is no '" + kernel + "'");
        },
        py::arg("device"), py::arg("kernel"), py::arg("rows"), py::arg("columns"), py::arg("depth"),
        "The same for one of matmul_instances().");
    m.def(
        "predict_reduction",
        [](const core::DevicePtr& device, const std::string& variant, std::int64_t elements,
           std::size_t element_bytes) {
            return ops::predict_reduction(*device, variant, elements, element_bytes);
        },
        py::arg("device"), py::arg("variant"), py::arg("elements"), py::arg("element_bytes"),
        "Nanoseconds of one launch on a simulated device; -1 if unknown.");
    m.def(
        "matmul_instances",
        [] {
            py::typing::List<py::typing::Tuple<py::str, py::int_, py::int_, py::int_>> instances;
            for (const matmul::Instance& instance : matmul::instances()) {
                instances.append(
                    py::make_tuple(instance.kernel, instance.tile_m, instance.tile_n, instance.resident));
            }
            return instances;
        },
        "Each kernel, its tile's rows and columns, and how many blocks a multiprocessor holds.");
    m.def(
        "matmul_variants",
        [](const core::DevicePtr& device) { return listed(ops::matmul_variants(*device)); },
        py::arg("device"), "Name, needs and idea of each variant.");
    m.def(
        "launch_reduce",
        [](const Text& op, const DeviceArray& array, const Axes& axes, const DeviceArray& out,
           const std::string& variant, const StreamLike& stream) {
            const core::StreamPtr on = stream_or_current(stream, out.device);
            const Operation operation = parse_operation(op);
            const ops::Operand in = checked_operand(array, on), result = checked_operand(out, on);
            std::uint64_t over = 0;
            for (const py::handle axis : axes) over |= std::uint64_t{1} << axis.cast<std::size_t>();
            const ops::Choice taken = without_gil([&] {
                ops::reduce(operation, in, nullptr, over, result, variant, on);
                return ops::explain_reduce(on->device(), operation, in, over, variant);
            });
            return Names(py::make_tuple(taken.variant, taken.reason));
        },
        py::arg("op"), py::arg("array"), py::arg("axes"), py::arg("out"), py::arg("variant"),
        py::arg("stream"),
        "Enqueues out = op(array) over the axes; returns the variant that was taken, and the reason.");
    m.def(
        "element_types",
        [] {
            py::typing::List<py::typing::Tuple<py::str, py::str>> types;
            for (const ElementRow& row : element_types)
                types.append(py::make_tuple(row.name, std::string(1, row.kind)));
            return types;
        },
        "The dtypes that operations take: the name and the kind of each.");
    m.def(
        "reduce_variants",
        [](const core::DevicePtr& device) { return listed(ops::reduce_variants(*device)); },
        py::arg("device"), "Name, needs and idea of each variant.");
}

}  // namespace cuscope::bindings
