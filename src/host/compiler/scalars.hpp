// The types of the variables of one function, as far as its source shows them. nvcc's treatment of a loop
// depends on whether its variable, and the step, are unsigned, wide or constant.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {

// Of an expression or a variable.
struct ScalarType {
    bool is_constant = false;  // known to the compiler
    bool is_unsigned = false;
    bool is_wide = false;  // 64 bits
    bool is_pointer = false;
};

class Scalars {
  public:
    // The function's parameters are in the parentheses at `parameters`, and its body in the braces at `body`.
    Scalars(const std::vector<Token>& tokens, std::size_t parameters, std::size_t body);

    // Tokens [begin, end) are an expression.
    ScalarType type(std::size_t begin, std::size_t end) const;
    // The value of a decimal number, or of a constant that stands for one; -1: not known.
    long value(std::size_t begin, std::size_t end) const;
    // Of the variable that `name` means at token `at`; null if the function declares none.
    const ScalarType* variable(std::string_view name, std::size_t at) const;
    // Are there pointers among the parameters, and is none of them marked with `__restrict__`?
    bool pointers_may_alias() const { return has_pointers_ && !has_restrict_; }
    // The parameters that are pointers.
    const std::vector<std::string_view>& pointers() const { return pointers_; }

  private:
    struct Declared {
        std::string_view name;
        std::size_t at = 0;
        ScalarType type;
        std::size_t value_begin = 0, value_end = 0;
    };

    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
    const Declared* find(std::string_view name, std::size_t at) const;
    void add_parameters(std::size_t begin, std::size_t end);
    std::size_t add_declarations(std::size_t begin, std::size_t end);

    const std::vector<Token>& tokens_;
    std::vector<Declared> declared_;  // in the order of the source
    std::vector<std::string_view> pointers_;
    bool has_pointers_ = false, has_restrict_ = false;
};

}  // namespace cuscope::simt
