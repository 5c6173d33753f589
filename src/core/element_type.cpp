#include "core/element_type.hpp"

#include <array>

namespace cuscope::core {
namespace {

struct Named {
    std::string_view name;
    ElementType type;
};

constexpr std::array names{
    Named{"bool", {'b', 1}},      Named{"int8", {'i', 1}},        Named{"int16", {'i', 2}},
    Named{"int32", {'i', 4}},     Named{"int64", {'i', 8}},       Named{"uint8", {'u', 1}},
    Named{"uint16", {'u', 2}},    Named{"uint32", {'u', 4}},      Named{"uint64", {'u', 8}},
    Named{"float16", {'f', 2}},   Named{"float32", {'f', 4}},     Named{"float64", {'f', 8}},
    Named{"complex64", {'c', 8}}, Named{"complex128", {'c', 16}},
};

}  // namespace

ElementType element_type(std::string_view name) {
    for (const Named& known : names) {
        if (known.name == name) return known.type;
    }
    return {};
}

std::string name(ElementType type) {
    for (const Named& known : names) {
        if (known.type == type) return std::string(known.name);
    }
    return std::to_string(type.size) + "-byte elements";
}

}  // namespace cuscope::core
