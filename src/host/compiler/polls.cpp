#include "host/compiler/polls.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "runtime/compile/tokens.hpp"

namespace cuscope::simt {
namespace {

constexpr std::string_view at_begin = " ::cuscope_simt::poll();";
// An `else` behind the statement belongs to an `if` in it or in front of the loop, as before.
constexpr std::string_view before_statement = " if (::cuscope_simt::poll(), false) {} else ";

class Finder {
  public:
    explicit Finder(const std::vector<Token>& tokens) : tokens_(tokens) {}

    std::vector<PollInsertion> run() {
        if (!sees_other_threads()) return {};
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if ((is(i, "constexpr") || is(i, "consteval")) && (i == 0 || !is(i - 1, "if"))) {
                i = last_of_constant(i);
            } else if (is(i, "do")) {
                visit_do(i);
            } else if (is(i, "goto") && is(i + 2, ";")) {  // it may go back
                insert(tokens_[i].offset, "{ ::cuscope_simt::poll(); ");
                insert(tokens_[i + 2].end(), " }");
            } else if ((is(i, "for") || (is(i, "while") && ends_do_.count(i) == 0)) && is(i + 1, "(") &&
                       tokens_[i + 1].partner != no_token) {
                const std::size_t body = tokens_[i + 1].partner + 1;
                // Without braces, a loop that only counts is short, and a poll would cost more than its body.
                if (is(body, "{") || !is(i, "for") || !counts(i + 1)) poll_in_body(body);
            }
        }
        return std::move(result_);
    }

  private:
    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
    void insert(std::size_t offset, std::string_view text) { result_.push_back({offset, text}); }

    bool sees_other_threads() const {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (is(i, "__ldcg") || is(i, "__ldcv")) return true;
            if (is(i, "volatile") && i > 0 && !is(i - 1, "asm") && !is(i - 1, "__asm__")) return true;
        }
        return false;
    }

    // Token i is constexpr or consteval. If it declares a function with a body, the body's last token, else
    // i. Such functions get no poll: the compiler may call them, and cannot call poll().
    std::size_t last_of_constant(std::size_t i) const {
        std::size_t end = i;
        while (end < tokens_.size() && !is(end, "{") && !is(end, ";") && !is(end, "="))
            end = behind(tokens_, end);
        return is(end, "{") ? behind(tokens_, end) - 1 : i;
    }

    // Token i opens the bracket of a `for`. True if the loop only compares names and numbers until it ends,
    // or visits the elements of a range: it waits for no other thread.
    bool counts(std::size_t i) const {
        const std::size_t end = tokens_[i].partner;
        for (++i; i < end && !is(i, ";"); i = behind(tokens_, i)) {
        }
        if (i >= end) return true;
        bool compares = false;
        for (++i; i < end && !is(i, ";"); ++i) {
            compares |= is(i, "<") || is(i, ">");
            const bool calls = is(i, "(") && tokens_[i - 1].is_word() && !is(i - 1, "sizeof");
            static constexpr std::array<std::string_view, 10> others{"<", ">", "=",  "+", "-",
                                                                     "/", ".", "::", "(", ")"};
            if (calls || (!tokens_[i].is_word() && tokens_[i].kind != TokenKind::number &&
                          std::find(others.begin(), others.end(), tokens_[i].text) == others.end()))
                return false;
        }
        return compares && i + 1 < end;
    }

    void visit_do(std::size_t i) {
        const std::size_t end = behind_statement(i + 1);
        if (!is(end, "while")) return;
        ends_do_.insert(end);
        // do { ... } while (0) is a block, as macros use it.
        const bool is_block = (is(end + 2, "0") || is(end + 2, "false")) && is(end + 3, ")");
        if (!is_block) poll_in_body(i + 1);
    }

    void poll_in_body(std::size_t body) {
        if (body >= tokens_.size()) return;
        if (is(body, "{")) {
            insert(tokens_[body].end(), at_begin);
        } else if (is(body, ";")) {
            insert(tokens_[body].offset, " ::cuscope_simt::poll()");
        } else {
            insert(tokens_[body - 1].end(), before_statement);  // in front of a #pragma, too
        }
    }

    // The token behind the statement that begins at token i.
    std::size_t behind_statement(std::size_t i) const {
        if (is(i, "{")) return behind(tokens_, i);
        if (is(i, "do")) {
            const std::size_t end = behind_statement(i + 1);
            return is(end, "while") && is(end + 1, "(") ? behind(tokens_, end + 1) + 1 : end;
        }
        const bool is_if = is(i, "if");
        if (is_if || is(i, "for") || is(i, "while") || is(i, "switch")) {
            std::size_t condition = i + 1;
            if (is(condition, "constexpr")) ++condition;
            if (!is(condition, "(")) return condition;
            const std::size_t end = behind_statement(behind(tokens_, condition));
            return is_if && is(end, "else") ? behind_statement(end + 1) : end;
        }
        while (i < tokens_.size() && !is(i, ";") && !is(i, "}")) i = behind(tokens_, i);
        return i + 1;
    }

    const std::vector<Token>& tokens_;
    std::vector<PollInsertion> result_;
    std::set<std::size_t> ends_do_;  // the `while` behind the statement of a `do`
};

}  // namespace

std::vector<PollInsertion> find_polls(const std::vector<Token>& tokens) { return Finder(tokens).run(); }

}  // namespace cuscope::simt
