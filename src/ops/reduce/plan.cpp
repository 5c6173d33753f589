#include "ops/reduce/plan.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "ops/reduce/reduce.hpp"

namespace cuscope::ops {
namespace {

// In the order of Operation.
constexpr std::array<std::string_view, 10> names{"sum",    "prod", "min", "max",  "argmin",
                                                 "argmax", "any",  "all", "mean", "dot"};

}  // namespace

const char* name(Operation operation) { return names[static_cast<std::size_t>(operation)].data(); }

Type result_type(Operation operation, Type type) {
    const bool is_signed = kind_of(type) == 'i' || type == Type::boolean;
    const bool is_integer = is_signed || kind_of(type) == 'u';
    switch (operation) {
        case Operation::sum:
        case Operation::prod:
            return is_integer ? (is_signed ? Type::int64 : Type::uint64) : type;
        case Operation::mean:
            return is_integer ? Type::float64 : type;
        case Operation::argmin:
        case Operation::argmax:
            return Type::int64;
        case Operation::any:
        case Operation::all:
            return Type::boolean;
        default:
            return type;
    }
}

Types types_of(Operation operation, Type type, std::optional<Type> asked) {
    const auto is_integer = [](Type of) { return kind_of(of) == 'i' || kind_of(of) == 'u'; };
    Types types{type, type, result_type(operation, type)};
    if (asked) {
        types.final = *asked;
        // Sums of narrow integers are computed in wide ones and cut off, which wraps around in the same way.
        if (kind_of(*asked) != kind_of(type) || !is_integer(*asked)) types.computed = *asked;
    }
    types.made = result_type(operation, types.computed);
    const bool adds = operation == Operation::sum || operation == Operation::prod;
    // Variants with 32-bit integers compute in this type.
    if (adds && is_integer(types.final) && size_of(types.final) == 4) types.made = types.final;
    return types;
}

}  // namespace cuscope::ops
