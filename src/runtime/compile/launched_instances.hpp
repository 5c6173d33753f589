// Finds the instances of kernel templates that host code launches: scale<float, N><<<grid, block>>>(...).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope {

class InstanceFinder {
  public:
    // Adds a macro or a constant: `value` replaces its name in a template's arguments.
    void add_constant(std::string_view name, const std::vector<Token>& value);
    // Adds the constants that tokens [begin, end) declare: `const int a = 4, b = 2 * a;`.
    void add_constants(const std::vector<Token>& tokens, std::size_t begin, std::size_t end);
    void add_template(const std::string& scope, std::string_view name);

    // Searches a host function: its head, with template parameters, and its body. An instance is left out if
    // its arguments depend on these parameters.
    void find(const std::vector<Token>& tokens, std::size_t begin, std::size_t body, std::size_t end);

    const std::vector<std::string>& instances() const { return instances_; }
    // The tokens of the arguments of all instances.
    const std::vector<Token>& arguments() const { return arguments_; }

  private:
    using Constants = std::map<std::string_view, std::vector<Token>>;

    void read_constants(const std::vector<Token>& tokens, std::size_t begin, std::size_t end,
                        Constants& constants);
    std::optional<std::string> argument(const std::vector<Token>& tokens, std::size_t begin,
                                        std::size_t end) const;
    bool resolve(const Token& token, std::vector<Token>& result, int depth) const;
    void launch(const std::vector<Token>& tokens, std::size_t at);

    std::map<std::string_view, std::vector<std::string>> templates_;  // scopes by last name
    Constants global_, local_;
    std::set<std::string_view> dependent_;
    std::vector<std::string> instances_;
    std::vector<Token> arguments_;
};

}  // namespace cuscope
