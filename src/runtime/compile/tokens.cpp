#include "runtime/compile/tokens.hpp"

#include <algorithm>
#include <charconv>

namespace cuscope {
namespace {

bool is_open(char c) { return c == '(' || c == '[' || c == '{'; }
bool is_close(char c) { return c == ')' || c == ']' || c == '}'; }

// The bracket that a token is; '\0' for any other token.
char bracket(const Token& token) {
    if (token.kind != TokenKind::symbol || token.text.size() != 1) return '\0';
    const char c = token.text[0];
    return is_open(c) || is_close(c) ? c : '\0';
}

class Tokenizer {
  public:
    explicit Tokenizer(std::string_view text) : text_(text), lexer_(text) {}

    Tokens run() {
        for (Token token; lexer_.next(&token);) {
            if (token.kind == TokenKind::directive) {
                directive(token);
                if (in_system_header_) lexer_.skip_to_directive();
            } else {
                add(token);
            }
        }
        match_brackets();
        return std::move(result_);
    }

  private:
    struct Branch {
        std::size_t depth;  // depth of brackets at the #if
        bool ignored;       // do not count brackets: the branch before has counted them
    };

    void add(Token& token) {
        if (const char c = bracket(token); c != '\0') {
            if (!branches_.empty() && branches_.back().ignored) return;
            if (is_open(c)) ++depth_;
            if (is_close(c) && depth_ > 0) --depth_;
        }
        const std::string_view before = text_.substr(counted_, token.offset - counted_);
        line_ += static_cast<int>(std::count(before.begin(), before.end(), '\n'));
        counted_ = token.offset;
        token.line = line_;
        token.file = file_;
        result_.list.push_back(token);
    }

    void directive(const Token& directive) {
        const std::vector<Token> words = Lexer::inside(text_, directive);
        const std::string_view name = words.empty() ? std::string_view() : words[0].text;
        if (name != "pragma") result_.directives.push_back({directive.offset, directive.end()});
        if (name.empty()) return;
        if (words[0].kind == TokenKind::number) return line_marker(directive, words, 0);
        if (name == "line") return line_marker(directive, words, 1);
        if (name == "define" && words.size() > 1) {
            auto& macro = result_.macros[words[1].text];
            macro.insert(macro.end(), words.begin() + 2, words.end());
        } else if (name == "if" || name == "ifdef" || name == "ifndef") {
            branches_.push_back({depth_, !branches_.empty() && branches_.back().ignored});
        } else if ((name == "else" || name == "elif") && !branches_.empty()) {
            if (depth_ != branches_.back().depth) branches_.back().ignored = true;
        } else if (name == "endif" && !branches_.empty()) {
            branches_.pop_back();
        }
    }

    // `# 12 "file" 1 3`: the next line is line 12 of `file`. A file that is entered (1) as a system header
    // (3) remains a system header. A 3 alone only says that a macro of a system header is expanded. `number`
    // is the index of the 12.
    void line_marker(const Token& directive, const std::vector<Token>& words, std::size_t number) {
        if (number >= words.size()) return;
        const std::string_view digits = words[number].text;
        if (std::from_chars(digits.data(), digits.data() + digits.size(), line_).ec != std::errc()) return;
        counted_ = std::min(directive.end() + 1, text_.size());
        const std::size_t name = number + 1;
        if (name >= words.size() || words[name].kind != TokenKind::string) return;
        const auto [known, added] = files_.try_emplace(words[name].text, result_.files.size());
        file_ = static_cast<int>(known->second);
        if (added) {
            result_.files.push_back(unquoted(words[name].text));
            is_system_.push_back(name + 2 < words.size() && words[name + 1].is("1") &&
                                 words[name + 2].is("3"));
        }
        in_system_header_ = is_system_[known->second];
    }

    static std::string unquoted(std::string_view literal) {
        std::string text;
        for (std::size_t i = 1; i < literal.size() && literal[i] != '"'; ++i) {
            if (literal[i] == '\\' && i + 1 < literal.size()) ++i;
            text += literal[i];
        }
        return text;
    }

    void match_brackets() {
        std::vector<Token>& list = result_.list;
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const char c = bracket(list[i]);
            if (c == '\0') continue;
            if (is_open(c)) {
                open.push_back(i);
                continue;
            }
            const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (open.empty() || list[open.back()].text[0] != wanted) continue;
            list[i].partner = open.back();
            list[open.back()].partner = i;
            open.pop_back();
        }
    }

    std::string_view text_;
    Lexer lexer_;
    std::size_t depth_ = 0;
    std::vector<Branch> branches_;
    std::size_t counted_ = 0;  // line_ is the line of this offset
    int line_ = 1, file_ = 0;
    bool in_system_header_ = false;
    std::map<std::string_view, std::size_t> files_;  // by name, with quotes: index in Tokens::files
    std::vector<bool> is_system_;                    // for each file
    Tokens result_;
};

}  // namespace

Tokens tokenize(std::string_view text) { return Tokenizer(text).run(); }

}  // namespace cuscope
