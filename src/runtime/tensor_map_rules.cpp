// The rules that cuTensorMapEncodeTiled documents for its arguments.
#include "runtime/tensor_map_types.hpp"

namespace cuscope {
namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }

std::uint64_t swizzled_bytes(TensorMapSwizzle swizzle) {
    return swizzle == TensorMapSwizzle::none ? 0 : std::uint64_t{16} << static_cast<int>(swizzle);
}

bool is_floating(TensorMapType type) {
    return type >= TensorMapType::float16 && type <= TensorMapType::tfloat32_ftz;
}

template <class Enumeration>
bool is_between(Enumeration value, Enumeration least, Enumeration most) {
    return static_cast<int>(value) >= static_cast<int>(least) &&
           static_cast<int>(value) <= static_cast<int>(most);
}

// `axis` counts from the innermost one, the text from the outermost one.
std::string of_axis(const TensorMapDescription& d, unsigned axis) {
    return " of axis " + std::to_string(d.rank - 1 - axis);
}

std::string problem_of_axis(const TensorMapDescription& d, unsigned axis) {
    const std::uint64_t extent = d.extents[axis], stride = d.strides[axis];
    const std::uint32_t box = d.box[axis], step = d.element_strides[axis];
    if (extent == 0 || extent > std::uint64_t{1} << 32)
        return "the extent" + of_axis(d, axis) + " is " + text(extent) + "; allowed are 1 to 2**32";
    if (axis != 0 && (stride % 16 != 0 || stride >= std::uint64_t{1} << 40))
        return "the stride" + of_axis(d, axis) + " is " + text(stride) +
               " bytes; allowed are multiples of 16 below 2**40";
    if (box == 0 || box > 256)
        return "box" + of_axis(d, axis) + " is " + text(box) + "; allowed are 1 to 256 elements";
    if (step == 0 || step > 8)
        return "element_strides" + of_axis(d, axis) + " is " + text(step) + "; allowed are 1 to 8";
    return "";
}

}  // namespace

std::size_t bytes_of(TensorMapType type) {
    switch (type) {
        case TensorMapType::uint8:
            return 1;
        case TensorMapType::uint16:
        case TensorMapType::float16:
        case TensorMapType::bfloat16:
            return 2;
        case TensorMapType::uint32:
        case TensorMapType::int32:
        case TensorMapType::float32:
        case TensorMapType::float32_ftz:
        case TensorMapType::tfloat32:
        case TensorMapType::tfloat32_ftz:
            return 4;
        case TensorMapType::uint64:
        case TensorMapType::int64:
        case TensorMapType::float64:
            return 8;
    }
    return 0;
}

std::string tensor_map_problem(const TensorMapDescription& d) {
    const std::size_t element = bytes_of(d.type);
    if (element == 0) return "the element type is no type of tensor maps";
    if (d.rank == 0 || d.rank > most_tensor_axes)
        return "the array has " + std::to_string(d.rank) + " axes; allowed are 1 to 5";
    const auto address = reinterpret_cast<std::uintptr_t>(d.address);
    if (address == 0 || address % 16 != 0)
        return "the first element is at the address " + text(address) +
               "; allowed are multiples of 16, and not 0";
    for (unsigned axis = 0; axis < d.rank; ++axis)
        if (std::string problem = problem_of_axis(d, axis); !problem.empty()) return problem;
    const std::uint64_t inner = d.box[0] * std::uint64_t{element};
    if (inner % 16 != 0)
        return "box" + of_axis(d, 0) + " is " + text(d.box[0]) + " elements of " + text(element) +
               " bytes, " + text(inner) + " bytes together; allowed are multiples of 16 bytes";
    if (!is_between(d.swizzle, TensorMapSwizzle::none, TensorMapSwizzle::bytes_128))
        return "swizzle is no mode of tensor maps";
    const std::uint64_t span = swizzled_bytes(d.swizzle);
    if (span != 0 && inner > span)
        return "box" + of_axis(d, 0) + " has " + text(inner) + " bytes; with a swizzle of " + text(span) +
               " bytes it has at most as many";
    if (!is_between(d.l2_promotion, TensorMapL2Promotion::none, TensorMapL2Promotion::bytes_256))
        return "l2_promotion is no mode of tensor maps";
    if (!is_between(d.fill, TensorMapFill::zeros, TensorMapFill::nan))
        return "oob_fill is no mode of tensor maps";
    if (d.fill == TensorMapFill::nan && !is_floating(d.type))
        return "oob_fill is NaN, which integers do not have; allowed is zeros";
    return "";
}

}  // namespace cuscope
