#include "runtime/compile/lexer.hpp"

#include <algorithm>
#include <string>

#include "runtime/compile/characters.hpp"

namespace cuscope {
namespace {

// The longest delimiter that C++ allows in front of the '(' of a raw string.
constexpr std::size_t most_delimiter = 16;

bool is_string_prefix(std::string_view word) {
    return word == "L" || word == "u" || word == "U" || word == "u8";
}

bool is_raw_prefix(std::string_view word) {
    return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

}  // namespace

bool Lexer::next(Token* token) {
    while (at_ < end_ && skip_space()) {
    }
    if (at_ >= end_) return false;
    *token = {};
    token->offset = at_;
    token->kind = read();
    token->text = text_.substr(token->offset, at_ - token->offset);
    return true;
}

void Lexer::skip_to_directive() {
    for (; at_ < end_; skip_line()) {
        while (is_space(peek())) {
            if (peek() == '\n') at_line_start_ = true;
            ++at_;
        }
        if (peek() == '#' && at_line_start_) return;
    }
}

std::vector<Token> Lexer::inside(std::string_view text, const Token& directive) {
    Lexer lexer(text, directive.offset + 1, directive.end());
    lexer.at_line_start_ = false;  // a '#' in a macro's text is an operator
    std::vector<Token> tokens;
    for (Token token; lexer.next(&token);) tokens.push_back(token);
    return tokens;
}

// The length of a line continuation (a backslash and a line end) at this place; 0 if there is none.
std::size_t Lexer::continuation() const {
    if (peek() != '\\') return 0;
    if (peek(1) == '\n') return 2;
    return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
}

// Skips a space, a line continuation or a comment; returns false if there is none.
bool Lexer::skip_space() {
    const char c = peek();
    if (is_space(c)) {
        if (c == '\n') at_line_start_ = true;
        ++at_;
    } else if (const std::size_t joined = continuation(); joined > 0) {
        at_ += joined;
    } else if (c == '/' && peek(1) == '/') {
        skip_line();
    } else if (c == '/' && peek(1) == '*') {
        skip_comment();
    } else {
        return false;
    }
    return true;
}

TokenKind Lexer::read() {
    const char c = peek();
    if (c == '#' && at_line_start_) {
        read_directive();
        return TokenKind::directive;
    }
    at_line_start_ = false;
    if (is_word_start(c)) return read_word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
        read_number();
        return TokenKind::number;
    }
    if (c == '"' || c == '\'') {
        read_literal();
        return c == '"' ? TokenKind::string : TokenKind::character;
    }
    const bool pair = (c == ':' && peek(1) == ':') || (c == '-' && peek(1) == '>');
    const bool launch = c == '<' && peek(1) == '<' && peek(2) == '<';
    at_ += launch ? 3 : pair ? 2 : 1;
    return TokenKind::symbol;
}

// Reads a word, or a literal with a prefix: u8"text", L'c'.
TokenKind Lexer::read_word() {
    const std::size_t begin = at_;
    while (is_word(peek())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const char quote = peek();
    if (quote == '"' && is_raw_prefix(word)) {
        read_raw_string();
        return TokenKind::string;
    }
    if ((quote != '"' && quote != '\'') || !is_string_prefix(word)) return TokenKind::word;
    read_literal();
    return quote == '"' ? TokenKind::string : TokenKind::character;
}

void Lexer::read_number() {
    const std::string_view prefix = text_.substr(at_, 2);
    const bool hexadecimal = prefix == "0x" || prefix == "0X";
    // Is the sign at this place the sign of an exponent? In a hexadecimal number, an `e` is a digit.
    const auto in_exponent = [&] {
        const char before = text_[at_ - 1];
        return before == 'p' || before == 'P' || (!hexadecimal && (before == 'e' || before == 'E'));
    };
    for (;; ++at_) {
        const char c = peek();
        const bool separator = c == '\'' && is_word(peek(1));
        const bool sign = (c == '+' || c == '-') && in_exponent();
        if (!is_word(c) && c != '.' && !separator && !sign) return;
    }
}

// Reads up to the closing quote, or to the end of the line if there is none.
void Lexer::read_literal() {
    const char quote = peek();
    for (++at_; at_ < end_ && peek() != '\n'; ++at_) {
        if (peek() == '\\') {
            const std::size_t joined = continuation();
            at_ += joined > 0 ? joined - 1 : 1;
        } else if (peek() == quote) {
            ++at_;
            break;
        }
    }
    at_ = std::min(at_, end_);
}

void Lexer::read_raw_string() {
    const std::size_t open = text_.substr(0, std::min(at_ + most_delimiter + 2, end_)).find('(', at_);
    if (open == std::string_view::npos) return read_literal();
    std::string close = ")";
    close += text_.substr(at_ + 1, open - at_ - 1);
    close += '"';
    const std::size_t found = text_.find(close, open);
    at_ = found == std::string_view::npos ? end_ : std::min(found + close.size(), end_);
}

void Lexer::read_directive() {
    ++at_;
    while (at_ < end_ && peek() != '\n') {
        if (const std::size_t joined = continuation(); joined > 0) {
            at_ += joined;
        } else if (peek() == '/' && peek(1) == '*') {
            skip_comment();
        } else if (peek() == '/' && peek(1) == '/') {
            skip_line();
        } else if (peek() == '"') {
            read_literal();
        } else {
            ++at_;
        }
    }
}

// Skips to the end of the line and of the lines that continue it.
void Lexer::skip_line() {
    for (;;) {
        const std::size_t found = text_.find('\n', at_);
        if (found == std::string_view::npos || found >= end_) {
            at_ = end_;
            return;
        }
        const std::size_t before = found > at_ && text_[found - 1] == '\r' ? found - 1 : found;
        const bool continues = before > at_ && text_[before - 1] == '\\';
        at_ = continues ? found + 1 : found;
        if (!continues) return;
    }
}

void Lexer::skip_comment() {
    const std::size_t close = text_.find("*/", at_ + 2);
    at_ = close == std::string_view::npos ? end_ : std::min(close + 2, end_);
}

}  // namespace cuscope
