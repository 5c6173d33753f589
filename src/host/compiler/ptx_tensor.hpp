// PTX about barriers in shared memory (mbarrier), bulk copies and clusters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/compiler/ptx.hpp"
#include "host/compiler/ptx_operands.hpp"

namespace cuscope::simt {

bool is_tensor_instruction(std::string_view opcode);
// Adds the C++ of the instruction to `out`. False for a form that is not supported.
bool translate_tensor_instruction(const std::string& opcode, const std::vector<std::string>& operands,
                                  const PtxOperands& read, const std::string& site, PtxCode* out);

}  // namespace cuscope::simt
