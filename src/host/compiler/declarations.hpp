// The structure of a token list: which bracket closes which, and the declarations at namespace scope. It
// knows enough of C++'s grammar to find functions and variables by a keyword in their declaration. Anything
// that it does not understand is left to the compiler.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/compiler/tokens.hpp"

namespace cuscope::simt {

inline constexpr std::size_t no_token = static_cast<std::size_t>(-1);

// For each bracket the index of its partner; for any other token no_token.
std::vector<std::size_t> match_brackets(const std::vector<Token>& tokens);

struct Declared {
    std::size_t name = no_token;
    bool is_array = false;
    bool has_initializer = false;
};

// A declaration at namespace scope: tokens [begin, end).
struct Declaration {
    std::size_t begin = 0, end = 0;
    std::string scope;                         // "ns::inner::", or empty
    std::size_t template_begin = no_token;     // of the last `template <...>`
    std::size_t template_end = no_token;       // one past its '>'
    bool is_specialization = false;            // template <>
    bool is_explicit_instantiation = false;    // template void f<int>(...)
    std::size_t parameters = no_token;         // the '(' of a function
    std::size_t name_begin = 0, name_end = 0;  // of a function, with qualification and template arguments
    std::size_t body = no_token;               // the '{' of a function
};

class Declarations {
  public:
    explicit Declarations(const std::vector<Token>& tokens);

    const std::vector<Declaration>& list() const { return list_; }
    std::size_t partner(std::size_t i) const { return partners_[i]; }
    // Is token i outside of every function and class?
    bool at_namespace_scope(std::size_t i) const { return at_namespace_scope_[i]; }
    // The variables that a declaration's declarators declare; `begin` lies in the declaration's specifiers.
    std::vector<Declared> declared(std::size_t begin, std::size_t end) const;
    // Does [begin, end) hold `word` outside of brackets?
    bool has(std::size_t begin, std::size_t end, std::string_view word) const;
    // The text of [begin, end) on one line.
    std::string text(std::size_t begin, std::size_t end) const;
    // One past the '>' of the '<' at i; no_token if there is none before `end`.
    std::size_t skip_angles(std::size_t i, std::size_t end) const;

  private:
    void parse_scope(std::size_t begin, std::size_t end, const std::string& scope);
    std::size_t parse_declaration(std::size_t begin, std::size_t end, const std::string& scope);
    void find_function_name(Declaration& declaration) const;
    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }

    const std::vector<Token>& tokens_;
    std::vector<std::size_t> partners_;
    std::vector<bool> at_namespace_scope_;
    std::vector<Declaration> list_;
};

}  // namespace cuscope::simt
