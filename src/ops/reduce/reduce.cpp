#include "ops/reduce/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "ops/launch.hpp"
#include "ops/prediction.hpp"
#include "ops/reduce/gpu.hpp"
#include "ops/reduce/strided.hpp"

namespace cuscope::ops {
namespace {

constexpr const char* native = "native";

// The extents of a contiguous array as the kernels see it, if the reduced dimensions are adjacent.
struct Pattern {
    bool fits = false;
    Extents extents;
};

Pattern pattern_of(const std::vector<std::int64_t>& shape, const std::vector<bool>& reduced) {
    Pattern pattern;
    int stage = 0;  // 0: before the reduced extents, 1: among them, 2: after them
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1) continue;
        if (reduced[i]) {
            if (stage == 2) return pattern;
            stage = 1;
            pattern.extents.length *= shape[i];
        } else {
            if (stage == 1) stage = 2;
            (stage == 0 ? pattern.extents.outer : pattern.extents.inner) *= shape[i];
        }
    }
    pattern.fits = true;
    return pattern;
}

Array with_order(const Array& array, const std::vector<std::size_t>& order) {
    Array result = array;
    for (std::size_t i = 0; i < order.size(); ++i) {
        result.shape[i] = array.shape[order[i]];
        result.strides[i] = array.strides[order[i]];
    }
    return result;
}

// Are the chosen dimensions in the same order in `order` as in the array?
bool keeps_order(const std::vector<std::size_t>& order, const std::vector<bool>& among, bool which) {
    std::size_t last = 0;
    for (const std::size_t i : order) {
        if (among[i] != which) continue;
        if (i < last) return false;
        last = i;
    }
    return true;
}

// How the elements are viewed in C order with the reduced dimensions adjacent: in place, if necessary with
// the dimensions in another order; else through a copy with the reduced dimensions last.
struct Arrangement {
    std::vector<std::size_t> order;
    Extents extents;
    bool copied = false;
};

Arrangement arrangement_of(const Array& array, const std::vector<bool>& reduced, bool ordered) {
    std::vector<std::size_t> order(array.dimensions());
    std::iota(order.begin(), order.end(), 0);
    const auto as_it_lies = [&]() -> Pattern {
        const Array seen = with_order(array, order);
        if (!seen.contiguous()) return {};
        std::vector<bool> of_seen;
        for (const std::size_t i : order) of_seen.push_back(reduced[i]);
        return pattern_of(seen.shape, of_seen);
    };
    if (const Pattern pattern = as_it_lies(); pattern.fits) return {order, pattern.extents};
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return array.strides[a] > array.strides[b]; });
    if (keeps_order(order, reduced, false) && (!ordered || keeps_order(order, reduced, true))) {
        if (const Pattern pattern = as_it_lies(); pattern.fits) return {order, pattern.extents};
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !reduced[i]; });
    Extents extents;
    for (std::size_t i = 0; i < array.dimensions(); ++i)
        (reduced[i] ? extents.length : extents.outer) *= array.shape[i];
    return {order, extents, true};
}

std::pair<Array, Extents> arranged(const Array& array, const std::vector<bool>& reduced, bool ordered,
                                   const core::StreamPtr& stream) {
    const Arrangement seen = arrangement_of(array, reduced, ordered);
    const Array same = with_order(array, seen.order);
    return {seen.copied ? packed(same, array.type, stream) : same, seen.extents};
}

std::vector<bool> marks(std::size_t dimensions, const std::vector<std::size_t>& axes) {
    std::vector<bool> reduced(dimensions, false);
    for (const std::size_t axis : axes) reduced.at(axis) = true;
    return reduced;
}

// Does the result depend on the order of the reduced dimensions?
bool is_ordered(Operation operation) {
    return operation == Operation::argmin || operation == Operation::argmax;
}

// For the kernels: how to reduce elements that would have to be copied, without a copy. Empty if they lie
// together, or if a copy is better.
std::optional<Strided> without_copy(Operation operation, const Array& in, const std::vector<bool>& reduced) {
    if (operation == Operation::dot) return std::nullopt;
    const bool ordered = is_ordered(operation);
    if (!arrangement_of(in, reduced, ordered).copied) return std::nullopt;
    return strided_view(in, reduced, ordered);
}

}  // namespace

std::vector<Variant> reduce_variants(const core::Device& device) {
    std::vector<Variant> variants = ladder_variants();
    variants.push_back(
        {single_launch, "any operation, dtype and axes",
         "as vector_loads, for each dtype and shape, sums in double precision: what auto takes on a GPU"});
    if (device.simulated()) {
        variants.push_back({native, "a simulated device",
                            "the processor's own way: what auto takes here, at the speed of NumPy"});
    }
    return variants;
}

Choice reduce(Operation operation, const Array& in, const Array* other, const std::vector<std::size_t>& axes,
              const Array& out, const std::string& variant, const core::StreamPtr& stream) {
    const bool simulated = stream->device().simulated();
    if (variant == single_launch || (variant == "auto" && !simulated)) {
        if (const auto view = without_copy(operation, in, marks(in.dimensions(), axes)))
            return run_reduction(operation, in, out, *view, stream);
    }
    const auto [source, extents] = arranged(in, marks(in.dimensions(), axes), is_ordered(operation), stream);
    if (variant != "auto" && variant != native && variant != single_launch) {
        run_ladder(variant, operation, source, out, extents, stream);
        return {variant, "asked for"};
    }
    if (variant == native && !simulated) {
        throw std::invalid_argument(
            "variant: 'native' is there on simulated devices alone; see reduce.variants()");
    }
    // The two operands of a dot product are one-dimensional: only their strides may differ.
    const Array second = other == nullptr ? source : packed(*other, other->type, stream);
    const Array* const factor = other == nullptr ? nullptr : &second;
    if (simulated && variant != single_launch) {
        const Type made = result_type(operation, in.type);
        const Array result = made == out.type ? out : allocate(stream, made, out.shape);
        // The kernel that "auto" takes on a GPU.
        const std::int64_t elements = in.count() * (other == nullptr ? 1 : 2);
        const std::int64_t duration =
            predict_reduction(stream->device(), single_launch, elements, size_of(in.type));
        reduce_natively(operation, source, factor, result, extents, duration, stream);
        if (made != out.type) copy_into(out, result, stream);
        return {native, "the device is simulated: the processor's own way is the fastest."};
    }
    return run_reduction(operation, source, factor, out, extents, stream);
}

Choice explain_reduce(const core::Device& device, Operation operation, const Array& in,
                      const std::vector<std::size_t>& axes) {
    const std::vector<bool> reduced = marks(in.dimensions(), axes);
    const Arrangement seen = arrangement_of(in, reduced, is_ordered(operation));
    const auto view = without_copy(operation, in, reduced);
    Choice kernel =
        view ? explain_reduction(device, *view) : explain_reduction(device, operation, in.type, seen.extents);
    if (seen.copied && !view) kernel.reason = "after a copy in C order, " + kernel.reason;
    if (!device.simulated()) return kernel;
    const std::int64_t duration = predict_reduction(device, single_launch, in.count(), size_of(in.type));
    return {native, simulated_reason(kernel, duration)};
}

}  // namespace cuscope::ops
