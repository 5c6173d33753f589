#include "host/counting/operands.hpp"

#include <algorithm>
#include <array>

namespace cuscope::simt {
namespace {

std::string_view trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

}  // namespace

std::string_view whole_register(std::string_view name) {
    struct Parts {
        std::string_view whole, ending;
    };
    static constexpr std::array letters{Parts{"rax", "ax"}, Parts{"rbx", "bx"}, Parts{"rcx", "cx"},
                                        Parts{"rdx", "dx"}, Parts{"rsi", "si"}, Parts{"rdi", "di"},
                                        Parts{"rbp", "bp"}};
    for (const Parts& its : letters) {
        if (name == its.whole || name == its.ending) return its.whole;
        if (name.size() == 3 && name[0] == 'e' && name.substr(1) == its.ending) return its.whole;
        if (name.size() == 2 && name[1] == 'l' && name[0] == its.ending[0] && its.ending[1] == 'x')
            return its.whole;
        if (name.size() == 3 && name[2] == 'l' && name.substr(0, 2) == its.ending) return its.whole;
    }
    if (name.size() > 1 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9')
        while (name.back() < '0' || name.back() > '9') name.remove_suffix(1);
    if (name.substr(0, 3) == "ymm") name.remove_prefix(1);  // mm0 is a part of %xmm0 as well as of %ymm0
    if (name.substr(0, 3) == "xmm") name.remove_prefix(1);
    return name;
}

std::vector<std::string_view> divided(std::string_view operands) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= operands.size(); ++i) {
        if (i < operands.size() && operands[i] == '(') ++depth;
        if (i < operands.size() && operands[i] == ')') --depth;
        if (i < operands.size() && (operands[i] != ',' || depth != 0)) continue;
        if (const auto part = trimmed(operands.substr(begin, i - begin)); !part.empty())
            parts.push_back(part);
        begin = i + 1;
    }
    return parts;
}

}  // namespace cuscope::simt
