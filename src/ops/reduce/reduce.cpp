#include "ops/reduce/reduce.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

#include "ops/plan_cache.hpp"
#include "ops/prediction.hpp"
#include "ops/reduce/cpu.hpp"
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

// The bits of `axes` are the reduced dimensions.
Arrangement arrangement_of(const Array& array, std::uint64_t axes, bool ordered) {
    std::vector<bool> reduced(array.dimensions());
    for (std::size_t i = 0; i < reduced.size(); ++i) reduced[i] = (axes >> i & 1) != 0;
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

// The array as `seen` describes it; a copy if that is necessary.
Array arranged(const Array& array, const Arrangement& seen, const core::StreamPtr& stream) {
    const Array same = with_order(array, seen.order);
    return seen.copied ? packed(same, array.type, stream) : same;
}

// The bits of the axes, with the axes in this order.
std::uint64_t in_order(std::uint64_t axes, const std::vector<std::size_t>& order) {
    std::uint64_t moved = 0;
    for (std::size_t i = 0; i < order.size(); ++i) moved |= (axes >> order[i] & 1) << i;
    return moved;
}

// How the kernels reduce elements that would have to be copied, without a copy. Empty if they lie together,
// or if a copy is better.
std::optional<Strided> without_copy(Operation operation, const Array& in, std::uint64_t axes,
                                    const Arrangement& seen) {
    if (!seen.copied || operation == Operation::dot) return std::nullopt;
    return strided_view(in, axes, finds_place(operation));
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

namespace {

// The launch that a reduction is, if it is one: all but the addresses.
using OneLaunch = std::variant<NativeReduction, KernelReduction>;

PlanKey key_of(Operation operation, const Operand& in, const Operand* other, std::uint64_t axes, Type out,
               bool natively) {
    PlanKey key;
    key.add(static_cast<std::uint64_t>(operation) << 32 | static_cast<std::uint64_t>(in.type) << 16 |
            static_cast<std::uint64_t>(out) << 8 | (natively ? 1 : 0));
    key.add(axes);
    key.add(in.shape);
    key.add(in.strides);
    if (other != nullptr) key.add(other->strides);
    return key;
}

OneLaunch launch_of(core::Device& device, Operation operation, Type in, Type out, const Extents& extents,
                    bool natively) {
    if (!natively) return plan_reduction(device, operation, in, out, extents);
    const std::int64_t elements =
        extents.outer * extents.length * extents.inner * (operation == Operation::dot ? 2 : 1);
    // The time of the kernel that "auto" takes on a GPU.
    const std::int64_t duration = predict_reduction(device, single_launch, elements, size_of(in));
    return plan_natively(device, operation, in, extents, duration);
}

}  // namespace

void reduce(Operation operation, const Operand& in, const Operand* other, std::uint64_t axes,
            const Operand& out, std::string_view variant, const core::StreamPtr& stream) {
    const auto note = note_output(out);
    core::Device& device = stream->device();
    if (variant == native && !device.simulated()) {
        throw std::invalid_argument(
            "variant: 'native' is there on simulated devices alone; see reduce.variants()");
    }
    const bool natively = device.simulated() && (variant == "auto" || variant == native);
    if (!natively && variant != "auto" && variant != single_launch) {
        const Array array = in.array();
        const Arrangement seen = arrangement_of(array, axes, finds_place(operation));
        return run_ladder(std::string(variant), operation, arranged(array, seen, stream), out.array(),
                          seen.extents, stream);
    }
    const Type made = natively ? result_type(operation, in.type) : out.type;
    if (made != out.type) {
        const Array wide = allocate(stream, made, out.array().shape);
        reduce(operation, in, other, axes, operand_of(wide), variant, stream);
        return copy_into(out.array(), wide, stream);
    }
    auto& plans = PlanCache<OneLaunch>::of(device);
    const PlanKey key = key_of(operation, in, other, axes, out.type, natively);
    std::shared_ptr<const OneLaunch> plan = plans.find(key);
    if (!plan) {
        const unsigned generation = device.generation();
        const Array array = in.array();
        const Arrangement seen = arrangement_of(array, axes, finds_place(operation));
        const auto view = natively ? std::nullopt : without_copy(operation, array, axes, seen);
        if ((seen.copied && !view) || (other != nullptr && !other->array().contiguous())) {
            const Array source = arranged(array, seen, stream);
            // The two operands of a dot product are one-dimensional: only their strides may differ.
            const Array factor = other == nullptr ? source : packed(other->array(), other->type, stream);
            const Operand second = operand_of(factor);
            return reduce(operation, operand_of(source), other == nullptr ? nullptr : &second,
                          in_order(axes, seen.order), out, variant, stream);
        }
        plan = plans.add(key, generation,
                         view ? OneLaunch(plan_reduction(device, operation, in.type, out.type, *view))
                              : launch_of(device, operation, in.type, out.type, seen.extents, natively));
    }
    const Place factor = other == nullptr ? Place{} : place_of(*other);
    const auto run = [&](const auto& launch) {
        launch.run(place_of(in), other == nullptr ? nullptr : &factor, place_of(out), stream);
    };
    std::visit(run, *plan);
}

Choice explain_reduce(const core::Device& device, Operation operation, const Operand& in, std::uint64_t axes,
                      std::string_view variant) {
    if (variant != "auto" && variant != single_launch) return {std::string(variant), "asked for"};
    const Array array = in.array();
    const Arrangement seen = arrangement_of(array, axes, finds_place(operation));
    const auto view = without_copy(operation, array, axes, seen);
    Choice kernel =
        view ? explain_reduction(device, *view) : explain_reduction(device, operation, in.type, seen.extents);
    if (seen.copied && !view) kernel.reason = "after a copy in C order, " + kernel.reason;
    if (!device.simulated() || variant == single_launch) return kernel;
    const std::int64_t duration = predict_reduction(device, single_launch, array.count(), size_of(in.type));
    return {native, simulated_reason(kernel, duration)};
}

}  // namespace cuscope::ops
