// Finds the loops with `#pragma unroll N` again in the assembly that a compiler made of a source.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "host/compiler/unrolling.hpp"

namespace cuscope::simt {

// Of a basic block that loads from memory in such a loop.
struct LoopPlace {
    unsigned together = 0;  // N; 0: the block is in no such loop
    unsigned number = 0;    // equal for all copies of the block
};

class LoopPlaces {
  public:
    explicit LoopPlaces(const std::vector<LoopLines>& loops) : loops_(loops) {}

    // The operands of the directives .file and .loc.
    void file(std::string_view operands);
    void line(std::string_view operands);
    void begin_block();
    // The place of a load at the current line. If that is the line of a function that the loop calls, it is
    // the last line of the loop in the current block.
    LoopPlace place() const { return place_; }

  private:
    const std::vector<LoopLines>& loops_;
    std::map<std::string_view, std::vector<const LoopLines*>> of_file_;  // by the number of the file
    std::map<std::string_view, unsigned> numbers_;                       // by file, line and column
    LoopPlace place_;
    bool in_loop_ = false;  // the current line
};

}  // namespace cuscope::simt
