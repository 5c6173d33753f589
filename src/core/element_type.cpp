#include "core/element_type.hpp"

#include "runtime/element_types.hpp"

namespace cuscope::core {

ElementType element_type(std::string_view name) {
    for (const ElementRow& row : element_types) {
        if (row.name == name) return {row.kind, row.bytes};
    }
    return {};
}

std::string name(ElementType type) {
    for (const ElementRow& row : element_types) {
        if (ElementType{row.kind, row.bytes} == type) return std::string(row.name);
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
    for (const ElementRow& row : element_types) {  // __half2 and half2, __nv_bfloat162 and nv_bfloat162
        const bool of_cuda = row.type.starts_with("__") && type.ends_with('2');
        const std::string_view one = type.substr(0, type.size() - (of_cuda ? 1 : 0));
        if (of_cuda && (one == row.type || one == row.type.substr(2))) return {{row.kind, row.bytes}, 2};
    }
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
