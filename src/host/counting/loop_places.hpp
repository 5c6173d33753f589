// Finds the loops with `#pragma unroll N` again in the assembly that a compiler made of a source.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuscope::simt {

// The lines of a loop in the file with this name (without its folder).
struct LoopLines {
    std::string file;
    int first = 0, last = 0;
    unsigned together = 0;  // N of `#pragma unroll N`, if it is a number: nvcc interleaves N iterations
};

struct LoopPlace {
    unsigned together = 0;  // N; 0: in no such loop
    unsigned number = 0;    // equal for all copies of the load
};

// The loads of a basic block in such a loop.
struct LoopLoads {
    LoopPlace first;
    unsigned copies = 0;  // of the first load: Clang makes one block of several iterations

    void add(LoopPlace place) {
        if (copies == 0 && place.together != 0) first = place;
        if (place.together != 0 && place.number == first.number) ++copies;
    }
    // So many executions of the block make N iterations.
    unsigned executions() const { return first.together == 0 ? 0 : std::max(1u, first.together / copies); }
};

class LoopPlaces {
  public:
    explicit LoopPlaces(const std::vector<LoopLines>& loops) : loops_(loops) {}

    // The operands of the directives .file and .loc.
    void file(std::string_view operands);
    void line(std::string_view operands);
    // Of a load at the current line.
    LoopPlace place() const { return place_; }

  private:
    const std::vector<LoopLines>& loops_;
    std::map<std::string_view, std::vector<const LoopLines*>> of_file_;  // by the number of the file
    std::map<std::string_view, unsigned> numbers_;                       // by file, line and column
    LoopPlace place_;
};

}  // namespace cuscope::simt
