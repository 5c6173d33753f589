#include "host/compiler/unrolling.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compile/lexer.hpp"
#include "runtime/compile/tokens.hpp"

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

bool begins_loop(const Token& token) { return token.is("for") || token.is("while") || token.is("do"); }

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

// The last token of the statement that begins with a token.
std::size_t end_of_statement(const std::vector<Token>& tokens, std::size_t at) {
    const auto behind_brackets = [&](std::size_t open) {
        const std::size_t partner = open < tokens.size() ? tokens[open].partner : no_token;
        return partner != no_token && partner > open ? partner + 1 : tokens.size();
    };
    while (at < tokens.size()) {
        if (tokens[at].is("for") || tokens[at].is("while")) {
            at = behind_brackets(at + 1);
        } else if (tokens[at].is("do")) {
            ++at;
        } else if (tokens[at].is("if")) {
            const bool constant = at + 1 < tokens.size() && tokens[at + 1].is("constexpr");
            const std::size_t end = end_of_statement(tokens, behind_brackets(at + (constant ? 2 : 1)));
            if (end + 1 >= tokens.size() || !tokens[end + 1].is("else")) return end;
            at = end + 2;
        } else {
            break;
        }
    }
    if (at < tokens.size() && tokens[at].is("{")) return behind_brackets(at) - 1;
    while (at < tokens.size() && !tokens[at].is(";"))
        at = tokens[at].partner == no_token ? at + 1 : std::max(at + 1, behind_brackets(at));
    return std::min(at, tokens.size() - 1);
}

}  // namespace

std::vector<LoopLines> numbered_loops(std::string_view preprocessed) {
    std::vector<std::pair<std::size_t, Copies>> pragmas;  // by the end of the pragma
    bool found = false;
    with_pragmas(preprocessed, [&](const Token& pragma, Copies copies) {
        if (copies.number != 0) pragmas.emplace_back(pragma.end(), copies);
        found = found || copies.is_given;
        return std::string_view();
    });
    std::vector<LoopLines> loops;
    if (!found) return loops;
    const Tokens all = tokenize(preprocessed);
    const std::vector<Token>& tokens = all.list;
    std::size_t next = 0, end = 0;  // the next pragma; behind the outermost loop with a number
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!begins_loop(tokens[i])) continue;
        const Copies* its = nullptr;
        for (; next < pragmas.size() && pragmas[next].first <= tokens[i].offset; ++next)
            its = i == 0 || tokens[i - 1].offset < pragmas[next].first ? &pragmas[next].second : nullptr;
        const bool numbered = its != nullptr && its->is_given;
        if (!numbered && (its != nullptr || i >= end)) continue;
        const std::size_t last = end_of_statement(tokens, i);
        if (numbered) end = std::max(end, last + 1);
        const auto file = static_cast<std::size_t>(tokens[i].file);
        if (file >= all.files.size()) continue;
        const std::string& name = all.files[file];
        loops.push_back({name.substr(name.rfind('/') + 1), tokens[i].line, tokens[last].line,
                         numbered ? its->number : 0});
    }
    return loops;
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
