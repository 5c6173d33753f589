// Inline PTX with which the lanes of a warp exchange registers: shfl, vote, match, redux and activemask.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/ptx.hpp"
#include "host/compiler/ptx_operands.hpp"

namespace cuscope::simt {

// Appends the C++ of the instruction. False if it is none of these, or has no translation.
bool translate_warp_instruction(const std::string& opcode, const std::vector<std::string>& operands,
                                const PtxOperands& read, const std::string& site, PtxCode* out);

}  // namespace cuscope::simt
