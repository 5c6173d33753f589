#include "host/compiler/declarations.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace cuscope::simt {
namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Words that are followed by parentheses of their own, which are not a function's parameters.
bool takes_parentheses(std::string_view word) {
    return one_of(word, {"__attribute__", "__attribute", "alignas", "__align__", "decltype", "__declspec",
                         "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", "noexcept",
                         "sizeof", "__typeof__", "typeof", "asm", "__asm__", "explicit"});
}

bool is_class_key(std::string_view word) { return one_of(word, {"class", "struct", "union", "enum"}); }

}  // namespace

std::vector<std::size_t> match_brackets(const std::vector<Token>& tokens) {
    std::vector<std::size_t> partners(tokens.size(), no_token), open;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].kind != TokenKind::symbol || tokens[i].text.size() != 1) continue;
        const char c = tokens[i].text[0];
        if (c == '(' || c == '[' || c == '{') {
            open.push_back(i);
        } else if (c == ')' || c == ']' || c == '}') {
            const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (open.empty() || tokens[open.back()].text[0] != wanted) continue;
            partners[i] = open.back();
            partners[open.back()] = i;
            open.pop_back();
        }
    }
    return partners;
}

Declarations::Declarations(const std::vector<Token>& tokens)
    : tokens_(tokens), partners_(match_brackets(tokens)), at_namespace_scope_(tokens.size(), false) {
    parse_scope(0, tokens.size(), "");
}

std::size_t Declarations::skip_angles(std::size_t i, std::size_t end) const {
    int depth = 0;
    while (i < end) {
        const std::string_view text = tokens_[i].text;
        if (text == "<") {
            ++depth;
        } else if (text == ">") {
            if (--depth == 0) return i + 1;
        } else if (text == ";" || text == "{" || text == "}") {
            return no_token;
        } else if ((text == "(" || text == "[") && partners_[i] != no_token) {
            i = partners_[i];
        }
        ++i;
    }
    return no_token;
}

void Declarations::parse_scope(std::size_t begin, std::size_t end, const std::string& scope) {
    std::size_t i = begin;
    while (i < end) {
        if (is(i, ";") || is(i, "}")) {
            ++i;
            continue;
        }
        std::size_t word = i;
        if (is(word, "inline") && is(word + 1, "namespace")) ++word;
        if (is(word, "namespace")) {
            std::string inner = scope;
            std::size_t j = word + 1;
            for (; j < end && !one_of(tokens_[j].text, {"{", ";", "="}); ++j) {
                if ((is(j, "[") || is(j, "(")) && partners_[j] != no_token) {
                    j = partners_[j];
                } else if (tokens_[j].kind == TokenKind::identifier &&
                           !one_of(tokens_[j].text, {"inline", "__attribute__"})) {
                    inner += std::string(tokens_[j].text) + "::";
                }
            }
            if (!is(j, "{")) {  // an alias
                while (j < end && !is(j, ";")) ++j;
                i = j + 1;
                continue;
            }
            const std::size_t close = std::min(partners_[j], end);
            parse_scope(j + 1, close, inner);
            i = close + 1;
        } else if (is(i, "extern") && i + 2 < end && tokens_[i + 1].kind == TokenKind::string &&
                   is(i + 2, "{")) {
            const std::size_t close = std::min(partners_[i + 2], end);
            parse_scope(i + 3, close, scope);
            i = close + 1;
        } else {
            i = parse_declaration(i, end, scope);
        }
    }
}

std::size_t Declarations::parse_declaration(std::size_t begin, std::size_t end, const std::string& scope) {
    Declaration declaration;
    declaration.begin = begin;
    declaration.scope = scope;
    std::size_t i = begin;
    while (is(i, "template")) {
        if (!is(i + 1, "<")) {
            declaration.is_explicit_instantiation = true;
            ++i;
            break;
        }
        const std::size_t after = skip_angles(i + 1, end);
        if (after == no_token) return end;
        declaration.is_specialization = after == i + 3;
        declaration.template_begin = i;
        declaration.template_end = after;
        i = after;
    }
    bool class_key = false, assigned = false, initializers = false;
    for (; i < end; ++i) {
        at_namespace_scope_[i] = true;
        const Token& token = tokens_[i];
        if (token.is(";") || token.is("}")) break;
        if (token.is("{")) {
            if (partners_[i] == no_token) return end;
            const bool function = declaration.parameters != no_token && !assigned;
            const bool initializer =
                initializers && i > begin && (tokens_[i - 1].kind == TokenKind::identifier || is(i - 1, ">"));
            if (function && !initializer) {
                declaration.body = i;
                i = partners_[i];
                break;
            }
            i = partners_[i];
            // A stray block, or a function with a head that was not understood.
            if (!class_key && !assigned && !is(i + 1, ";") && !is(i + 1, ",") && !initializer) break;
        } else if (token.is("operator") && declaration.parameters == no_token && !assigned) {
            // An operator's name may consist of symbols, "()" among them.
            std::size_t open = i + 1;
            if (is(open, "(") && is(open + 1, ")")) open += 2;
            while (open < end && !is(open, "(") && !is(open, ";")) ++open;
            if (!is(open, "(") || partners_[open] == no_token) return end;
            declaration.parameters = open;
            declaration.name_begin = i;
            declaration.name_end = open;
            i = partners_[open];
        } else if (token.is("(") || token.is("[")) {
            if (partners_[i] == no_token) return end;
            if (token.is("(") && declaration.parameters == no_token && !assigned && i > begin) {
                const Token& before = tokens_[i - 1];
                const bool named = before.kind == TokenKind::identifier && !takes_parentheses(before.text);
                if (named || before.is(">")) {
                    declaration.parameters = i;
                    find_function_name(declaration);
                }
            }
            i = partners_[i];
        } else if (token.is("<") && declaration.parameters == no_token && !assigned && i > begin &&
                   tokens_[i - 1].kind == TokenKind::identifier && !is(i - 1, "operator")) {
            const std::size_t after = skip_angles(i, end);
            if (after != no_token) i = after - 1;
        } else if (token.is("=") && !(i > begin && is(i - 1, "operator"))) {
            assigned = true;
        } else if (token.is(":") && declaration.parameters != no_token) {
            initializers = true;
        } else if (declaration.parameters == no_token && is_class_key(token.text)) {
            class_key = true;
        }
    }
    declaration.end = std::min(i + 1, end);
    list_.push_back(declaration);
    return declaration.end;
}

void Declarations::find_function_name(Declaration& declaration) const {
    std::size_t i = declaration.parameters;
    declaration.name_end = i;
    const auto step_over_arguments = [&] {
        int depth = 0;
        while (i > declaration.begin) {
            --i;
            if (is(i, ">")) ++depth;
            if (is(i, "<") && --depth == 0) return;
        }
    };
    if (is(i - 1, ">")) step_over_arguments();
    if (i > declaration.begin) --i;
    while (i >= declaration.begin + 2 && is(i - 1, "::")) {
        --i;
        if (is(i - 1, ">")) step_over_arguments();
        if (i > declaration.begin && tokens_[i - 1].kind == TokenKind::identifier) --i;
    }
    declaration.name_begin = i;
}

std::vector<Declared> Declarations::declared(std::size_t begin, std::size_t end) const {
    std::vector<Declared> result;
    bool class_key = false;
    std::size_t i = begin;
    while (i < end && !is(i, ";")) {
        const Token& token = tokens_[i];
        Declared found;
        if (token.is("<") && i > begin && tokens_[i - 1].kind == TokenKind::identifier) {
            const std::size_t after = skip_angles(i, end);
            i = after == no_token ? i + 1 : after;
            continue;
        }
        if (token.is("(") && (is(i + 1, "*") || is(i + 1, "&")) && partners_[i] != no_token) {
            found.name = partners_[i] - 1;  // T (*name)[n]
            i = partners_[i];
        } else if ((token.is("(") || token.is("[")) && partners_[i] != no_token) {
            i = partners_[i] + 1;
            continue;
        } else if (token.is("{") && class_key && partners_[i] != no_token) {
            i = partners_[i] + 1;
            continue;
        } else if (token.kind == TokenKind::identifier) {
            if (is_class_key(token.text)) {
                class_key = true;
            } else if (i + 1 < end && !(i > begin && is_class_key(tokens_[i - 1].text) && is(i + 1, "{")) &&
                       one_of(tokens_[i + 1].text, {"[", ",", ";", "=", "{"})) {
                found.name = i;
            }
        }
        ++i;
        if (found.name == no_token) continue;
        found.is_array = is(i, "[") && found.name + 1 == i;
        while (i < end && !is(i, ",") && !is(i, ";")) {
            if (is(i, "=") || is(i, "{")) found.has_initializer = true;
            i = partners_[i] != no_token && partners_[i] > i ? partners_[i] + 1 : i + 1;
        }
        if (is(i, ",")) ++i;
        result.push_back(found);
    }
    return result;
}

bool Declarations::has(std::size_t begin, std::size_t end, std::string_view word) const {
    for (std::size_t i = begin; i < end; ++i) {
        if (tokens_[i].is(word)) return true;
        if (partners_[i] != no_token && partners_[i] > i) i = partners_[i];
    }
    return false;
}

std::string Declarations::text(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t i = begin; i < end; ++i) {
        if (i > begin && tokens_[i - 1].offset + tokens_[i - 1].text.size() != tokens_[i].offset)
            result += ' ';
        result += tokens_[i].text;
    }
    return result;
}

}  // namespace cuscope::simt
