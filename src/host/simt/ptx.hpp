// Inline PTX: the one kind that has a meaning on a host, reading a special register.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cuscope::simt {

// What string literals say, as the compiler reads them: "a" "b\n" is ab and a line end.
std::string literal_text(std::string_view literal);

// For "mov.u64 %0, %%globaltimer;" the function of cuscope_simt::special that reads the register:
// "globaltimer". `operand` is the name of the output in brackets, or empty.
std::optional<std::string> special_register(std::string_view assembly, std::string_view operand);

}  // namespace cuscope::simt
