#include "host/compiler/scalars.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/compile/source_words.hpp"
#include "runtime/compile/tokens.hpp"

namespace cuscope::simt {
namespace {

bool is_unsigned_word(std::string_view word) {
    return one_of(word, {"unsigned", "size_t", "uint", "uint8_t", "uint16_t", "uint32_t", "uint64_t"});
}

bool is_wide_word(std::string_view word) {
    return one_of(word, {"long", "size_t", "ptrdiff_t", "ssize_t", "int64_t", "uint64_t"});
}

bool is_type_word(std::string_view word) {
    return is_unsigned_word(word) || is_wide_word(word) ||
           one_of(word, {"int", "short", "char", "signed", "auto", "float", "double", "bool", "int8_t",
                         "int16_t", "int32_t"});
}

bool is_qualifier(std::string_view word) {
    return one_of(word,
                  {"const", "constexpr", "static", "volatile", "register", "__restrict__", "__restrict"});
}

// The built-in variables are structures of unsigned numbers. The source has been rewritten.
bool is_built_in(std::string_view word) {
    return one_of(word, {"thread_index", "block_index", "block_dim", "grid_dim"});
}

}  // namespace

Scalars::Scalars(const std::vector<Token>& tokens, std::size_t parameters, std::size_t body)
    : tokens_(tokens) {
    if (parameters < tokens.size() && tokens[parameters].partner != no_token)
        add_parameters(parameters + 1, tokens[parameters].partner);
    if (body >= tokens.size() || tokens[body].partner == no_token) return;
    for (std::size_t i = body + 1; i < tokens[body].partner;) i = add_declarations(i, tokens[body].partner);
}

void Scalars::add_parameters(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {
        Declared parameter;
        bool restricts = false, named = false;
        for (; i < end && !is(i, ","); i = behind(tokens_, i)) {
            const std::string_view text = tokens_[i].text;
            if (is(i, "=")) named = true;
            if (is(i, "*") || is(i, "[")) parameter.type.is_pointer = true;
            restricts = restricts || text == "__restrict__" || text == "__restrict";
            parameter.type.is_unsigned = parameter.type.is_unsigned || is_unsigned_word(text);
            parameter.type.is_wide = parameter.type.is_wide || is_wide_word(text);
            if (!named && tokens_[i].is_word() && !is_type_word(text) && !is_qualifier(text))
                parameter.name = text, parameter.at = i;
        }
        ++i;
        if (parameter.type.is_pointer) {
            has_pointers_ = true;
            has_restrict_ = has_restrict_ || restricts;
            pointers_.push_back(parameter.name);
        }
        declared_.push_back(parameter);
    }
}

// Adds the variables that are declared at a token, if any. Returns the next token to look at.
std::size_t Scalars::add_declarations(std::size_t begin, std::size_t end) {
    Declared declared;
    bool is_type = false, is_auto = false, is_const = false;
    std::size_t i = begin;
    for (; i < end; ++i) {
        const std::string_view text = tokens_[i].text;
        if (text == "std" && is(i + 1, "::")) {
            ++i;
        } else if (is_type_word(text)) {
            is_type = true;
            is_auto = is_auto || text == "auto";
            declared.type.is_unsigned = declared.type.is_unsigned || is_unsigned_word(text);
            declared.type.is_wide = declared.type.is_wide || is_wide_word(text);
        } else if (is_qualifier(text)) {
            is_const = is_const || text == "const" || text == "constexpr";
        } else {
            break;
        }
    }
    if (!is_type) return std::max(i, begin + 1);
    // One declarator behind the other.
    while (i < end) {
        Declared its = declared;
        for (; i < end && (is(i, "*") || is(i, "&") || is_qualifier(tokens_[i].text)); ++i)
            its.type.is_pointer = its.type.is_pointer || is(i, "*");
        if (i >= end || !tokens_[i].is_word()) return i;
        its.name = tokens_[i].text;
        its.at = i;
        const std::size_t next = i + 1;
        if (!is(next, "=") && !is(next, ";") && !is(next, ",") && !is(next, "{") && !is(next, "[") &&
            !is(next, ":"))
            return next;
        std::size_t stop = next;
        while (stop < end && !is(stop, ",") && !is(stop, ";") && !is(stop, ")")) stop = behind(tokens_, stop);
        if (is(next, "=") || is(next, "{")) {
            its.value_begin = is(next, "=") ? next + 1 : next;
            its.value_end = stop;
            const ScalarType value = type(its.value_begin, its.value_end);
            if (is_auto) its.type.is_unsigned = value.is_unsigned, its.type.is_wide = value.is_wide;
            its.type.is_constant = is_const && !its.type.is_pointer && value.is_constant;
        }
        declared_.push_back(its);
        // Values may hold declarations of their own only in lambdas, which do not matter here.
        if (!is(stop, ",")) return stop;
        i = stop + 1;
    }
    return i;
}

const Scalars::Declared* Scalars::find(std::string_view name, std::size_t at) const {
    const auto found = std::find_if(declared_.rbegin(), declared_.rend(), [&](const Declared& declared) {
        return declared.name == name && std::max(declared.at, declared.value_end) <= at;
    });
    return found == declared_.rend() ? nullptr : &*found;
}

const ScalarType* Scalars::variable(std::string_view name, std::size_t at) const {
    const Declared* const found = find(name, at);
    return found == nullptr ? nullptr : &found->type;
}

ScalarType Scalars::type(std::size_t begin, std::size_t end) const {
    // A cast of the whole: (int)(...), int(...), static_cast<int>(...)
    const auto reaches_end = [&](std::size_t open) { return is(open, "(") && behind(tokens_, open) == end; };
    if ((is(begin, "(") && is(begin + 1, "int") && is(begin + 2, ")") && reaches_end(begin + 3)) ||
        (is(begin, "int") && reaches_end(begin + 1)) ||
        (is(begin, "static_cast") && is(begin + 2, "int") && reaches_end(begin + 4))) {
        ScalarType inside = type(end - 1 > begin ? tokens_[end - 1].partner + 1 : begin, end - 1);
        inside.is_unsigned = inside.is_wide = false;
        return inside;
    }
    bool is_constant = true, narrow_unsigned = false, wide = false, wide_unsigned = false;
    for (std::size_t i = begin; i < end; ++i) {
        const Token& token = tokens_[i];
        if (token.kind == TokenKind::number && token.text.find_first_of("uU") != std::string_view::npos &&
            token.text.find('x') == std::string_view::npos)
            narrow_unsigned = true;
        if (!token.is_word()) continue;
        const bool is_member = i > begin && (is(i - 1, ".") || is(i - 1, "->"));
        if (is_member) continue;
        if (is_type_word(token.text)) {
            bool its_unsigned = false, its_wide = false;
            for (; i < end && is_type_word(tokens_[i].text); ++i) {
                its_unsigned = its_unsigned || is_unsigned_word(tokens_[i].text);
                its_wide = its_wide || is_wide_word(tokens_[i].text);
            }
            --i;
            wide = wide || its_wide;
            wide_unsigned = wide_unsigned || (its_wide && its_unsigned);
            narrow_unsigned = narrow_unsigned || its_unsigned;
        } else if (is_built_in(token.text)) {
            is_constant = false;
            narrow_unsigned = true;
        } else if (const ScalarType* const its = variable(token.text, i)) {
            is_constant = is_constant && its->is_constant;
            wide = wide || its->is_wide;
            wide_unsigned = wide_unsigned || (its->is_wide && its->is_unsigned);
            narrow_unsigned = narrow_unsigned || its->is_unsigned;
        } else if (is(i + 1, "(") && !one_of(token.text, {"sizeof", "alignof", "static_cast"})) {
            is_constant = false;  // a call
        }
    }
    ScalarType result;
    result.is_constant = is_constant;
    result.is_wide = wide;
    // A number of 64 bits with a sign holds all unsigned ones of 32 bits.
    result.is_unsigned = wide ? wide_unsigned : narrow_unsigned;
    return result;
}

long Scalars::value(std::size_t begin, std::size_t end) const {
    if (end != begin + 1) return -1;
    const Token& token = tokens_[begin];
    if (token.kind == TokenKind::number) {
        long number = 0;
        const auto [last, error] =
            std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
        const bool is_decimal = token.text == "0" || token.text[0] != '0';
        return error == std::errc() && last == token.text.data() + token.text.size() && is_decimal ? number
                                                                                                   : -1;
    }
    const Declared* const found = token.is_word() ? find(token.text, begin) : nullptr;
    if (found == nullptr || !found->type.is_constant || found->value_end <= found->value_begin) return -1;
    return value(found->value_begin, found->value_end);
}

}  // namespace cuscope::simt
