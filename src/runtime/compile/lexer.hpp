// Splits a CUDA C++ source, before or after preprocessing, into tokens. Knows no grammar, and of the
// preprocessor only where a directive ends.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace cuscope {

inline constexpr std::size_t no_token = static_cast<std::size_t>(-1);

enum class TokenKind { word, number, string, character, symbol, directive };

struct Token {
    TokenKind kind = TokenKind::symbol;
    std::string_view text;  // view of the source
    std::size_t offset = 0;
    // Set by tokenize() (tokens.hpp):
    std::size_t partner = no_token;  // index of the matching bracket
    int line = 0;                    // in the file that the line markers name
    int file = 0;                    // index in Tokens::files

    bool is(std::string_view what) const { return text == what; }
    bool is_word() const { return kind == TokenKind::word; }
    bool is_literal() const { return kind == TokenKind::string || kind == TokenKind::character; }
    std::size_t end() const { return offset + text.size(); }
};

class Lexer {
  public:
    // `text` must outlive the tokens.
    explicit Lexer(std::string_view text) : Lexer(text, 0, text.size()) {}

    // Reads the next token; returns false at the end. Comments, spaces and line continuations between tokens
    // are left out. Symbols are single characters, except "::", "->" and "<<<". A directive is one token,
    // from its '#' to the end of its last line.
    bool next(Token* token);
    // Skips the lines before the next line that begins with '#'.
    void skip_to_directive();

    // The tokens of a directive of `text`, without its '#'.
    static std::vector<Token> inside(std::string_view text, const Token& directive);

  private:
    Lexer(std::string_view text, std::size_t begin, std::size_t end) : text_(text), at_(begin), end_(end) {}

    char peek(std::size_t ahead = 0) const { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }
    std::size_t continuation() const;
    bool skip_space();
    TokenKind read();
    TokenKind read_word();
    void read_number();
    void read_literal();
    void read_raw_string();
    void read_directive();
    void skip_line();
    void skip_comment();

    std::string_view text_;
    std::size_t at_, end_;
    bool at_line_start_ = true;  // nothing but spaces and comments before this place in its line
};

}  // namespace cuscope
