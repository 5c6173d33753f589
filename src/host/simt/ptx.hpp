// Inline PTX: the kinds that have a meaning on a host, reading a special register and dependent launches.
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

// For "griddepcontrol.wait;" and "griddepcontrol.launch_dependents;" the function that does it; else null.
const char* dependent_launch(std::string_view assembly);

}  // namespace cuscope::simt
