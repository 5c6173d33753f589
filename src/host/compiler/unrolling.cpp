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

// The copies that a directive asks for, in GCC's terms.
struct Copies {
    unsigned number = 0;  // nvcc ignores 0
    bool is_given = false;
};

// None if the directive is not `#pragma unroll`.
std::optional<Copies> copies(const std::vector<Token>& words) {
    if (words.size() < 2 || !words[0].is("pragma") || !words[1].is("unroll")) return std::nullopt;
    const std::size_t at = words.size() > 2 && words[2].is("(") ? 3 : 2;
    if (at >= words.size()) return Copies{without_number, false};
    const std::string_view text = words[at].text;
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // A name may stand for an argument of a template, which GCC does not take here.
    if (error != std::errc() || end != text.data() + text.size()) return Copies{without_number, false};
    return Copies{std::min(number, most), number != 0};
}

// Replaces each `#pragma unroll`. The function gets the pragma and its number of copies, which is 0 if no
// loop follows.
template <class Replace>
std::string with_pragmas(std::string_view preprocessed, Replace replace) {
    std::string result;
    std::size_t written = 0;
    Lexer lexer(preprocessed);
    Token token, pragma;
    std::optional<Copies> number;  // of the pragma whose loop is looked for
    const auto end_pragma = [&](bool loop) {
        if (!number) return;
        result.append(preprocessed.substr(written, pragma.offset - written));
        result.append(replace(pragma, loop ? *number : Copies{}));
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

std::vector<UnrollPragma> unroll_pragmas(std::string_view preprocessed) {
    std::vector<UnrollPragma> result;
    with_pragmas(preprocessed, [&](const Token& pragma, Copies copies) {
        if (copies.number != 0) result.push_back({pragma.end(), copies.is_given ? copies.number : 0});
        return std::string_view();
    });
    return result;
}

std::string with_gcc_unrolling(std::string_view preprocessed) {
    return with_pragmas(preprocessed, [](const Token&, Copies copies) {
        return copies.number == 0 ? std::string() : "#pragma GCC unroll " + std::to_string(copies.number);
    });
}

std::string with_clang_unrolling(std::string_view preprocessed) {
    return with_pragmas(preprocessed, [](const Token& pragma, Copies copies) {
        return copies.number == 0 ? std::string_view() : pragma.text;
    });
}

}  // namespace cuscope::simt
