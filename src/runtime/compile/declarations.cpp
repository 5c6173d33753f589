#include "runtime/compile/declarations.hpp"

#include <algorithm>

#include "runtime/compile/source_words.hpp"

namespace cuscope {

Declarations::Declarations(const std::vector<Token>& tokens) : tokens_(tokens) {
    parse_scope(0, tokens.size(), "", Place::in_namespace, list_);
}

std::vector<Declaration> Declarations::members(const Declaration& of) const {
    std::vector<Declaration> found;
    parse_scope(of.class_body + 1, partner(of.class_body), of.scope, Place::in_class, found);
    return found;
}

std::size_t Declarations::skip_angles(std::size_t i, std::size_t end) const {
    int depth = 0;
    for (; i < end; ++i) {
        if (is(i, "<")) {
            ++depth;
        } else if (is(i, ">")) {
            if (--depth == 0) return i + 1;
        } else if (is(i, ";") || is(i, "{") || is(i, "}")) {
            return no_token;
        } else if ((is(i, "(") || is(i, "[")) && partner(i) != no_token) {
            i = partner(i);
        }
    }
    return no_token;
}

void Declarations::parse_scope(std::size_t begin, std::size_t end, const std::string& scope, Place place,
                               std::vector<Declaration>& found) const {
    std::size_t i = begin;
    while (i < end) {
        const bool label = place == Place::in_class && is(i + 1, ":") &&
                           one_of(tokens_[i].text, {"public", "private", "protected"});
        if (label || is(i, ";") || is(i, "}")) {
            i += label ? 2 : 1;
            continue;
        }
        const std::size_t word = is(i, "inline") && is(i + 1, "namespace") ? i + 1 : i;
        const bool linkage = is(i, "extern") && i + 2 < end && tokens_[i + 1].is_literal() &&
                             is(i + 2, "{") && partner(i + 2) != no_token;
        if (is(word, "namespace")) {
            i = parse_namespace(word, end, scope, found);
        } else if (linkage) {
            parse_scope(i + 3, partner(i + 2), scope, place, found);
            i = partner(i + 2) + 1;
        } else {
            i = parse_declaration(i, end, scope, place, found);
        }
    }
}

// `begin`: the word "namespace".
std::size_t Declarations::parse_namespace(std::size_t begin, std::size_t end, const std::string& scope,
                                          std::vector<Declaration>& found) const {
    std::string inner = scope;
    std::size_t i = begin + 1;
    for (; i < end && !one_of(tokens_[i].text, {"{", ";", "="}); ++i) {
        if ((is(i, "[") || is(i, "(")) && partner(i) != no_token) {
            i = partner(i);
        } else if (is_word(i) && !one_of(tokens_[i].text, {"inline", "__attribute__"})) {
            inner += std::string(tokens_[i].text) + "::";
        }
    }
    if (is(i, "{") && partner(i) != no_token) {
        parse_scope(i + 1, partner(i), inner, Place::in_namespace, found);
        return partner(i) + 1;
    }
    while (i < end && !is(i, ";")) ++i;
    Declaration alias;
    alias.kind = Declaration::Kind::namespace_alias;
    alias.begin = alias.specifiers = begin;
    alias.end = std::min(i + 1, end);
    alias.scope = scope;
    found.push_back(alias);
    return alias.end;
}

// Adds the declaration that begins at `begin`; returns one past its end. Text that is not understood is
// skipped up to `end`.
std::size_t Declarations::parse_declaration(std::size_t begin, std::size_t end, const std::string& scope,
                                            Place place, std::vector<Declaration>& found) const {
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
    declaration.specifiers = i;
    const bool is_template = i > begin;
    bool assigned = false, initializers = false;
    for (; i < end; ++i) {
        const bool before_parameters = declaration.parameters == no_token && !assigned;
        if (is(i, ";") || is(i, "}")) break;
        if (is(i, "{")) {
            if (partner(i) == no_token) return end;
            const bool function = declaration.parameters != no_token && !assigned;
            const bool initializer = initializers && i > begin && (is_word(i - 1) || is(i - 1, ">"));
            if (function && !initializer) {
                declaration.body = i;
                i = partner(i);
                break;
            }
            const bool in_class = declaration.class_key != no_token;
            if (in_class && before_parameters && declaration.class_body == no_token)
                declaration.class_body = i;
            i = partner(i);
            // A stray block, or a function with a head that was not understood.
            if (!in_class && !assigned && !initializer && !is(i + 1, ";") && !is(i + 1, ",")) break;
        } else if (is(i, "operator") && before_parameters) {
            // An operator's name may consist of symbols, "()" among them.
            std::size_t open = i + 1;
            if (is(open, "(") && is(open + 1, ")")) open += 2;
            while (open < end && !is(open, "(") && !is(open, ";")) ++open;
            if (!is(open, "(") || partner(open) == no_token) return end;
            declaration.parameters = open;
            declaration.name_begin = declaration.last_name = i;
            declaration.name_end = open;
            i = partner(open);
        } else if (is(i, "(") || is(i, "[")) {
            if (partner(i) == no_token) return end;
            if (is(i, "(") && before_parameters && i > begin) {
                const bool named = is_word(i - 1) && !takes_parentheses(tokens_[i - 1].text);
                const std::size_t next = partner(i) + 1;
                const bool is_macro = named && i - 1 == declaration.specifiers && !is_template &&
                                      place == Place::in_namespace && !is(i + 1, "*") && !is(i + 1, "&") &&
                                      !(next < tokens_.size() && follows_parameters(tokens_[next].text));
                if (is_macro) {
                    declaration.kind = Declaration::Kind::macro;
                    declaration.end = next;
                    found.push_back(declaration);
                    return next;
                }
                if (named || is(i - 1, ">")) {
                    declaration.parameters = i;
                    find_function_name(declaration);
                }
            }
            i = partner(i);
        } else if (is(i, "<") && before_parameters && i > begin && is_word(i - 1)) {
            const std::size_t after = skip_angles(i, end);
            if (after != no_token) i = after - 1;
        } else if (is(i, "=") && !(i > begin && is(i - 1, "operator"))) {
            assigned = true;
        } else if (is(i, ":") && declaration.parameters != no_token) {
            initializers = true;
        } else if (declaration.parameters == no_token && declaration.class_key == no_token &&
                   is_class_key(tokens_[i].text)) {
            declaration.class_key = i;
        }
    }
    declaration.end = std::min(i + 1, end);
    const bool is_alias = is(declaration.specifiers, "typedef") || is(declaration.specifiers, "using");
    if (declaration.parameters != no_token && !is_alias) declaration.kind = Declaration::Kind::function;
    found.push_back(declaration);
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
    declaration.last_name = i;
    while (i >= declaration.begin + 2 && is(i - 1, "::")) {
        --i;
        if (is(i - 1, ">")) step_over_arguments();
        if (i > declaration.begin && is_word(i - 1)) --i;
    }
    declaration.name_begin = i;
}

bool Declarations::at_namespace_scope(std::size_t i) const {
    const auto after = std::upper_bound(
        list_.begin(), list_.end(), i,
        [](std::size_t at, const Declaration& declaration) { return at < declaration.begin; });
    if (after == list_.begin() || i >= (after - 1)->end) return false;
    std::size_t at = (after - 1)->specifiers;
    while (at < i) at = partner(at) != no_token && partner(at) > at ? partner(at) + 1 : at + 1;
    return at == i;
}

std::vector<Declared> Declarations::declared(std::size_t begin, std::size_t end) const {
    std::vector<Declared> result;
    bool class_key = false;
    std::size_t i = begin;
    while (i < end && !is(i, ";")) {
        const Token& token = tokens_[i];
        Declared found;
        if (token.is("<") && i > begin && is_word(i - 1)) {
            const std::size_t after = skip_angles(i, end);
            i = after == no_token ? i + 1 : after;
            continue;
        }
        if (token.is("(") && (is(i + 1, "*") || is(i + 1, "&")) && partner(i) != no_token) {
            found.name = partner(i) - 1;  // T (*name)[n]
            i = partner(i);
        } else if ((token.is("(") || token.is("[")) && partner(i) != no_token) {
            i = partner(i) + 1;
            continue;
        } else if (token.is("{") && class_key && partner(i) != no_token) {
            i = partner(i) + 1;
            continue;
        } else if (token.is_word()) {
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
            i = partner(i) != no_token && partner(i) > i ? partner(i) + 1 : i + 1;
        }
        if (is(i, ",")) ++i;
        result.push_back(found);
    }
    return result;
}

bool Declarations::has(std::size_t begin, std::size_t end, std::string_view word) const {
    for (std::size_t i = begin; i < end; ++i) {
        if (tokens_[i].is(word)) return true;
        if (partner(i) != no_token && partner(i) > i) i = partner(i);
    }
    return false;
}

std::string Declarations::text(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t i = begin; i < end; ++i) {
        if (i > begin && tokens_[i - 1].end() != tokens_[i].offset) result += ' ';
        result += tokens_[i].text;
    }
    return result;
}

}  // namespace cuscope
