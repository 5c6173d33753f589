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
    Named{"complex64", {'c', 8}}, Named{"complex128", {'c', 16}}, Named{"bfloat16", bfloat16},
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

VectorType vector_type(std::string_view type) {
    struct Base {
        std::string_view name;
        ElementType element;
    };
    constexpr std::size_t of_long = sizeof(long);
    static constexpr Base bases[] = {
        {"char", {'i', 1}},     {"uchar", {'u', 1}},     {"short", {'i', 2}},      {"ushort", {'u', 2}},
        {"int", {'i', 4}},      {"uint", {'u', 4}},      {"long", {'i', of_long}}, {"ulong", {'u', of_long}},
        {"longlong", {'i', 8}}, {"ulonglong", {'u', 8}}, {"float", {'f', 4}},      {"double", {'f', 8}},
    };
    if (type.starts_with("const ")) type.remove_prefix(6);
    if (type.ends_with(" const")) type.remove_suffix(6);
    if (type == "dim3") return {{'u', 4}, 3};
    if (type == "__half2" || type == "half2") return {{'f', 2}, 2};
    if (type == "__nv_bfloat162" || type == "nv_bfloat162") return {bfloat16, 2};
    // In cuda::std (which has an inline namespace), in thrust and in other libraries.
    if (type.ends_with("::complex<float>")) return {{'f', 4}, 2, true};
    if (type.ends_with("::complex<double>")) return {{'f', 8}, 2, true};
    // CUDA 13 appends the alignment to some names: double4_16a.
    for (const std::string_view alignment : {"_16a", "_32a"}) {
        if (type.ends_with(alignment)) type.remove_suffix(alignment.size());
    }
    if (type.size() < 2 || type.back() < '1' || type.back() > '4') return {};
    const auto lanes = static_cast<std::size_t>(type.back() - '0');
    type.remove_suffix(1);
    for (const Base& base : bases) {
        if (type == base.name) return {base.element, lanes};
    }
    return {};
}

}  // namespace cuscope::core
