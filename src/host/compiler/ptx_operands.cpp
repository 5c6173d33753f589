#include "host/compiler/ptx_operands.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "host/compiler/ptx.hpp"

namespace cuscope::simt {

std::string trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(" \t\n\r"), to = text.find_last_not_of(" \t\n\r");
    return from == std::string_view::npos ? "" : std::string(text.substr(from, to + 1 - from));
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && (text[i] == '{' || text[i] == '[' || text[i] == '(')) ++depth;
        if (i < text.size() && (text[i] == '}' || text[i] == ']' || text[i] == ')')) --depth;
        if (i == text.size() || (text[i] == separator && depth == 0)) {
            parts.push_back(trimmed(text.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    return parts;
}

std::vector<std::string> parts_of(const std::string& opcode) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= opcode.size()) {
        const std::size_t end = std::min(opcode.find('.', begin), opcode.size());
        parts.push_back(opcode.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

bool is_number(std::string_view text) {
    if (!text.empty() && text[0] == '-') text.remove_prefix(1);
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
}

const char* type_of(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, const char*>, 13> types{{
        {"f32", "float"},
        {"f64", "double"},
        {"u32", "unsigned"},
        {"b32", "unsigned"},
        {"s32", "int"},
        {"u64", "unsigned long long"},
        {"b64", "unsigned long long"},
        {"s64", "long long"},
        {"u16", "unsigned short"},
        {"b16", "unsigned short"},
        {"s16", "short"},
        {"u8", "unsigned char"},
        {"s8", "signed char"},
    }};
    for (const auto& [ptx, type] : types)
        if (ptx == name) return type;
    return nullptr;
}

std::string PtxOperands::expression(const std::string& text) const {
    if (text.size() == 10 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F'))  // the bits of a float
        return "::cuscope_simt::bit_copy<float>(0x" + text.substr(2) + "u)";
    if (text.size() == 18 && text[0] == '0' && (text[1] == 'd' || text[1] == 'D'))  // of a double
        return "::cuscope_simt::bit_copy<double>(0x" + text.substr(2) + "ull)";
    if (is_number(text)) return text;
    const std::string name = text.starts_with("%%") ? text.substr(2) : text;
    if (std::find(registers_.begin(), registers_.end(), name) != registers_.end()) return "r_" + name;
    if (const auto special = special_register("mov.u32 %0, " + text, ""); special && text.starts_with("%%"))
        return "::cuscope_simt::special::" + *special + "()";
    if (text.empty() || text[0] != '%') return "";
    if (text.size() > 1 && text[1] == '[') {
        const auto found = std::find(names_.begin(), names_.end(), text.substr(2, text.size() - 3));
        return found == names_.end() ? "" : "o" + std::to_string(found - names_.begin());
    }
    if (!is_number(text.substr(1)) || std::stoul(text.substr(1)) >= names_.size()) return "";
    return "o" + text.substr(1);
}

std::optional<std::string> PtxOperands::number(const std::string& text, const std::string& type) const {
    const std::string found = expression(text);
    if (found.empty()) return std::nullopt;
    // A literal is converted; a register gives its bits.
    if (is_number(text)) return "static_cast<" + type + ">(" + found + ")";
    return "::cuscope_simt::ptx::get<" + type + ">(" + found + ")";
}

std::optional<std::string> PtxOperands::predicate(const std::string& text) const {
    const bool negated = text.starts_with('!');
    const std::string found = expression(negated ? text.substr(1) : text);
    if (found.find("r_") != 0 && found != "0" && found != "1") return std::nullopt;
    return (negated ? "!" : "") + found;
}

std::optional<std::string> PtxOperands::predicate_to_set(const std::string& text) const {
    const std::string found = expression(text);
    return found.find("r_") == 0 ? std::optional(found) : std::nullopt;
}

std::string PtxOperands::address(const std::string& text, bool shared) const {
    if (text.size() < 3 || text.front() != '[' || text.back() != ']') return "";
    const std::string inner = text.substr(1, text.size() - 2);
    const std::size_t plus = inner.find('+');
    const std::string base = expression(trimmed(inner.substr(0, plus)));
    if (base.empty()) return "";
    const std::string offset = plus == std::string::npos ? "0" : expression(trimmed(inner.substr(plus + 1)));
    if (offset.empty()) return "";
    return std::string("::cuscope_simt::ptx::") + (shared ? "shared_at(" : "at(") + base + ", " + offset +
           ")";
}

std::vector<std::string> PtxOperands::list(const std::string& text) const {
    std::vector<std::string> result;
    const bool braces = text.size() > 1 && text.front() == '{' && text.back() == '}';
    for (const std::string& part : split(braces ? text.substr(1, text.size() - 2) : text, ',')) {
        result.push_back(expression(part));
        if (result.back().empty()) return {};
    }
    return result;
}

}  // namespace cuscope::simt
