// The tokens of a whole CUDA C++ source, before or after preprocessing: the partners of its brackets, its
// macros, and the file and line of each token.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope {

struct SourceRange {
    std::size_t begin = 0, end = 0;  // offsets
};

struct Tokens {
    // Without directives. If the source is preprocessed, the text of system headers is left out.
    std::vector<Token> list;
    std::vector<SourceRange> directives;  // without #pragma
    // The text of each macro, with or without parameters. If a macro is defined several times, all of its
    // texts.
    std::map<std::string_view, std::vector<Token>> macros;
    std::vector<std::string> files;  // named by line markers; empty if the source is not preprocessed
};

// `text` must outlive the result. In `#if ... #else ... #endif`, brackets count once if the first branch
// leaves some of them open.
Tokens tokenize(std::string_view text);

// The token behind token i, or behind the brackets that begin there.
inline std::size_t behind(const std::vector<Token>& tokens, std::size_t i) {
    const std::size_t partner = tokens[i].partner;
    return partner != no_token && partner > i ? partner + 1 : i + 1;
}

}  // namespace cuscope
