// The declarations of a token list, at namespace scope and in classes. The class knows enough of C++'s
// grammar to tell functions, classes and variables apart. Anything that it does not understand is left to the
// compiler.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope {

struct Declared {
    std::size_t name = no_token;
    bool is_array = false;
    bool has_initializer = false;
};

// A declaration: tokens [begin, end).
struct Declaration {
    enum class Kind {
        function,
        other,            // a variable, a class, an alias, static_assert, ...
        namespace_alias,  // namespace a = b;
        macro,            // MACRO(...), which no semicolon follows
    };
    Kind kind = Kind::other;
    std::size_t begin = 0, end = 0;
    std::string scope;                         // "ns::inner::", or empty
    std::size_t specifiers = 0;                // behind `template <...>`
    std::size_t template_begin = no_token;     // of the last `template <...>`
    std::size_t template_end = no_token;       // one past its '>'
    bool is_specialization = false;            // template <>
    bool is_explicit_instantiation = false;    // template void f<int>(...)
    std::size_t parameters = no_token;         // the '(' of a function, or of a variable's value
    std::size_t name_begin = 0, name_end = 0;  // of a function, with qualification and template arguments
    std::size_t last_name = no_token;          // of a function: the last part of its name
    std::size_t body = no_token;               // the '{' of a function
    std::size_t class_key = no_token;          // "struct", "enum", ...
    std::size_t class_body = no_token;         // the '{' of a class
};

class Declarations {
  public:
    // `tokens`: Tokens::list. It must outlive the object.
    explicit Declarations(const std::vector<Token>& tokens);

    // The declarations at namespace scope, in source order.
    const std::vector<Declaration>& list() const { return list_; }
    // The declarations in a class of `list()`, or of another class.
    std::vector<Declaration> members(const Declaration& of) const;
    std::size_t partner(std::size_t i) const { return i < tokens_.size() ? tokens_[i].partner : no_token; }
    // Is token i a part of a declaration at namespace scope, outside of its brackets?
    bool at_namespace_scope(std::size_t i) const;
    // The variables that a declaration's declarators declare; `begin` lies in the declaration's specifiers.
    std::vector<Declared> declared(std::size_t begin, std::size_t end) const;
    // Does [begin, end) hold `word` outside of brackets?
    bool has(std::size_t begin, std::size_t end, std::string_view word) const;
    // The text of [begin, end) on one line.
    std::string text(std::size_t begin, std::size_t end) const;
    // One past the '>' of the '<' at i; no_token if there is none before `end`.
    std::size_t skip_angles(std::size_t i, std::size_t end) const;

  private:
    enum class Place { in_namespace, in_class };

    void parse_scope(std::size_t begin, std::size_t end, const std::string& scope, Place place,
                     std::vector<Declaration>& found) const;
    std::size_t parse_namespace(std::size_t begin, std::size_t end, const std::string& scope,
                                std::vector<Declaration>& found) const;
    std::size_t parse_declaration(std::size_t begin, std::size_t end, const std::string& scope, Place place,
                                  std::vector<Declaration>& found) const;
    void find_function_name(Declaration& declaration) const;
    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
    bool is_word(std::size_t i) const { return i < tokens_.size() && tokens_[i].is_word(); }

    const std::vector<Token>& tokens_;
    std::vector<Declaration> list_;
};

}  // namespace cuscope
