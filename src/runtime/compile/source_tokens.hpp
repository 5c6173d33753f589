// The tokens of a CUDA C++ source, before or after the preprocessor, and which brackets belong together.
// Knows no grammar.
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
    std::size_t partner = no_source_token;  // of a bracket

    std::size_t end() const { return offset + text.size(); }
};

struct SourceRange {
    std::size_t begin = 0, end = 0;  // offsets
};

struct SourceTokens {
    // Symbols are single characters, except "::", "->" and "<<<". Of a preprocessed source, what system
    // headers bring is left out.
    std::vector<SourceToken> list;
    std::vector<SourceRange> directives;  // lines that begin with '#', without #pragma
    // Of macros without and with parameters: what they stand for. A macro that is defined several times has
    // all of it.
    std::map<std::string_view, std::vector<SourceToken>> macros;
};

// `text` has to outlive the result. Of `#if ... #else ... #endif`, brackets count once where the first branch
// leaves some open.
SourceTokens source_tokens(std::string_view text);

}  // namespace cuscope
