#include "host/compiler/interleaving.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "host/compiler/scalars.hpp"
#include "host/compiler/unrolling.hpp"
#include "runtime/compile/declarations.hpp"
#include "runtime/compile/source_words.hpp"
#include "runtime/compile/tokens.hpp"

namespace cuscope::simt {
namespace {

constexpr unsigned most = 16, some = 4;
// The instructions that find the number of iterations, if the step is a variable: a division, and the
// instructions that prepare it.
constexpr unsigned division = 35, wide_division = 55;
// nvcc unrolls a loop with a known number of iterations completely, up to about so many.
constexpr long completely = 64;

// Of a loop whose body ends with token `last`.
struct Loop {
    std::size_t first = 0, body = 0, last = 0;
    unsigned together = 0, rest = 1, entry = 0;
    bool is_unrolled = false;  // completely
};

class Interleaving {
  public:
    explicit Interleaving(std::string_view preprocessed)
        : all_(tokenize(preprocessed)), tokens_(all_.list), pragmas_(unroll_pragmas(preprocessed)) {}

    std::vector<LoopLines> run() {
        const Declarations declarations(tokens_);
        add_functions(declarations, declarations.list());
        std::vector<LoopLines> result;
        for (const Loop& loop : loops_) {
            const auto file = static_cast<std::size_t>(tokens_[loop.first].file);
            if (loop.is_unrolled || file >= all_.files.size()) continue;
            const std::string& name = all_.files[file];
            result.push_back({name.substr(name.rfind('/') + 1), tokens_[loop.first].line,
                              tokens_[loop.last].line, loop.together, loop.rest, loop.entry});
        }
        return result;
    }

  private:
    // `v += step` and its like.
    struct Step {
        bool is_known = false;  // v changes by the same amount in each iteration
        bool is_one = false;
        std::size_t begin = 0, end = 0;  // the step's expression, if it is not one
    };
    struct Control {
        std::size_t variable = no_token;       // in the condition
        std::size_t begin = 0, begin_end = 0;  // its first value; empty: not in the loop
        std::size_t bound = 0, bound_end = 0;  // the other side of the condition
        bool from_constant = false;            // the first value is a constant
        bool or_equal = false;                 // the condition is <= or >=
        Step step;
    };

    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
    // Do these symbols follow each other without a space?
    bool is(std::size_t i, std::string_view text, std::string_view next) const {
        return is(i, text) && is(i + 1, next) && tokens_[i + 1].offset == tokens_[i].offset + 1;
    }
    // Token `open` should be a bracket. If it is none, or is not closed, the source ends there.
    std::size_t behind_brackets(std::size_t open) const {
        const std::size_t partner = open < tokens_.size() ? tokens_[open].partner : no_token;
        return partner != no_token && partner > open ? partner + 1 : tokens_.size();
    }
    // The first token of [begin, end) that is this symbol, outside of brackets; else `end`.
    std::size_t find(std::string_view symbol, std::size_t begin, std::size_t end) const {
        std::size_t i = begin;
        while (i < end && !is(i, symbol)) i = behind(tokens_, i);
        return std::min(i, end);
    }

    std::size_t end_of_statement(std::size_t at) const;
    void add_functions(const Declarations& declarations, const std::vector<Declaration>& list);
    void add_function(std::size_t parameters, std::size_t body);
    std::optional<Control> control_of(const Loop& loop) const;
    bool is_short(const Control& control, const ScalarType& amount) const;
    void classify(Loop& loop);
    bool counts(std::size_t i) const;
    bool assigns(std::size_t i) const;
    Step step_at(std::size_t i) const;
    Step find_step(std::string_view variable, std::size_t begin, std::size_t end, std::size_t* changes) const;
    bool is_built_in(const Step& step) const;
    bool leaves(std::size_t begin, std::size_t end) const;
    bool stores_to_pointers(const Loop& loop) const;
    bool waits(const Loop& loop) const;
    bool has_unsigned_address(std::string_view variable, const ScalarType& type, const Loop& loop) const;

    const Tokens all_;
    const std::vector<Token>& tokens_;
    const std::vector<UnrollPragma> pragmas_;
    std::vector<Loop> loops_;
    std::optional<Scalars> scalars_;  // of the function that is looked at
};

// The last token of the statement that begins with a token.
std::size_t Interleaving::end_of_statement(std::size_t at) const {
    std::size_t open = 0;  // `if`s whose first statement has not ended
    for (;;) {
        if (is(at, "for") || is(at, "while")) {
            at = behind_brackets(at + 1);
        } else if (is(at, "do")) {
            ++at;
        } else if (is(at, "if")) {
            at = behind_brackets(at + (is(at + 1, "constexpr") ? 2 : 1));
            ++open;
        } else {
            std::size_t end = is(at, "{") ? behind_brackets(at) - 1 : find(";", at, tokens_.size());
            end = std::min(end, tokens_.size() - 1);
            if (!is(end + 1, "else") || open == 0) return end;
            --open;
            at = end + 2;
        }
    }
}

// Adds functions at namespace scope, and functions in classes.
void Interleaving::add_functions(const Declarations& declarations, const std::vector<Declaration>& list) {
    for (const Declaration& declaration : list) {
        if (declaration.kind == Declaration::Kind::function && declaration.body != no_token)
            add_function(declaration.parameters, declaration.body);
        if (declaration.class_body != no_token)
            add_functions(declarations, declarations.members(declaration));
    }
}

void Interleaving::add_function(std::size_t parameters, std::size_t body) {
    const std::size_t end = behind_brackets(body) - 1, begin = loops_.size();
    for (std::size_t i = body; i < end; ++i) {
        if (!begins_loop(tokens_[i])) continue;
        Loop loop;
        loop.first = i;
        loop.body = is(i, "do") ? i + 1 : behind_brackets(i + 1);
        loop.last = end_of_statement(i);
        if (loop.last >= end || loop.body > loop.last) continue;
        loops_.push_back(loop);
    }
    if (loops_.size() == begin) return;
    scalars_.emplace(tokens_, parameters, body);
    // Inner loops first.
    for (std::size_t i = loops_.size(); i-- > begin;) classify(loops_[i]);
}

// Is `++` or `--` before or behind the variable at token i?
bool Interleaving::counts(std::size_t i) const {
    return is(i + 1, "+", "+") || is(i + 1, "-", "-") || is(i - 2, "+", "+") || is(i - 2, "-", "-");
}

// Is the variable at token i given a new value, but not by `++` or `--`?
bool Interleaving::assigns(std::size_t i) const {
    if (is(i + 1, "=")) return !is(i + 1, "=", "=");
    for (const std::string_view symbol : {"+", "-", "*", "/", "%", "&", "|", "^"})
        if (is(i + 1, symbol, "=")) return true;
    return (is(i + 1, "<", "<") || is(i + 1, ">", ">")) && is(i + 3, "=");
}

// The step of a loop in which an expression changes the variable at token i.
Interleaving::Step Interleaving::step_at(std::size_t i) const {
    Step step;
    if (counts(i)) {
        step.is_known = step.is_one = true;
        return step;
    }
    const std::size_t begin = i + 3;
    std::size_t end = begin;
    while (end < tokens_.size() && !is(end, ";") && !is(end, ",") && !is(end, ")"))
        end = behind(tokens_, end);
    if (is(i + 1, "+", "=") || is(i + 1, "-", "=")) {
        step.is_known = true;
        step.begin = begin;
    } else if (is(i + 1, "=") && is(i + 2, tokens_[i].text) && (is(i + 3, "+") || is(i + 3, "-"))) {
        step.is_known = true;
        step.begin = begin + 1;
    }
    step.end = end;
    step.is_one = step.is_known && scalars_->value(step.begin, step.end) == 1;
    return step;
}

// The change of a variable in [begin, end); `changes` gets the number of changes.
Interleaving::Step Interleaving::find_step(std::string_view variable, std::size_t begin, std::size_t end,
                                           std::size_t* changes) const {
    Step step;
    for (std::size_t i = begin; i < end; ++i) {
        if (!is(i, variable) || is(i - 1, ".") || is(i - 1, "->")) continue;
        if (!counts(i) && !assigns(i)) continue;
        step = step_at(i);
        ++*changes;
    }
    return step;
}

// Is the step `blockDim.x`, or another built-in variable?
bool Interleaving::is_built_in(const Step& step) const {
    return step.end >= step.begin + 2 && is(step.end - 2, ".") &&
           find("*", step.begin, step.end) == step.end && scalars_->type(step.begin, step.end).is_unsigned;
}

// Does the body leave the loop before its condition fails?
bool Interleaving::leaves(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i <= end; ++i) {
        if (is(i, "return") || is(i, "goto") || is(i, "break")) return true;
        if (begins_loop(tokens_[i]) || is(i, "switch")) {
            const std::size_t inner =
                std::min(end_of_statement(is(i, "switch") ? behind_brackets(i + 1) : i), end);
            for (std::size_t j = i; j <= inner; ++j)
                if (is(j, "return") || is(j, "goto")) return true;
            i = inner;
        }
    }
    return false;
}

// Does the body store through one of the function's pointers, or add to memory through it?
bool Interleaving::stores_to_pointers(const Loop& loop) const {
    for (std::size_t i = loop.body; i <= loop.last; ++i) {
        const std::vector<std::string_view>& pointers = scalars_->pointers();
        if (!tokens_[i].is_word() ||
            std::find(pointers.begin(), pointers.end(), tokens_[i].text) == pointers.end())
            continue;
        std::size_t call = is(i - 1, "&") ? i - 2 : i - 1;
        if (is(call, "(") && tokens_[call - 1].text.substr(0, 6) == "atomic") return true;
        if (is(i + 1, "[") && tokens_[i + 1].partner != no_token) {
            std::size_t close = tokens_[i + 1].partner;
            while (is(close + 1, ".")) close += 2;  // a member
            if (assigns(close) || is(close + 1, "+", "+") || is(close + 1, "-", "-")) return true;
        } else if (is(i - 1, "*") && assigns(i)) {
            return true;
        }
    }
    return false;
}

// Does each iteration wait for other threads? Then the number of barriers must stay the same in all code.
bool Interleaving::waits(const Loop& loop) const {
    for (std::size_t i = loop.body; i <= loop.last; ++i)
        if (tokens_[i].is_word() &&
            (tokens_[i].text.find("__sync") == 0 || one_of(tokens_[i].text, {"sync", "arrive_and_wait"})))
            return true;
    return false;
}

// Does a subscript combine the variable with others in unsigned numbers? They may overflow, so the addresses
// of iterations are not at a constant distance from each other.
bool Interleaving::has_unsigned_address(std::string_view variable, const ScalarType& type,
                                        const Loop& loop) const {
    for (std::size_t i = loop.body; i <= loop.last; ++i) {
        if (!is(i, "[") || tokens_[i].partner == no_token) continue;
        const std::size_t begin = i + 1, end = tokens_[i].partner;
        bool has_variable = false, has_others = false;
        for (std::size_t j = begin; j < end; ++j) {
            if (!tokens_[j].is_word()) continue;
            if (is(j, variable)) {
                has_variable = true;
            } else if (!is(j - 1, ".") && !scalars_->type(j, j + 1).is_constant) {
                has_others = true;
            }
        }
        const ScalarType its = scalars_->type(begin, end);
        if (has_variable && has_others && its.is_unsigned && (!its.is_wide || type.is_wide)) return true;
    }
    return false;
}

// None if the number of iterations cannot be computed before the loop.
std::optional<Interleaving::Control> Interleaving::control_of(const Loop& loop) const {
    const bool is_for = is(loop.first, "for");
    const std::size_t open = loop.first + 1, close = loop.body - 1;
    std::size_t condition = open + 1, condition_end = close, step_begin = loop.body, step_end = loop.last + 1;
    Control control;
    if (is_for) {
        control.begin_end = find(";", open + 1, close);
        control.begin = std::min(find("=", open + 1, control.begin_end) + 1, control.begin_end);
        control.from_constant =
            control.begin < control.begin_end && scalars_->type(control.begin, control.begin_end).is_constant;
        condition = control.begin_end + 1;
        condition_end = find(";", condition, close);
        step_begin = condition_end + 1, step_end = close;
        if (condition_end >= close) return std::nullopt;
    }
    // The condition compares one variable.
    std::size_t compares = condition_end;
    for (std::size_t i = condition; i < condition_end; i = behind(tokens_, i)) {
        if (is(i, "&", "&") || is(i, "|", "|")) return std::nullopt;
        const bool is_comparison = i > condition && (is(i, "<") || is(i, ">") || is(i, "!", "="));
        if (is_comparison) compares = std::min(compares, i);
    }
    if (compares == condition_end) return std::nullopt;
    const bool has_equals = is(compares + 1, "=");
    control.or_equal = has_equals && !is(compares, "!");
    const std::size_t right = compares + (has_equals ? 2 : 1);
    // The variable is the side that changes.
    std::size_t changes = 0;
    const auto take = [&](std::size_t variable, std::size_t other, std::size_t other_end) {
        if (changes != 0 || !tokens_[variable].is_word()) return;
        control.variable = variable, control.bound = other, control.bound_end = other_end;
        control.step = find_step(tokens_[variable].text, step_begin, step_end, &changes);
    };
    if (compares == condition + 1) take(condition, right, condition_end);
    if (condition_end == right + 1) take(right, condition, compares);
    if (changes != 1 || !control.step.is_known) return std::nullopt;
    if (is_for) find_step(tokens_[control.variable].text, loop.body, loop.last + 1, &changes);
    if (changes != 1 || leaves(loop.body, loop.last)) return std::nullopt;
    return control;
}

// Does nvcc make a copy of the body for each iteration?
bool Interleaving::is_short(const Control& control, const ScalarType& amount) const {
    if (!control.from_constant || !amount.is_constant ||
        !scalars_->type(control.bound, control.bound_end).is_constant)
        return false;
    const long from = scalars_->value(control.begin, control.begin_end);
    const long to = scalars_->value(control.bound, control.bound_end);
    const long by = control.step.is_one ? 1 : scalars_->value(control.step.begin, control.step.end);
    // A number that is not known is that of a template, and mostly small.
    return from < 0 || to < 0 || by <= 0 || std::abs(to - from) / by <= completely;
}

void Interleaving::classify(Loop& loop) {
    const std::size_t before = loop.first == 0 ? 0 : tokens_[loop.first - 1].end();
    for (const UnrollPragma& pragma : pragmas_) {
        if (pragma.end < before || pragma.end > tokens_[loop.first].offset) continue;
        loop.together = pragma.number;
        loop.is_unrolled = pragma.number == 0;
        return;
    }
    const bool is_range = is(loop.first, "for") && find(";", loop.first + 2, loop.body - 1) == loop.body - 1;
    if (is(loop.first, "do") || is_range) return;
    loop.together = 1;
    const std::optional<Control> control = control_of(loop);
    if (!control) return;
    const std::string_view variable = tokens_[control->variable].text;
    const ScalarType* const declared = scalars_->variable(variable, control->variable);
    const ScalarType type = declared == nullptr ? ScalarType() : *declared;
    const Step& step = control->step;
    const ScalarType amount = step.is_one ? ScalarType{true} : scalars_->type(step.begin, step.end);
    loop.is_unrolled = is_short(*control, amount);
    if (loop.is_unrolled) return;
    // nvcc unrolls only the innermost loops.
    for (const Loop& inner : loops_)
        if (inner.first > loop.first && inner.last <= loop.last && !inner.is_unrolled) return;
    if (scalars_->pointers_may_alias() && stores_to_pointers(loop)) return;
    if (waits(loop)) return;
    if (amount.is_constant) {
        const bool overflows =
            (type.is_unsigned && !step.is_one) || has_unsigned_address(variable, type, loop);
        loop.together = type.is_pointer || overflows ? some : most;
        if (loop.together == most && step.is_one && control->from_constant) loop.rest = some;
    } else if (!type.is_unsigned && !control->or_equal &&
               (type.is_wide ? !is_built_in(step) : !amount.is_unsigned)) {
        loop.together = some;
        loop.entry = type.is_wide ? wide_division : division;
    }
}

}  // namespace

std::vector<LoopLines> interleaved_loops(std::string_view preprocessed) {
    return Interleaving(preprocessed).run();
}

}  // namespace cuscope::simt
