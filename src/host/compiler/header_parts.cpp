#include "host/compiler/header_parts.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>

#include "host/compiler/ptx.hpp"
#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {
namespace {

// A part of the header, and the words of a source that needs the part.
struct Part {
    std::string_view name;
    std::string_view option;  // leaves the part out before preprocessing
    std::vector<std::string_view> words;
    bool beginnings;  // are the words the beginnings of names?
    bool for_ptx;     // may the translation of inline PTX need the part?
};

constexpr std::size_t part_count = 5;

const std::array<Part, part_count>& parts() {
    static const std::array<Part, part_count> all = {{
        {"atomics", "-DCUSCOPE_WITHOUT_ATOMICS", {"atomic"}, true, true},
        {"ptx", "-DCUSCOPE_WITHOUT_PTX", {}, true, true},
        {"simd",
         "-DCUSCOPE_WITHOUT_SIMD",
         {"__vabs", "__vadd", "__vavg", "__vcmp", "__vhadd", "__viadd", "__vib", "__vim", "__vmax", "__vmin",
          "__vneg", "__vsad", "__vset", "__vsub", "__dp2a"},
         true,
         true},
        {"textures",
         "-DCUSCOPE_WITHOUT_TEXTURES",
         {"tex1D", "tex2D", "tex3D", "texCubemap", "surf1D", "surf2D", "surf3D", "surfCubemap", "cudaTexture",
          "cudaSurface", "cudaBoundaryMode"},
         true,
         true},
        // Each of the library's headers has the word `std`. Only <compare> serves code without it.
        {"standard_library", "-DCUSCOPE_WITHOUT_STANDARD_LIBRARY", {"std", "<=>"}, false, false},
    }};
    return all;
}

using Used = std::bitset<part_count>;

bool is_asm(const Token& token) { return token.is("asm") || token.is("__asm__") || token.is("__asm"); }

// Reads the text behind the header.
class Search {
  public:
    explicit Search(std::string_view text) : text_(text), lexer_(text) {}

    Used run() {
        while (lexer_.next(&token_) && !used_.all()) {
            if (token_.kind == TokenKind::directive) {
                see_directive();
            } else if (token_.is_word()) {
                see_word();
            } else if (token_.is("<") && text_.substr(token_.offset).starts_with("<=>")) {
                use([](const Part& part) {
                    return std::find(part.words.begin(), part.words.end(), "<=>") != part.words.end();
                });
            }
            before_ = token_;
        }
        return used_;
    }

  private:
    void use(const auto& is_used) {
        for (std::size_t i = 0; i < parts().size(); ++i)
            if (is_used(parts()[i])) used_.set(i);
    }
    // A header that includes a header of a part needs the part: the second #include of a header leaves no
    // text.
    void see_directive() {
        const std::vector<Token> words = Lexer::inside(text_, token_);
        if (words.size() == 4 && words[1].is("cuscope") && words[2].is("needs"))
            use([&](const Part& part) { return words[3].is(part.name); });
    }
    void see_word() {
        if (is_asm(token_)) return see_asm();
        use([&](const Part& part) {
            return std::any_of(part.words.begin(), part.words.end(), [&](std::string_view word) {
                return part.beginnings ? token_.text.starts_with(word) : token_.is(word);
            });
        });
    }
    // A line marker or a pragma may stand within a statement.
    bool next_but_directives() {
        while (lexer_.next(&token_)) {
            if (token_.kind != TokenKind::directive) return true;
            see_directive();
        }
        return false;
    }
    void see_asm() {
        const bool behind_parameters = before_.is(")");
        bool more = next_but_directives();
        while (more && (token_.is_word() || token_.is("("))) more = next_but_directives();
        std::string assembly;
        for (; more && token_.kind == TokenKind::string; more = next_but_directives())
            assembly += literal_text(token_.text);
        const bool closes = more && token_.is(")"),
                   has_operands = more && (token_.is(":") || token_.is("::"));
        // Without an instruction it only orders memory accesses.
        const bool empty =
            assembly.find_first_not_of(" \t\n") == std::string::npos && (closes || has_operands);
        // The name of a declared function is no code: int f() asm("name").
        const bool name =
            behind_parameters && closes && assembly.find_first_of(" \t\n;%{") == std::string::npos;
        if (!empty && !name) use([](const Part& part) { return part.for_ptx; });
    }

    std::string_view text_;
    Lexer lexer_;
    Token token_, before_;
    Used used_;
};

}  // namespace

std::vector<std::string> options_without_unused_parts(std::string_view source,
                                                      const std::vector<std::string>& name_expressions) {
    const auto has = [&](std::string_view text) {
        return source.find(text) != std::string_view::npos ||
               std::any_of(name_expressions.begin(), name_expressions.end(),
                           [&](const std::string& name) { return name.find(text) != std::string::npos; });
    };
    std::vector<std::string> options;
    if (has("##")) return options;
    for (const Part& part : parts()) {
        const bool used =
            (part.for_ptx && has("asm")) || std::any_of(part.words.begin(), part.words.end(), has);
        if (!used) options.emplace_back(part.option);
    }
    return options;
}

std::string without_unused_parts(const std::string& preprocessed,
                                 const std::vector<std::string>& name_expressions) {
    constexpr std::string_view mark = "#pragma cuscope ";
    const std::string_view text = preprocessed;
    const std::size_t source = text.find(std::string(mark) + "source\n");
    if (source == std::string_view::npos) return preprocessed;
    Used used = Search(text.substr(source)).run();
    for (const std::string& name : name_expressions) used |= Search(name).run();
    const std::string begin_mark = std::string(mark) + "begin ", end_mark = std::string(mark) + "end ";
    std::string result;
    std::size_t copied = 0, from = 0;
    for (std::size_t begin; (begin = text.find(begin_mark, from)) < source;) {
        const std::size_t name = begin + begin_mark.size();
        const std::string rest_of_line(text.substr(name, text.find('\n', name) + 1 - name));
        from = text.find(end_mark + rest_of_line, name) + end_mark.size() + rest_of_line.size();
        const auto part = std::find_if(parts().begin(), parts().end(), [&](const Part& other) {
            return rest_of_line == std::string(other.name) + "\n";
        });
        if (used.test(static_cast<std::size_t>(part - parts().begin()))) continue;
        result.append(text.substr(copied, begin - copied));
        copied = from;
    }
    result.append(text.substr(copied));
    return result;
}

}  // namespace cuscope::simt
