// The user's own tokens of a preprocessed source; tokens of system headers are skipped. Knows no grammar.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

enum class TokenKind { identifier, string, character, number, symbol };

struct Token {
    TokenKind kind = TokenKind::symbol;
    std::string_view text;  // view of the preprocessed source
    std::size_t offset = 0;
    int line = 0;  // in the file that the line markers name
    int file = 0;  // index in Tokens::files

    bool is(std::string_view what) const { return text == what; }
};

struct Tokens {
    std::vector<Token> list;
    std::vector<std::string> files;
};

// `text` must outlive the result. Symbols are single characters, except "::", "->" and "<<<".
Tokens tokenize(std::string_view text);

}  // namespace cuscope::simt
