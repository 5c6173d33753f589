#include "host/compiler/prelude.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "host/compiler/registration.hpp"
#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {
namespace {

// The preprocessor knows these without a definition.
constexpr std::array<std::string_view, 12> built_in_macros = {
    "__FILE__",      "__FILE_NAME__", "__LINE__", "__BASE_FILE__", "__INCLUDE_LEVEL__", "__COUNTER__",
    "__TIMESTAMP__", "__DATE__",      "__TIME__", "_Pragma",       "__VA_ARGS__",       "__VA_OPT__",
};

bool is_built_in(std::string_view word) {
    return word.starts_with("__has_") ||  // __has_include, __has_builtin, ...
           std::find(built_in_macros.begin(), built_in_macros.end(), word) != built_in_macros.end();
}

bool is_unroll(std::string_view source, const Token& directive) {
    // The compiler's own parser of pragmas would see a comment.
    if (directive.text.find("//") != std::string_view::npos ||
        directive.text.find("/*") != std::string_view::npos)
        return false;
    const std::vector<Token> words = Lexer::inside(source, directive);
    return words.size() >= 2 && words[0].is("pragma") && (words[1].is("unroll") || words[1].is("nounroll"));
}

// Appends the text between two tokens: spaces in place of comments.
void append_blank(std::string_view text, std::string* result) {
    for (const char c : text) *result += c == '\n' || c == '\t' ? c : ' ';
}

}  // namespace

std::string Prelude::of_file(const std::string& name) const {
    const std::string mark = "\"../" + std::string(prelude_name) + "\"";
    std::string result;
    result.reserve(text.size() + 256);
    std::size_t copied = 0;
    for (std::size_t at; (at = text.find(mark, copied)) != std::string::npos; copied = at + mark.size()) {
        result.append(text, copied, at - copied);
        result += quoted(name);
    }
    return result.append(text, copied);
}

Prelude read_prelude(std::string_view preprocessed) {
    constexpr std::string_view define = "#define ", undefine = "#undef ";
    Prelude prelude;
    prelude.text.reserve(preprocessed.size());
    for (std::size_t at = 0; at < preprocessed.size();) {
        const std::size_t end = std::min(preprocessed.find('\n', at), preprocessed.size());
        const std::string_view line = preprocessed.substr(at, end - at);
        at = end + 1;
        if (line.starts_with(define)) {
            const std::string_view definition = line.substr(define.size());
            const std::size_t length = std::min(definition.find_first_of(" ("), definition.size());
            const std::string_view name = definition.substr(0, length);
            const bool is_itself =
                definition.size() == 2 * length + 1 && definition.substr(length + 1) == name;
            (is_itself ? prelude.keywords : prelude.macros).emplace(name);
            (is_itself ? prelude.macros : prelude.keywords).erase(std::string(name));
        } else if (line.starts_with(undefine)) {
            prelude.macros.erase(std::string(line.substr(undefine.size())));
            prelude.keywords.erase(std::string(line.substr(undefine.size())));
        } else {
            prelude.text += line;
        }
        prelude.text += '\n';
    }
    return prelude;
}

std::shared_ptr<const Prelude> find_prelude(const std::string& key,
                                            const std::function<std::optional<Prelude>()>& make) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<const Prelude>> known;
    {
        const std::lock_guard lock(mutex);
        if (const auto found = known.find(key); found != known.end()) return found->second;
    }
    std::optional<Prelude> made = make();
    if (!made) return nullptr;
    const std::lock_guard lock(mutex);
    return known.try_emplace(key, std::make_shared<const Prelude>(std::move(*made))).first->second;
}

bool needs_no_directive(std::string_view source) {
    // A mark of the encoding, a digraph for '#', a trigraph, and a place where a lexer would stop.
    if (source.starts_with("\xEF\xBB\xBF") || source.find("%:") != std::string_view::npos ||
        source.find("??") != std::string_view::npos || source.find('\0') != std::string_view::npos)
        return false;
    // A line that goes on behind a backslash. Compilers also take one with blanks behind it.
    bool has_backslash = false;
    for (std::size_t at = 0; (at = source.find('\\', at)) != std::string_view::npos;) {
        has_backslash = true;
        at = source.find_first_not_of(" \t\v\f", at + 1);
        if (at == std::string_view::npos || source[at] == '\n' || source[at] == '\r') return false;
    }
    if (!has_backslash && source.find('#') == std::string_view::npos) return true;
    Lexer lexer(source);
    for (Token token; lexer.next(&token);) {
        if (token.kind == TokenKind::directive ? !is_unroll(source, token) : token.is("#") || token.is("\\"))
            return false;  // a backslash outside of literals begins a letter: \u00e9
    }
    return true;
}

std::optional<std::string> preprocessed_behind(const Prelude& prelude, std::string_view source,
                                               const std::string& file_name) {
    const auto is_macro = [&](const Token& token) {
        return token.is_word() &&
               (is_built_in(token.text) || prelude.macros.contains(std::string(token.text)));
    };
    std::string result;
    result.reserve(source.size() + source.size() / 2 + 1);
    std::size_t copied = 0, line = 1, line_begin = 0;
    Lexer lexer(source);
    for (Token token; lexer.next(&token);) {
        if (is_macro(token)) return std::nullopt;
        append_blank(source.substr(copied, token.offset - copied), &result);
        copied = token.end();
        if (token.kind == TokenKind::directive) {
            const std::vector<Token> words = Lexer::inside(source, token);
            if (std::any_of(words.begin(), words.end(), is_macro)) return std::nullopt;
            // A compiler of preprocessed text takes only a '#' at the begin of a line for a directive.
            result.erase(result.find_last_not_of(" \t") + 1);
        }
        result += token.text;
        if (!token.is_word() || !prelude.keywords.contains(std::string(token.text))) continue;
        // Another text will take the place of the keyword. A line of its own keeps the columns behind it.
        for (std::size_t end; (end = source.find('\n', line_begin)) < copied; ++line) line_begin = end + 1;
        result += "\n# " + std::to_string(line) + " " + quoted(file_name) + "\n";
        result.append(copied - line_begin, ' ');
    }
    const std::string_view rest = source.substr(copied);
    // A comment that does not end.
    if (const std::size_t comment = rest.rfind("/*");
        comment != std::string_view::npos && rest.find("*/", comment + 2) == std::string_view::npos)
        return std::nullopt;
    append_blank(rest, &result);
    if (!result.ends_with('\n')) result += '\n';
    return result;
}

std::string origin_of(std::string_view preprocessed) {
    std::set<std::string> files;
    for (std::size_t at = 0; (at = preprocessed.find("\n# ", at)) != std::string_view::npos;) {
        ++at;
        const std::string_view line = preprocessed.substr(at, preprocessed.find('\n', at) - at);
        const std::size_t open = line.find('"'), close = line.rfind('"');
        if (open < close && line[open + 1] == '/') files.emplace(line.substr(open + 1, close - open - 1));
    }
    std::string origin;
    for (const std::string& file : files) {
        struct stat status {};
        if (::stat(file.c_str(), &status) != 0) continue;
        origin += file + ' ' + std::to_string(status.st_size) + ' ' + std::to_string(status.st_mtim.tv_sec) +
                  ' ' + std::to_string(status.st_mtim.tv_nsec) + '\n';
    }
    return origin;
}

}  // namespace cuscope::simt
