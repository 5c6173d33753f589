// Finds the loops of a source again in the assembly that a compiler made of it.
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
    unsigned together = 0;  // nvcc interleaves so many iterations; 0: not known
    unsigned rest = 1;      // and so many of those that are left over
    unsigned entry = 0;     // the instructions that find the number of iterations, with a division
};

struct LoopPlace {
    const LoopLines* loop = nullptr;  // null: in no such loop
    unsigned number = 0;              // of the loop, and of the load in it; equal for all copies of the load
};

// The loads of a basic block in such a loop.
class LoopLoads {
  public:
    void add(LoopPlace place) {
        if (copies_ == 0 && place.loop != nullptr) first_ = place;
        if (place.loop != nullptr && place.number == first_.number) ++copies_;
    }
    // So many executions of the block make the iterations that nvcc interleaves.
    unsigned together() const { return first_.loop == nullptr ? 0 : executions(first_.loop->together); }
    unsigned rest() const { return first_.loop == nullptr ? 0 : executions(first_.loop->rest); }
    unsigned entry() const { return first_.loop == nullptr ? 0 : first_.loop->entry; }
    unsigned number() const { return first_.number; }

  private:
    unsigned executions(unsigned iterations) const { return std::max(1u, iterations / copies_); }

    LoopPlace first_;
    unsigned copies_ = 0;  // of the first load: Clang makes one block of several iterations
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
