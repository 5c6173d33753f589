#include "bindings/operations/reductions.hpp"

#include <array>
#include <limits>

#include "bindings/operations/products.hpp"
#include "core/memory/mem_pool.hpp"
#include "ops/kernel_library.hpp"

namespace cuscope::bindings {
namespace {

using ops::Operation;

bool is_ordering(Operation operation) {
    return ops::finds_place(operation) || operation == Operation::min || operation == Operation::max;
}

bool takes_dtype(Operation operation) {
    return operation == Operation::sum || operation == Operation::prod || operation == Operation::mean;
}

[[noreturn]] void refuse_axis(py::handle axis, std::size_t dimensions) {
    const py::module_ np = numpy();
    // numpy.exceptions is there since NumPy 1.25
    const py::object error =
        py::hasattr(np, "exceptions") ? np.attr("exceptions").attr("AxisError") : np.attr("AxisError");
    PyErr_SetObject(error.ptr(), error(axis, dimensions).ptr());
    throw py::error_already_set();
}

bool is_numpy_integer(py::handle object) {
    static constinit MadeOnce known;
    return py::isinstance(object, numpy_class("integer", &known));
}

std::size_t parse_axis(py::handle axis, std::size_t dimensions, Operation operation) {
    if (PyBool_Check(axis.ptr()) != 0 || (PyLong_Check(axis.ptr()) == 0 && !is_numpy_integer(axis))) {
        throw core::WrongKind(std::string(ops::name(operation)) +
                              ": axis: takes an int, a tuple of ints or None, not " +
                              py::type::of(axis).attr("__name__").cast<std::string>());
    }
    const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(axis.ptr()));
    if (!number) throw py::error_already_set();
    int overflow = 0;
    const long long at = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    const auto most = static_cast<long long>(dimensions);
    if (overflow != 0 || at < -most || at >= most) refuse_axis(number, dimensions);
    return static_cast<std::size_t>(at < 0 ? at + most : at);
}

// The axes as bits.
std::uint64_t parse_axes(py::handle axis, std::size_t dimensions, Operation operation) {
    if (axis.is_none()) return dimensions < 64 ? (std::uint64_t{1} << dimensions) - 1 : ~std::uint64_t{0};
    if (PyTuple_Check(axis.ptr()) == 0) return std::uint64_t{1} << parse_axis(axis, dimensions, operation);
    std::uint64_t axes = 0;
    bool twice = false;
    for (const py::handle one : py::reinterpret_borrow<py::tuple>(axis)) {
        const std::uint64_t bit = std::uint64_t{1} << parse_axis(one, dimensions, operation);
        twice = twice || (axes & bit) != 0;
        axes |= bit;
    }
    if (twice) {
        throw std::invalid_argument(std::string(ops::name(operation)) +
                                    ": axis: " + py::str(axis).cast<std::string>() + " names an axis twice");
    }
    return axes;
}

bool parse_flag(py::handle flag) {
    const int answer = PyObject_IsTrue(flag.ptr());
    if (answer < 0) throw py::error_already_set();
    return answer != 0;
}

// The parameters of a reduction, found from its arguments.
struct ReductionRequest {
    ops::Type type;  // of the elements
    std::uint64_t axes;
    ops::Types types;
    py::dtype final;
};

ReductionRequest request_of(Operation operation, const Operand& x, const ReductionCall& call) {
    const ops::Type type = x.type(ops::name(operation));
    if (is_ordering(operation) && ops::kind_of(type) == 'c') {
        throw core::WrongKind(
            std::string(ops::name(operation)) +
            ": complex numbers have no order here; allowed are real dtypes: pass abs(x), or x.real");
    }
    if (ops::finds_place(operation) && PyTuple_Check(call.axis.ptr()) != 0) {
        throw core::WrongKind(std::string(ops::name(operation)) +
                              ": axis: takes an int or None, not a tuple");
    }
    const std::uint64_t axes = parse_axes(call.axis, x.shape().size(), operation);
    std::optional<ElementDType> asked;
    const bool is_exact = std::string_view("biu").find(ops::kind_of(type)) != std::string_view::npos;
    if (!call.dtype.is_none()) {
        const py::dtype dtype =
            in_native_order(py::dtype::from_args(py::reinterpret_borrow<py::object>(call.dtype)));
        asked = ElementDType{checked_type(dtype, ops::name(operation)), dtype};
    } else if (takes_dtype(operation) && !is_exact && !call.out.is_none()) {
        asked = wider_of({type, x.dtype()}, call.out);
    }
    const ops::Types types =
        ops::types_of(operation, type, asked ? std::optional(asked->type) : std::nullopt);
    if (asked) return {type, axes, types, asked->dtype};
    return {type, axes, types, types.final == type ? x.dtype() : dtype_of(types.final)};
}

// The result of a reduction without elements.
DeviceArray result_of_nothing(Operation operation, bool no_results, const Extents& shape,
                              const py::dtype& dtype, const core::StreamPtr& stream) {
    const py::module_ module = py::module_::import("cuscope._core");
    const auto filled = [&](const py::object& value) {
        return module
            .attr("full")(shape_tuple(shape.vector()), value, dtype, py::arg("stream") = wrap(stream))
            .cast<DeviceArray>();
    };
    if (no_results && !ops::finds_place(operation)) return new_array(stream, shape.vector(), dtype);
    switch (operation) {
        case Operation::sum:
        case Operation::any:
            return filled(dtype.attr("type")(0));
        case Operation::prod:
        case Operation::all:
            return filled(dtype.attr("type")(1));
        case Operation::mean:
            if (PyErr_WarnEx(PyExc_RuntimeWarning, "Mean of empty slice", 1) != 0)
                throw py::error_already_set();
            return filled(py::float_(std::numeric_limits<double>::quiet_NaN()));
        default:
            break;
    }
    const std::string name = ops::name(operation);
    throw std::invalid_argument(name + ": the array has no elements along the reduced axes, and " + name +
                                " of nothing is not defined");
}

struct ReductionJob {
    Operation operation;
    std::uint64_t axes;
    ops::Types types;
    py::dtype final;
    std::string_view variant;
};

// Reduces arrays in device memory. `result` has the shape of the result.
py::object reduce_arrays(const ReductionJob& job, const DeviceArray& array, const DeviceArray* other,
                         const Extents& shape, const Output& output, const core::StreamPtr& stream) {
    const auto [computed, made, final] = job.types;
    const std::array<const DeviceArray*, 2> read{&array, other};
    const DeviceArray* const direct =
        made == final ? output.writable(made, stream->device(), std::span(read).first(other ? 2 : 1))
                      : nullptr;
    const auto count = static_cast<std::size_t>(product_of(shape));
    ops::Operand in = operand_of(array, computed), factor, out;
    if (other != nullptr) factor = operand_of(*other, computed);
    if (direct != nullptr) out = operand_of(*direct, made);
    out.type = made;
    out.shape = shape;
    {
        const WithoutGil released;
        if (direct == nullptr) {
            ops::KernelLibrary::load_ahead(stream->device());
            out.memory = core::MemPool::allocate_result(stream, count * ops::size_of(made));
            out.pointer = static_cast<std::byte*>(out.memory->pointer());
        }
        if (count > 0)
            ops::reduce(job.operation, in, other == nullptr ? nullptr : &factor, job.axes, out, job.variant,
                        stream);
        // An operand may hold the last reference to its memory.
        in.memory.reset();
        factor.memory.reset();
        if (direct != nullptr) out.memory.reset();
    }
    if (direct != nullptr) return output.written();
    DeviceArray result =
        array_over(std::move(out.memory), shape.vector(), made == final ? job.final : dtype_of(made));
    if (made == final) return output.deliver(std::move(result), stream);
    return output.deliver(converted(std::move(result), {final, job.final}, stream), stream);
}

}  // namespace

py::object compute_reduction(Operation operation, const ReductionCall& call) {
    Operand x(call.x, "x");
    const std::array operands{&x};
    const core::StreamPtr stream = stream_of(operands, call.stream);
    const ReductionRequest request = request_of(operation, x, call);
    const bool keep = parse_flag(call.keepdims);
    Extents shape;  // of the result
    py::ssize_t length = 1;
    const std::span<const py::ssize_t> whole = x.shape();
    for (std::size_t i = 0; i < whole.size(); ++i) {
        const bool reduced = (request.axes >> i & 1) != 0;
        if (reduced) length *= whole[i];
        if (keep || !reduced) shape.push_back(reduced ? 1 : whole[i]);
    }
    const bool no_results = product_of(shape) == 0;
    const ops::Types& types = request.types;
    const Output output(call.out, shape, {types.final, request.final}, x.on_device() == nullptr, *stream);
    if (length == 0) {
        return output.deliver(result_of_nothing(operation, no_results, shape, request.final, stream), stream);
    }
    const ReductionJob job{operation, request.axes, types, request.final, call.variant};
    if (x.on_device() != nullptr && request.type == types.computed)
        return reduce_arrays(job, *x.on_device(), nullptr, shape, output, stream);
    const ElementDType computed{types.computed,
                                types.computed == types.final ? request.final : dtype_of(types.computed)};
    const DeviceArray array = converted(x.in_device_memory(computed.dtype, stream), computed, stream);
    return reduce_arrays(job, array, nullptr, shape, output, stream);
}

std::string explain_reduction(Operation operation, const ReductionCall& call) {
    Operand x(call.x, "x");
    const std::array operands{&x};
    const core::StreamPtr stream = stream_of(operands, call.stream);
    const ReductionRequest request = request_of(operation, x, call);
    if (product_of(x.shape()) == 0) return "auto: there is nothing to reduce, so that nothing is launched.";
    const ops::Type computed = request.types.computed;
    const DeviceArray* const array = x.on_device();
    ops::Operand operand;
    operand.type = computed;
    operand.shape = x.shape();
    if (array != nullptr && !array->packed && request.type == computed) operand.strides = array->strides;
    const ops::Choice choice =
        ops::explain_reduce(stream->device(), operation, operand, request.axes, "auto");
    return choice.variant + ": " + choice.reason;
}

py::object compute_dot(py::handle left, py::handle right, py::handle out, py::handle given_stream) {
    Operand x(left, "x"), y(right, "y");
    const std::array operands{&x, &y};
    const core::StreamPtr stream = stream_of(operands, given_stream);
    if (x.shape().size() != 1 || y.shape().size() != 1) return dot_of_matrices(x, y, out, stream);
    const ops::Type of_x = x.type("dot: x"), of_y = y.type("dot: y");
    if (x.shape()[0] != y.shape()[0]) {
        throw std::invalid_argument("dot: x has shape " + describe(x.shape()) + ", y " + describe(y.shape()) +
                                    ": they must be equal");
    }
    const ElementDType common = product_type(common_type(of_x, of_y));
    const Extents shape;
    const Output output(out, shape, common, x.on_device() == nullptr, *stream);
    if (x.shape()[0] == 0)
        return output.deliver(result_of_nothing(Operation::sum, false, shape, common.dtype, stream), stream);
    const ReductionJob job{Operation::dot, 1, {common.type, common.type, common.type}, common.dtype, "auto"};
    if (x.on_device() != nullptr && of_x == common.type && of_y == common.type)
        return reduce_arrays(job, *x.on_device(), y.on_device(), shape, output, stream);
    const DeviceArray first = converted(x.in_device_memory(common.dtype, stream), common, stream);
    const DeviceArray second = converted(y.in_device_memory(common.dtype, stream), common, stream);
    return reduce_arrays(job, first, &second, shape, output, stream);
}

}  // namespace cuscope::bindings
