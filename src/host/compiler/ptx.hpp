// Inline PTX that can run on a host: reading a special register, dependent launches, and whole instructions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

// The text of string literals as the compiler reads them: "a" "b\n" is ab and a line end.
std::string literal_text(std::string_view literal);

bool is_blank(std::string_view assembly);
// With a blank in place of each comment.
std::string without_ptx_comments(std::string_view assembly);

// For "mov.u64 %0, %%globaltimer;" the function of cuscope_simt::special that reads the register:
// "globaltimer". `operand` is the name of the output in brackets, or empty.
std::optional<std::string> special_register(std::string_view assembly, std::string_view operand);

// For "griddepcontrol.wait;" and "griddepcontrol.launch_dependents;" the matching function; else null.
const char* dependent_launch(std::string_view assembly);

// C++ for whole instructions. The statement's operands are o0, o1, ...; `names` holds the operands' names in
// brackets, empty where an operand has none.
struct PtxCode {
    std::string body;
    std::vector<std::string> registers;  // declared by the statement itself
    std::string variables;               // the declarations of these registers
    bool uses_warp = false, uses_barriers = false;
    bool waits = false;        // waits for other threads of the block, perhaps under a predicate
    bool sees_others = false;  // reads or writes values that other threads wait for
};
// Empty for instructions that have no translation. `site` is the C++ expression of a cuscope_simt::Site.
std::optional<PtxCode> translate_ptx(std::string_view assembly, const std::vector<std::string>& names,
                                     const std::string& site);

// Says that an asm statement has no translation, and which have one.
std::string unsupported_ptx(const std::string& assembly);

}  // namespace cuscope::simt
