// The tokens of a CUDA C++ source, before or after preprocessing, and the partners of brackets. Knows no
// grammar.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuscope {

constexpr std::size_t no_source_token = static_cast<std::size_t>(-1);

enum class SourceTokenKind { word, number, literal, symbol };

struct SourceToken {
    SourceTokenKind kind = SourceTokenKind::symbol;
    std::string_view text;
    std::size_t offset = 0;
    std::size_t partner = no_source_token;  // index of the matching bracket

    std::size_t end() const { return offset + text.size(); }
};

struct SourceRange {
    std::size_t begin = 0, end = 0;  // offsets
};

struct SourceTokens {
    // Symbols are single characters, except "::", "->" and "<<<". If the source is preprocessed, the text of
    // system headers is left out.
    std::vector<SourceToken> list;
    std::vector<SourceRange> directives;  // lines that begin with '#', without #pragma
    // The text of each macro, with or without parameters. If a macro is defined several times, all of its
    // texts.
    std::map<std::string_view, std::vector<SourceToken>> macros;
};

// `text` must outlive the result. In `#if ... #else ... #endif`, brackets count once if the first branch
// leaves some of them open.
SourceTokens source_tokens(std::string_view text);

}  // namespace cuscope
