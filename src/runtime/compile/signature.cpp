#include "runtime/compile/signature.hpp"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/compile/characters.hpp"
#include "runtime/element_types.hpp"

namespace cuscope {
namespace {

// A type that the table of element types has under another spelling.
struct Spelling {
    std::string_view type, element;
};

constexpr std::array other_spellings = {
    Spelling{"bool", "bool"},
    Spelling{"char", "int8"},
    Spelling{"unsigned", "uint32"},
    Spelling{"long", "int64"},
    Spelling{"unsigned long", "uint64"},
    Spelling{"char8_t", "uint8"},
    Spelling{"char16_t", "uint16"},
    Spelling{"char32_t", "uint32"},
    Spelling{"wchar_t", "int32"},
};

// The row of a number's type; null for any other type. CUDA's types also have a name without the underscores:
// half, nv_bfloat16.
const ElementRow* find_scalar(std::string_view type) {
    std::string_view element;
    for (const Spelling& other : other_spellings) {
        if (other.type == type) element = other.element;
    }
    for (const ElementRow& row : element_types) {
        const bool of_cuda = row.type.starts_with("__");
        if (row.name == element) return &row;
        if (row.is_built_in() && (row.type == type || (of_cuda && row.type.substr(2) == type))) return &row;
    }
    return nullptr;
}

// The size of float4, uchar2 and similar types; 0 for any other type.
std::size_t vector_size(std::string_view type) {
    constexpr std::array<std::pair<std::string_view, std::size_t>, 12> bases = {{{"char", 1},
                                                                                 {"uchar", 1},
                                                                                 {"short", 2},
                                                                                 {"ushort", 2},
                                                                                 {"int", 4},
                                                                                 {"uint", 4},
                                                                                 {"long", 8},
                                                                                 {"ulong", 8},
                                                                                 {"longlong", 8},
                                                                                 {"ulonglong", 8},
                                                                                 {"float", 4},
                                                                                 {"double", 8}}};
    if (type.size() < 2 || type.back() < '1' || type.back() > '4') return 0;
    const auto lanes = static_cast<std::size_t>(type.back() - '0');
    type.remove_suffix(1);
    for (const auto& [base, bytes] : bases) {
        if (type == base) return lanes * bytes;
    }
    return 0;
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// Removes the last word if it is `word`.
bool drop_last_word(std::string_view& type, std::string_view word) {
    if (!type.ends_with(word)) return false;
    const std::string_view rest = type.substr(0, type.size() - word.size());
    if (!rest.empty() && is_word(rest.back())) return false;
    type = trim(rest);
    return true;
}

// Removes const, volatile and restrict from the end of a type. Returns whether const was among them.
bool drop_qualifiers(std::string_view& type) {
    bool is_const = false;
    for (;;) {
        if (drop_last_word(type, "const")) {
            is_const = true;
        } else if (!drop_last_word(type, "volatile") && !drop_last_word(type, "__restrict__") &&
                   !drop_last_word(type, "__restrict") && !drop_last_word(type, "restrict")) {
            return is_const;
        }
    }
}

// "const float*" instead of the demangler's "float const*": some compilers write it so.
bool drop_leading_qualifiers(std::string_view& type) {
    bool is_const = false;
    for (;;) {
        if (type.starts_with("const ")) {
            is_const = true;
            type = trim(type.substr(6));
        } else if (type.starts_with("volatile ")) {
            type = trim(type.substr(9));
        } else {
            return is_const;
        }
    }
}

Parameter parse_parameter(std::string_view text) {
    Parameter parameter;
    std::string_view type = trim(text);
    parameter.type = type;
    drop_qualifiers(type);
    if (type == "CUgraphExec_st*") {  // a handle with another name in sources
        parameter.type = "cudaGraphExec_t";
        parameter.size = sizeof(void*);
        return parameter;
    }
    if (type == "CUtensorMap_st") {  // the same
        parameter.type = "CUtensorMap";
        parameter.size = sizeof(TensorMapBytes);
        return parameter;
    }
    std::size_t array = type.find(" (*) [");
    if (array == std::string_view::npos) array = type.find(" (&) [");
    if (array != std::string_view::npos) {
        type = type.substr(0, array + 1);  // a pointer to rows of an array becomes a pointer to its elements
        parameter.kind = ParameterKind::pointer;
    } else if (type.ends_with('*') || type.ends_with('&')) {
        type.remove_suffix(1);
        parameter.kind = ParameterKind::pointer;
    }
    if (parameter.kind != ParameterKind::pointer) {
        drop_leading_qualifiers(type);
        if (const ElementRow* row = find_scalar(type)) {
            parameter.kind = ParameterKind::scalar;
            parameter.element = row->name;
            parameter.size = row->bytes;
        } else {
            parameter.size = vector_size(type);
        }
        return parameter;
    }
    type = trim(type);
    parameter.size = sizeof(void*);
    parameter.is_const = drop_qualifiers(type);
    if (drop_leading_qualifiers(type) && !type.ends_with('*')) parameter.is_const = true;
    if (const ElementRow* row = find_scalar(type)) parameter.element = row->name;
    return parameter;
}

// Tracks nested brackets of every kind. A '>' that closes no '<' is an operator.
class Nesting {
  public:
    void add(char c) {
        switch (c) {
            case '(':
            case '[':
            case '{':
            case '<':
                open_ += c;
                break;
            case ')':
                close('(');
                break;
            case ']':
                close('[');
                break;
            case '}':
                close('{');
                break;
            case '>':
                if (!open_.empty() && open_.back() == '<') open_.pop_back();
                break;
            default:
                break;
        }
    }
    bool outside() const { return open_.empty(); }

  private:
    void close(char opening) {
        while (!open_.empty() && open_.back() == '<') open_.pop_back();
        if (!open_.empty() && open_.back() == opening) open_.pop_back();
    }
    std::string open_;
};

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> parts;
    Nesting nesting;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] == ',' && nesting.outside()) {
            parts.push_back(trim(list.substr(begin, i - begin)));
            begin = i + 1;
        }
        nesting.add(list[i]);
    }
    parts.push_back(trim(list.substr(begin)));
    return parts;
}

struct Parentheses {
    std::size_t begin, end;
};

// The last pair encloses the parameters. Earlier pairs may be in template arguments and scopes.
std::optional<Parentheses> last_parentheses(std::string_view text) {
    const std::size_t end = text.rfind(')');
    if (end == std::string_view::npos) return std::nullopt;
    for (std::size_t begin = end, depth = 0;; --begin) {
        const char c = text[begin];
        if (c == ')' || c == ']' || c == '}') ++depth;
        if (c == '(' || c == '[' || c == '{') --depth;
        if (depth == 0) return Parentheses{begin, end};
        if (begin == 0) return std::nullopt;
    }
}

}  // namespace

std::string demangle(const char* mangled) {
    if (mangled == nullptr) return "";
    if (*mangled == '*') ++mangled;  // GCC marks a type that is local to its file
    const std::string_view name = mangled;
    // Only function pointers count: the encoding of another type could be a function's own name ("f", "i").
    const bool candidate = name.starts_with("_Z") || name.starts_with("PF") || name.starts_with("PDoF");
    if (!candidate) return mangled;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? text.get() : mangled;
}

std::string function_name(std::string_view demangled) {
    const std::optional<Parentheses> last = last_parentheses(demangled);
    if (!last && demangled.starts_with("_Z")) {  // the C++ library does not demangle so many parameters
        std::size_t length = 0, at = 2;
        for (; at < demangled.size() && demangled[at] >= '0' && demangled[at] <= '9' && length < 10000; ++at)
            length = 10 * length + static_cast<std::size_t>(demangled[at] - '0');
        if (length > 0 && at + length <= demangled.size()) return std::string(demangled.substr(at, length));
    }
    if (!last) return std::string(demangled);
    std::string_view name = trim(demangled.substr(0, last->begin));
    constexpr std::string_view returned = "void ";  // spelt out for instances of templates
    if (name.starts_with(returned)) name.remove_prefix(returned.size());
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    std::string plain(name);
    for (std::size_t at = plain.find(unnamed); at != std::string::npos; at = plain.find(unnamed)) {
        plain.erase(at, unnamed.size());
    }
    return plain;
}

std::vector<Parameter> parse_parameters(std::string_view demangled) {
    const std::optional<Parentheses> last = last_parentheses(demangled);
    if (!last) return {};
    const std::string_view list = trim(demangled.substr(last->begin + 1, last->end - last->begin - 1));
    if (list.empty() || list == "void") return {};
    std::vector<Parameter> parameters;
    for (const std::string_view part : split(list)) parameters.push_back(parse_parameter(part));
    return parameters;
}

}  // namespace cuscope
