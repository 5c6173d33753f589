#include "host/compiler/tokens.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/compile/characters.hpp"

namespace cuscope::simt {
namespace {

bool is_string_prefix(std::string_view word) {
    return word == "L" || word == "u" || word == "U" || word == "u8";
}

bool is_raw_prefix(std::string_view word) {
    return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Tokens run() {
        while (at_ < text_.size()) {
            if (at_line_start() && text_[at_] == '#') {
                directive();
            } else if (system_) {
                skip_line();
            } else {
                step();
            }
        }
        return std::move(result_);
    }

  private:
    bool at_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

    void skip_line() {
        const std::size_t end = text_.find('\n', at_);
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
        ++line_;
    }

    // `# 12 "file" 1 3`: the next line is line 12 of `file`. A file that is entered (1) as a system header
    // (3) remains a system header. A 3 alone only says that a macro of a system header is expanded. Other
    // directives (#pragma) are left alone.
    void directive() {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view rest = text_.substr(at_ + 1, end - at_ - 1);
        const auto trim = [&rest] {
            while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
        };
        trim();
        if (rest.substr(0, 4) == "line") rest.remove_prefix(4);
        trim();
        int number = 0;
        const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        skip_line();
        if (parsed.ec != std::errc()) return;
        rest.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest.data()));
        trim();
        line_ = number;
        if (rest.empty() || rest.front() != '"') return;
        std::string name;
        std::size_t i = 1;
        for (; i < rest.size() && rest[i] != '"'; ++i) {
            if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
            name += rest[i];
        }
        const std::string_view flags = rest.substr(std::min(i + 1, rest.size()));
        const auto known = std::find(result_.files.begin(), result_.files.end(), name);
        file_ = static_cast<int>(known - result_.files.begin());
        if (known == result_.files.end()) {
            result_.files.push_back(name);
            is_system_.push_back(flags.substr(0, 4) == " 1 3");
        }
        system_ = is_system_[static_cast<std::size_t>(file_)];
    }

    void emit(TokenKind kind, std::size_t begin, int line) {
        result_.list.push_back({kind, text_.substr(begin, at_ - begin), begin, line, file_});
    }

    void step() {
        const std::size_t begin = at_;
        const int line = line_;
        const char c = peek();
        if (c == '\n') {
            ++at_;
            ++line_;
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            ++at_;
        } else if (is_word_start(c)) {
            while (is_word(peek())) ++at_;
            const std::string_view word = text_.substr(begin, at_ - begin);
            if (peek() == '"' && is_raw_prefix(word)) {
                raw_string();
                emit(TokenKind::string, begin, line);
            } else if ((peek() == '"' || peek() == '\'') && is_string_prefix(word)) {
                const TokenKind kind = peek() == '"' ? TokenKind::string : TokenKind::character;
                literal();
                emit(kind, begin, line);
            } else {
                emit(TokenKind::identifier, begin, line);
            }
        } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
            number();
            emit(TokenKind::number, begin, line);
        } else if (c == '"' || c == '\'') {
            literal();
            emit(c == '"' ? TokenKind::string : TokenKind::character, begin, line);
        } else if (c == '/' && peek(1) == '/') {  // preprocessors remove comments; harmless if one does not
            skip_line();
        } else {
            if ((c == ':' && peek(1) == ':') || (c == '-' && peek(1) == '>')) {
                at_ += 2;
            } else if (c == '<' && peek(1) == '<' && peek(2) == '<') {
                at_ += 3;
            } else {
                ++at_;
            }
            emit(TokenKind::symbol, begin, line);
        }
    }

    void number() {
        while (is_word(peek()) || peek() == '.' || (peek() == '\'' && is_word(peek(1))) ||
               ((peek() == '+' || peek() == '-') &&
                std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos &&
                !(text_[at_ - 1] != 'p' && text_[at_ - 1] != 'P' && is_hexadecimal())))
            ++at_;
    }

    // Does the number that ends here begin with 0x? Then an `e` in it is a digit.
    bool is_hexadecimal() const {
        std::size_t begin = at_;
        while (begin > 0 && (is_word(text_[begin - 1]) || text_[begin - 1] == '.')) --begin;
        return text_.substr(begin, 2) == "0x" || text_.substr(begin, 2) == "0X";
    }

    void literal() {
        const char quote = peek();
        ++at_;
        while (at_ < text_.size() && peek() != quote && peek() != '\n')
            at_ += peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1;
        if (peek() == quote) ++at_;
    }

    void raw_string() {
        const std::size_t open = text_.find('(', at_);
        if (open == std::string_view::npos) return skip_line();
        const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        const std::size_t end = text_.find(close, open);
        const std::size_t stop = end == std::string_view::npos ? text_.size() : end + close.size();
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                             text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
        at_ = stop;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1, file_ = 0;
    bool system_ = true;           // until the first line marker names a file
    std::vector<bool> is_system_;  // for each file
    Tokens result_;
};

}  // namespace

Tokens tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace cuscope::simt
