#include "host/compiler/unused_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {
namespace {

// A token in few bytes, because a text has a hundred thousand tokens. (tokenize() leaves out the text of
// system headers, which is the text to cut.)
struct Piece {
    std::string_view text;
    char symbol = 0;  // of a symbol with one character
    bool is_word = false, is_directive = false;
};

// A function that may be cut out: its tokens, with the template parameters before it.
struct Function {
    std::string_view name;
    std::size_t first, last;
    bool used = false;
};

// Is this a header of the C library, or its C++ version, that declares functions by the hundred? These
// headers have no class, whose functions a source calls without their names.
bool is_library_header(std::string_view quoted_name_and_flags) {
    const std::size_t close = quoted_name_and_flags.rfind('"');
    if (quoted_name_and_flags.substr(close).find(" 3") == std::string_view::npos) return false;
    const std::string_view name = quoted_name_and_flags.substr(1, close - 1);
    const std::string_view file = name.substr(name.rfind('/') + 1);
    for (const std::string_view header :
         {"math.h", "mathcalls.h", "mathcalls-helper-functions.h", "mathcalls-narrow.h", "cmath", "std_abs.h",
          "stdlib.h", "cstdlib", "string.h", "strings.h"})
        if (file == header) return true;
    return false;
}

class Cutter {
  public:
    Cutter(std::string_view text, const std::string& folder)
        : text_(text), quoted_folder_("\"" + folder + "/") {
        tokens_.reserve(text.size() / 4);
        Lexer lexer(text);
        for (Token token; lexer.next(&token);) {
            const bool is_symbol = token.kind == TokenKind::symbol && token.text.size() == 1;
            tokens_.push_back({token.text, is_symbol ? token.text[0] : '\0', token.is_word(),
                               token.kind == TokenKind::directive});
        }
    }

    std::string run() {
        find_functions();
        keep_used();
        std::string result;
        result.reserve(text_.size());
        std::size_t copied = 0;
        for (const Function& function : functions_) {
            if (function.used) continue;
            const std::string_view first = tokens_[function.first].text, last = tokens_[function.last].text;
            const std::size_t begin = first.data() - text_.data(),
                              end = last.data() + last.size() - text_.data();
            result.append(text_.substr(copied, begin - copied));
            append_lines(text_.substr(begin, end - begin), &result);
            copied = end;
        }
        result.append(text_.substr(copied));
        return result;
    }

  private:
    bool is(std::size_t i, std::string_view text) const {
        return i < tokens_.size() && tokens_[i].text == text;
    }
    // Is the token one of these symbols of one character?
    bool is_symbol(std::size_t i, std::string_view symbols) const {
        return i < tokens_.size() && tokens_[i].symbol != '\0' &&
               symbols.find(tokens_[i].symbol) != std::string_view::npos;
    }
    bool is_one_of(std::size_t i, std::initializer_list<std::string_view> texts) const {
        return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) { return is(i, text); });
    }

    // Behind the bracket that matches the one at i; behind the end of the text if none does.
    std::size_t behind(std::size_t i) const {
        for (int depth = 0; i < tokens_.size(); ++i) {
            if (is_symbol(i, "([{")) ++depth;
            if (is_symbol(i, ")]}") && --depth == 0) return i + 1;
        }
        return tokens_.size() + 1;
    }
    std::size_t behind_template_parameters(std::size_t i) const {
        for (int depth = 0; i < tokens_.size();) {
            if (is_symbol(i, "([{")) {
                i = behind(i);
                continue;
            }
            if (is_symbol(i, "<")) ++depth;
            if (is_symbol(i, ">") && --depth == 0) return i + 1;
            ++i;
        }
        return tokens_.size() + 1;
    }

    // If a function marked CUSCOPE_INLINE begins at i, returns the place behind it; else i.
    std::size_t read_function(std::size_t i) {
        std::size_t at = i;
        if (is(at, "template") && is(at + 1, "<")) at = behind_template_parameters(at + 1);
        while (is_one_of(at, {"static", "constexpr", "friend", "explicit"})) ++at;
        if (!is(at, "inline") || !is(at + 1, "__attribute__") || !is(at + 4, "always_inline")) return i;
        return read_signature(i, behind(at + 2));
    }

    // If a declaration or a definition of a function, or `using ::name;` or `using std::name;`, begins at i
    // in a header of the C library, returns the place behind it; else i.
    std::size_t read_library_function(std::size_t i) {
        if (is(i, "using")) {
            const std::size_t name = i + (is(i + 1, "std") ? 3 : 2);
            if (!is(name - 1, "::") || !is_symbol(name + 1, ";")) return i;
            functions_.push_back({tokens_[name].text, i, name + 1});
            return name + 2;
        }
        std::size_t at = i;
        if (is(at, "template") && is(at + 1, "<")) at = behind_template_parameters(at + 1);
        if (is(at, "__extension__")) ++at;
        if (!is_one_of(at, {"extern", "inline", "constexpr"})) return i;
        return read_signature(i, at);
    }

    // Reads a function that begins at i, from its result's type at `at` on.
    std::size_t read_signature(std::size_t i, std::size_t at) {
        for (; at < tokens_.size() && !is_symbol(at, "({;="); ++at) {
            if (is(at, "operator")) return i;  // operators and conversions are called without their names
            if (is_one_of(at, {"decltype", "__attribute__", "alignas", "noexcept"})) at = behind(at + 1) - 1;
        }
        // Loops over ranges and structured bindings call these functions without their names.
        if (!is_symbol(at, "(") || !tokens_[at - 1].is_word || is_one_of(at - 1, {"begin", "end", "get"}))
            return i;
        const std::string_view name = tokens_[at - 1].text;
        // Else the parenthesis belongs to the type of the result.
        if (!is_one_of(behind(at), {"{", ";", "const", "noexcept", "->", "=", "&", "volatile",
                                    "__attribute__", "__asm__"}))
            return i;
        for (at = behind(at); at < tokens_.size() && !is_symbol(at, "{;");) {
            if (is_symbol(at, ":")) return i;  // the members that a constructor initialises may have braces
            at = is_symbol(at, "(") ? behind(at) : at + 1;
        }
        const std::size_t end = is_symbol(at, "{") ? behind(at) : at + 1;
        if (end > tokens_.size()) return i;
        functions_.push_back({name, i, end - 1});
        return end;
    }

    void find_functions() {
        // In a header of the folder; in one of the C library; at the begin of a declaration.
        bool is_own = false, is_library = false, begins = true;
        for (std::size_t i = 0; i < tokens_.size();) {
            if (tokens_[i].is_directive) {
                // # 12 "name" 1 3
                if (const std::size_t quote = tokens_[i].text.find('"'); quote != std::string_view::npos) {
                    is_own = tokens_[i].text.substr(quote).starts_with(quoted_folder_);
                    is_library = is_library_header(tokens_[i].text.substr(quote));
                }
                ++i;
                continue;
            }
            if (begins && (is_own || is_library)) {
                if (const std::size_t next = is_own ? read_function(i) : read_library_function(i);
                    next != i) {
                    i = next;
                    continue;
                }
            }
            begins = is_symbol(i, ";{}:");
            ++i;
        }
    }

    void keep_used() {
        std::unordered_map<std::string_view, std::vector<std::size_t>> by_name;
        for (std::size_t i = 0; i < functions_.size(); ++i) by_name[functions_[i].name].push_back(i);
        std::vector<std::size_t> unread;  // used functions whose words were not looked at
        const auto see = [&](std::size_t first, std::size_t end) {
            for (std::size_t i = first; i < end; ++i) {
                if (!tokens_[i].is_word) continue;
                const auto found = by_name.find(tokens_[i].text);
                if (found == by_name.end()) continue;
                unread.insert(unread.end(), found->second.begin(), found->second.end());
                by_name.erase(found);
            }
        };
        std::size_t end = 0;
        for (const Function& function : functions_) {
            see(end, function.first);
            end = function.last + 1;
        }
        see(end, tokens_.size());
        while (!unread.empty()) {
            Function& function = functions_[unread.back()];
            unread.pop_back();
            function.used = true;
            see(function.first, function.last + 1);
        }
    }

    // The ends of lines and the line markers: # 12 "name" 3
    static void append_lines(std::string_view cut, std::string* result) {
        for (std::size_t at = 0; (at = cut.find('\n', at)) != std::string_view::npos;) {
            result->push_back('\n');
            if (cut.substr(++at).starts_with("# ")) result->append(cut.substr(at, cut.find('\n', at) - at));
        }
    }

    std::string_view text_;
    std::string quoted_folder_;
    std::vector<Piece> tokens_;
    std::vector<Function> functions_;
};

}  // namespace

std::string without_unused_functions(std::string_view text, const std::string& folder) {
    return Cutter(text, folder).run();
}

}  // namespace cuscope::simt
