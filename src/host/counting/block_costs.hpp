// Estimates the instructions of a GPU from the assembly of an image that counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/counting/loop_places.hpp"

namespace cuscope::simt {

// The assembly with a section "cuscope_costs" behind it: an estimate for each basic block, as BlockCost. It
// marks the blocks that load in `loops`. Only for x86-64; the assembly for other processors is
// returned unchanged.
std::string with_block_costs(std::string_view assembly, const std::vector<LoopLines>& loops);

}  // namespace cuscope::simt
