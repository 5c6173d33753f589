#include "bindings/operations/products.hpp"

#include <algorithm>
#include <array>

#include "core/memory/mem_pool.hpp"
#include "ops/kernel_library.hpp"
#include "ops/matmul/matmul.hpp"

namespace cuscope::bindings {
namespace {

[[noreturn]] void refuse_number(const char* function, const char* name) {
    throw std::invalid_argument(std::string(function) + ": " + name +
                                " has no dimensions; allowed are one or more: use * for a product with a "
                                "number");
}

// A factor with two dimensions or more: a vector is one row on the left, one column on the right.
struct Factor {
    ops::Type type;
    bool vector;
    Extents shape;

    Factor(const Operand& operand, const ProductNames& names, bool left)
        : type(operand.type(left ? names.place_of_a : names.place_of_b)),
          vector(operand.shape().size() == 1) {
        if (operand.shape().empty()) refuse_number(names.function, operand.name());
        if (vector && left) shape.push_back(1);
        for (const py::ssize_t extent : operand.shape()) shape.push_back(extent);
        if (vector && !left) shape.push_back(1);
    }
    py::ssize_t rows() const { return shape[shape.size() - 2]; }
    py::ssize_t columns() const { return shape[shape.size() - 1]; }
};

[[noreturn]] void refuse_shapes(const Operand& a, const Operand& b, const char* function,
                                const std::string& rule) {
    throw std::invalid_argument(std::string(function) + ": " + a.name() + " has shape " +
                                describe(a.shape()) + ", " + b.name() + " " + describe(b.shape()) + ": " +
                                rule);
}

void check_summed_extent(const Operand& a, const Operand& b, const char* function) {
    const bool vector = b.shape().size() == 1;
    const py::ssize_t of_a = a.shape().back(), of_b = b.shape()[vector ? 0 : b.shape().size() - 2];
    if (of_a == of_b) return;
    refuse_shapes(a, b, function,
                  std::string("the last extent of ") + a.name() + ", " + std::to_string(of_a) +
                      ", must be the last but one of " + b.name() + ", " + std::to_string(of_b) +
                      (vector ? " (its only one)" : ""));
}

// The shape of a product: as the kernels write it, and without the dimensions that vectors were given.
struct Shapes {
    Extents product, result;
};

Shapes shapes_of(const Operand& a, const Operand& b, const Factor& left, const Factor& right,
                 const char* function) {
    check_summed_extent(a, b, function);
    Shapes made;
    const std::size_t before_a = left.shape.size() - 2, before_b = right.shape.size() - 2;
    const std::size_t most = std::max(before_a, before_b);
    for (std::size_t i = 0; i < most; ++i) {
        const auto extent = [&](const Factor& factor, std::size_t count) {
            return i + count < most ? py::ssize_t{1} : factor.shape[i + count - most];
        };
        const py::ssize_t of_a = extent(left, before_a), of_b = extent(right, before_b);
        if (of_a != of_b && of_a != 1 && of_b != 1) {
            refuse_shapes(a, b, function,
                          "the extents before the last two must be equal, or 1, or not there");
        }
        made.product.push_back(of_a == 1 ? of_b : of_a);
    }
    made.result = made.product;
    made.product.push_back(left.rows());
    made.product.push_back(right.columns());
    if (!left.vector) made.result.push_back(left.rows());
    if (!right.vector) made.result.push_back(right.columns());
    return made;
}

// The type of a product. A type that NumPy does not have gives way to a wider one of `out`. Products of
// float8 are float32, as NumPy's: most sums are outside the range of float8.
ElementDType type_of_product(const Factor& left, const Factor& right, py::handle out) {
    if (ops::is_float8(left.type) && ops::is_float8(right.type))
        return product_type(wider_of({left.type, dtype_of(left.type)}, out));
    const ElementDType common = product_type(common_type(left.type, right.type));
    if (std::string_view("biufc").find(ops::kind_of(common.type)) != std::string_view::npos) return common;
    return wider_of(common, out);
}

// The strides of a factor, also along the dimensions that were added to it; none for arrays in C order.
Extents strides_with(const DeviceArray& array, const Factor& factor, bool left) {
    Extents strides;
    if (array.packed) return strides;
    if (factor.vector && left) strides.push_back(0);
    for (const py::ssize_t stride : array.strides) strides.push_back(stride);
    if (factor.vector && !left) strides.push_back(0);
    return strides;
}

// The array as a matrix or a batch of matrices. `strides` has to live as long as the result.
ops::Operand described(const DeviceArray& array, ops::Type type, const Factor& factor, bool left,
                       Extents& strides) {
    ops::Operand operand = operand_of(array, type);
    strides = strides_with(array, factor, left);
    operand.shape = factor.shape;
    operand.strides = strides;
    return operand;
}

// Kernels take float8 as it is.
bool stay_float8(const Factor& left, const Factor& right) {
    return ops::is_float8(left.type) && ops::is_float8(right.type);
}

}  // namespace

py::object compute_product(py::handle a, py::handle b, py::handle out, std::string_view variant,
                           py::handle given_stream, const ProductNames& names) {
    Operand left(a, names.a), right(b, names.b);
    const std::array operands{&left, &right};
    const core::StreamPtr stream = stream_of(operands, given_stream);
    const Factor of_a(left, names, true), of_b(right, names, false);
    const Shapes shapes = shapes_of(left, right, of_a, of_b, names.function);
    const ElementDType type = type_of_product(of_a, of_b, out);
    const Output output(out, shapes.result, type, left.on_device() == nullptr, *stream);
    std::optional<DeviceArray> copy_of_a, copy_of_b;  // of factors on the host
    const bool kept = stay_float8(of_a, of_b);
    const auto in_memory = [&](const Operand& operand, ops::Type own, std::optional<DeviceArray>& copy) {
        if (operand.on_device() == nullptr)
            copy.emplace(operand.in_device_memory(kept ? dtype_of(own) : type.dtype, stream));
        return copy ? &*copy : operand.on_device();
    };
    const DeviceArray* const first = in_memory(left, of_a.type, copy_of_a);
    const DeviceArray* const second = in_memory(right, of_b.type, copy_of_b);
    const std::array read{first, second};
    const DeviceArray* const direct = output.writable(type.type, stream->device(), read);

    Extents strides_of_a, strides_of_b;
    ops::Operand x = described(*first, copy_of_a && !kept ? type.type : of_a.type, of_a, true, strides_of_a);
    ops::Operand y =
        described(*second, copy_of_b && !kept ? type.type : of_b.type, of_b, false, strides_of_b);
    ops::Operand product;
    if (direct != nullptr) product = operand_of(*direct, type.type);
    product.type = type.type;
    product.shape = shapes.product;
    {
        const WithoutGil released;
        if (direct == nullptr) {
            ops::KernelLibrary::load_ahead(stream->device());
            const auto count = static_cast<std::size_t>(product_of(shapes.product));
            product.memory = core::MemPool::allocate_result(stream, count * ops::size_of(type.type));
            product.pointer = static_cast<std::byte*>(product.memory->pointer());
        }
        ops::matmul(x, y, product, variant, stream);
        // An operand may hold the last reference to its memory.
        x.memory.reset();
        y.memory.reset();
        if (direct != nullptr) product.memory.reset();
    }
    if (direct != nullptr) return output.written();
    return output.deliver(array_over(std::move(product.memory), shapes.result.vector(), type.dtype), stream);
}

std::string explain_product(py::handle a, py::handle b, py::handle given_stream) {
    Operand left(a, "a"), right(b, "b");
    const std::array operands{&left, &right};
    const core::StreamPtr stream = stream_of(operands, given_stream);
    const ProductNames names;
    const Factor of_a(left, names, true), of_b(right, names, false);
    const Extents shape = shapes_of(left, right, of_a, of_b, names.function).product;
    if (product_of(shape) == 0 || of_a.columns() == 0)
        return "auto: there is nothing to multiply, so that no product is launched.";
    const std::span<const py::ssize_t> extents = shape;
    const ops::Type type = type_of_product(of_a, of_b, py::none()).type;
    const auto operand = [&](const Operand& its, const Factor& factor, Extents& strides) {
        if (const DeviceArray* const array = its.on_device())
            return described(*array, factor.type, factor, &factor == &of_a, strides);
        // A NumPy array comes to the device in C order, and in the type of the product.
        ops::Operand made;
        made.type = stay_float8(of_a, of_b) ? factor.type : type;
        made.shape = factor.shape;
        return made;
    };
    Extents strides_of_a, strides_of_b;
    const ops::Choice choice = ops::explain_matmul(stream->device(), operand(left, of_a, strides_of_a),
                                                   operand(right, of_b, strides_of_b), type,
                                                   product_of(extents.first(extents.size() - 2)));
    return choice.variant + ": " + choice.reason;
}

py::object dot_of_matrices(const Operand& x, const Operand& y, py::handle out,
                           const core::StreamPtr& stream) {
    constexpr ProductNames names{"dot", "x", "y", "dot: x", "dot: y"};
    for (const Operand* operand : {&x, &y}) {
        if (operand->shape().empty()) refuse_number(names.function, operand->name());
    }
    const py::object on = py::cast(wrap(stream));
    const std::size_t of_x = x.shape().size(), of_y = y.shape().size();
    const py::object left = x.object(), right = y.object();
    if (of_y <= 2 || of_x == 1) return compute_product(left, right, out, "auto", on, names);
    check_summed_extent(x, y, names.function);
    // Before work is enqueued, which an `out` that does not fit would leave behind.
    std::optional<Output> output;
    if (!out.is_none()) {
        const Factor left_factor(x, names, true), right_factor(y, names, false);
        Extents shape;
        for (std::size_t i = 0; i + 1 < of_x; ++i) shape.push_back(x.shape()[i]);
        for (std::size_t i = 0; i < of_y; ++i)
            if (i + 2 != of_y) shape.push_back(y.shape()[i]);
        output.emplace(out, shape, type_of_product(left_factor, right_factor, py::none()),
                       x.on_device() == nullptr, *stream);
    }
    // Multiplies each row of x with each matrix of y by broadcasting, then moves the axes of x before those
    // of y.
    const std::size_t rows = of_x - 1, before = of_y - 2;
    py::list apart, axes;
    for (std::size_t i = 0; i + 1 < rows; ++i) apart.append(x.shape()[i]);
    for (std::size_t i = 0; i < before; ++i) apart.append(1);
    apart.append(x.shape()[of_x - 2]);
    apart.append(x.shape()[of_x - 1]);
    const py::object product =
        compute_product(left.attr("reshape")(py::tuple(apart)), right, py::none(), "auto", on, names);
    const std::size_t dimensions = rows - 1 + before + 2;
    for (std::size_t i = 0; i + 1 < rows; ++i) axes.append(i);
    axes.append(dimensions - 2);
    for (std::size_t i = rows - 1; i + 2 < dimensions; ++i) axes.append(i);
    axes.append(dimensions - 1);
    const py::object result = product.attr("transpose")(*py::tuple(axes));
    if (!output) return result;
    if (x.on_device() != nullptr) return output->deliver(result.cast<DeviceArray>(), stream);
    numpy().attr("copyto")(out, result, py::arg("casting") = "same_kind");
    return output->written();
}

}  // namespace cuscope::bindings
