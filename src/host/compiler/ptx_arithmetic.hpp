// Inline PTX that computes: arithmetic, logic, conversions and comparisons of registers.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/ptx.hpp"
#include "host/compiler/ptx_operands.hpp"

namespace cuscope::simt {

// Appends the C++ of the instruction. False if it is none of these instructions, or has no translation.
bool translate_arithmetic(const std::string& opcode, const std::vector<std::string>& operands,
                          const PtxOperands& read, PtxCode* out);

}  // namespace cuscope::simt
