// Matrix products and reductions of device arrays, for the Python layer, which has checked dtypes and shapes.
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "bindings/support/objects.hpp"
#include "core/stream/same_device.hpp"
#include "ops/prediction.hpp"
#include "ops/reduce/reduce.hpp"
#include "runtime/element_types.hpp"

namespace cuscope::bindings {
namespace {

ops::Type operand_type(const py::dtype& dtype) {
    return ops::type_named(dtype.attr("name").cast<std::string>());
}

ops::Array to_operand(const DeviceArray& array, const core::StreamPtr& stream) {
    core::check_same_device({"array"}, *array.device, *stream);
    const std::vector<py::ssize_t> strides = strides_of(array);
    return {array.open(),
            array.pointer(),
            operand_type(array.dtype),
            {array.shape.begin(), array.shape.end()},
            {strides.begin(), strides.end()}};
}

using Names = py::typing::Tuple<py::str, py::str>;
using Axes = py::typing::Tuple<py::int_, py::ellipsis>;
using Table = py::typing::List<py::typing::Tuple<py::str, py::str, py::str>>;

Table listed(const std::vector<ops::Variant>& variants) {
    Table list;
    for (const ops::Variant& variant : variants)
        list.append(py::make_tuple(variant.name, variant.needs, variant.does));
    return list;
}

Names choice(const ops::Choice& taken) { return py::make_tuple(taken.variant, taken.reason); }

}  // namespace

void bind_operations(py::module_& m) {
    m.def(
        "can_hold_result",
        [](const DeviceArray& out, const py::typing::List<DeviceArray>& operands) {
            const auto range = [](const DeviceArray& array) {
                const auto [low, high] = array.reach();
                return std::pair(array.pointer() + low, array.pointer() + high);
            };
            if (!out.contiguous() || out.read_only || out.bytes == 0) return false;
            for (const py::handle operand : operands) {
                const auto [low, high] = range(operand.cast<const DeviceArray&>());
                const auto [out_low, out_high] = range(out);
                if (low < out_high && out_low < high) return false;
            }
            return true;
        },
        py::arg("out"), py::arg("operands"),
        "Can a kernel write its result here? True if it is in C order and does not overlap the operands.");
    m.def(
        "launch_matmul",
        [](const DeviceArray& a, const DeviceArray& b, const DeviceArray& out, const std::string& variant,
           const StreamLike& stream) {
            const core::StreamPtr on = stream_or_current(stream, out.device);
            const ops::Array left = to_operand(a, on), right = to_operand(b, on),
                             result = to_operand(out, on);
            return choice(without_gil([&] { return ops::matmul(left, right, result, variant, on); }));
        },
        py::arg("a"), py::arg("b"), py::arg("out"), py::arg("variant"), py::arg("stream"),
        "Enqueues out = a @ b; returns the variant that was taken, and the reason.");
    m.def(
        "explain_matmul",
        [](const core::DevicePtr& device, const std::string& dtype, std::int64_t rows, std::int64_t columns,
           std::int64_t depth, std::int64_t batch) {
            return choice(ops::explain_matmul(*device, ops::type_named(dtype), rows, columns, depth, batch));
        },
        py::arg("device"), py::arg("dtype"), py::arg("rows"), py::arg("columns"), py::arg("depth"),
        py::arg("batch"), "The variant that auto would take, and the reason.");
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
        [](const std::string& op, const DeviceArray& array, const Axes& axes, const DeviceArray& out,
           const std::string& variant, const StreamLike& stream) {
            const core::StreamPtr on = stream_or_current(stream, out.device);
            const ops::Operation operation = ops::operation_named(op);
            const ops::Array in = to_operand(array, on), result = to_operand(out, on);
            std::vector<std::size_t> over;
            for (const py::handle axis : axes) over.push_back(axis.cast<std::size_t>());
            return choice(
                without_gil([&] { return ops::reduce(operation, in, nullptr, over, result, variant, on); }));
        },
        py::arg("op"), py::arg("array"), py::arg("axes"), py::arg("out"), py::arg("variant"),
        py::arg("stream"),
        "Enqueues out = op(array) over the axes; returns the variant that was taken, and the reason.");
    m.def(
        "explain_reduce",
        [](const core::DevicePtr& device, const std::string& op, const std::string& dtype, const Axes& shape,
           const Axes& strides, const Axes& axes) {
            ops::Array in;
            in.type = ops::type_named(dtype);
            for (const py::handle extent : shape) in.shape.push_back(extent.cast<std::int64_t>());
            for (const py::handle stride : strides) in.strides.push_back(stride.cast<std::int64_t>());
            std::vector<std::size_t> over;
            for (const py::handle axis : axes) over.push_back(axis.cast<std::size_t>());
            return choice(ops::explain_reduce(*device, ops::operation_named(op), in, over));
        },
        py::arg("device"), py::arg("op"), py::arg("dtype"), py::arg("shape"), py::arg("strides"),
        py::arg("axes"), "The variant that auto would take, and the reason.");
    m.def(
        "launch_dot",
        [](const DeviceArray& x, const DeviceArray& y, const DeviceArray& out, const StreamLike& stream) {
            const core::StreamPtr on = stream_or_current(stream, out.device);
            const ops::Array left = to_operand(x, on), right = to_operand(y, on),
                             result = to_operand(out, on);
            return choice(without_gil(
                [&] { return ops::reduce(ops::Operation::dot, left, &right, {0}, result, "auto", on); }));
        },
        py::arg("x"), py::arg("y"), py::arg("out"), py::arg("stream"),
        "Enqueues out = sum(x * y) of two vectors; returns the variant that was taken, and the reason.");
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
        "result_dtype",
        [](const std::string& op, const DTypeLike& dtype) {
            const py::dtype given = parse_dtype(dtype);
            const ops::Type type = operand_type(given),
                            result = ops::result_type(ops::operation_named(op), type);
            return DType(result == type ? given : py::dtype(ops::name(result)));
        },
        py::arg("op"), py::arg("dtype"), "The dtype in which the kernels of a reduction return the result.");
    m.def(
        "reduce_variants",
        [](const core::DevicePtr& device) { return listed(ops::reduce_variants(*device)); },
        py::arg("device"), "Name, needs and idea of each variant.");
    m.def(
        "convert",
        [](const DeviceArray& array, const DTypeLike& dtype, const StreamLike& stream) {
            const core::StreamPtr on = stream_or_current(stream, array.device);
            const py::dtype wanted = parse_dtype(dtype);
            const ops::Array from = to_operand(array, on);
            const ops::Type to = operand_type(wanted);
            const ops::Array result = without_gil([&] { return ops::packed(from, to, on); });
            return array_over(result.memory, array.shape, wanted);
        },
        py::arg("array"), py::arg("dtype"), py::arg("stream"), "A copy in C order, of another dtype.");
}

}  // namespace cuscope::bindings
