// find_kernels of signature.hpp: enough of C++'s declarations to find functions with a marker.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include "runtime/compile/lexer.hpp"
#include "runtime/compile/signature.hpp"

namespace cuscope {
namespace {

constexpr std::string_view marker = "__global__";

// The tokens of a source, without its directives. A macro without parameters that contains the marker is
// replaced by its text.
std::vector<Token> scan(std::string_view source) {
    std::vector<Token> tokens;
    std::map<std::string_view, std::vector<Token>> macros;
    const auto note_macro = [&](const Token& directive) {
        if (directive.text.find(marker) == std::string_view::npos) return;
        const std::vector<Token> words = Lexer::inside(source, directive);
        if (words.size() < 3 || !words[0].is("define") || !words[1].is_word()) return;
        if (words[1].end() == words[2].offset) return;  // "#define NAME(": it has parameters
        macros[words[1].text].assign(words.begin() + 2, words.end());
    };
    Lexer lexer(source);
    for (Token token; lexer.next(&token);) {
        if (token.kind == TokenKind::directive) {
            note_macro(token);
        } else if (const auto macro = macros.find(token.text); macro == macros.end()) {
            tokens.push_back(token);
        } else {
            tokens.insert(tokens.end(), macro->second.begin(), macro->second.end());
        }
    }
    return tokens;
}

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Words with arguments in parentheses that may stand before a function's name.
constexpr std::array<std::string_view, 10> attributes = {
    "__launch_bounds__", "__attribute__", "__declspec", "__cluster_dims__", "__block_size__",
    "__maxnreg__",       "alignas",       "decltype",   "__align__",        "explicit"};
// Words that can follow a function's parameters.
constexpr std::array<std::string_view, 8> after_parameters = {
    "noexcept", "requires", "try", "const", "__attribute__", "__launch_bounds__", "__asm__", "asm"};
constexpr std::array<std::string_view, 24> type_words = {
    "void",     "bool",     "char",         "short",      "int",
    "long",     "float",    "double",       "signed",     "unsigned",
    "auto",     "const",    "volatile",     "wchar_t",    "char8_t",
    "char16_t", "char32_t", "__restrict__", "__restrict", "__grid_constant__",
    "struct",   "class",    "enum",         "typename"};
// The words among type_words that are not a type by themselves.
constexpr std::array<std::string_view, 10> qualifiers = {
    "const",  "volatile", "__restrict__", "__restrict", "__grid_constant__",
    "struct", "class",    "enum",         "typename",   "register"};
constexpr std::array<std::string_view, 5> elaborations = {"struct", "class", "enum", "union", "typename"};

class Finder {
  public:
    explicit Finder(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    std::vector<KernelNames> find() {
        while (at_ < tokens_.size()) step();
        return std::move(found_);
    }

  private:
    struct Scope {
        std::string name;  // the namespace's name
        bool extern_c = false;
    };

    const Token& token(std::size_t index) const {
        static const Token end;
        return index < tokens_.size() ? tokens_[index] : end;
    }
    bool is(std::size_t index, std::string_view text) const { return token(index).is(text); }
    bool is_word(std::size_t index) const { return token(index).is_word(); }

    // The index behind the bracket that closes the one at `index`. A '<' or '>' inside template arguments is
    // a comparison only in parentheses, as in C++.
    std::size_t behind(std::size_t index) const {
        std::string open;
        for (std::size_t i = index; i < tokens_.size(); ++i) {
            const Token& now = tokens_[i];
            if (now.kind != TokenKind::symbol || now.text.size() != 1) continue;
            const char c = now.text.front();
            if (c == '(' || c == '[' || c == '{' || c == '<') {
                // Outside of template arguments, '<' is a comparison.
                if (c != '<' || open.empty() || open.back() == '<') open += c;
            } else if (c == ')' || c == ']' || c == '}') {
                const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
                while (!open.empty() && open.back() != opening) open.pop_back();
                if (!open.empty()) open.pop_back();
            } else if (c == '>') {
                if (!open.empty() && open.back() == '<') open.pop_back();
            } else if (c == ';' && open.find('{') == std::string::npos) {
                return i;  // the assumed bracket was not a bracket
            }
            if (open.empty()) return i + 1;
        }
        return tokens_.size();
    }

    void end_statement() {
        is_template_ = false;
        extern_c_ = false;
    }

    void step() {
        if (is(at_, marker)) return marked();
        if (is(at_, "template")) {
            is_template_ = true;
            at_ = is(at_ + 1, "<") ? behind(at_ + 1) : at_ + 1;
        } else if (is(at_, "extern") && is_text(at_ + 1)) {
            extern_c_ = token(at_ + 1).text == "\"C\"";
            at_ += 2;
        } else if (is(at_, "namespace") && !is(at_ + 2, "=")) {
            enter_namespace();
        } else if (is(at_, "{")) {
            scopes_.push_back({"", extern_c_ && is_text(at_ - 1)});
            end_statement();
            ++at_;
        } else if (is(at_, "}")) {
            if (!scopes_.empty()) scopes_.pop_back();
            end_statement();
            ++at_;
        } else {
            if (is(at_, ";")) end_statement();
            ++at_;
        }
    }

    bool is_text(std::size_t index) const { return token(index).is_literal(); }

    void enter_namespace() {
        std::string name;
        for (++at_; at_ < tokens_.size() && !is(at_, "{") && !is(at_, ";"); ++at_) {
            if (is(at_, "[") || is(at_, "(")) {
                at_ = behind(at_) - 1;
            } else if (is_word(at_) && !is(at_, "inline") && !is(at_, "__attribute__")) {
                if (!name.empty()) name += "::";
                name += token(at_).text;
            }
        }
        if (is(at_, "{")) {
            scopes_.push_back({name, false});
            ++at_;
        }
        end_statement();
    }

    // Called behind a marker. Reads attributes and the return type, then the function's name and its
    // parameters.
    void marked() {
        ++at_;
        for (std::size_t i = at_; i < tokens_.size();) {
            if (is(i, ";") || is(i, "{") || is(i, "}")) return;
            if (is(i, "[")) {
                i = behind(i);
            } else if (is_word(i) && is(i, "extern") && is_text(i + 1)) {
                extern_c_ = token(i + 1).text == "\"C\"";
                i += 2;
            } else if (is_word(i)) {
                const std::size_t open = is(i + 1, "<") ? behind(i + 1) : i + 1;
                if (!is(open, "(")) {
                    i = open;
                    continue;
                }
                const std::size_t next = behind(open);
                const bool function = !one_of(token(i).text, attributes) &&
                                      (!is_word(next) || one_of(token(next).text, after_parameters));
                if (function) {
                    add(i, open, next);
                    at_ = next;
                    return;
                }
                i = next;
            } else {
                ++i;
            }
        }
    }

    void add(std::size_t name, std::size_t open, std::size_t behind_close) {
        KernelNames kernel;
        kernel.is_template = is_template_;
        kernel.is_extern_c = extern_c_;
        for (const Scope& scope : scopes_) {
            if (scope.extern_c) kernel.is_extern_c = true;
            if (!scope.name.empty()) kernel.name += scope.name + "::";
        }
        std::size_t first = name;
        while (first >= 2 && is(first - 1, "::") && is_word(first - 2)) first -= 2;
        for (; first <= name; ++first) kernel.name += token(first).text;
        kernel.parameters = parameters(open + 1, behind_close - 1);
        // A declaration and its definition are one kernel. Parameter names come from either of them.
        const auto known = std::find_if(found_.begin(), found_.end(), [&](const KernelNames& other) {
            return other.name == kernel.name && other.parameters.size() == kernel.parameters.size();
        });
        if (known == found_.end()) {
            found_.push_back(std::move(kernel));
            return;
        }
        known->is_extern_c = known->is_extern_c || kernel.is_extern_c;
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
            if (known->parameters[i].empty()) known->parameters[i] = kernel.parameters[i];
        }
    }

    std::vector<std::string> parameters(std::size_t begin, std::size_t end) const {
        std::vector<std::string> names;
        if (begin >= end || (end - begin == 1 && is(begin, "void"))) return names;
        std::size_t start = begin;
        for (std::size_t i = begin; i < end;) {
            if (is(i, ",")) {
                names.push_back(parameter(start, i));
                start = ++i;
            } else if (is(i, "(") || is(i, "[") || is(i, "{") ||
                       (is(i, "<") && i > begin && is_word(i - 1))) {
                i = std::min(behind(i), end);
            } else {
                ++i;
            }
        }
        names.push_back(parameter(start, end));
        return names;
    }

    // The name in a parameter's declaration; empty if it has none.
    std::string parameter(std::size_t begin, std::size_t end) const {
        std::size_t last = end;  // index of the last token that could be the name
        bool has_type = false;   // is there a type before it?
        bool candidate_typed = false;
        for (std::size_t i = begin; i < end;) {
            if (is(i, "=")) break;
            if (is(i, "[") || is(i, "{")) {
                i = behind(i);
            } else if (is_word(i) && is(i + 1, "(") && one_of(token(i).text, attributes)) {
                if (is(i, "decltype")) has_type = true;
                i = behind(i + 1);
            } else if (is(i, "(")) {
                return inner_name(i + 1, std::min(behind(i), end));
            } else if (is(i, "<")) {
                i = std::min(behind(i), end);
            } else {
                if (is_word(i)) {
                    last = i;
                    candidate_typed = has_type;
                    if (!one_of(token(i).text, qualifiers)) has_type = true;
                }
                ++i;
            }
        }
        if (last == end || !candidate_typed || one_of(token(last).text, type_words)) return "";
        if (last > begin && (is(last - 1, "::") || one_of(token(last - 1).text, elaborations))) return "";
        // "float* x" ends with the name. In "Vector<int>" and "T const*" the last word is not a name.
        for (std::size_t i = last + 1; i < end && !is(i, "=") && !is(i, "["); ++i) {
            if (is(i, "<") || is(i, "*") || is(i, "&") || is(i, "::") || is(i, ".")) return "";
        }
        return std::string(token(last).text);
    }

    // "(*name)[4]", "(&name)[2]", "(*name)(int)".
    std::string inner_name(std::size_t begin, std::size_t end) const {
        std::string name;
        for (std::size_t i = begin; i < end && !is(i, "[") && !is(i, ")"); ++i) {
            if (is_word(i) && !one_of(token(i).text, type_words)) name = token(i).text;
        }
        return name;
    }

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    bool is_template_ = false, extern_c_ = false;  // of the current statement
    std::vector<Scope> scopes_;
    std::vector<KernelNames> found_;
};

}  // namespace

std::vector<KernelNames> find_kernels(std::string_view source) { return Finder(scan(source)).find(); }

}  // namespace cuscope
