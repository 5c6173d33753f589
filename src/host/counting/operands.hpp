// The operands of instructions of x86-64, in the syntax of AT&T.
#pragma once

#include <string_view>
#include <vector>

namespace cuscope::simt {

// The first name of a register: %eax, %ax and %al are parts of %rax, and %r8d of %r8.
std::string_view whole_register(std::string_view name);

// Divides at the commas that are not in brackets.
std::vector<std::string_view> divided(std::string_view operands);

}  // namespace cuscope::simt
