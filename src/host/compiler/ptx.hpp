// Inline PTX: the kinds that have a meaning on a host, which are reading a special register, dependent
// launches and whole instructions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

// What string literals say, as the compiler reads them: "a" "b\n" is ab and a line end.
std::string literal_text(std::string_view literal);

// For "mov.u64 %0, %%globaltimer;" the function of cuscope_simt::special that reads the register:
// "globaltimer". `operand` is the name of the output in brackets, or empty.
std::optional<std::string> special_register(std::string_view assembly, std::string_view operand);

// For "griddepcontrol.wait;" and "griddepcontrol.launch_dependents;" the function that does it; else null.
const char* dependent_launch(std::string_view assembly);

// C++ for whole instructions. The statement's operands are o0, o1, ...; `names` are those in brackets, or
// empty.
struct PtxCode {
    std::string body;
    std::vector<std::string> registers;  // of the statement's own
    std::string variables;               // and their declarations
    bool uses_warp = false, uses_barriers = false;
    bool sees_others = false;  // reads or writes what other threads wait for
};
// Nothing for instructions that have no meaning here. `site` is the C++ of a cuscope_simt::Site.
std::optional<PtxCode> translate_ptx(std::string_view assembly, const std::vector<std::string>& names,
                                     const std::string& site);

}  // namespace cuscope::simt
