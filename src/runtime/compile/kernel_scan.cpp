// find_kernels of signature.hpp: enough of C++'s tokens and declarations to find functions with a marker.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include "runtime/compile/characters.hpp"
#include "runtime/compile/signature.hpp"

namespace cuscope {
namespace {

enum class TokenKind { word, text, symbol, end };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;
};

constexpr std::string_view marker = "__global__";

// Tokens: words, string literals and single symbols ("::" and "->" stay whole). Comments and preprocessor
// lines are skipped; numbers count as symbols. A macro without parameters that contains the marker is
// replaced by its text.
class Scanner {
  public:
    explicit Scanner(std::string_view source) : source_(source) {}

    std::vector<Token> scan() {
        while (at_ < source_.size()) step();
        return std::move(tokens_);
    }

  private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }

    void emit(TokenKind kind, std::size_t begin) {
        const std::string_view text = source_.substr(begin, at_ - begin);
        const auto macro = kind == TokenKind::word ? macros_.find(text) : macros_.end();
        if (macro == macros_.end()) {
            tokens_.push_back({kind, text});
        } else {
            tokens_.insert(tokens_.end(), macro->second.begin(), macro->second.end());
        }
    }

    void step() {
        const std::size_t begin = at_;
        const char c = peek();
        if (c == '\n') {
            line_start_ = true;
            ++at_;
            return;
        }
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            ++at_;
            return;
        }
        if (c == '\\' && continuation() > 0) {
            at_ += continuation();
            return;
        }
        if (c == '/' && peek(1) == '/') return skip_line();
        if (c == '/' && peek(1) == '*') return skip_block_comment();
        if (c == '#' && line_start_) return skip_directive();
        line_start_ = false;
        if (is_word_start(c)) {
            while (is_word(peek())) ++at_;
            const std::string_view word = source_.substr(begin, at_ - begin);
            if (peek() == '"' &&
                (word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR")) {
                skip_raw_string();
                emit(TokenKind::text, begin);
            } else if ((peek() == '"' || peek() == '\'') &&
                       (word == "u8" || word == "u" || word == "U" || word == "L")) {
                skip_literal(peek());
                emit(TokenKind::text, begin);
            } else {
                emit(TokenKind::word, begin);
            }
        } else if (is_digit(c)) {
            while (is_word(peek()) || peek() == '.' || (peek() == '\'' && is_word(peek(1)))) ++at_;
            emit(TokenKind::symbol, begin);
        } else if (c == '"' || c == '\'') {
            skip_literal(c);
            emit(TokenKind::text, begin);
        } else {
            const bool pair = (c == ':' && peek(1) == ':') || (c == '-' && peek(1) == '>');
            at_ += pair ? 2 : 1;
            emit(TokenKind::symbol, begin);
        }
    }

    // The length of a line continuation (a backslash and a line end) at this place; 0 if there is none.
    std::size_t continuation() const {
        if (peek() != '\\') return 0;
        if (peek(1) == '\n') return 2;
        return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
    }

    void skip_line() {
        while (at_ < source_.size() && peek() != '\n') {
            const std::size_t joined = continuation();
            at_ += joined > 0 ? joined : 1;
        }
    }

    void skip_directive() {
        const std::size_t begin = ++at_;
        while (at_ < source_.size() && peek() != '\n') {
            if (const std::size_t joined = continuation(); joined > 0) {
                at_ += joined;
            } else if (peek() == '/' && peek(1) == '*') {
                skip_block_comment();
            } else if (peek() == '/' && peek(1) == '/') {
                skip_line();
            } else {
                ++at_;
            }
        }
        note_macro(source_.substr(begin, at_ - begin));
    }

    void note_macro(std::string_view directive) {
        if (directive.find(marker) == std::string_view::npos) return;
        const std::vector<Token> tokens = Scanner(directive).scan();
        if (tokens.size() < 3 || tokens[0].text != "define" || tokens[1].kind != TokenKind::word) return;
        const std::string_view name = tokens[1].text;
        if (name.data() + name.size() == tokens[2].text.data()) return;  // "#define NAME(": it has parameters
        macros_[name].assign(tokens.begin() + 2, tokens.end());
    }

    void skip_block_comment() {
        const std::size_t end = source_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? source_.size() : end + 2;
    }

    // Skips to the closing quote, or to the end of the line if there is none.
    void skip_literal(char quote) {
        for (++at_; at_ < source_.size() && peek() != '\n'; ++at_) {
            if (const std::size_t joined = continuation(); joined > 0) {
                at_ += joined - 1;
            } else if (peek() == '\\') {
                ++at_;
            } else if (peek() == quote) {
                ++at_;
                return;
            }
        }
        at_ = std::min(at_, source_.size());
    }

    void skip_raw_string() {
        const std::size_t open = source_.find('(', at_);
        if (open == std::string_view::npos || open - at_ > 17) return skip_literal('"');
        std::string close = ")";
        close += source_.substr(at_ + 1, open - at_ - 1);
        close += '"';
        const std::size_t end = source_.find(close, open);
        at_ = end == std::string_view::npos ? source_.size() : end + close.size();
    }

    std::string_view source_;
    std::size_t at_ = 0;
    bool line_start_ = true;
    std::vector<Token> tokens_;
    std::map<std::string_view, std::vector<Token>> macros_;
};

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

using Tokens = std::vector<Token>;

class Finder {
  public:
    explicit Finder(Tokens tokens) : tokens_(std::move(tokens)) {}

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
    bool is(std::size_t index, std::string_view text) const {
        return token(index).kind != TokenKind::text && token(index).text == text;
    }
    bool is_word(std::size_t index) const { return token(index).kind == TokenKind::word; }

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
        } else if (is(at_, "extern") && token(at_ + 1).kind == TokenKind::text) {
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

    bool is_text(std::size_t index) const { return token(index).kind == TokenKind::text; }

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

    Tokens tokens_;
    std::size_t at_ = 0;
    bool is_template_ = false, extern_c_ = false;  // of the current statement
    std::vector<Scope> scopes_;
    std::vector<KernelNames> found_;
};

}  // namespace

std::vector<KernelNames> find_kernels(std::string_view source) {
    return Finder(Scanner(source).scan()).find();
}

}  // namespace cuscope
