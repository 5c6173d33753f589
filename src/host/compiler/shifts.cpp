#include "host/compiler/shifts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace cuscope::simt {
namespace {

// The fewest bits of a type that is shifted: smaller types become an int.
constexpr unsigned least_bits = 32;

constexpr std::size_t none = static_cast<std::size_t>(-1);

class Finder {
  public:
    explicit Finder(const std::vector<Token>& tokens) : tokens_(tokens) {}

    std::vector<ShiftOperator> run() {
        for (std::size_t i = 0; i < tokens_.size(); i = visit(i)) {
        }
        return std::move(result_);
    }

  private:
    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
    // Do these symbols follow each other without a space?
    bool touches_next(std::size_t i, std::string_view next) const {
        return is(i + 1, next) && tokens_[i + 1].offset == tokens_[i].offset + 1;
    }

    std::size_t visit(std::size_t i) {
        if (is(i, "operator")) {  // skips the symbols of its name
            for (++i; i < tokens_.size() && tokens_[i].kind == TokenKind::symbol && !is(i, "("); ++i) {
            }
            return i;
        }
        if (is(i, "(") || is(i, "[") || is(i, "{")) {
            outer_.push_back(open_);
            open_ = 0;
        } else if (is(i, ")") || is(i, "]") || is(i, "}")) {
            open_ = outer_.empty() ? 0 : outer_.back();
            if (!outer_.empty()) outer_.pop_back();
        } else if (is(i, ";")) {
            open_ = 0;
        } else if (is(i, "<")) {
            if (touches_next(i, "<")) return shift(i, true);
            if (!touches_next(i, "=")) ++open_;
        } else if (is(i, ">")) {
            if (touches_next(i, ">")) return angles(i);
            if (!touches_next(i, "=") && open_ > 0) --open_;
        }
        return i + 1;
    }

    // Handles two or more '>'. They close lists of template arguments if at least as many may be open.
    std::size_t angles(std::size_t i) {
        std::size_t end = i + 1;
        while (touches_next(end - 1, ">")) ++end;
        const auto count = static_cast<unsigned>(end - i);
        if (count == 2 && (open_ < 2 || touches_next(i + 1, "="))) return shift(i, false);
        open_ -= std::min(open_, count);
        return end;
    }

    std::size_t shift(std::size_t i, bool left) {
        const bool assigns = touches_next(i + 1, "=");
        const std::size_t amount = i + (assigns ? 3 : 2);
        const bool operand = i > 0 && (ends_operand(i - 1) || ends_increment(i - 1));
        if (operand && begins_operand(amount) && !is_small_number(amount)) {
            ShiftOperator found{i, left, assigns, i};
            if (assigns) found.operand = names(i);
            result_.push_back(found);
        }
        return amount;
    }

    bool ends_operand(std::size_t i) const {
        const Token& token = tokens_[i];
        return token.is_word() || token.kind == TokenKind::number || token.kind == TokenKind::character ||
               token.is(")") || token.is("]") || token.is("}");
    }
    // False for a string or a manipulator that is written to a stream, and for the "..." of a fold.
    bool begins_operand(std::size_t i) const {
        static constexpr std::array<std::string_view, 7> manipulators{"endl", "flush", "hex",      "dec",
                                                                      "oct",  "fixed", "boolalpha"};
        if (i >= tokens_.size() || tokens_[i].kind == TokenKind::string || is(i, ".")) return false;
        const std::size_t name = is(i, "std") && is(i + 1, "::") ? i + 2 : i;
        return name >= tokens_.size() ||
               std::find(manipulators.begin(), manipulators.end(), tokens_[name].text) == manipulators.end();
    }

    // Is the whole amount a number smaller than the bits of every type?
    bool is_small_number(std::size_t i) const {
        if (i >= tokens_.size() || tokens_[i].kind != TokenKind::number) return false;
        std::string_view text = tokens_[i].text;
        int base = 10;
        if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
            text.remove_prefix(2);
            base = 16;
        } else if (text.size() > 1 && text[0] == '0') {
            return false;
        }
        unsigned value = 0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
        const std::string_view rest = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
        if (parsed.ec != std::errc() || value >= least_bits) return false;
        if (rest.find_first_not_of("uUlL") != std::string_view::npos) return false;
        static constexpr std::array<std::string_view, 14> looser{")", "]", "}", ";", ",", "?", ":",
                                                                 "&", "|", "^", "<", ">", "=", "!"};
        return i + 1 >= tokens_.size() ||
               std::find(looser.begin(), looser.end(), tokens_[i + 1].text) != looser.end();
    }

    // The index of `a` in `a[i].b->c <<= ...`. Returns `end` if the left operand contains anything but names,
    // members, elements and brackets: a rewritten operand is evaluated twice.
    std::size_t names(std::size_t end) const {
        static constexpr std::array<std::string_view, 12> before{";", "{", "}", "(",    ")",  ",",
                                                                 "=", "?", ":", "else", "do", "return"};
        std::size_t at = end - 1;
        if (is(at, ")")) {
            at = pure_bracket(at);
        } else if (tokens_[at].is_word()) {
            while (at != none && at > 1 && (is(at - 1, ".") || is(at - 1, "->"))) at = object(at - 2);
        } else {
            return end;
        }
        if (at == none) return end;
        if (at == 0) return at;
        // `f(x)(y)` calls; `if (x) y` does not.
        if (is(at, "(") && is(at - 1, ")")) return end;
        return std::find(before.begin(), before.end(), tokens_[at - 1].text) != before.end() ? at : end;
    }

    // The first token of `a[i][j]`, `a` or `(*a)` that ends at `last`. Returns none for any other expression,
    // and if evaluating an index has a side effect.
    std::size_t object(std::size_t last) const {
        while (is(last, "]")) {
            const std::size_t open = pure_bracket(last);
            if (open == none || open == 0) return none;
            last = open - 1;
        }
        if (is(last, ")")) return pure_bracket(last);
        return tokens_[last].is_word() ? last : none;
    }

    // The index of the bracket that the one at `close` closes. Returns none if evaluating the text between
    // them has a side effect.
    std::size_t pure_bracket(std::size_t close) const {
        unsigned open = 0;
        for (std::size_t i = close + 1; i-- > 0;) {
            if (is(i, ")") || is(i, "]")) {
                ++open;
            } else if (is(i, "(") || is(i, "[")) {
                if (--open == 0) return i;
                if (is(i, "(") && ends_operand(i - 1)) return none;  // a call
            } else if (!is_pure(i)) {
                return none;
            }
        }
        return none;
    }

    // `x++` or `x--`: no other operator ends with these two tokens before a shift.
    bool ends_increment(std::size_t i) const { return (is(i, "+") || is(i, "-")) && same_beside(i); }

    // The lexer gives "++" and "--" as two tokens.
    bool same_beside(std::size_t i) const {
        return touches_next(i, tokens_[i].text) ||
               (i > 0 && is(i - 1, tokens_[i].text) && touches_next(i - 1, tokens_[i].text));
    }
    // May the token stand in a bracket without side effects? Names, numbers and arithmetic may; calls,
    // assignments, `++` and `--` may not.
    bool is_pure(std::size_t i) const {
        if (tokens_[i].is_word() || tokens_[i].kind == TokenKind::number) return true;
        if ((is(i, "+") || is(i, "-")) && (same_beside(i))) return false;
        static constexpr std::array<std::string_view, 9> arithmetic{"+", "-", "*",  "/", "%",
                                                                    "&", ".", "->", "::"};
        return std::find(arithmetic.begin(), arithmetic.end(), tokens_[i].text) != arithmetic.end();
    }

    const std::vector<Token>& tokens_;
    std::vector<ShiftOperator> result_;
    unsigned open_ = 0;            // '<' in this bracket that may begin a list of template arguments
    std::vector<unsigned> outer_;  // open_ of the enclosing brackets
};

}  // namespace

std::vector<ShiftOperator> find_shifts(const std::vector<Token>& tokens) { return Finder(tokens).run(); }

}  // namespace cuscope::simt
