#include "host/compiler/unrolling.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {
namespace {

// nvcc unrolls a loop without a number completely if the number of its iterations is known, and four times if
// it is not. GCC has one number for both. So many iterations are usual for loops over registers.
constexpr unsigned without_number = 32;
constexpr unsigned most = 1024;  // GCC refuses 65535 and more

// The number of copies that a directive asks for, in GCC's terms; none if it is not `#pragma unroll`. nvcc
// ignores the number 0.
std::optional<unsigned> copies(const std::vector<Token>& words) {
    if (words.size() < 2 || !words[0].is("pragma") || !words[1].is("unroll")) return std::nullopt;
    const std::size_t at = words.size() > 2 && words[2].is("(") ? 3 : 2;
    if (at >= words.size()) return without_number;
    const std::string_view text = words[at].text;
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // A name may stand for an argument of a template, which GCC does not take here.
    if (error != std::errc() || end != text.data() + text.size()) return without_number;
    return std::min(number, most);
}

bool begins_loop(const Token& token) { return token.is("for") || token.is("while") || token.is("do"); }

// Replaces each `#pragma unroll`. The function gets the pragma, its number of copies, which is 0 if no loop
// follows.
template <class Replace>
std::string with_pragmas(std::string_view preprocessed, Replace replace) {
    std::string result;
    std::size_t written = 0;
    Lexer lexer(preprocessed);
    Token token, pragma;
    std::optional<unsigned> number;  // of the pragma whose loop is looked for
    const auto end_pragma = [&](bool loop) {
        if (!number) return;
        result.append(preprocessed.substr(written, pragma.offset - written));
        result.append(replace(pragma.text, loop ? *number : 0));
        written = pragma.end();
        number.reset();
    };
    while (lexer.next(&token)) {
        if (token.kind != TokenKind::directive) {
            end_pragma(begins_loop(token));
        } else if (const auto found = copies(Lexer::inside(preprocessed, token))) {
            end_pragma(false);
            number = found;
            pragma = token;
        }  // else a line of the preprocessor between a pragma and its loop
    }
    end_pragma(false);
    return result.append(preprocessed.substr(written));
}

}  // namespace

std::string with_gcc_unrolling(std::string_view preprocessed) {
    return with_pragmas(preprocessed, [](std::string_view, unsigned number) {
        return number == 0 ? std::string() : "#pragma GCC unroll " + std::to_string(number);
    });
}

std::string with_clang_unrolling(std::string_view preprocessed) {
    return with_pragmas(preprocessed, [](std::string_view pragma, unsigned number) {
        return number == 0 ? std::string_view() : pragma;
    });
}

}  // namespace cuscope::simt
