#include "ops/matmul/choice.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/device/device.hpp"
#include "core/error.hpp"
#include "ops/matmul/matmul.hpp"

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
    return {.a = will_be_in_packs(a, types.out),
            .b = will_be_in_packs(b, types.out) || has_columns_in_packs(b, types.out),
            .b_columns = has_columns_anywhere(b, types.out)};
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

namespace {

// Does the instance read A with its strides?
bool reads_any_a(const plan::Instance& instance, const Array& a, Type type) {
    return instance.any_a && a.type == type && in_elements(a);
}

// Does the instance read an operand that is stored transposed as it lies: by tensor maps, or, of B, by its
// kernel_along_k()?
bool reads_columns_of_a(const plan::Instance& instance, const Array& a, Type type) {
    return instance.reads_boxes() && !instance.along_k && has_columns(a, type);
}

bool reads_along_k(const plan::Instance& instance, const Array& b, Type type) {
    return instance.has_along_k &&
           (instance.along_k_anywhere ? has_columns_anywhere(b, type) : has_columns_in_packs(b, type));
}

bool reads_columns_of_b(const plan::Instance& instance, const Array& b, Type type) {
    return reads_along_k(instance, b, type) || (instance.reads_boxes() && has_columns(b, type));
}

// The operands of which a kernel needs copies.
struct Copies {
    bool a, b;

    static Copies of(const plan::Instance& instance, const Array& a, const Array& b, Type type) {
        const auto copied = [&](const Array& operand, bool as_it_lies, bool aligned) {
            if (operand.type != type) return true;
            if (as_it_lies) return false;
            return !has_rows(operand) || (aligned && !in_packs(operand));
        };
        const bool a_as_it_lies = reads_any_a(instance, a, type) || reads_columns_of_a(instance, a, type);
        return {copied(a, a_as_it_lies, instance.aligned_a),
                copied(b, reads_columns_of_b(instance, b, type), instance.aligned_b)};
    }
};

// The seconds of a product of this shape, with its copies.
double seconds_of(const plan::Choice& choice, const plan::Shape& shape, const Copies& copies,
                  const plan::Device& on) {
    const int count = copies.a + copies.b;
    const double rows =
        static_cast<double>(copies.a ? shape.m : 0) + static_cast<double>(copies.b ? shape.n : 0);
    const double bytes = rows * static_cast<double>(shape.k) * static_cast<double>(shape.batch) *
                         plan::element(choice.instance->in)->size;
    const double device = plan::seconds(*choice.instance, shape, choice.split, on) +
                          count * plan::copy_seconds + bytes / plan::copied_bytes_per_second;
    return std::max(device, plan::host_seconds(choice.split) + count * plan::host_seconds_of_copy);
}

constexpr int few_columns = 64;

// May the transposed product be faster? Kernels are made for few rows of C, and not for few columns.
bool is_narrow(const plan::Shape& shape) { return shape.n < shape.m && shape.n <= few_columns; }

Way faster(const plan::Shape& shape, const Way& way, const Copies& copies, const Way& turned,
           const Copies& copies_of_turned, const plan::Device& on) {
    if (seconds_of(turned.choice, turn(shape), copies_of_turned, on) >=
        seconds_of(way.choice, shape, copies, on))
        return way;
    Way made = turned;
    made.turned = true;
    made.choice.reason =
        "C has few columns, so C transposed is computed, which has few rows. " + made.choice.reason;
    return made;
}

}  // namespace

Way choose_either(const core::Device& device, const Types& types, const plan::Shape& shape, const Array& a,
                  const Array& b) {
    const Way way = choose(device, types, shape, packs_of(a, b, types));
    if (!is_narrow(shape) || !types.are_alike() || way.choice.instance == nullptr) return way;
    const Array left = transposed(b), right = transposed(a);  // of the transposed product
    plan::Packs packs = packs_of(left, right, types);
    packs.c_columns = shape.n > 1;
    const Way turned = choose(device, types, turn(shape), packs);
    if (turned.choice.instance == nullptr) return way;
    return faster(shape, way, Copies::of(*way.choice.instance, a, b, way.factors), turned,
                  Copies::of(*turned.choice.instance, left, right, turned.factors), device_of(device));
}

InColumns make_readable(const Way& way, const Types& types, Prepared* a, Prepared* b) {
    using Copy = Prepared::Copy;
    const Type factors = way.factors;
    const plan::Instance& instance = *way.choice.instance;
    const auto put_in_rows = [factors](Prepared* operand) {
        if (operand->array().type != factors || !has_rows(operand->array()))
            operand->take(Copy::rows, factors);
    };
    for (Prepared* const operand : {a, b})
        if (operand->array().type != factors && !types.are_alike()) operand->take(Copy::converted, factors);
    // Kernels with boxes also read operands that are stored transposed; some others have a kernel for such a
    // B.
    InColumns columns{reads_columns_of_a(instance, a->array(), factors),
                      reads_columns_of_b(instance, b->array(), factors)};
    if (!columns.a && !reads_any_a(instance, a->array(), factors)) put_in_rows(a);
    if (!columns.b) put_in_rows(b);
    if (instance.reads_boxes() && instance.along_k &&
        !(columns.b && has_map(b->array()) && in_packs(transposed(b->array())))) {
        b->take(Copy::columns, factors);
        columns.b = true;
    }
    if (instance.reads_boxes() && !instance.parts)
        for (Prepared* const operand : {a, b})
            if (!has_map(operand->array())) operand->take(Copy::all, factors);
    if (instance.aligned_a && !columns.a && !in_packs(a->array())) a->take(Copy::packs, factors);
    if (instance.aligned_b && !columns.b && !in_packs(b->array())) b->take(Copy::packs, factors);
    return columns;
}

Way choose_in_rows(const core::Device& device, const Types& types, const plan::Shape& shape) {
    const Way way = choose(device, types, shape);
    if (!is_narrow(shape) || !types.are_alike() || way.choice.instance == nullptr) return way;
    const bool one_column = shape.n == 1;
    const Way turned = choose(device, types, turn(shape), {.b_columns = true, .c_columns = !one_column});
    if (turned.choice.instance == nullptr) return way;
    const Copies copies{!one_column && !turned.choice.instance->any_a, !turned.choice.instance->has_along_k};
    return faster(shape, way, {false, false}, turned, copies, device_of(device));
}

}  // namespace cuscope::ops
