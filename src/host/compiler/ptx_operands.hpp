// The parts of a PTX instruction in an asm statement, and the C++ of its operands.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

std::string trimmed(std::string_view text);
// At separators outside of brackets; the parts are trimmed.
std::vector<std::string> split(std::string_view text, char separator);
// "ld", "global" and "u32" of "ld.global.u32".
std::vector<std::string> parts_of(const std::string& opcode);
bool is_number(std::string_view text);
// The C++ type of "u32"; null for another word.
const char* type_of(std::string_view name);

// `names` are the names in brackets of the statement's operands, `registers` the registers that the statement
// declares.
class PtxOperands {
  public:
    PtxOperands(const std::vector<std::string>& names, const std::vector<std::string>& registers)
        : names_(names), registers_(registers) {}

    // The C++ of an operand; empty if the operand is not supported.
    std::string expression(const std::string& text) const;
    // The operand as a number of a type of C++; empty if it is not supported.
    std::optional<std::string> number(const std::string& text, const std::string& type) const;
    // A predicate to be read, "p" or "!p", and one to be written.
    std::optional<std::string> predicate(const std::string& text) const;
    std::optional<std::string> predicate_to_set(const std::string& text) const;
    // "[%1+16]" in a space of addresses.
    std::string address(const std::string& text, bool shared) const;
    // The operands in braces, or a single operand without braces; empty if one is not supported.
    std::vector<std::string> list(const std::string& text) const;

  private:
    const std::vector<std::string>& names_;
    const std::vector<std::string>& registers_;
};

}  // namespace cuscope::simt
