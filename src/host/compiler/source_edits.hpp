// Insertions and replacements in a source, which are made all at once in the end, so that the offsets of its
// tokens hold until then.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {

class SourceEdits {
  public:
    // Both arguments must outlive the object.
    SourceEdits(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}

    void insert(std::size_t offset, std::string text);
    // Replaces tokens [first, last] and the text between them. Line ends stay, so that line numbers do.
    void replace(std::size_t first, std::size_t last, std::string text);

    // Tokens [begin, end) on one line, with the replacements made in them so far.
    std::string edited_tokens(std::size_t begin, std::size_t end) const;
    // The whole source. An edit inside of text that an earlier one replaces is left out.
    std::string edited_text();

  private:
    struct Edit {
        std::size_t offset, length;
        std::string text;
    };

    std::string_view text_;
    const std::vector<Token>& tokens_;
    std::vector<Edit> edits_;
};

}  // namespace cuscope::simt
