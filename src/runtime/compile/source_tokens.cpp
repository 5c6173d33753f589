#include "runtime/compile/source_tokens.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/compile/characters.hpp"

namespace cuscope {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

class Lexer {
  public:
    Lexer(std::string_view text, std::size_t begin, std::size_t end) : text_(text), at_(begin), end_(end) {}

    SourceTokens run() {
        while (at_ < end_) step();
        match();
        return std::move(result_);
    }

  private:
    struct Branch {
        std::size_t depth;  // depth of brackets at the #if
        bool ignored;       // do not count brackets: the branch before has counted them
    };

    char peek(std::size_t ahead = 0) const { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }

    // The length of a line continuation (a backslash and a line end) at this place; 0 if there is none.
    std::size_t continuation() const {
        if (peek() != '\\') return 0;
        if (peek(1) == '\n') return 2;
        return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
    }

    void emit(SourceTokenKind kind, std::size_t begin) {
        SourceToken token{kind, text_.substr(begin, at_ - begin), begin};
        if (kind == SourceTokenKind::symbol && token.text.size() == 1) {
            const char c = token.text[0];
            const bool opens = c == '(' || c == '[' || c == '{', closes = c == ')' || c == ']' || c == '}';
            if ((opens || closes) && !branches_.empty() && branches_.back().ignored) return;
            if (opens) ++depth_;
            if (closes && depth_ > 0) --depth_;
        }
        result_.list.push_back(token);
    }

    void step() {
        const std::size_t begin = at_;
        const char c = peek();
        if (c == '\n') {
            ++at_;
            line_start_ = true;
        } else if (is_blank(c)) {
            ++at_;
        } else if (const std::size_t joined = continuation(); joined > 0) {
            at_ += joined;
        } else if (c == '#' && line_start_) {
            directive();
        } else if (system_) {
            skip_line();
        } else if (c == '/' && peek(1) == '/') {
            skip_line();
        } else if (c == '/' && peek(1) == '*') {
            skip_comment();
        } else {
            line_start_ = false;
            token(begin, c);
        }
    }

    void token(std::size_t begin, char c) {
        if (is_word_start(c)) {
            while (is_word(peek())) ++at_;
            const std::string_view word = text_.substr(begin, at_ - begin);
            const bool prefix = word == "L" || word == "u" || word == "U" || word == "u8";
            const bool raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
            if (raw && peek() == '"') {
                raw_string();
                emit(SourceTokenKind::literal, begin);
            } else if (prefix && (peek() == '"' || peek() == '\'')) {
                literal();
                emit(SourceTokenKind::literal, begin);
            } else {
                emit(SourceTokenKind::word, begin);
            }
        } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
            number();
            emit(SourceTokenKind::number, begin);
        } else if (c == '"' || c == '\'') {
            literal();
            emit(SourceTokenKind::literal, begin);
        } else {
            const bool pair = (c == ':' && peek(1) == ':') || (c == '-' && peek(1) == '>');
            const bool launch = c == '<' && peek(1) == '<' && peek(2) == '<';
            at_ += launch ? 3 : pair ? 2 : 1;
            emit(SourceTokenKind::symbol, begin);
        }
    }

    void number() {
        while (is_word(peek()) || peek() == '.' || (peek() == '\'' && is_word(peek(1))) ||
               ((peek() == '+' || peek() == '-') &&
                std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos && !is_hexadecimal()))
            ++at_;
    }

    // Did the number that ends here begin with 0x, and has it no exponent yet? Then an `e` in it is a digit.
    bool is_hexadecimal() const {
        std::size_t begin = at_;
        while (begin > 0 && (is_word(text_[begin - 1]) || text_[begin - 1] == '.')) --begin;
        const bool prefix = text_.substr(begin, 2) == "0x" || text_.substr(begin, 2) == "0X";
        return prefix && text_[at_ - 1] != 'p' && text_[at_ - 1] != 'P';
    }

    // Skips to the closing quote, or to the end of the line if there is none.
    void literal() {
        const char quote = peek();
        for (++at_; at_ < end_ && peek() != '\n'; ++at_) {
            if (peek() == '\\') {
                const std::size_t joined = continuation();
                at_ += joined > 0 ? joined - 1 : 1;
            } else if (peek() == quote) {
                ++at_;
                break;
            }
        }
        at_ = std::min(at_, end_);
    }

    void raw_string() {
        const std::size_t open = text_.find('(', at_);
        if (open == std::string_view::npos || open - at_ > 17) return literal();
        const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        const std::size_t found = text_.find(close, open);
        at_ = found == std::string_view::npos ? end_ : std::min(found + close.size(), end_);
    }

    void skip_line() {
        while (at_ < end_ && peek() != '\n') {
            const std::size_t joined = continuation();
            at_ += joined > 0 ? joined : 1;
        }
    }

    void skip_comment() {
        const std::size_t close = text_.find("*/", at_ + 2);
        at_ = close == std::string_view::npos ? end_ : std::min(close + 2, end_);
    }

    void directive() {
        const std::size_t begin = at_;
        ++at_;
        while (at_ < end_ && peek() != '\n') {
            if (const std::size_t joined = continuation(); joined > 0) {
                at_ += joined;
            } else if (peek() == '/' && peek(1) == '*') {
                skip_comment();
            } else if (peek() == '/' && peek(1) == '/') {
                skip_line();
            } else if (peek() == '"') {
                literal();
            } else {
                ++at_;
            }
        }
        SourceTokens words = Lexer(text_, begin + 1, at_).plain();
        std::vector<SourceToken>& list = words.list;
        const std::string_view name = list.empty() ? std::string_view() : list[0].text;
        if (name != "pragma") result_.directives.push_back({begin, at_});
        if (name.empty()) return;
        if (list[0].kind == SourceTokenKind::number || name == "line") return line_marker(begin);
        if (name == "define" && list.size() > 1) {
            auto& macro = result_.macros[list[1].text];
            macro.insert(macro.end(), list.begin() + 2, list.end());
        } else if (name == "if" || name == "ifdef" || name == "ifndef") {
            branches_.push_back({depth_, !branches_.empty() && branches_.back().ignored});
        } else if ((name == "else" || name == "elif") && !branches_.empty()) {
            if (depth_ != branches_.back().depth) branches_.back().ignored = true;
        } else if (name == "endif" && !branches_.empty()) {
            branches_.pop_back();
        }
    }

    SourceTokens plain() {
        line_start_ = false;
        while (at_ < end_) step();
        return std::move(result_);
    }

    // `# 12 "file" 1 3`: the next line belongs to `file`, which was entered (1) as a system header (3).
    void line_marker(std::size_t begin) {
        const std::string_view line = text_.substr(begin, at_ - begin);
        const std::size_t open = line.find('"'), close = line.rfind('"');
        if (open == std::string_view::npos || close <= open) return;
        const std::string_view file = line.substr(open, close - open);
        const auto [known, added] = files_.try_emplace(file, line.substr(close + 1, 4) == " 1 3");
        system_ = known->second;
    }

    void match() {
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < result_.list.size(); ++i) {
            SourceToken& token = result_.list[i];
            if (token.kind != SourceTokenKind::symbol || token.text.size() != 1) continue;
            const char c = token.text[0];
            if (c == '(' || c == '[' || c == '{') {
                open.push_back(i);
            } else if (c == ')' || c == ']' || c == '}') {
                const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
                if (open.empty() || result_.list[open.back()].text[0] != wanted) continue;
                token.partner = open.back();
                result_.list[open.back()].partner = i;
                open.pop_back();
            }
        }
    }

    std::string_view text_;
    std::size_t at_, end_;
    std::size_t depth_ = 0;
    bool line_start_ = true, system_ = false;
    std::vector<Branch> branches_;
    std::map<std::string_view, bool> files_;
    SourceTokens result_;
};

}  // namespace

SourceTokens source_tokens(std::string_view text) { return Lexer(text, 0, text.size()).run(); }

}  // namespace cuscope
