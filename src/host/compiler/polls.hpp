// Finds the loops of a source that may wait for another thread of the device. The threads of a block take
// turns on the processor, so such a loop gives up its turn (cuscope_simt::poll) now and then.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/compile/lexer.hpp"

namespace cuscope::simt {

struct PollInsertion {
    std::size_t offset = 0;  // in the source
    std::string_view text;
};

// Empty if the source does not read memory in a way that only makes sense if another thread writes it at the
// same time. Atomic operations poll by themselves.
std::vector<PollInsertion> find_polls(const std::vector<Token>& tokens);

}  // namespace cuscope::simt
