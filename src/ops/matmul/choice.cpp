#include "ops/matmul/choice.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/device/device.hpp"
#include "core/error.hpp"
#include "ops/matmul/matmul.hpp"
#include "ops/matmul/operands.hpp"

namespace cuscope::ops {

namespace plan = matmul;

namespace {

constexpr int plan_of_all = 90;  // a compute capability on which every variant runs

plan::Device device_of(const core::Device& device) {
    const DeviceProperties& properties = device.properties();
    plan::Device known;
    known.capability = 10 * properties.compute_capability_major + properties.compute_capability_minor;
    // A simulated device runs every variant, however old its model is.
    if (device.simulated()) known.capability = std::max(known.capability, plan_of_all);
    known.multiprocessors = std::max(1, properties.multiprocessor_count);
    known.shared_bytes = static_cast<int>(
        std::max(properties.shared_memory_per_block, properties.shared_memory_per_block_optin));
    return known;
}

}  // namespace

std::string without_number(const std::string& rung) {
    return rung.substr(rung.find_first_not_of("0123456789_"));
}

plan::Shape turn(const plan::Shape& shape) { return {shape.n, shape.m, shape.k, shape.batch}; }

plan::Shape shape_of(const Array& c, std::int64_t k) {
    plan::Shape shape{c.shape[c.dimensions() - 2], c.shape.back(), k, 1};
    for (std::size_t i = 0; i + 2 < c.dimensions(); ++i) shape.batch *= c.shape[i];
    return shape;
}

plan::Packs packs_of(const Array& a, const Array& b, const Types& types) {
    if (!types.are_alike()) return {};
    return {will_be_in_packs(a, types.out),
            will_be_in_packs(b, types.out) || has_columns_in_packs(b, types.out)};
}

Way way_of(const std::string& variant, const plan::Shape& shape, const Types& types, const plan::Packs& packs,
           const core::Device& device) {
    const plan::Device on = device_of(device);
    bool known = false, for_device = true;
    for (const Type factors : types.factors) {
        const plan::Instance* best = nullptr;
        for (const plan::Instance& instance : plan::instances()) {
            if (without_number(instance.rung) != variant) continue;
            known = true;
            if (plan::element(instance.in)->cpp != plan::element(name(factors))->cpp ||
                plan::element(instance.out)->cpp != plan::element(name(types.out))->cpp)
                continue;
            for_device = plan::runs_on(instance, on);
            if (!for_device) continue;
            const auto better = [&](const plan::Instance& a, const plan::Instance& b) {
                const bool copies_a = plan::needs_copies(a, packs), copies_b = plan::needs_copies(b, packs);
                if (copies_a != copies_b) return copies_b;
                return a.efficiency > 0 && plan::cost(a, shape, on) < plan::cost(b, shape, on);
            };
            if (best == nullptr || better(instance, *best)) best = &instance;
        }
        if (best != nullptr) return {factors, {best, {}, {}}};
    }
    if (!known) {
        std::string message = "variant: there is no '" + variant + "'; there are auto";
        for (const Variant& there : matmul_variants(device)) message += ", " + there.name;
        throw std::invalid_argument(message);
    }
    std::string message = "variant: " + variant + " does not multiply " + name(types.factors.front()) +
                          (types.are_alike() ? std::string() : std::string(" into ") + name(types.out)) +
                          " on " + device.name();
    if (!for_device)
        message += ", which has compute capability " + std::to_string(on.capability / 10) + "." +
                   std::to_string(on.capability % 10);
    throw core::WrongKind(message + ": see matmul.variants(), or pass variant=\"auto\"");
}

Way choose(const core::Device& device, const Types& types, const plan::Shape& shape,
           const plan::Packs& packs) {
    for (const Type factors : types.factors) {
        const plan::Choice choice =
            plan::choose(shape, name(factors), name(types.out), device_of(device), packs);
        if (choice.instance != nullptr) return {factors, choice};
    }
    return {types.out, {}};
}

bool reads_along_k(const plan::Instance& instance, const Array& b, Type type) {
    return instance.has_along_k &&
           (instance.along_k_anywhere ? has_columns_anywhere(b, type) : has_columns_in_packs(b, type));
}

namespace {

// The transposed product, if it is faster.
Way faster(const core::Device& device, const plan::Shape& shape, const Way& way, const Way& turned) {
    if (way.choice.instance == nullptr || turned.choice.instance == nullptr) return way;
    const plan::Device on = device_of(device);
    const auto seconds = [&](const plan::Choice& choice, const plan::Shape& of) {
        return plan::seconds(*choice.instance, of, choice.split, on);
    };
    if (seconds(turned.choice, turn(shape)) >= seconds(way.choice, shape)) return way;
    Way made = turned;
    made.turned = true;
    made.choice.reason = "C has one column, so C transposed is computed. " + made.choice.reason;
    return made;
}

bool is_column(const plan::Shape& shape) { return shape.n == 1 && shape.m > 1; }

}  // namespace

Way choose_either(const core::Device& device, const Types& types, const plan::Shape& shape, const Array& a,
                  const Array& b) {
    const Way way = choose(device, types, shape, packs_of(a, b, types));
    if (!is_column(shape)) return way;
    const Array right = transposed(a);  // of the transposed product
    const Way turned = choose(device, types, turn(shape), packs_of(transposed(b), right, types));
    if (turned.choice.instance == nullptr) return way;
    const bool as_it_lies = reads_along_k(*turned.choice.instance, right, turned.factors) ||
                            (right.type == turned.factors && has_rows(right) && in_packs(right));
    return as_it_lies ? faster(device, shape, way, turned) : way;
}

Way choose_in_rows(const core::Device& device, const Types& types, const plan::Shape& shape) {
    const Way way = choose(device, types, shape);
    if (!is_column(shape)) return way;
    const Way turned = choose(device, types, turn(shape));
    const bool reads_columns = turned.choice.instance != nullptr && turned.choice.instance->has_along_k;
    return reads_columns ? faster(device, shape, way, turned) : way;
}

}  // namespace cuscope::ops
